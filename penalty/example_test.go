package penalty_test

import (
	"cmp"
	"context"
	"fmt"
	"log"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/penalty"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// A guided walk whose decisions are released.
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
	kernel, err := penalty.New(penalty.Config{
		Target: model, Proposal: curator.Proposal{Scale: 0.003, OneComponent: true}, Guided: true, Noise: penalty.Fixed(2),
		Iterations: 2000,
	}, records)
	if err != nil {
		log.Fatal(err)
	}
	draws := kernels.NewMemory(1)
	err = kernels.Run(context.Background(), []kernels.Chain{{Kernel: kernel, Start: make([]float64, t.Features())}},
		kernels.Options{Iterations: 2000, Thin: 10, Sink: draws})
	if err != nil {
		log.Fatal(err)
	}
	spent, err := budget.Spent()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d draws, unconditional ε = %.2f at δ = %v under %v\n", len(draws.Draws(0)), spent.Epsilon, spent.Delta,
		spent.Adjacency)
	// Output: 200 draws, unconditional ε = 0.58 at δ = 1e-06 under substitute
}

// The two prices of the same chain side by side, for 1000 steps in which a
// record contributes at most 0.01.
func ExampleCost() {
	target, err := targets.New(targets.MixtureConfig{Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		log.Fatal(err)
	}
	facts := curator.Facts{Records: 1_000_000, Features: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	for _, variance := range []float64{0.25, 0.5, 1, 2, 4, 9} {
		fmt.Printf("σ² = %-4v", variance)
		for _, accounting := range []string{"", "published"} {
			event, err := penalty.Cost(penalty.Config{Target: target, Proposal: curator.Proposal{Scale: 0.1}, Clip: 0.01,
				Noise: penalty.Fixed(variance), Accounting: accounting}, facts)
			if err != nil {
				log.Fatal(err)
			}
			total, err := event.Times(1000)
			if err != nil {
				log.Fatal(err)
			}
			g, err := total.Epsilon(1e-6)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("  %s ε = %.3f", cmp.Or(accounting, "bit"), g.Epsilon)
		}
		fmt.Println()
	}
	// Output:
	// σ² = 0.25  bit ε = 3.304  published ε = 6.399
	// σ² = 0.5   bit ε = 2.548  published ε = 4.306
	// σ² = 1     bit ε = 1.934  published ε = 2.922
	// σ² = 2     bit ε = 1.441  published ε = 1.995
	// σ² = 4     bit ε = 1.053  published ε = 1.368
	// σ² = 9     bit ε = 0.713  published ε = 0.883
}
