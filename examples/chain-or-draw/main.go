// Command chain-or-draw spends one budget in two ways on the same records: on an
// unconditional chain, whose every step is a private release, and on one draw from
// the β-divergence posterior (Jewson et al. 2023), which is private if it is exact.
//
//	go run ./examples/chain-or-draw
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/ops/posterior"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The budget of each.
const epsilon, delta = 1.0, 1e-5

func main() {
	if err := run(context.Background(), os.Stdout, 5_000, 20_000); err != nil {
		log.Fatal(err)
	}
}

// run compares the two on a built-in table of n records.
func run(ctx context.Context, out io.Writer, n int, iterations int64) error {
	sim, err := data.Builtin(fmt.Sprintf("builtin:logistic?n=%d", n))
	if err != nil {
		return err
	}
	t := sim.Table
	fmt.Fprintf(out, "%-12s %.2f\n", "truth", sim.Truth)
	if err := chain(ctx, out, t, iterations); err != nil {
		return err
	}
	return draw(out, t)
}

// chain spends the budget on a private chain and prints its mean.
func chain(ctx context.Context, out io.Writer, t *data.Table, iterations int64) error {
	model, err := models.New("logistic", &t.Shape, models.Options{})
	if err != nil {
		return err
	}
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: epsilon, Delta: delta,
		Adjacency: accountant.Substitute})
	if err != nil {
		return err
	}
	settings := chains.Settings{Kernel: "barker", Iterations: iterations, Temperature: 0.1}
	result, err := chains.Run(ctx, t, model, settings, budget)
	if err != nil {
		return err
	}
	mean := make([]float64, len(result.Names))
	for _, theta := range result.Draws[0] {
		for j, v := range theta {
			mean[j] += v / float64(len(result.Draws[0]))
		}
	}
	c := result.Certificate
	_, err = fmt.Fprintf(out, "%-12s %.2f  mean of %d draws; ε = %.3f at δ = %v, %s\n", "barker", mean,
		len(result.Draws[0]), c.Epsilon, c.Delta, c.Guarantee)
	return err
}

// draw spends it on one draw of the β posterior, with β solved for ε.
func draw(out io.Writer, t *data.Table) error {
	beta, err := posterior.SolveBeta(epsilon, posterior.Mass())
	if err != nil {
		return err
	}
	model, err := models.New("logistic", &t.Shape, models.Options{Loss: "beta", Beta: beta})
	if err != nil {
		return err
	}
	m, err := posterior.NewBounded(posterior.Config{Target: model.Target.(targets.GradTarget), Epsilon: epsilon})
	if err != nil {
		return err
	}
	noise, err := ops.NewSource()
	if err != nil {
		return err
	}
	draws, err := m.Release(noise, targets.Rows{X: t.X, P: t.Features(), Y: t.Y}, 1, posterior.NUTS(500, 1))
	if err != nil {
		return err
	}
	cost, err := m.Cost().At(delta)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%-12s %.2f  one draw; ε = %.3f at δ = %v, conditional on exact sampling\n", "beta-ops",
		draws[0], cost.Epsilon, delta)
	return err
}
