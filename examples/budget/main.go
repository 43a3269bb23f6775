// Command budget plans a study before there are any data: how far a step of a chain
// can go, how many steps a budget buys, what running the chain twice costs, and what
// is left for a second analysis. Everything it uses is public, so it is free.
//
//	go run ./examples/budget
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/planning"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

func main() {
	if err := run(os.Stdout, 100_000, 50_000); err != nil {
		log.Fatal(err)
	}
}

// run plans for n records and a chain of the given number of steps.
func run(out io.Writer, n, steps int64) error {
	const epsilon, delta, features = 1.0, 1e-6, 5
	model, err := targets.New(targets.RegressionConfig{Features: features, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		return err
	}
	facts := curator.Facts{Records: n, Features: features, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	step := func(scale float64) (accountant.Event, error) {
		return barker.Cost(barker.Config{
			Target: model, Proposal: curator.Proposal{Scale: scale}, Iterations: steps, Batch: curator.Batch{Rate: 0.01},
			Temperature: 0.1,
		}, facts)
	}
	chain := func(scale float64) (accountant.Event, error) {
		e, err := step(scale)
		if err != nil {
			return e, err
		}
		return e.Times(steps)
	}
	longest, err := planning.Solve(planning.Parameter[float64]{Name: "step", Event: chain, Low: 1e-6, High: 1},
		planning.Budget{Epsilon: epsilon, Delta: delta})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d steps at ε = %g, δ = %g: moves of standard deviation %.4g at most\n", steps, epsilon, delta,
		longest.Value)

	half, err := step(longest.Value / 2)
	if err != nil {
		return err
	}
	count, err := half.MaxCount(epsilon, delta)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "with moves half as long: %d steps, so the walk gets as far\n", count)

	twice, err := longest.Event.Times(2)
	if err != nil {
		return err
	}
	again, err := twice.Epsilon(delta)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the same chain, run twice: ε = %.3f, not %g\n", again.Epsilon, 2*epsilon)
	return second(out, half, steps, 2*epsilon, delta)
}

// second is what a budget still covers after a first analysis.
func second(out io.Writer, step accountant.Event, steps int64, epsilon, delta float64) error {
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: epsilon, Delta: delta,
		Adjacency: accountant.Substitute})
	if err != nil {
		return err
	}
	if err := budget.Charge(step, steps); err != nil {
		return err
	}
	left, err := budget.Remaining(step)
	if err != nil {
		return err
	}
	spent, err := budget.Spent()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "after %d such steps, ε = %.3f of %g is spent, and %d more are covered\n", steps,
		spent.Epsilon, epsilon, left)
	return err
}
