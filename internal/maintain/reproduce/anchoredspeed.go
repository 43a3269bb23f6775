package main

import (
	"context"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/erm"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/targets"
)

func init() {
	figures["anchored-speed"] = figure{
		"effective draws a second of processor time: anchored chains and NUTS without privacy, logistic regression, d = 10",
		anchoredSpeed}
}

// anchoredSpeed runs both on the same records. NUTS starts at the mode, and its warm-up is
// not counted. Of anchored chains the time of the release is apart.
func anchoredSpeed(ctx context.Context, s settings) error {
	const d, steps = 10, 4000
	tab := newTable("records", "sampler", "release, s", "ESS", "ESS a second", "ms an effective draw")
	for _, n := range []int{100_000, 1_000_000, 10_000_000} {
		truth := make([]float64, d)
		for j := range truth {
			truth[j] = 1 - 2*float64(j%2)
		}
		x, y := simulatedLogistic(s.stream("anchored-speed", n), n, truth)
		model, err := targets.NewLogistic(targets.RegressionConfig{Features: d, Prior: targets.Gaussian{SD: 3}})
		if err != nil {
			return err
		}
		release, chain, seconds, err := timedAnchored(ctx, model, curator.Records{X: x, Features: d, Y: y, Radius: 1}, steps,
			s.seed)
		if err != nil {
			return err
		}
		least := leastESS(chain, d)
		tab.add(n, "anchored, ε = 1, remainder", release, least, least/seconds, 1000*seconds/least)
		fmt.Fprintln(s.log, tab.rows[len(tab.rows)-1])
		if n > 1_000_000 {
			continue // a draw of NUTS takes seconds
		}
		chain, seconds, err = timedNUTS(ctx, model, targets.Rows{X: x, P: d, Y: y}, s.seed)
		if err != nil {
			return err
		}
		least = leastESS(chain, d)
		tab.add(n, "NUTS, not private", 0.0, least, least/seconds, 1000*seconds/least)
		fmt.Fprintln(s.log, tab.rows[len(tab.rows)-1])
	}
	return s.save("anchored-speed", tab, 2)
}

// leastESS is the least bulk effective sample size over coordinates of one chain.
func leastESS(chain [][]float64, d int) float64 {
	least := math.Inf(1)
	for j := range d {
		column := make([]float64, len(chain))
		for i, theta := range chain {
			column[i] = theta[j]
		}
		least = min(least, diag.ESSBulk([][]float64{column}))
	}
	return least
}

// timedAnchored is one chain of so many steps, with the processor seconds of its release
// and of its steps.
func timedAnchored(ctx context.Context, model *targets.Regression, r curator.Records, steps int64,
	seed uint64) (release float64, chain [][]float64, seconds float64, err error) {
	const epsilon, delta = 1, 1e-6
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: epsilon, Delta: delta,
		Adjacency: accountant.Substitute})
	if err != nil {
		return 0, nil, 0, err
	}
	sealed, err := curator.Seal(r, budget) // the operating system's randomness, as in earnest
	if err != nil {
		return 0, nil, 0, err
	}
	c, err := anchors.Afford(anchors.Config{Target: model, Aim: anchors.Remainder, Chains: 1, Iterations: steps},
		sealed.Facts(), epsilon, delta)
	if err != nil {
		return 0, nil, 0, err
	}
	prepared, requests, err := anchors.Prepare(c, sealed.Facts())
	if err != nil {
		return 0, nil, 0, err
	}
	if err := sealed.Grant(requests...); err != nil {
		return 0, nil, 0, err
	}
	began := processorSeconds()
	chains, _, err := prepared.Begin(ctx, seed)
	if err != nil {
		return 0, nil, 0, err
	}
	release = processorSeconds() - began
	memory := kernels.NewMemory(1)
	began = processorSeconds()
	err = kernels.Run(ctx, chains, kernels.Options{Iterations: steps, Seed: seed, Sink: memory})
	seconds = processorSeconds() - began
	return release, memory.Draws(0)[steps/10:], seconds, err
}

// timedNUTS is one chain of NUTS from the mode and the processor seconds of its draws.
func timedNUTS(ctx context.Context, model *targets.Regression, rows targets.Rows, seed uint64) ([][]float64, float64,
	error) {
	mode, err := erm.Objective{Shape: erm.Shape{Records: rows.Len(), Features: rows.P, Radius: 1, Ridge: 1.0 / 9},
		X: rows.X, Y: rows.Y}.Minimise(context.Background())
	if err != nil {
		return nil, 0, err
	}
	const warmup, draws = 100, 60
	began := processorSeconds()
	chains, err := nuts.Sample(ctx, func() nuts.LogDensity { return nuts.Posterior(model, rows, 1) },
		nuts.Config{Chains: 1, Warmup: warmup, Draws: draws, Metric: nuts.Dense, Init: [][]float64{mode}, Seed: seed,
			Workers: 1})
	if err != nil {
		return nil, 0, err
	}
	all, leapfrogs := processorSeconds()-began, 0
	for _, step := range chains[0].Stats {
		leapfrogs += step.Leapfrogs
	}
	return chains[0].Draws, all * float64(leapfrogs) / float64(chains[0].Gradients), nil
}
