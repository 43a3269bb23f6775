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

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// medianRegression is y = x·θ + e with Laplace errors of scale 1.
type medianRegression struct{ features int }

var _ targets.RatioCertificate = medianRegression{}

func (m medianRegression) Dim() int           { return m.features }
func (m medianRegression) Shape() (int, bool) { return m.features, true }

// LogPrior is that of independent normals of standard deviation 10.
func (m medianRegression) LogPrior(theta []float64) float64 {
	return priors.Gaussian{SD: 10}.LogDensity(theta)
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

// RatioBound: |y − x·θ| changes by at most |x·(θ′ − θ)| ≤ ‖x‖·‖θ′ − θ‖, rounded outwards.
func (m medianRegression) RatioBound(theta, next []float64, radius float64) float64 {
	return radius * floats.Distance(next, theta, 2) * (1 + 1e-12)
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
	table := data.StandardShape(n, 1).Simulate(rng, nil, func(row []float64) float64 {
		if rng.IntN(10) == 0 {
			return 1000 // which moves a mean, but not a median
		}
		return row[0] - 2*row[1] + 0.1*rng.NormFloat64()
	})
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	if err != nil {
		return err
	}
	model, err := models.Custom("median", medianRegression{2}, "intercept", "slope")
	if err != nil {
		return err
	}
	settings := chains.Settings{Iterations: iterations, Temperature: 0.1, Proposal: "truncated:5", Start: "prior-mean"}
	result, err := chains.Run(ctx, table, model, settings, budget)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%v\n%v", result.Summary(), result.Certificate)
	return err
}
