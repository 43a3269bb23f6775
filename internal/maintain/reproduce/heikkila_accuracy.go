package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/dpsgld"
	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/tunamh"
)

func init() {
	figures["heikkila"] = figure{"accuracy of private chains on the tempered mixture against ε (Heikkilä et al. 2019, " +
		"Fig. 2 and 3)", heikkilaAccuracy}
}

// mixBurn is the published burn-in.
const mixBurn = 1000

// mixChain is one way to draw from the mixture's posterior.
type mixChain struct {
	name      string
	steps     int64
	repeats   int
	published bool // has the published price, too
	chain     chainOf
}

func mixChains() ([]mixChain, error) {
	target, err := mixTarget()
	if err != nil {
		return nil, err
	}
	walk := barker.Config{Target: target, Proposal: curator.Proposal{Scale: mixScale}, Temperature: mixTau, Clip: mixClip}
	corrected := walk
	corrected.Test, corrected.Batch = curator.Test{Corrected: 2}, curator.Batch{Size: mixBatch}
	// Steps of 0.01 keep the discretisation's bias and the batch's noise near 1%.
	langevin := dpsgld.Config{Driven: kernels.Driven{Target: target, Step: kernels.Constant(0.01), NoiseMultiplier: 8,
		Clip: 6e-4, Batch: curator.Batch{Rate: float64(mixBatch) / mixN}, Temperature: mixTau}}
	squared := langevin
	squared.AsPublished, squared.Step = true, kernels.Constant(0.005)
	return []mixChain{
		{"corrected test, C = 2", mixSteps, 20, true, barkerChain(corrected)},
		{"exact test, thinned batches", 100_000, 10, false, tunamhChain(tunamh.Config{
			Target: target, Proposal: curator.Proposal{Scale: mixScale}, Rate: float64(mixBatch) / mixN, Temperature: mixTau,
			Clip: mixClip,
		})},
		{"DP-SGLD", 50_000, 10, false, sgldChain(langevin)},
		{"DP-SGLD, update as published", 50_000, 10, false, sgldChain(squared)},
	}, nil
}

// heikkilaAccuracy runs every chain several times and compares its running moments
// with the exact ones.
func heikkilaAccuracy(ctx context.Context, s settings) error {
	x, err := mixData()
	if err != nil {
		return err
	}
	exact := newMixPosterior(x)
	fmt.Fprintf(s.log, "exact posterior: mean (%.4f, %.4f), variance (%.4f, %.4f), covariance %.4f\n", exact.mean[0],
		exact.mean[1], exact.variance[0], exact.variance[1], exact.covariant)
	chains, err := mixChains()
	if err != nil {
		return err
	}
	tab := newTable("chain", "steps", "ε published", "ε", "runs", "|mean error| θ₁", "θ₂", "|variance error| θ₁", "θ₂",
		"mean variance θ₁", "θ₂", "accepted")
	panels := []plot.Panel{
		{Title: "Error of the mean of θ₂", XLabel: "ε at δ = 10⁻⁶", YLabel: "mean |error|", LogX: true, LogY: true},
		{Title: "Error of the variance of θ₂", XLabel: "ε at δ = 10⁻⁶", YLabel: "mean |error|", LogX: true, LogY: true},
	}
	var scatters []plot.Panel
	marginals := plot.Panel{Title: "Marginal density of θ₂", XLabel: "θ₂", YLabel: "density",
		Lines: []plot.Line{exact.marginal()}}
	for _, c := range chains {
		r, err := s.runMixture(ctx, c, x)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if err := r.report(tab, panels, c, exact); err != nil {
			return err
		}
		marginals.Lines = append(marginals.Lines, histogram(c.name, r.sample))
		if c.published || strings.Contains(c.name, "as published") {
			scatters = append(scatters, s.overlay(c.name, exact, r.sample))
		}
	}
	panels[0].Lines = append(panels[0].Lines, published([]float64{0.522, 0.281, 0.179, 0.154},
		[]float64{0.298, 0.117, 0.105, 0.104})...)
	panels[1].Lines = append(panels[1].Lines, published([]float64{0.355, 0.139, 0.087, 0.080},
		[]float64{0.251, 0.192, 0.201, 0.199})...)
	quiet := s
	quiet.log = io.Discard
	if err := quiet.save("heikkila-posterior", tab, 3, append(scatters, marginals)...); err != nil {
		return err
	}
	return s.save("heikkila", tab, 2, panels...)
}

// published are the points of the paper's Figure 3, read off its vector graphics at ε =
// 0.6, 0.8, 1 and 1.216. They are errors against its own non-private chain.
func published(walk, langevin []float64) []plot.Line {
	eps := []float64{0.6, 0.8, 1, 1.216}
	return []plot.Line{{Name: "paper's DP-MCMC", X: eps, Y: walk}, {Name: "paper's DP-SGLD", X: eps, Y: langevin}}
}

// mixRun is what the repeats of a chain gave, at each checkpoint.
type mixRun struct {
	steps     []int64
	means     [][][2]float64 // checkpoint × run × parameter
	variances [][][2]float64
	accepted  float64
	sample    [][]float64 // of all runs, thinned
}

// checkpoints are the numbers of steps at which moments are recorded.
func checkpoints(most int64) []int64 {
	var out []int64
	for _, t := range []int64{2000, 5000, 10_000, 20_000, 50_000, 100_000} {
		if t <= most {
			out = append(out, t)
		}
	}
	return out
}

