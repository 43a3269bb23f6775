package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/barkerdynamics"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/dpsgld"
	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/sgnht"
	"github.com/dpmcmc/dpmcmc/targets"
)

func init() {
	figures["bias"] = figure{"stationary bias of the kernels that are not exact, by the size of their steps", biasFigure}
}

// biasProblem is x ~ N(μ(θ), I) for a few records, straight or bent, whose
// posterior has moments in closed form.
type biasProblem struct {
	name     string
	target   *targets.GaussianMean
	records  curator.Records
	mean, sd [2]float64
}

func (s settings) newBiasProblem(curvature float64) (biasProblem, error) {
	const n, prior = 20, 3.0
	p := biasProblem{name: "Gaussian"}
	if curvature != 0 {
		p.name = fmt.Sprintf("banana, curvature %v", curvature)
	}
	rng := s.stream("bias data")
	x := make([]float64, 2*n)
	var sum [2]float64
	for i := range x {
		x[i] = 0.5 + rng.NormFloat64()
		sum[i%2] += x[i]
	}
	p.records = curator.Records{X: x, Features: 2}
	// The mean μ is normal; θ₁ = μ₁ and θ₂ = μ₂ − a·μ₁².
	v := 1 / (n + 1/(prior*prior))
	m1, m2 := sum[0]*v, sum[1]*v
	p.mean = [2]float64{m1, m2 - curvature*(m1*m1+v)}
	p.sd = [2]float64{math.Sqrt(v), math.Sqrt(v + curvature*curvature*(2*v*v+4*m1*m1*v))}
	var err error
	p.target, err = targets.New(targets.GaussianMeanConfig{Features: 2, Curvature: curvature,
		Prior: priors.Gaussian{SD: prior}})
	return p, err
}

// biasClip is beyond what any record's gradient reaches: clipping is another bias.
const biasClip = 60

// biasKernels are the kernels, at steps whose noise has a standard deviation of h.
var biasKernels = []struct {
	name  string
	build func(t *targets.GaussianMean, h float64, n int64, c *curator.Curator) (kernels.Kernel, error)
}{
	{"barker dynamics, unadjusted", func(t *targets.GaussianMean, h float64, n int64,
		c *curator.Curator) (kernels.Kernel, error) {
		return barkerdynamics.New(barkerdynamics.Config{Target: t, Scale: h, Clip: biasClip, Iterations: n}, c)
	}},
	{"dpsgld, privacy noise 0.9 of all", func(t *targets.GaussianMean, h float64, n int64,
		c *curator.Curator) (kernels.Kernel, error) {
		noise := math.Sqrt(0.9) / h / biasClip
		return dpsgld.New(dpsgld.Config{Driven: kernels.Driven{Target: t, Step: kernels.Constant(h * h),
			NoiseMultiplier: noise, Clip: biasClip, Iterations: n}}, c)
	}},
	{"sgnht, friction 1/step", biasThermostat(1)},
	{"sgnht, friction 0.2/step", biasThermostat(0.2)},
}

// biasThermostat moves by about h a step and takes nine tenths of its friction's
// noise from the privacy noise.
func biasThermostat(friction float64) func(t *targets.GaussianMean, h float64, n int64,
	c *curator.Curator) (kernels.Kernel, error) {
	return func(t *targets.GaussianMean, h float64, n int64, c *curator.Curator) (kernels.Kernel, error) {
		step := h / math.Sqrt2
		noise := math.Sqrt(2*0.9*friction/step/step) / (2 * biasClip)
		return sgnht.New(sgnht.Config{Driven: kernels.Driven{Target: t, Step: kernels.Constant(step), NoiseMultiplier: noise,
			Clip: biasClip, Iterations: n}, Friction: friction / step}, c)
	}
}

func biasFigure(ctx context.Context, s settings) error {
	const steps = 300_000
	tab := newTable("posterior", "kernel", "step / sd", "mean θ₁ off, in sd", "mean θ₂", "sd θ₁ off, %", "sd θ₂",
		"Monte Carlo error of the last, %")
	panels := []plot.Panel{}
	for _, curvature := range []float64{0, 1} {
		p, err := s.newBiasProblem(curvature)
		if err != nil {
			return err
		}
		panel := plot.Panel{Title: "Bias, " + p.name, XLabel: "step over the smaller posterior sd",
			YLabel: "largest |bias| of an sd, %, ± 2 Monte Carlo errors", LogX: true}
		for _, kernel := range biasKernels {
			line := plot.Line{Name: kernel.name}
			for _, r := range []float64{0.1, 0.2, 0.4, 0.8} {
				worst, mcse, err := p.measure(ctx, s, tab, kernel.name, r, func(c *curator.Curator) (kernels.Kernel, error) {
					return kernel.build(p.target, r*p.sd[0], steps, c)
				}, steps)
				if err != nil {
					return fmt.Errorf("%s: %w", kernel.name, err)
				}
				line.X, line.Y = append(line.X, r), append(line.Y, worst)
				line.Low, line.High = append(line.Low, worst-2*mcse), append(line.High, worst+2*mcse)
			}
			panel.Lines = append(panel.Lines, line)
		}
		panels = append(panels, panel)
	}
	return s.save("bias", tab, 2, panels...)
}

// measure runs a chain and adds its row; it returns the largest bias of a standard
// deviation and its Monte Carlo error, in percent.
func (p biasProblem) measure(ctx context.Context, s settings, tab *table, name string, r float64,
	build func(*curator.Curator) (kernels.Kernel, error), steps int64) (worst, mcse float64, err error) {
	rng := s.stream("bias", name, r, p.name)
	// exactness, not privacy, is the question
	sealed, err := seal(p.records, 1e300, 1e-6, curator.InsecureSeed(rng.Uint64()))
	if err != nil {
		return 0, 0, err
	}
	k, err := build(sealed)
	if err != nil {
		return 0, 0, err
	}
	state, err := k.Init(p.mean[:])
	if err != nil {
		return 0, 0, err
	}
	var draws [2][]float64
	for t := range steps {
		if t%4096 == 0 && ctx.Err() != nil {
			return 0, 0, ctx.Err()
		}
		if _, err := k.Step(rng, state); err != nil {
			return 0, 0, err
		}
		if t%3 == 2 {
			draws[0], draws[1] = append(draws[0], state.Theta[0]), append(draws[1], state.Theta[1])
		}
	}
	row := []any{p.name, name, r}
	for j, x := range draws {
		row = append(row, fmt.Sprintf("%+.3f", (stat.Mean(x, nil)-p.mean[j])/p.sd[j]))
	}
	for j, x := range draws {
		off := 100 * (stat.StdDev(x, nil)/p.sd[j] - 1)
		if math.Abs(off) > worst {
			worst, mcse = math.Abs(off), 100*diag.MCSESD([][]float64{x})/p.sd[j]
		}
		row = append(row, fmt.Sprintf("%+.1f", off))
	}
	tab.add(append(row, fmt.Sprintf("%.1f", 100*diag.MCSESD([][]float64{draws[1]})/p.sd[1]))...)
	return worst, mcse, nil
}
