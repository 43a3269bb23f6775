package barkerdynamics_test

import (
	"context"
	"fmt"
	"log"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barkerdynamics"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// A chain that moves along gradients of which only signs are released.
func ExampleNew() {
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
	kernel, err := barkerdynamics.New(barkerdynamics.Config{Target: logistic, Scale: 0.01, Iterations: 200}, records)
	if err != nil {
		log.Fatal(err)
	}
	sink := kernels.NewMemory(1)
	err = kernels.Run(context.Background(), []kernels.Chain{{Kernel: kernel, Start: []float64{0}}},
		kernels.Options{Iterations: 200, Seed: 1, Sink: sink})
	fmt.Println(kernel.Name(), len(sink.Draws(0)), kernel.Left(), err)
	// Output: dp_barker_dynamics 200 0 <nil>
}
