package surrogates_test

import (
	"context"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
)

// A private optimum of 2000 records with ridge 2, and their second moments, have been
// released. The posterior given both is sampled without another look at the records.
func Example() {
	anchor := []float64{0.8, -1.6, 0.4}
	released := surrogates.Statistics{
		Anchor: anchor, Score: []float64{-2 * 0.8, 2 * 1.6, -2 * 0.4}, ScoreSD: 9.5, Ridge: 2,
		Moment: []float64{640, 3, -9, 3, 590, 12, -9, 12, 610}, MomentSD: 13, Records: 2000, Radius: 1,
		Columns: []surrogates.Column{{Kind: surrogates.Constant, Upper: 0.577}, {}, {}},
	}
	posterior, err := surrogates.New(surrogates.Config{Statistics: released, Link: surrogates.Logistic,
		Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		panic(err)
	}
	draws, err := surrogates.Sample(context.Background(), posterior, surrogates.SampleConfig{Seed: 1})
	if err != nil {
		panic(err)
	}
	widening, err := posterior.Widening(draws)
	if err != nil {
		panic(err)
	}
	slope := diag.Summarize(draws.Column(1))
	fmt.Printf("explored %v, the second coefficient is near %.0f, privacy widened its interval ×%.1f\n", draws.Explored,
		math.Round(slope.Mean), widening[1])
	// Output: explored true, the second coefficient is near -2, privacy widened its interval ×1.4
}
