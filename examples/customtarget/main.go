// Command customtarget fits a model that the library does not have: median
// regression, whose loss |y − x·θ| is that of Laplace errors of scale 1. A target is a
// prior and a loss per record, about twenty lines. One more method, RatioBound,
// claims how much a record can matter to a move; the curator clips to it, so a
// wrong claim could bias the chain but not leak a record.
//
//	go run ./examples/customtarget
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// medianRegression is y = x·θ + e with Laplace errors of scale 1.
type medianRegression struct{ features int }

var _ targets.RatioCertificate = medianRegression{}

func (m medianRegression) Dim() int           { return m.features }
func (m medianRegression) Shape() (int, bool) { return m.features, true }

// LogPrior is that of independent normals of standard deviation 10.
func (m medianRegression) LogPrior(theta []float64) float64 {
	return targets.Gaussian{SD: 10}.LogDensity(theta)
}

// Loss is |y − x·θ|.
func (m medianRegression) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		residual := rows.Y[i]
		for j, x := range rows.Row(i) {
			residual -= x * theta[j]
		}
		dst[i] = math.Abs(residual)
	}
}

// RatioBound: |y − x·θ| changes by at most |x·(θ′ − θ)| ≤ ‖x‖·‖θ′ − θ‖.
func (m medianRegression) RatioBound(theta, next []float64, radius float64) float64 {
	sum := 0.0
	for j := range theta {
		sum += (next[j] - theta[j]) * (next[j] - theta[j])
	}
	return radius * math.Sqrt(sum) * (1 + 1e-12) // rounded outwards
}

func main() {
	if err := run(context.Background(), os.Stdout, 20_000, 20_000); err != nil {
		log.Fatal(err)
	}
}

// run draws n records with an intercept of 1, a slope of −2 and a tenth of
// outliers, and a chain on them.
func run(ctx context.Context, out io.Writer, n int, iterations int64) error {
	rng := rand.New(rand.NewPCG(1, 2))
	records := curator.Records{Features: 2, Radius: 1} // rows are cut to this length
	for i := range n {
		x := rng.Float64()*1.4 - 0.7
		y := 0.7*1 - 2*x + 0.1*rng.NormFloat64()
		if i%10 == 0 {
			y = 1000 // which moves a mean, but not a median
		}
		records.X, records.Y = append(records.X, 0.7, x), append(records.Y, y)
	}
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	if err != nil {
		return err
	}
	sealed, err := curator.Seal(records, budget)
	if err != nil {
		return err
	}
	recipe, err := chains.Choose(
		chains.Settings{Kernel: "barker", Iterations: iterations, Temperature: 0.1, Proposal: "truncated:5"},
		chains.Problem{Target: medianRegression{2}, Facts: sealed.Facts(), Epsilon: 1, Delta: 1e-6})
	if err != nil {
		return err
	}
	opened, err := recipe.Open(sealed) // charges the whole chain, and reads nothing
	if err != nil {
		return err
	}
	draws := kernels.NewMemory(1)
	chains := []kernels.Chain{{Kernel: opened[0], Start: []float64{0, 0}}}
	if err := kernels.Run(ctx, chains, kernels.Options{Iterations: iterations, Thin: max(1, iterations/2000), Sink: draws}); err != nil {
		return err
	}
	spent, err := budget.Spent()
	if err != nil {
		return err
	}
	kept := draws.Draws(0)
	fmt.Fprint(out, diag.SummarizeAll([]string{"intercept", "slope"}, [][][]float64{kept[len(kept)/2:]}))
	_, err = fmt.Fprintf(out, "every step released %s\nunconditional ε = %.3f at δ = %g (%v)\n", recipe.Released, spent.Epsilon, spent.Delta, spent.Adjacency)
	return err
}
