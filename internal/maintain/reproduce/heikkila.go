package main

import (
	"context"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

func init() {
	figures["heikkila-price"] = figure{"price and clipping of the subsampled Barker test (Heikkilä et al. 2019, Fig. 1)",
		heikkilaPrice}
}

// The published experiment.
const (
	mixN     = 1_000_000
	mixBatch = 1000
	mixTau   = 1e-4 // N₀ = 100
	mixDelta = 1e-6
	mixScale = 0.1 // of the proposal
	mixSteps = 20_000
)

// mixClip is √b/N on a tempered contribution, just inside the theorem's condition.
var mixClip = 0.999999999 * math.Sqrt(mixBatch) / mixN

var mixFacts = curator.Facts{Records: mixN, Features: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}

func mixTarget() (*targets.Mixture, error) {
	return targets.New(targets.MixtureConfig{Prior: priors.Gaussian{SDs: []float64{math.Sqrt(10), 1}}})
}

// mixData is a million records, simulated.
func mixData() ([]float64, error) {
	sim, err := data.Builtin("builtin:mixture")
	if err != nil {
		return nil, err
	}
	if len(sim.Table.X) != mixN {
		return nil, fmt.Errorf("the built-in mixture has %d records", len(sim.Table.X))
	}
	return sim.Table.X, nil
}

// accountings are the three prices of the same chain.
var accountings = []struct {
	name string
	how  string
}{{"published", "published"}, {"published, tightened", "tightened"}, {"bit", ""}}

// heikkilaPrice draws ε against the sampling ratio and the number of steps, and the
// share of clipped contributions against the proposal's variance.
func heikkilaPrice(ctx context.Context, s settings) error {
	tab := newTable("steps", "sampling ratio", "published", "tightened", "bit", "published at the classic conversion")
	ratio := plot.Panel{Title: "5000 steps, N = 10⁶", XLabel: "sampling ratio b/N", YLabel: "ε at δ = 10⁻⁶", LogX: true,
		LogY: true}
	steps := plot.Panel{Title: "b/N = 0.001, N = 10⁶", XLabel: "steps", YLabel: "ε at δ = 10⁻⁶", LogX: true, LogY: true}
	if err := pricePanel(tab, &ratio, []float64{5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2}, []int64{5000}); err != nil {
		return err
	}
	if err := pricePanel(tab, &steps, []float64{1e-3},
		[]int64{1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000}); err != nil {
		return err
	}
	clips, clipping, err := s.clipShares(ctx)
	if err != nil {
		return err
	}
	if err := s.save("heikkila-clipping", clips, 1); err != nil {
		return err
	}
	return s.save("heikkila-price", tab, 3, ratio, steps, clipping)
}

// pricePanel adds a line for each accounting over the grid of ratios and steps, one of
// which has a single value.
func pricePanel(t *table, p *plot.Panel, ratios []float64, steps []int64) error {
	lines := make([]plot.Line, len(accountings))
	for _, q := range ratios {
		for _, n := range steps {
			row := []any{n, q}
			classic := 0.0
			for k, a := range accountings {
				total, err := mixPrice(int64(q*mixN+0.5), n, a.how)
				if err != nil {
					return err
				}
				best, err := total.Epsilon(mixDelta)
				if err != nil {
					return err
				}
				if k == 0 {
					c, err := total.ClassicEpsilon(mixDelta)
					if err != nil {
						return err
					}
					classic = c.Epsilon
				}
				row = append(row, best.Epsilon)
				x := q
				if len(steps) > 1 {
					x = float64(n)
				}
				lines[k].Name = a.name
				lines[k].X, lines[k].Y = append(lines[k].X, x), append(lines[k].Y, best.Epsilon)
			}
			t.add(append(row, classic)...)
		}
	}
	p.Lines = lines
	return nil
}

// mixPrice is the cost of a chain of the corrected test, C = 2, on fixed-size batches.
func mixPrice(batch, steps int64, how string) (accountant.Event, error) {
	target, err := mixTarget()
	if err != nil {
		return accountant.Event{}, err
	}
	step, err := barker.Cost(barker.Config{
		Target: target, Proposal: curator.Proposal{Scale: mixScale}, Test: curator.Test{Corrected: 2},
		Batch:       curator.Batch{Size: batch},
		Temperature: mixTau, Clip: 0.999999999 * math.Sqrt(float64(batch)) / mixN, Accounting: how,
	}, mixFacts)
	if err != nil {
		return step, err
	}
	return step.Times(steps)
}

// clipShares counts, over moves from states of the posterior, the contributions beyond
// √b/N₀. No chain could: a clip count is not released.
func (s settings) clipShares(ctx context.Context) (*table, plot.Panel, error) {
	p := plot.Panel{Title: "Contributions that are clipped", XLabel: "proposal variance", YLabel: "share"}
	tab := newTable("proposal variance", "share clipped", "standard error")
	x, err := mixData()
	if err != nil {
		return tab, p, err
	}
	target, err := mixTarget()
	if err != nil {
		return tab, p, err
	}
	exact := newMixPosterior(x)
	rng := s.stream("clipping")
	var l plot.Line
	ratios, next := make([]float64, mixBatch), make([]float64, 2)
	for i := range 10 {
		variance := 0.005 + 0.015*float64(i)/9
		var shares []float64
		for range s.count(2000) {
			if err := ctx.Err(); err != nil {
				return tab, p, err
			}
			theta := exact.draw(rng)
			for j := range next {
				next[j] = theta[j] + math.Sqrt(variance)*rng.NormFloat64()
			}
			from := rng.IntN(mixN - mixBatch)
			target.LossRatio(ratios, theta, next, targets.Rows{X: x[from : from+mixBatch], P: 1})
			beyond := 0
			for _, r := range ratios {
				if mixTau*math.Abs(r) > mixClip {
					beyond++
				}
			}
			shares = append(shares, float64(beyond)/mixBatch)
		}
		mean, stderr := meanAndError(shares)
		tab.add(variance, mean, stderr)
		l.X, l.Y, l.Low, l.High = append(l.X, variance), append(l.Y, mean), append(l.Low, mean-2*stderr),
			append(l.High, mean+2*stderr)
	}
	p.Lines = []plot.Line{l}
	return tab, p, nil
}
