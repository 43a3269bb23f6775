package barker_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The quick start of the README: a private chain in one screen.
func Example() {
	sim, err := data.Builtin("builtin:logistic?n=50000") // or data.Load with your schema
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
	kernel, err := barker.New(barker.Config{ // charges every step before the first
		Target: model, Proposal: curator.Proposal{Scale: 6e-4}, Iterations: 100_000, Batch: curator.Batch{Rate: 0.01},
	}, records)
	if err != nil {
		log.Fatal(err) // the budget does not cover it, and nothing was read
	}
	draws := kernels.NewMemory(1)
	err = kernels.Run(context.Background(), []kernels.Chain{{Kernel: kernel, Start: make([]float64, t.Features())}},
		kernels.Options{Iterations: 100_000, Thin: 50, Sink: draws})
	if err != nil {
		log.Fatal(err)
	}
	spent, err := budget.Spent()
	if err != nil {
		log.Fatal(err)
	}
	_ = diag.SummarizeAll([]string{"b0", "b1", "b2", "b3"}, [][][]float64{draws.Draws(0)[1000:]})
	fmt.Printf("%d draws, unconditional ε = %.2f at δ = %v under %v\n", len(draws.Draws(0)), spent.Epsilon, spent.Delta,
		spent.Adjacency)
	// Output: 2000 draws, unconditional ε = 0.85 at δ = 1e-06 under substitute
}

// The three ways to price the published experiment (N = 10⁶, b = 1000, 20 000
// steps, contributions clipped at 1/√b), side by side, with the conversion that
// publications use and with the better one.
func ExampleCost() {
	const n, b, steps, delta = 1_000_000, 1000, 20_000, 1e-6
	target, err := targets.New(targets.MixtureConfig{Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		log.Fatal(err)
	}
	facts := curator.Facts{Records: n, Features: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	for _, c := range []struct {
		name       string
		test       curator.Test
		batch      curator.Batch
		accounting string
	}{
		{"published (Thm 2, Cor. 2)", curator.Test{Corrected: 2}, curator.Batch{Size: b}, "published"},
		{"published, tightened", curator.Test{Corrected: 2}, curator.Batch{Size: b}, "tightened"},
		{"bit, corrected C=2, fixed batch", curator.Test{Corrected: 2}, curator.Batch{Size: b}, ""},
		{"bit, corrected C=1, fixed batch", curator.Test{Corrected: 1}, curator.Batch{Size: b}, ""},
		{"bit, logistic, fixed batch", curator.Test{}, curator.Batch{Size: b}, ""},
		{"bit, logistic, Poisson batch", curator.Test{}, curator.Batch{Rate: float64(b) / n}, ""},
	} {
		event, err := barker.Cost(barker.Config{
			Target: target, Proposal: curator.Proposal{Scale: 0.1}, Clip: 0.999999999 * math.Sqrt(b) / n, Test: c.test,
			Batch:      c.batch,
			Accounting: c.accounting,
		}, facts)
		if err != nil {
			log.Fatal(err)
		}
		total, err := event.Times(steps)
		if err != nil {
			log.Fatal(err)
		}
		classic, err := total.ClassicEpsilon(delta)
		if err != nil {
			log.Fatal(err)
		}
		best, err := total.Epsilon(delta)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-32s classic ε %.4f, best ε %.4f\n", c.name, classic.Epsilon, best.Epsilon)
	}
	// Output:
	// published (Thm 2, Cor. 2)        classic ε 1.0004, best ε 0.8368
	// published, tightened             classic ε 0.2390, best ε 0.1758
	// bit, corrected C=2, fixed batch  classic ε 0.0354, best ε 0.0242
	// bit, corrected C=1, fixed batch  classic ε 0.0285, best ε 0.0193
	// bit, logistic, fixed batch       classic ε 0.0235, best ε 0.0157
	// bit, logistic, Poisson batch     classic ε 0.0235, best ε 0.0156
}
