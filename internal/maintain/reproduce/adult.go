package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

func init() {
	figures["adult"] = figure{"every kernel on Adult's numeric columns at ε = 1, with and without a charged start " +
		"(theory 5.6)", adultFigure}
}

const (
	adultEpsilon = 1
	adultDelta   = 1e-6
	// adultTau is the temperature at which ε = 1 buys about ten relaxations: one costs
	// L²τ²R²w² of ρ (theory 5.2), w² being inversely proportional to τ, and all of it is
	// 0.0175. That was worked out with Adult's own widths w, Adult being public; a
	// private table's would have to come from simulated data (dpmcmc tune).
	adultTau = 0.1
	adultDim = 6
)

// adultProblem is one split, with the exact tempered posterior.
type adultProblem struct {
	train, test targets.Rows
	radius      float64
	model       *targets.Regression
	mean, sd    []float64 // of the tempered posterior
	mode, full  []float64 // modes of the tempered and the untempered posterior
	rng         *rand.Rand
}

func (s settings) adultTable(ctx context.Context) (*data.Table, error) {
	schema, err := schemafile.Read(filepath.Join("data", "testdata", "adult.toml"))
	if err != nil {
		return nil, err
	}
	schema.Radius = 1 // what the published table has
	return data.Load(ctx, filepath.Join(s.shared, "data", "adult.csv"), schema)
}

// newAdultProblem splits the table and draws from its tempered posterior.
func newAdultProblem(ctx context.Context, t *data.Table, rng *rand.Rand) (*adultProblem, error) {
	p := &adultProblem{rng: rng, radius: t.Radius}
	p.train, p.test = split(rng, targets.Rows{X: t.X, P: t.Features(), Y: t.Y}, 0.1)
	var err error
	if p.model, err = targets.New(targets.RegressionConfig{Features: t.Features(),
		Prior: priors.Gaussian{SD: 3}}); err != nil {
		return nil, err
	}
	p.mode, p.full = p.ascend(adultTau), p.ascend(1)
	chains, err := nuts.Sample(ctx, func() nuts.LogDensity { return p.density(adultTau) },
		nuts.Config{Chains: 1, Warmup: 150, Draws: 500, Init: [][]float64{p.mode}, Seed: rng.Uint64()})
	if err != nil {
		return nil, err
	}
	p.mean, p.sd = metrics.Mean(chains[0].Draws), metrics.SD(chains[0].Draws)
	return p, nil
}

// density is the tempered log posterior with its gradient.
func (p *adultProblem) density(tau float64) nuts.LogDensity {
	n := p.train.Len()
	eta, slope := make([]float64, n), make([]float64, n)
	return nuts.Func(p.train.P, func(grad, theta []float64) float64 {
		for i := range eta {
			eta[i] = floats.Dot(p.train.Row(i), theta)
		}
		p.model.SlopeAt(slope, eta, p.train.Y)
		p.model.LossAt(eta, eta, p.train.Y)
		p.model.GradLogPrior(grad, theta)
		for i, g := range slope {
			floats.AddScaled(grad, -tau*g, p.train.Row(i))
		}
		return p.model.LogPrior(theta) - tau*floats.Sum(eta)
	})
}

// ascend finds a mode.
func (p *adultProblem) ascend(tau float64) []float64 {
	return newton(p.train.P, p.density(tau).LogDensityGrad)
}

// adultRun is what one kernel released on one split.
type adultRun struct {
	distance, mode, full float64   // of the draws' mean
	ratio                []float64 // of standard deviations to the exact ones
	auc                  float64   // less the non-private one
	epsilon, seconds     float64
	plan                 *chains.Plan
}

func (p *adultProblem) run(ctx context.Context, set chains.Settings) (out adultRun, err error) {
	began := time.Now()
	records := curator.Records{X: p.train.X, Features: p.train.P, Y: p.train.Y, Radius: p.radius}
	opened, err := session(records, adultEpsilon, adultDelta, set, chains.Problem{Target: p.model, Logistic: true},
		p.rng.Uint64(), p.rng.Uint64())
	if err != nil {
		return out, err
	}
	out.plan = opened.Plan
	started, err := opened.Chains(ctx)
	if err != nil {
		return out, err
	}
	draws, _, err := walk(ctx, started[0].Kernel, started[0].Start, out.plan.Settings.Iterations,
		kernels.Stream(p.rng.Uint64(), 0))
	if err != nil {
		return out, err
	}
	out.seconds = time.Since(began).Seconds()
	cost, err := out.plan.Cost()
	if err != nil {
		return out, err
	}
	spent, err := cost.Epsilon(adultDelta)
	if err != nil {
		return out, err
	}
	out.epsilon = spent.Epsilon
	if out.plan.Start.Kind.Charged() {
		draws = draws[len(draws)/5:]
	} else {
		draws = draws[len(draws)/2:]
	}
	p.judge(&out, draws)
	return out, nil
}

// judge compares the released draws with the exact posterior.
func (p *adultProblem) judge(out *adultRun, draws [][]float64) {
	mean, sd := metrics.Mean(draws), metrics.SD(draws)
	out.distance, out.mode, out.full = floats.Distance(mean, p.mean, 2), floats.Distance(mean, p.mode, 2),
		floats.Distance(mean, p.full, 2)
	for j := range sd {
		out.ratio = append(out.ratio, sd[j]/p.sd[j])
	}
	out.auc = p.heldOut(mean) - p.heldOut(p.full)
}

