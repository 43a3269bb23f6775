package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/erm"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

func init() {
	figures["anchored"] = figure{
		"anchored chains: coverage, error, effective draws, clipped records and the price of bits", anchoredCells}
}

const anchoredDelta = 1e-5

// anchoredCell is one design of simulated logistic regressions.
type anchoredCell struct {
	n, d    int
	epsilon float64
}

// anchoredCells runs every aim over a grid of designs, with truths drawn from the prior
// N(0, 3²), through the library's own mechanisms.
func anchoredCells(ctx context.Context, s settings) error {
	cells := []anchoredCell{
		{200, 3, 1}, {2000, 3, 0.2}, {2000, 3, 1}, {2000, 3, 5}, {10_000, 6, 1}, {10_000, 6, 5}, {30_000, 6, 1},
		{100_000, 6, 1},
	}
	repeats := s.count(12)
	out := newTable("n", "d", "epsilon", "aim", "sets", "coverage", "rmse", "not_private", "least_ess", "of", "most_rhat",
		"kept", "clip", "clipped", "bits_share", "seconds")
	for _, cell := range cells {
		for _, aim := range []anchors.Aim{anchors.Remainder, anchors.Perturbed, anchors.Score} {
			if err := anchoredCellOf(ctx, s, cell, aim, repeats, out); err != nil {
				return fmt.Errorf("%+v, %v: %w", cell, aim, err)
			}
		}
	}
	return s.save("anchored", out, 0)
}

// anchoredRun is one simulated data set with its draws.
type anchoredRun struct {
	x, y, truth []float64
	release     anchors.Release
	chains      [][][]float64
	config      anchors.Config
}

func anchoredCellOf(ctx context.Context, s settings, cell anchoredCell, aim anchors.Aim, repeats int,
	out *table) error {
	tally, plain, clipped := newTally(), []float64{}, 0.0
	kept, began := 0.0, time.Now()
	var share, clip float64
	for k := range repeats {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, model, err := anchoredOnce(ctx, cell, aim, 2, s.seed*1000+uint64(k))
		if err != nil {
			return err
		}
		tally.add(r.chains, r.truth)
		mode, err := modeOf(r)
		if err != nil {
			return err
		}
		plain = append(plain, rootMeanSquare(mode, r.truth))
		kept += r.release.Kept / float64(repeats)
		if aim.Bits() {
			clipped += clippedShare(r, model) / float64(repeats)
			if share, err = bitsShare(r.config, cell); err != nil {
				return err
			}
			clip = r.config.Clip
		}
	}
	slices.Sort(tally.errors)
	slices.Sort(plain)
	out.add(cell.n, cell.d, cell.epsilon, aim, repeats, tally.held/tally.count, tally.errors[len(plain)/2],
		plain[len(plain)/2], tally.ess, anchoredSteps*anchoredChains, tally.rhat,
		kept, clip, clipped, share, time.Since(began).Seconds()/float64(repeats))
	row := out.rows[len(out.rows)-1]
	_, err := fmt.Fprintln(s.log, row)
	return err
}

const anchoredSteps, anchoredChains = 500, 4

// anchoredOnce simulates records as docs/reproduction.md does, and samples.
func anchoredOnce(ctx context.Context, cell anchoredCell, aim anchors.Aim, order int, seed uint64) (anchoredRun,
	*targets.Regression, error) {
	records, truth, model, err := cell.simulate(seed)
	r := anchoredRun{x: records.X, y: records.Y, truth: truth}
	if err != nil {
		return r, nil, err
	}
	sealed, err := seal(records, cell.epsilon, anchoredDelta, curator.InsecureSeed(seed))
	if err != nil {
		return r, nil, err
	}
	r.config, err = anchors.Afford(anchors.Config{Target: model, Aim: aim, Order: order, Iterations: anchoredSteps,
		Chains: anchoredChains}, sealed.Facts(), cell.epsilon, anchoredDelta)
	if err != nil {
		return r, nil, err
	}
	prepared, requests, err := anchors.Prepare(r.config, sealed.Facts())
	if err != nil {
		return r, nil, err
	}
	if err := sealed.Grant(requests...); err != nil {
		return r, nil, err
	}
	chains, release, err := prepared.Begin(ctx, seed)
	if err != nil {
		return r, nil, err
	}
	r.release = release
	memory := kernels.NewMemory(anchoredChains)
	if err := kernels.Run(ctx, chains, kernels.Options{Iterations: anchoredSteps, Seed: seed, Sink: memory}); err != nil {
		return r, nil, err
	}
	for c := range anchoredChains {
		// A tenth is left out: starts are overdispersed.
		r.chains = append(r.chains, memory.Draws(c)[anchoredSteps/10:])
	}
	return r, model, nil
}

