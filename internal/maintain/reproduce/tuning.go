package main

import (
	"context"
	"fmt"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/tune"
)

func init() {
	figures["tuning"] = figure{"how far the default settings of each kernel are from the best that tune finds, over " +
		"public facts", tuning}
}

// tuningWork is the looks at simulated records that a kernel's search may spend.
const tuningWork = 3e7

// tuningKernels are those whose defaults are compared. Prices of penalty bits and of
// adjusted dynamics are slow to search.
var tuningKernels = []string{"barker", "tunamh", "barker-dynamics", "dpsgld", "sgnht", "penalty-ratio", "dphmc"}

// tuning compares the defaults of package chains with the best that tune finds, both
// measured again by longer probes.
func tuning(ctx context.Context, s settings) error {
	t := newTable("N", "d", "epsilon", "kernel", "default ESS", "best ESS", "best/default", "best settings")
	for _, n := range []int64{1_000, 10_000} {
		for _, d := range []int{2, 6, 20} {
			for _, epsilon := range []float64{0.3, 1, 3} {
				if err := tuneCell(ctx, s, t, n, d, epsilon); err != nil {
					return err
				}
			}
		}
	}
	return s.save("tuning", t, 1)
}

// tuneCell adds the rows of one table's shape and one budget.
func tuneCell(ctx context.Context, s settings, t *table, n int64, d int, epsilon float64) error {
	shape, err := models.StandardShape("logistic", int(n), d)
	if err != nil {
		return err
	}
	model, err := models.New("logistic", shape, models.Options{PriorSD: 3})
	if err != nil {
		return err
	}
	result, err := tune.Run(ctx, tune.Config{
		Models: []*models.Model{model}, Adjacency: accountant.Substitute, Kernels: tuningKernels,
		Epsilon: epsilon, Delta: 1e-6, CoefficientSD: 1, Work: int64(2 * tuningWork * float64(len(tuningKernels))),
		Seed:  s.seed,
		Fixed: chains.Settings{Start: "prior-mean"}, SearchOnly: true,
	})
	if err != nil {
		return err
	}
	for _, kernel := range tuningKernels {
		best, defaults := tune.Candidate{}, tune.Candidate{}
		for _, c := range result.Candidates {
			if c.Settings.Kernel != kernel {
				continue
			}
			if c.Default {
				defaults = c
			}
			if best.Parameters == nil || c.Score > best.Score {
				best = c
			}
		}
		if defaults.Parameters == nil {
			continue
		}
		about := "the defaults"
		if !best.Default {
			about = tuned(best.Settings)
		}
		t.add(n, d, epsilon, kernel, defaults.ESS(), best.ESS(), best.ESS()/defaults.ESS(), about)
		fmt.Fprintf(s.log, "%v\n", t.rows[len(t.rows)-1])
	}
	return nil
}

// tuned says what settings a kernel was tuned to.
func tuned(s chains.Settings) string {
	text := fmt.Sprintf("T = %d, step %.2g", s.Iterations, s.Step)
	switch {
	case s.FullData:
	case s.Batch != 0:
		text += fmt.Sprintf(", batch %d", s.Batch)
	case s.Rate != 0:
		text += fmt.Sprintf(", rate %.2g", s.Rate)
	}
	if s.Noise != 0 {
		text += fmt.Sprintf(", noise %.3g", s.Noise)
	}
	if s.Leapfrog != 0 {
		text += fmt.Sprintf(", leapfrog %d, max-move %.2g", s.Leapfrog, s.MaxMove)
	}
	if s.Friction != 0 {
		text += fmt.Sprintf(", friction %.3g", s.Friction)
	}
	return text
}