func (s settings) runMixture(ctx context.Context, c mixChain, x []float64) (mixRun, error) {
	r := mixRun{steps: checkpoints(c.steps)}
	r.means, r.variances = make([][][2]float64, len(r.steps)), make([][][2]float64, len(r.steps))
	for run := range s.count(c.repeats) {
		rng := s.stream("mixture", c.name, run)
		sealed, err := seal(curator.Records{X: x, Features: 1}, 100, mixDelta, curator.InsecureSeed(rng.Uint64()))
		if err != nil {
			return r, err
		}
		k, err := c.chain.build(c.steps, sealed)
		if err != nil {
			return r, err
		}
		if err := r.follow(ctx, k, kernels.Stream(rng.Uint64(), 0), c.steps); err != nil {
			return r, err
		}
	}
	r.accepted /= float64(s.count(c.repeats))
	return r, nil
}

// follow makes one run's steps and records its moments.
func (r *mixRun) follow(ctx context.Context, k kernels.Kernel, public *rand.Rand, steps int64) error {
	state, err := k.Init([]float64{0.5, 0.5})
	if err != nil {
		return err
	}
	var sum, square [2]float64
	accepted, at := 0, 0
	for t := int64(1); t <= steps; t++ {
		if t%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		info, err := k.Step(public, state)
		if err != nil {
			return err
		}
		if info.Accepted {
			accepted++
		}
		if t <= mixBurn {
			continue
		}
		for j, v := range state.Theta {
			sum[j] += v
			square[j] += v * v
		}
		if t%(steps/2000) == 0 {
			r.sample = append(r.sample, append([]float64(nil), state.Theta...))
		}
		if at < len(r.steps) && t == r.steps[at] {
			n := float64(t - mixBurn)
			mean := [2]float64{sum[0] / n, sum[1] / n}
			r.means[at] = append(r.means[at], mean)
			r.variances[at] = append(r.variances[at], [2]float64{square[0]/n - mean[0]*mean[0], square[1]/n - mean[1]*mean[1]})
			at++
		}
	}
	r.accepted += float64(accepted) / float64(steps)
	return nil
}

// report adds the chain's rows and lines, one line for each way to price it.
func (r mixRun) report(t *table, panels []plot.Panel, c mixChain, exact *mixPosterior) error {
	prices := [2][]float64{} // published, ours
	var errs [2]plot.Line
	for at, steps := range r.steps {
		eps, err := c.price(steps)
		if err != nil {
			return err
		}
		row := []any{c.name, steps}
		for k, e := range eps {
			prices[k] = append(prices[k], e)
			row = append(row, e)
		}
		row = append(row, len(r.means[at]))
		for k, moments := range [][][2]float64{r.means[at], r.variances[at]} {
			truth := [2][2]float64{exact.mean, exact.variance}[k]
			for j := range truth {
				var off []float64
				for _, m := range moments {
					off = append(off, math.Abs(m[j]-truth[j]))
				}
				mean, stderr := meanAndError(off)
				row = append(row, fmt.Sprintf("%.3f ± %.3f", mean, stderr))
				if j == 1 {
					errs[k].Y = append(errs[k].Y, mean)
					errs[k].Low, errs[k].High = append(errs[k].Low, max(mean-stderr, mean/10)), append(errs[k].High, mean+stderr)
				}
			}
		}
		for j := range exact.variance {
			mean := 0.0
			for _, v := range r.variances[at] {
				mean += v[j] / float64(len(r.variances[at]))
			}
			row = append(row, mean)
		}
		t.add(append(row, r.accepted)...)
	}
	for k := range panels {
		for how, name := range []string{c.name + ", priced as published", c.name} {
			if l := errs[k]; !math.IsNaN(prices[how][0]) {
				l.Name, l.X = name, prices[how]
				panels[k].Lines = append(panels[k].Lines, l)
			}
		}
	}
	return nil
}

// price is ε after that many steps, as published (NaN for chains that the paper does not
// have) and as this library charges.
func (c mixChain) price(steps int64) (eps [2]float64, err error) {
	eps[0] = math.NaN()
	if c.published {
		total, err := mixPrice(mixBatch, steps, "published")
		if err != nil {
			return eps, err
		}
		g, err := total.ClassicEpsilon(mixDelta)
		if err != nil {
			return eps, err
		}
		eps[0] = g.Epsilon
	}
	total, err := c.chain.price(steps, mixFacts)
	if err != nil {
		return eps, err
	}
	g, err := total.Epsilon(mixDelta)
	eps[1] = g.Epsilon
	return eps, err
}

// overlay draws a chain's states over as many exact draws.
func (s settings) overlay(name string, exact *mixPosterior, sample [][]float64) plot.Panel {
	const most = 1000
	rng := s.stream("overlay")
	truth, chain := plot.Line{Name: "exact", Dots: true, Dashed: true}, plot.Line{Name: "chain", Dots: true}
	for i := range most {
		e, theta := exact.draw(rng), sample[i*len(sample)/most]
		truth.X, truth.Y = append(truth.X, e[0]), append(truth.Y, e[1])
		chain.X, chain.Y = append(chain.X, theta[0]), append(chain.Y, theta[1])
	}
	return plot.Panel{Title: name, XLabel: "θ₁", YLabel: "θ₂", Lines: []plot.Line{truth, chain}}
}

// histogram is the density of θ₂ in a sample.
func histogram(name string, sample [][]float64) plot.Line {
	const bins, reach = 30, 3.0
	counts := make([]float64, bins)
	for _, theta := range sample {
		if b := int((theta[1] + reach) / (2 * reach) * bins); b >= 0 && b < bins {
			counts[b]++
		}
	}
	l := plot.Line{Name: name}
	for b, n := range counts {
		l.X = append(l.X, (float64(b)+0.5)/bins*2*reach-reach)
		l.Y = append(l.Y, n/float64(len(sample))*bins/(2*reach))
	}
	return l
}
