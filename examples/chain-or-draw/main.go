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
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

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
	model, err := models.New("logistic", &t.Shape, models.Options{})
	if err != nil {
		return err
	}
	problem := methods.Problem{Model: model, Facts: chains.Facts(&t.Shape, accountant.Substitute)}
	fmt.Fprintf(out, "%-12s %.2f\n", "truth", sim.Truth)
	settings := map[string]map[string]any{"barker": {"iterations": iterations, "temperature": 0.1}, "beta-ops": nil}
	for _, name := range []string{"barker", "beta-ops"} {
		method, err := methods.ByName(name)
		if err != nil {
			return err
		}
		mechanism, err := method.New(problem, methods.Budget{Epsilon: 1, Delta: 1e-5}, settings[name])
		if err != nil {
			return err
		}
		released, err := mechanism.Run(ctx, targets.Rows{X: t.X, P: t.Features(), Y: t.Y}, methods.Noise{}) // the operating system's noise
		if err != nil {
			return err
		}
		cost, err := mechanism.Cost.Epsilon(1e-5)
		if err != nil {
			return err
		}
		chain := released.Chains[0]
		fmt.Fprintf(out, "%-12s %.2f  mean of %d draws; ε = %.3f at δ = 1e-05, %s\n", name, metrics.Mean(chain), len(chain), cost.Epsilon, mechanism.Kind)
	}
	return nil
}
