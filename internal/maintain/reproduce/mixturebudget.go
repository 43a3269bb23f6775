package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/dpsgld"
	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/penalty"
	"github.com/dpmcmc/dpmcmc/planning"
	"github.com/dpmcmc/dpmcmc/sgnht"
	"github.com/dpmcmc/dpmcmc/tunamh"
)

func init() {
	figures["mixture"] = figure{
		"every minibatch kernel on the tempered mixture within the published total budget, ε = 1.216", mixtureBudget}
}

// mixTotal is the published total: DP-MCMC and its private variational start.
var mixTotal = planning.Budget{Epsilon: 1.216, Delta: 2e-6}

// mixtureContender is a chain and how long it runs: computing time, not privacy, is
// what ends it.
type mixtureContender struct {
	name, settings string
	steps          int64
	chain          chainOf
}

// mixtureRuns is the number of runs of each chain.
const mixtureRuns = 20

func mixtureContenders() ([]mixtureContender, error) {
	target, err := mixTarget()
	if err != nil {
		return nil, err
	}
	const clip = 1e-4 // three times the published one: a bit affords that nothing is clipped
	rate := func(size float64) curator.Batch { return curator.Batch{Rate: size / mixN} }
	walk := func(scale float64, test curator.Test, size float64) chainOf {
		return barkerChain(barker.Config{Target: target, Proposal: curator.Proposal{Scale: scale}, Test: test,
			Batch:       rate(size),
			Temperature: mixTau, Clip: clip})
	}
	langevin := dpsgld.Config{Driven: kernels.Driven{Target: target, Step: kernels.Constant(0.02), NoiseMultiplier: 2,
		Clip: 6e-4, Batch: rate(500), Temperature: mixTau}}
	thermostat := sgnht.Config{Driven: kernels.Driven{Target: target, Step: kernels.Constant(0.1), NoiseMultiplier: 2,
		Clip: 6e-4, Batch: rate(250), Temperature: mixTau}, Friction: 1}
	return []mixtureContender{
		{"barker, logistic test", "b = 1000, scale 0.15", 100_000, walk(0.15, curator.Test{}, 1000)},
		{"barker, corrected test", "C = 1, b = 500, scale 0.15", 150_000, walk(0.15, curator.Test{Corrected: 1}, 500)},
		{"penalty, bit", "σ² = 2, b = 500, scale 0.15", 150_000, penaltyChain(penalty.Config{
			Target: target, Proposal: curator.Proposal{Scale: 0.15}, Noise: penalty.Fixed(2), Batch: rate(500),
			Temperature: mixTau,
			Clip:        clip,
		})},
		{"tunamh", "rate 0.0005, scale 0.15", 150_000, tunamhChain(tunamh.Config{
			Target: target, Proposal: curator.Proposal{Scale: 0.15}, Rate: 0.0005, Temperature: mixTau, Clip: clip,
		})},
		{"dpsgld", "b = 500, h = 0.02, m = 2", 150_000, sgldChain(langevin)},
		{"sgnht", "b = 250, h = 0.1, A = 1, m = 2", 150_000, thermostatChain(thermostat)},
	}, nil
}

func mixtureBudget(ctx context.Context, s settings) error {
	x, err := mixData()
	if err != nil {
		return err
	}
	exact := newMixPosterior(x)
	contenders, err := mixtureContenders()
	if err != nil {
		return err
	}
	tab := newTable("kernel", "settings", "steps", "ε", "runs", "|mean error| θ₁", "|mean error| θ₂",
		"|variance error| θ₁", "|variance error| θ₂", "variance θ₁", "variance θ₂", "accepted", "s a run")
	panel := plot.Panel{Title: "Tempered mixture", XLabel: "ε at δ = 2·10⁻⁶", YLabel: "mean |variance error| of θ₂"}
	for _, c := range contenders {
		errs, variance, last, seconds, err := s.repeatMixture(ctx, c, x, exact)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintf(s.log, "%s: %.0f s a run\n", c.name, seconds)
		row := []any{c.name, c.settings, c.steps, last.spent.Epsilon, s.count(mixtureRuns)}
		for _, e := range errs {
			mean, stderr := meanAndError(e)
			row = append(row, fmt.Sprintf("%.4f ± %.4f", mean, stderr))
		}
		tab.add(append(row, stat.Mean(variance[0], nil), stat.Mean(variance[1], nil), last.accepted, seconds)...)
		mean, stderr := meanAndError(errs[3])
		panel.Lines = append(panel.Lines, plot.Line{
			Name: c.name, X: []float64{last.spent.Epsilon}, Y: []float64{mean}, Low: []float64{mean - stderr},
			High: []float64{mean + stderr}, Dots: true,
		})
	}
	panel.Lines = append(panel.Lines, plot.Line{
		Name: "published: DP-MCMC, DP-SGLD above", X: []float64{mixTotal.Epsilon, mixTotal.Epsilon},
		Y: []float64{0.080, 0.199}, Dots: true, Dashed: true,
	})
	return s.save("mixture", tab, 1, panel)
}

// repeatMixture runs a contender several times from draws of the prior, and returns
// the absolute errors of both means and both variances, and the variances.
func (s settings) repeatMixture(ctx context.Context, c mixtureContender, x []float64,
	exact *mixPosterior) (errs [4][]float64, variance [2][]float64, last runOf, seconds float64, err error) {
	runs := make([]runOf, s.count(mixtureRuns))
	err = eachRepeat(len(runs), func(run int) (err error) {
		rng := s.stream("mixture budget", c.name, run)
		start := []float64{math.Sqrt(10) * rng.NormFloat64(), rng.NormFloat64()}
		runs[run], err = c.chain.runFor(ctx, c.steps, curator.Records{X: x, Features: 1}, mixTotal, [][]float64{start},
			rng.Uint64())
		return err
	})
	if err != nil {
		return errs, variance, last, seconds, err
	}
	for _, run := range runs {
		seconds += run.elapsed.Seconds() / float64(len(runs))
		draws := run.draws[0][len(run.draws[0])/20:] // the walk from the prior is dropped
		for j := range 2 {
			mean, v := stat.PopMeanVariance(coordinate(draws, j), nil)
			errs[j] = append(errs[j], math.Abs(mean-exact.mean[j]))
			errs[2+j] = append(errs[2+j], math.Abs(v-exact.variance[j]))
			variance[j] = append(variance[j], v)
		}
	}
	return errs, variance, runs[0], seconds, nil
}

// coordinate is parameter j of draws.
func coordinate(draws [][]float64, j int) []float64 {
	out := make([]float64, len(draws))
	for i, d := range draws {
		out[i] = d[j]
	}
	return out
}