// heldOut is the area under the curve of a vector of coefficients.
func (p *adultProblem) heldOut(theta []float64) float64 {
	eta := make([]float64, p.test.Len())
	for i := range eta {
		eta[i] = floats.Dot(p.test.Row(i), theta)
	}
	return metrics.Area(eta, p.test.Y)
}

func adultFigure(ctx context.Context, s settings) error {
	table, err := s.adultTable(ctx)
	if err != nil {
		return err
	}
	tab := newTable("kernel", "start", "ε", "mean to posterior mean", "quartiles", "mean to mode",
		"mean to untempered mode", "sd ratio, least", "sd ratio, largest", "AUC lost", "steps", "s")
	sets := adultSettings()
	runs, width := make([][]adultRun, len(sets)), make([]float64, s.count(10))
	for k := range runs {
		runs[k] = make([]adultRun, len(width))
	}
	err = eachRepeat(len(width), func(r int) error {
		p, err := newAdultProblem(ctx, table, s.stream("adult", r))
		if err != nil {
			return err
		}
		width[r] = floats.Norm(p.sd, 2)
		for k, set := range sets {
			if runs[k][r], err = p.run(ctx, set); err != nil {
				return fmt.Errorf("%s from %s: %w", set.Kernel, set.Start, err)
			}
		}
		fmt.Fprintf(s.log, "split %d is done\n", r)
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.log, "temperature %v; the posterior's standard deviations have length %.3g (median)\n", adultTau,
		median(width))
	panels := []plot.Panel{
		{Title: "Adult, ε = 1: draws' mean", XLabel: "kernel, in the table's order", YLabel: "distance to the posterior mean",
			LogY: true},
		{Title: "Adult, ε = 1: draws' spread", XLabel: "kernel, in the table's order",
			YLabel: "sds over exact ones, least to largest", LogY: true},
	}
	for _, start := range []string{"optimum", "prior-mean"} {
		distance, spread := plot.Line{Name: "start: " + start, Dots: true}, plot.Line{Name: "start: " + start, Dots: true}
		for k, set := range sets {
			if set.Start != start {
				continue
			}
			distances, ratios := adultRow(tab, runs[k])
			at := adultPlace(set.Kernel)
			if start != "optimum" {
				at += 0.2 // beside, not over the other
			}
			distance.X, distance.Y = append(distance.X, at), append(distance.Y, median(distances))
			distance.Low, distance.High = append(distance.Low, quantile(distances, 0.25)),
				append(distance.High, quantile(distances, 0.75))
			spread.X, spread.Y = append(spread.X, at), append(spread.Y, median(ratios))
			spread.Low, spread.High = append(spread.Low, floats.Min(ratios)), append(spread.High, floats.Max(ratios))
		}
		panels[0].Lines, panels[1].Lines = append(panels[0].Lines, distance), append(panels[1].Lines, spread)
	}
	return s.save("adult", tab, 2, panels...)
}

// adultKernels are all kernels and the lengths of their chains, which are those that
// take about a second; settings that are not given are the defaults of package chains.
var adultKernels = []struct {
	name       string
	iterations int64
}{
	{"barker", 5000}, {"penalty", 1000}, {"penalty-ratio", 1000}, {"tunamh", 5000}, {"barker-dynamics", 1500},
	{"barker-dynamics-adjusted", 1000}, {"dpsgld", 1500}, {"sgnht", 1500}, {"dphmc", 150},
}

// adultSettings are the chains to run: all from a charged start and from the prior
// mean.
func adultSettings() []chains.Settings {
	var out []chains.Settings
	for _, start := range []string{"optimum", "prior-mean"} {
		for _, k := range adultKernels {
			out = append(out, chains.Settings{Kernel: k.name, Temperature: adultTau, Start: start, Iterations: k.iterations})
		}
	}
	return out
}

// adultPlace is where a kernel stands in the table, from 1.
func adultPlace(kernel string) float64 {
	for i, k := range adultKernels {
		if k.name == kernel {
			return float64(i + 1)
		}
	}
	return 0
}

// adultRow adds medians over the splits; it returns the distances, and each
// coefficient's median ratio.
func adultRow(tab *table, runs []adultRun) (distances, ratios []float64) {
	medians := func(f func(adultRun) float64) []float64 {
		var x []float64
		for _, r := range runs {
			x = append(x, f(r))
		}
		return x
	}
	ratios = make([]float64, adultDim) // the median of each coefficient's
	for j := range ratios {
		ratios[j] = median(medians(func(r adultRun) float64 { return r.ratio[j] }))
	}
	set := runs[0].plan.Settings
	distances = medians(func(r adultRun) float64 { return r.distance })
	tab.add(set.Kernel, set.Start, median(medians(func(r adultRun) float64 { return r.epsilon })), median(distances),
		spread(distances),
		median(medians(func(r adultRun) float64 { return r.mode })),
		median(medians(func(r adultRun) float64 { return r.full })),
		floats.Min(ratios), floats.Max(ratios), fmt.Sprintf("%.4f",
			-median(medians(func(r adultRun) float64 { return r.auc }))), set.Iterations,
		stat.Mean(medians(func(r adultRun) float64 { return r.seconds }), nil))
	return distances, ratios
}
