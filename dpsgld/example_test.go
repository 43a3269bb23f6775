package dpsgld_test

import (
	"context"
	"fmt"
	"log"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/dpsgld"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// A Langevin chain on minibatches, with a public step size that leaves room for
// the privacy noise.
func Example() {
	x, y := []float64{1, 0, -1, 0.5}, []float64{1, 1, 0, 1} // four records
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	if err != nil {
		log.Fatal(err)
	}
	records, err := curator.Seal(curator.Records{X: x, Features: 1, Y: y, Radius: 1}, budget)
	if err != nil {
		log.Fatal(err)
	}
	logistic, err := targets.New(targets.RegressionConfig{Features: 1, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		log.Fatal(err)
	}
	kernel, err := dpsgld.New(dpsgld.Config{Driven: kernels.Driven{Target: logistic, Iterations: 100, NoiseMultiplier: 50,
		Step: kernels.Constant(4e-4)}}, records)
	if err != nil {
		log.Fatal(err)
	}
	sink := kernels.NewMemory(1)
	err = kernels.Run(context.Background(), []kernels.Chain{{Kernel: kernel, Start: []float64{0}}},
		kernels.Options{Iterations: 100, Seed: 1, Sink: sink})
	fmt.Println(kernel.Name(), len(sink.Draws(0)), kernel.Left(), err)
	// Output: dp_sgld 100 0 <nil>
}

// The largest step that the privacy noise allows is public and free to ask for.
func ExampleNoiseShare() {
	logistic, err := targets.New(targets.RegressionConfig{Features: 2, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		log.Fatal(err)
	}
	c := dpsgld.Config{Driven: kernels.Driven{Target: logistic, Iterations: 1000, NoiseMultiplier: 50,
		Step: kernels.Constant(1e-4)}}
	facts := curator.Facts{Records: 10_000, Features: 2, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	share, err := dpsgld.NoiseShare(c, facts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f of the first step's Langevin noise; steps of up to %.1e\n", share, c.Step.At(0)/share)
	// Output: 0.25 of the first step's Langevin noise; steps of up to 4.0e-04
}