// simulate draws a truth from the prior N(0, 3²), and records.
func (c anchoredCell) simulate(seed uint64) (curator.Records, []float64, *targets.Regression, error) {
	rng := rand.New(rand.NewPCG(seed, 77))
	truth := make([]float64, c.d)
	for j := range truth {
		truth[j] = 3 * rng.NormFloat64()
	}
	x, y := simulatedLogistic(rng, c.n, truth)
	model, err := targets.New(targets.RegressionConfig{Features: c.d, Prior: priors.Gaussian{SD: 3}})
	return curator.Records{X: x, Features: c.d, Y: y, Radius: 1}, truth, model, err
}

// simulatedLogistic draws an intercept and normal features, in the unit ball.
func simulatedLogistic(rng *rand.Rand, n int, truth []float64) (x, y []float64) {
	d := len(truth)
	spread := math.Sqrt(float64(d))
	row := make([]float64, d)
	for range n {
		norm, eta := 0.0, 0.0
		for j := range row {
			row[j] = 1 / spread
			if j > 0 {
				row[j] *= rng.NormFloat64()
			}
			norm += row[j] * row[j]
		}
		for j := range row {
			row[j] /= max(1, math.Sqrt(norm))
			eta += row[j] * truth[j]
		}
		label := 0.0
		if rng.Float64() < 1/(1+math.Exp(-eta)) {
			label = 1
		}
		x, y = append(x, row...), append(y, label)
	}
	return x, y
}

func rootMeanSquare(a, b []float64) float64 {
	return floats.Distance(a, b, 2) / math.Sqrt(float64(len(a)))
}

// modeOf is the mode of the posterior that is not private.
func modeOf(r anchoredRun) ([]float64, error) {
	f := erm.Objective{Shape: erm.Shape{Records: len(r.y), Features: len(r.truth), Radius: 1, Ridge: 1.0 / 9},
		X: r.x, Y: r.y}
	return f.Minimise(context.Background())
}

// clippedShare is the share of records whose part of a move between two draws is
// beyond the clip. It looks at the records, which are simulated.
func clippedShare(r anchoredRun, model *targets.Regression) float64 {
	loss, err := model.Convex(targets.Cap{})
	if err != nil {
		return math.NaN()
	}
	remainder, err := targets.New(targets.RemainderConfig{Target: model, Order: 2, Loss: loss})
	if err != nil || remainder.Anchor(r.release.Statistics.Anchor, r.release.Kept, model.LogPrior) != nil {
		return math.NaN()
	}
	parts, over, total := make([]float64, len(r.y)), 0.0, 0.0
	rows := targets.Rows{X: r.x, P: len(r.truth), Y: r.y}
	chain := r.chains[0]
	for i := 0; i+7 < len(chain); i += 45 {
		remainder.LossRatio(parts, chain[i], chain[i+7], rows)
		for _, v := range parts {
			if total++; math.Abs(v) > r.config.Clip {
				over++
			}
		}
	}
	return over / total
}

// bitsShare is the part of ρ that the bits cost, of what anchor and bits do.
func bitsShare(c anchors.Config, cell anchoredCell) (float64, error) {
	f := curator.Facts{Records: int64(cell.n), Features: cell.d, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	all, err := anchors.Cost(c, f)
	if err != nil {
		return 0, err
	}
	bit, err := anchors.StepCost(c, f)
	if err != nil {
		return 0, err
	}
	const order = 16
	steps := bit.RDP(order) * float64(c.Iterations*anchoredChains)
	if all.RDP(order) == 0 {
		return 0, errors.New("an anchor that costs nothing")
	}
	return steps / all.RDP(order), nil
}
