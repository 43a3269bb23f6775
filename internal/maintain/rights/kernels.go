package rights

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/barkerdynamics"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/dphmc"
	"github.com/dpmcmc/dpmcmc/dpsgld"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/penalty"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/sgnht"
	"github.com/dpmcmc/dpmcmc/targets"
	"github.com/dpmcmc/dpmcmc/tunamh"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Mean is N(θ, I) in two dimensions with a prior of standard deviation ½, so
// that the prior counts as much as four records.
func Mean() *targets.GaussianMean {
	return must(targets.New(targets.GaussianMeanConfig{Features: 2, Prior: priors.Gaussian{SD: 0.5}}))
}

// Regression is logistic regression under the β loss, which has certificates.
func Regression() *targets.Regression {
	return must(targets.New(targets.RegressionConfig{Features: 2, Loss: targets.Loss{Beta: 1.5},
		Prior: priors.Gaussian{SD: 2}}))
}

// Exactly draws from the posterior of mean given records, tempered by tau:
// N(τs/(τn+4), 1/(τn+4)) in each coordinate.
func Exactly(records []float64, tau float64) func(rng *rand.Rand, theta []float64) {
	return func(rng *rand.Rand, theta []float64) {
		var sums [2]float64
		for i, x := range records {
			sums[i%2] += x
		}
		precision := tau*float64(len(records)/2) + 4
		for j := range theta {
			theta[j] = tau*sums[j]/precision + rng.NormFloat64()/math.Sqrt(precision)
		}
	}
}

var (
	// Points are eight rows of two numbers.
	Points = []float64{1.5, -0.5, 0.5, 1, 2, 0.25, 1, -1.5, 2.5, 0.5, 1.5, 0, 0.75, 1.25, 0.5, -0.25}
	// Alike are eight equal rows: every batch of a fixed size has the same sum.
	Alike  = eight(1.5, -0.5)
	labels = []float64{0, 1, 1, 0, 1, 0, 1, 1}
)

func eight(a, b float64) (rows []float64) {
	for range 8 {
		rows = append(rows, a, b)
	}
	return rows
}

// Kernel is a right kernel, what it runs on, and exact draws of what it leaves
// invariant, where there are any.
type Kernel struct {
	Name    string
	Records curator.Records
	Factory proptest.Factory
	Exact   func(rng *rand.Rand, theta []float64)
}

// Kernels lists kernels of every sampler package, in every variant.
func Kernels() []Kernel { return slices.Concat(barkers(), others(), gradientKernels()) }

// Options are those of a check.
func (k Kernel) Options() proptest.KernelOptions {
	return proptest.KernelOptions{Records: k.Records, Adjacency: accountant.Substitute, Start: []float64{0.3, -0.1},
		Exact: k.Exact, Effort: proptest.Quick}
}

// Barker is the Barker test on rows; tau is the temperature of its law, 0 for none.
func Barker(name string, x []float64, c barker.Config, tau float64) Kernel {
	l := Kernel{Name: name, Records: curator.Records{X: x, Features: 2}}
	if tau > 0 {
		l.Exact = Exactly(x, tau)
	}
	l.Factory = func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
		c := c
		c.Iterations = steps
		return barker.New(c, records)
	}
	return l
}

// barkers lists every variant of the Barker test. Variants without a law are
// exact only up to the batch's own noise.
func barkers() []Kernel {
	m, move := Mean(), curator.Proposal{Scale: 0.4}
	certified := Barker("certified", Points, barker.Config{Target: Regression(), Proposal: move}, 0)
	certified.Records.Y, certified.Records.Radius = labels, 1
	poisson := Barker("certified, Poisson", Points,
		barker.Config{Target: Regression(), Proposal: move, Batch: curator.Batch{Rate: 0.5}}, 0)
	poisson.Records = certified.Records
	return []Kernel{
		certified, poisson,
		Barker("logistic", Points, barker.Config{Target: m, Proposal: move, Clip: 50}, 1),
		Barker("tempered", Points, barker.Config{Target: m, Proposal: move, Clip: 50, Temperature: 0.25}, 0.25),
		Barker("one-component", Points, barker.Config{Target: m, Proposal: curator.Proposal{Scale: 0.6, OneComponent: true},
			Clip: 50}, 1),
		Barker("truncated, public seed", Points, barker.Config{Target: m, Proposal: curator.Proposal{Scale: 0.4, Radius: 0.9},
			Clip: 50}, 1),
		Barker("corrected", Points, barker.Config{Target: m, Proposal: move, Clip: 50, Test: curator.Test{Corrected: 1}}, 1),
		Barker("fixed batches", Alike, barker.Config{Target: m, Proposal: move, Clip: 50, Batch: curator.Batch{Size: 2}}, 1),
		Barker("Poisson batches", Points, barker.Config{Target: m, Proposal: move, Clip: 1,
			Batch: curator.Batch{Rate: 0.5}}, 0),
		Barker("corrected, Poisson", Points, barker.Config{Target: m, Proposal: move, Clip: 0.1,
			Batch: curator.Batch{Rate: 0.5}, Test: curator.Test{Corrected: 1}}, 0),
		Barker("corrected, fixed", Points, barker.Config{Target: m, Proposal: move, Clip: 0.1, Batch: curator.Batch{Size: 4},
			Test: curator.Test{Corrected: 2}}, 0),
		Barker("published", Points, barker.Config{Target: m, Proposal: move, Clip: math.Sqrt(6) / 8, Temperature: 0.5,
			Batch: curator.Batch{Size: 6},
			Test:  curator.Test{Corrected: 2}, Accounting: "published"}, 0),
	}
}

