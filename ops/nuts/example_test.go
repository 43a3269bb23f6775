package nuts_test

import (
	"context"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
)

// The rate of a Gamma(3, 2) law, sampled on the log scale: its log density is
// 3·log(rate) - 2·rate with the Jacobian rate.
func Example() {
	target := nuts.Func(1, func(grad, theta []float64) float64 {
		rate := math.Exp(theta[0])
		grad[0] = 3 - 2*rate
		return 3*theta[0] - 2*rate
	})
	chains, err := nuts.Sample(context.Background(), func() nuts.LogDensity { return target },
		nuts.Config{Seed: 1, Draws: 5000})
	if err != nil {
		fmt.Println(err)
		return
	}
	var rates [][]float64
	for _, chain := range chains {
		var draws []float64
		for _, theta := range chain.Draws {
			draws = append(draws, math.Exp(theta[0]))
		}
		rates = append(rates, draws)
	}
	s := diag.Summarize(rates)
	fmt.Printf("mean %.1f, sd %.1f\n", s.Mean, s.SD) // exactly 1.5 and 0.866
	fmt.Println("warnings:", len(s.Warnings())+len(nuts.Diagnose(chains).Warnings()))
	// Output:
	// mean 1.5, sd 0.9
	// warnings: 0
}
