package tunamh_test

import (
	"fmt"
	"log"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
	"github.com/dpmcmc/dpmcmc/tunamh"
)

// What 20 000 steps of exact minibatches cost, beside Barker's test on the full
// data with the same moves: little more where a tenth of the records are read.
func ExampleCost() {
	target, err := targets.New(targets.RegressionConfig{Features: 4, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		log.Fatal(err)
	}
	facts := curator.Facts{Records: 100_000, Features: 4, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	moves := curator.Proposal{Scale: 0.001}
	print := func(name string, event accountant.Event, err error) {
		if err != nil {
			log.Fatal(err)
		}
		total, err := event.Times(20_000)
		if err != nil {
			log.Fatal(err)
		}
		g, err := total.Epsilon(1e-6)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-20s ε = %.3f\n", name, g.Epsilon)
	}
	full, err := barker.Cost(barker.Config{Target: target, Proposal: moves}, facts)
	print("Barker, full data", full, err)
	for _, rate := range []float64{0.02, 0.1, 0.5} {
		event, err := tunamh.Cost(tunamh.Config{Target: target, Proposal: moves, Rate: rate}, facts)
		print(fmt.Sprintf("rate %v", rate), event, err)
	}
	// Output:
	// Barker, full data    ε = 0.622
	// rate 0.02            ε = 0.697
	// rate 0.1             ε = 0.632
	// rate 0.5             ε = 0.623
}

// A chain that reads a tenth of the records in each step, and is exact.
func Example() {
	sim, err := data.Builtin("builtin:logistic?n=20000")
	if err != nil {
		log.Fatal(err)
	}
	t := sim.Table
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	if err != nil {
		log.Fatal(err)
	}
	records, err := curator.Seal(curator.Records{X: t.X, Features: t.Features(), Y: t.Y, Radius: t.Radius}, budget)
	if err != nil {
		log.Fatal(err)
	}
	model, err := targets.New(targets.RegressionConfig{Features: t.Features(), Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		log.Fatal(err)
	}
	kernel, err := tunamh.New(tunamh.Config{Target: model, Proposal: curator.Proposal{Scale: 0.003}, Rate: 0.1,
		Iterations: 1000}, records)
	if err != nil {
		log.Fatal(err)
	}
	state, err := kernel.Init(make([]float64, t.Features()))
	if err != nil {
		log.Fatal(err)
	}
	rng := kernels.Stream(1, 0)
	for kernel.Left() > 0 {
		if _, err := kernel.Step(rng, state); err != nil {
			log.Fatal(err)
		}
	}
	spent, err := budget.Spent()
	if err != nil {
		log.Fatal(err)
	}
	moved := 0.0
	for _, v := range state.Theta {
		moved = math.Hypot(moved, v)
	}
	fmt.Printf("%d steps, moved: %v, unconditional ε = %.2f at δ = %v under %v\n", state.Iteration, moved > 0,
		spent.Epsilon, spent.Delta, spent.Adjacency)
	// Output: 1000 steps, moved: true, unconditional ε = 0.43 at δ = 1e-06 under substitute
}