// others are the samplers that release decisions of other tests, or noisy ratios.
func others() []Kernel {
	m, r, move := Mean(), curator.Records{X: Points, Features: 2}, curator.Proposal{Scale: 0.4}
	walk := func(c penalty.Config) proptest.Factory {
		return func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			c := c
			c.Target, c.Iterations = m, steps
			return penalty.New(c, records)
		}
	}
	signs := func(adjusted bool) proptest.Factory {
		return func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			return barkerdynamics.New(barkerdynamics.Config{Target: m, Scale: 0.3, Clip: 30, Iterations: steps,
				Adjusted: adjusted}, records)
		}
	}
	certified := curator.Records{X: Points, Features: 2, Y: labels, Radius: 1}
	return []Kernel{
		{"tunamh, certified", certified, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			return tunamh.New(tunamh.Config{Target: Regression(), Proposal: curator.Proposal{Scale: 0.1}, Rate: 0.8,
				Iterations: steps}, records)
		}, nil},
		{"penalty, certified", certified, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			return penalty.New(penalty.Config{Target: Regression(), Proposal: curator.Proposal{Scale: 0.4, Radius: 0.9},
				Noise: penalty.Fixed(1), Iterations: steps}, records)
		}, nil},
		{"Barker dynamics, certified", certified, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			return barkerdynamics.New(barkerdynamics.Config{Target: Regression(), Scale: 0.3, Adjusted: true,
				Iterations: steps}, records)
		}, nil},
		{"penalty, decisions", r, walk(penalty.Config{Proposal: move, Noise: penalty.Fixed(1), Clip: 20}),
			Exactly(Points, 1)},
		{"penalty, ratios", r, walk(penalty.Config{Proposal: move, Noise: penalty.Scaled(0.01), Clip: 20,
			Accounting: "published"}), Exactly(Points, 1)},
		{"penalty, guided", r, walk(penalty.Config{Proposal: curator.Proposal{Scale: 0.4, OneComponent: true}, Guided: true,
			Noise: penalty.Fixed(1),
			Clip:  20}), Exactly(Points, 1)},
		{"Barker dynamics", r, signs(false), nil},
		{"Barker dynamics, adjusted", r, signs(true), Exactly(Points, 1)},
	}
}

// gradientKernels are the samplers that release gradients.
func gradientKernels() []Kernel {
	m, r := Mean(), curator.Records{X: Points, Features: 2, Radius: 3}
	hmc := func(c dphmc.Config) proptest.Factory {
		return func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			c := c
			c.Target, c.Iterations, c.Steps, c.StepSize, c.GradientNoise, c.GradientClip = m, steps, 3, 0.2, 0.05, 10
			return dphmc.New(c, records)
		}
	}
	langevin := dpsgld.Config{Driven: kernels.Driven{Target: m, Step: kernels.Constant(0.01),
		NoiseMultiplier: 0.1, Clip: 10}}
	return []Kernel{
		{"dphmc, Barker bit", r, hmc(dphmc.Config{MaxMove: 4, RatioClip: 30}), Exactly(Points, 1)},
		{"dphmc, published", r, hmc(dphmc.Config{Acceptance: dphmc.PublishedPenalty, RatioClip: 30, RatioNoise: 0.02,
			FreshStart: true}), Exactly(Points, 1)},
		{"dpsgld", r, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			c := langevin
			c.Iterations = steps
			return dpsgld.New(c, records)
		}, nil},
		{"dphmc, batches and masses", r, hmc(dphmc.Config{MaxMove: 4, RatioClip: 30, GradientBatch: curator.Batch{Rate: 0.5},
			Mass: []float64{2, 0.5}, Jitter: dphmc.Uniform}), Exactly(Points, 1)},
		{"dphmc, certified moves", r, hmc(dphmc.Config{Acceptance: dphmc.PublishedPenalty, RatioNoise: 0.1}),
			Exactly(Points, 1)},
		{"dpsgld, fixed batches", r, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			c := langevin
			c.Iterations, c.Batch, c.Step, c.Precondition = steps, curator.Batch{Size: 3}, kernels.Polynomial(0.01, 5, 0.6),
				[]float64{1, 2}
			return dpsgld.New(c, records)
		}, nil},
		{"dpsgld, as published", r, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			c := langevin
			c.Iterations, c.AsPublished = steps, true
			return dpsgld.New(c, records)
		}, nil},
		{"sgnht", r, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			return sgnht.New(sgnht.Config{Driven: kernels.Driven{Target: m, Step: langevin.Step, NoiseMultiplier: 0.1, Clip: 10,
				Batch: curator.Batch{Rate: 0.5}, Iterations: steps}, Friction: 1}, records)
		}, nil},
	}
}
