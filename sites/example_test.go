package sites_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/sites"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Three hospitals, each with its own records and budget.
func Example() {
	model, err := targets.NewLogistic(targets.RegressionConfig{Features: 2, Prior: targets.Gaussian{SD: 2}})
	if err != nil {
		log.Fatal(err)
	}
	var places []sites.Site
	for i := range uint64(3) {
		budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6,
			Adjacency: accountant.Substitute})
		if err != nil {
			log.Fatal(err)
		}
		people := simulate(3000, []float64{0.5, -2}, rand.New(rand.NewPCG(i, 1)))
		records, err := curator.Seal(people, budget, curator.InsecureSeed(i))
		if err != nil {
			log.Fatal(err)
		}
		c, err := sites.Afford(sites.Config{Target: model}, records.Facts(), 1, 1e-6)
		if err != nil {
			log.Fatal(err)
		}
		site, err := sites.Open(c, records) // charged now; sites.Handler serves it elsewhere
		if err != nil {
			log.Fatal(err)
		}
		places = append(places, site)
	}
	r, err := sites.Fit(context.Background(), sites.FitConfig{Target: model,
		Sample: surrogates.SampleConfig{Seed: 1}}, places...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("explored %v, %d records, privacy widened the intervals ×%.1f and ×%.1f\n", r.Draws.Explored,
		r.Statistics.Records, r.Widening[0], r.Widening[1])
	// Output: explored true, 9000 records, privacy widened the intervals ×1.2 and ×1.5
}
