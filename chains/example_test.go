package chains_test

import (
	"context"
	"fmt"
	"log"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Two short chains of Barker's test, of which the step and the batch are chosen.
func Example() {
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	if err != nil {
		log.Fatal(err)
	}
	x, y := []float64{1, 0, -1, 0.5}, []float64{1, 1, 0, 1} // four records
	records, err := curator.Seal(curator.Records{X: x, Features: 1, Y: y, Radius: 1}, budget)
	if err != nil {
		log.Fatal(err)
	}
	model, err := targets.NewLogistic(targets.RegressionConfig{Features: 1, Prior: targets.Gaussian{SD: 3}})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := chains.Choose(chains.Settings{Kernel: "barker", Iterations: 100, Chains: 2},
		chains.Problem{Target: model, Facts: records.Facts(), Epsilon: 1, Delta: 1e-6})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("every step releases", plan.Released)
	opened, err := plan.Open(records)
	if err != nil {
		log.Fatal(err)
	}
	var chains []kernels.Chain
	for _, k := range opened {
		chains = append(chains, kernels.Chain{Kernel: k, Start: []float64{0}})
	}
	sink := kernels.NewMemory(len(chains))
	err = kernels.Run(context.Background(), chains, kernels.Options{Iterations: 100, Seed: 1, Sink: sink})
	fmt.Println(len(sink.Draws(0)), len(sink.Draws(1)), err)
	// Output:
	// every step releases one accept/reject bit (exact logistic test; Poisson batches of rate 1)
	// 100 100 <nil>
}
