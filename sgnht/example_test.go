package sgnht_test

import (
	"fmt"
	"log"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/sgnht"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The price of a chain is public, and free to ask for.
func ExampleCost() {
	logistic, err := targets.New(targets.RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		log.Fatal(err)
	}
	step, err := sgnht.Cost(sgnht.Config{Driven: kernels.Driven{Target: logistic, Iterations: 1000,
		Step: kernels.Constant(0.01), NoiseMultiplier: 50}, Friction: 100},
		curator.Facts{Records: 10_000, Features: 2, Response: true, Radius: 1, RowsPerPerson: 1,
			Adjacency: accountant.Substitute})
	if err != nil {
		log.Fatal(err)
	}
	chain, err := step.Times(1000)
	if err != nil {
		log.Fatal(err)
	}
	guarantee, err := chain.Epsilon(1e-6)
	fmt.Printf("ε = %.2f %v\n", guarantee.Epsilon, err)
	// Output: ε = 2.92 <nil>
}
