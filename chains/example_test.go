package chains_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The whole of it, as README has it: a table, a model, a budget, and draws with what they
// cost.
func Example() {
	ctx := context.Background()
	simulated, e1 := data.Builtin("builtin:logistic?n=2000&d=2") // or data.Load(ctx, file, schema)
	budget, e2 := accountant.NewBudget(
		accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	if err := errors.Join(e1, e2); err != nil {
		log.Fatal(err)
	}
	model, err := models.New("logistic", &simulated.Table.Shape, models.Options{})
	if err != nil {
		log.Fatal(err)
	}
	result, err := chains.Run(ctx, simulated.Table, model, chains.Settings{}, budget)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("ε = %.2f, %s\n", result.Certificate.Epsilon, result.Certificate.Guarantee)
	// Output: ε = 1.00, unconditional
}

// Steps one by one, on chains that were chosen and paid for before.
func ExampleSession_Chains() {
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	if err != nil {
		log.Fatal(err)
	}
	x, y := []float64{1, 0, -1, 0.5}, []float64{1, 1, 0, 1} // four records
	records, err := curator.Seal(curator.Records{X: x, Features: 1, Y: y, Radius: 1}, budget)
	if err != nil {
		log.Fatal(err)
	}
	target, err := targets.New(targets.RegressionConfig{Features: 1, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		log.Fatal(err)
	}
	model, err := models.Custom("mine", target)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := chains.Choose(chains.Settings{Iterations: 100, Chains: 2, Start: "prior-mean"},
		chains.ProblemOn(model, records))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("every step releases", plan.Released)
	session, err := plan.Open(records, 1) // charges all of it, or nothing
	if err != nil {
		log.Fatal(err)
	}
	opened, err := session.Chains(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	state, err := opened[0].Kernel.Init(opened[0].Start)
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range kernels.Steps(opened[0].Kernel, state, kernels.Stream(1, 0)) {
		if err != nil || state.Iteration == 10 {
			fmt.Println(state.Iteration, "steps,", opened[0].Kernel.Left(), "left", err)
			break
		}
	}
	// Output:
	// every step releases one accept/reject bit (exact logistic test; Poisson batches of rate 1)
	// 10 steps, 90 left <nil>
}
