package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/planning"
)

func init() {
	figures["banana"] = figure{"every kernel on the published banana at ε = 2, 6, 15 (Räisä et al. 2021, §5)",
		bananaFigure}
}

const (
	bananaN      = 100_000
	bananaDelta  = 1e-6
	bananaChains = 4
	bananaExact  = 1000 // exact draws that chains are compared with
)

var bananaEpsilons = []float64{2, 6, 15}

// bananaProblem is one simulated data set with its exact posterior.
type bananaProblem struct {
	records curator.Records
	exact   [][]float64 // draws of θ
	spread  float64     // mean posterior standard deviation of θ
	rng     *rand.Rand
}

// newBananaProblem simulates records at the published θ = (0, 3).
func newBananaProblem(rng *rand.Rand) bananaProblem {
	p := bananaProblem{records: curator.Records{X: make([]float64, 2*bananaN), Features: 2}, rng: rng}
	truth := bananaPosterior{mean: [2]float64{0, 3}, sd: [2]float64{1 / sqrt(bananaTau1), 1 / sqrt(bananaTau2)}}
	for i := range p.records.X {
		p.records.X[i] = truth.mean[i%2] + truth.sd[i%2]*rng.NormFloat64()
	}
	posterior, mean := newBananaPosterior(p.records.X), banana{scale: [2]float64{1, 1}, straight: true}
	for range bananaExact {
		p.exact = append(p.exact, mean.theta([]float64{
			posterior.mean[0] + posterior.sd[0]*rng.NormFloat64(), posterior.mean[1] + posterior.sd[1]*rng.NormFloat64(),
		}))
	}
	p.spread = (stat.StdDev(coordinate(p.exact, 0), nil) + stat.StdDev(coordinate(p.exact, 1), nil)) / 2
	return p
}

// starts are the chains' first states in θ. The published ones are the true
// parameter with noise of the mean posterior standard deviation, which nobody
// knows; the public ones are N(0, 0.3²) about the prior's centre.
func (p bananaProblem) starts(public bool) [][]float64 {
	out := make([][]float64, bananaChains)
	for i := range out {
		out[i] = []float64{p.spread * p.rng.NormFloat64(), 3 + p.spread*p.rng.NormFloat64()}
		if public {
			out[i] = []float64{0.3 * p.rng.NormFloat64(), 0.3 * p.rng.NormFloat64()}
		}
	}
	return out
}

// bananaRun is one repeat of one contender.
type bananaRun struct {
	run       runOf
	mmd       float64
	meanError float64
	clipped   float64
}

// bananaRepeat simulates records, spends ε on four chains and compares their second
// halves with the exact posterior.
func (s settings) bananaRepeat(ctx context.Context, c bananaContender, eps float64, public bool,
	repeat int) (bananaRun, error) {
	p := newBananaProblem(s.stream("banana", repeat))
	starts := p.starts(public)
	for i := range starts {
		starts[i] = c.target.phi(starts[i])
	}
	run, err := c.chain.run(ctx, p.records, planning.Budget{Epsilon: eps, Delta: bananaDelta}, starts,
		s.stream("banana noise", c.name, eps, repeat).Uint64())
	if err != nil {
		return bananaRun{}, fmt.Errorf("%s at ε = %v: %w", c.name, eps, err)
	}
	phi := run.secondHalves()
	pool := make([][]float64, len(phi))
	for i, d := range phi {
		pool[i] = c.target.theta(d)
	}
	b := bananaRun{run: run, mmd: diag.MMD(pool, p.exact, p.rng), clipped: c.clippedShare(p.records, phi, p.rng)}
	for j := range 2 {
		off := stat.Mean(coordinate(pool, j), nil) - stat.Mean(coordinate(p.exact, j), nil)
		b.meanError += off * off
	}
	b.meanError = sqrt(b.meanError)
	return b, nil
}

func bananaFigure(ctx context.Context, s settings) error {
	const repeats = 10
	tab := newTable("kernel", "start", "ε", "MMD median", "MMD", "mean error", "steps a chain", "accepted", "clipped", "s",
		"repeats", "settings")
	panel := plot.Panel{Title: "Banana, N = 10⁵, δ = 10⁻⁶", XLabel: "ε", YLabel: "median MMD to exact draws", LogX: true}
	// of re-implementations of the published chains, and Barker's bit unscaled
	goal := plot.Line{Name: "measured before", X: bananaEpsilons, Y: []float64{0.30, 0.25, 0.24}, Dashed: true}
	for _, row := range bananaRows() {
		c := curve{name: row.name}
		for _, eps := range bananaEpsilons {
			all := make([]bananaRun, s.count(repeats))
			contender := row.at(eps)
			err := eachRepeat(len(all), func(r int) (err error) {
				all[r], err = s.bananaRepeat(ctx, contender, eps, row.public, r)
				return err
			})
			if err != nil {
				return err
			}
			c.add(eps, s.bananaReport(tab, contender, row.public, eps, all))
		}
		if row.short != "" {
			l := c.line()
			l.Low, l.High = nil, nil // the table has the quartiles
			l.Name = row.short
			panel.Lines = append(panel.Lines, l)
		}
	}
	panel.Lines = append(panel.Lines, goal)
	return s.save("banana", tab, 1, panel)
}

// bananaReport adds a row and returns the distances.
func (s settings) bananaReport(tab *table, c bananaContender, public bool, eps float64, all []bananaRun) []float64 {
	var mmd, off []float64
	var accepted, clipped, seconds float64
	for _, b := range all {
		n := float64(len(all))
		mmd, off = append(mmd, b.mmd), append(off, b.meanError)
		accepted, clipped, seconds = accepted+b.run.accepted/n, clipped+b.clipped/n, seconds+b.run.elapsed.Seconds()/n
	}
	start := "published"
	if public {
		start = "public"
	}
	// a long table: show that it grows
	fmt.Fprintf(s.log, "%s, ε = %v, %s start: %.3f (%d steps, %.1f s)\n", c.name, eps, start, median(mmd),
		all[0].run.iterations, seconds)
	tab.add(c.name, start, eps, fmt.Sprintf("%.3f", median(mmd)), spread(mmd), median(off), all[0].run.iterations,
		fmt.Sprintf("%.2f", accepted), fmt.Sprintf("%.2f", clipped), fmt.Sprintf("%.1f", seconds), len(all), c.settings)
	return mmd
}
