package laws

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/barkerdynamics"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/dphmc"
	"github.com/dpmcmc/dpmcmc/dpsgld"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/penalty"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
	"github.com/dpmcmc/dpmcmc/tunamh"
)

// TestMain keeps rapid from writing files about failures that are provoked.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// mean is N(θ, I) in two dimensions with a prior of standard deviation ½, so
// that the prior counts as much as four records.
func mean(t testing.TB) *targets.GaussianMean {
	t.Helper()
	m, err := targets.NewGaussianMean(targets.GaussianMeanConfig{Features: 2, Prior: targets.Gaussian{SD: 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// regression is logistic regression under the β loss, which has certificates.
func regression(t testing.TB) *targets.Regression {
	t.Helper()
	loss, err := targets.BetaLoss(1.5)
	if err != nil {
		t.Fatal(err)
	}
	m, err := targets.NewLogistic(targets.RegressionConfig{Features: 2, Loss: loss, Prior: targets.Gaussian{SD: 2}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// exactly draws from the posterior of mean given records, tempered by tau:
// N(τs/(τn+4), 1/(τn+4)) in each coordinate.
func exactly(records []float64, tau float64) func(rng *rand.Rand, theta []float64) {
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
	points = []float64{1.5, -0.5, 0.5, 1, 2, 0.25, 1, -1.5, 2.5, 0.5, 1.5, 0, 0.75, 1.25, 0.5, -0.25}
	// alike are eight equal rows: every batch of a fixed size has the same sum.
	alike  = eight(1.5, -0.5)
	labels = []float64{0, 1, 1, 0, 1, 0, 1, 1}
)

func eight(a, b float64) (rows []float64) {
	for range 8 {
		rows = append(rows, a, b)
	}
	return rows
}

// law is a kernel, what it runs on, and what it leaves invariant.
type law struct {
	name    string
	records curator.Records
	factory proptest.Factory
	exact   func(rng *rand.Rand, theta []float64)
}

func barkerLaw(name string, x []float64, c barker.Config, tau float64) law {
	l := law{name: name, records: curator.Records{X: x, Features: 2}}
	if tau > 0 {
		l.exact = exactly(x, tau)
	}
	l.factory = func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
		c := c
		c.Iterations = steps
		return barker.New(c, records)
	}
	return l
}

// barkers lists every variant of the Barker test. Variants without a law are
// exact only up to the batch's own noise.
func barkers(t testing.TB) []law {
	m, move := mean(t), kernels.Isotropic(0.4)
	certified := barkerLaw("certified", points, barker.Config{Target: regression(t), Proposal: move}, 0)
	certified.records.Y, certified.records.Radius = labels, 1
	poisson := barkerLaw("certified, Poisson", points,
		barker.Config{Target: regression(t), Proposal: move, Batch: curator.Poisson(0.5)}, 0)
	poisson.records = certified.records
	return []law{
		certified, poisson,
		barkerLaw("logistic", points, barker.Config{Target: m, Proposal: move, Clip: 50}, 1),
		barkerLaw("tempered", points, barker.Config{Target: m, Proposal: move, Clip: 50, Temperature: 0.25}, 0.25),
		barkerLaw("shaped", points, barker.Config{Target: m, Proposal: kernels.Shaped(0.6, []float64{0.9, 0, 0.3, 0.25}),
			Clip: 50}, 1),
		barkerLaw("one-component", points, barker.Config{Target: m, Proposal: kernels.OneComponent(0.6), Clip: 50}, 1),
		barkerLaw("truncated, public seed", points, barker.Config{Target: m, Proposal: kernels.Truncated(0.4, 0.9),
			Clip: 50}, 1),
		barkerLaw("corrected", points, barker.Config{Target: m, Proposal: move, Clip: 50, Test: curator.Corrected(1)}, 1),
		barkerLaw("fixed batches", alike, barker.Config{Target: m, Proposal: move, Clip: 50, Batch: curator.FixedSize(2)}, 1),
		barkerLaw("Poisson batches", points, barker.Config{Target: m, Proposal: move, Clip: 1,
			Batch: curator.Poisson(0.5)}, 0),
		barkerLaw("corrected, Poisson", points, barker.Config{Target: m, Proposal: move, Clip: 0.1,
			Batch: curator.Poisson(0.5), Test: curator.Corrected(1)}, 0),
		barkerLaw("corrected, fixed", points, barker.Config{Target: m, Proposal: move, Clip: 0.1, Batch: curator.FixedSize(4),
			Test: curator.Corrected(2)}, 0),
		barkerLaw("published", points, barker.Config{Target: m, Proposal: move, Clip: math.Sqrt(6) / 8, Temperature: 0.5,
			Batch: curator.FixedSize(6),
			Test:  curator.Corrected(2), Accounting: curator.Published}, 0),
	}
}

// others are the samplers that release decisions of other tests, or noisy ratios.
func others(t testing.TB) []law {
	m, r, move := mean(t), curator.Records{X: points, Features: 2}, kernels.Isotropic(0.4)
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
	certified := curator.Records{X: points, Features: 2, Y: labels, Radius: 1}
	return []law{
		{"tunamh, certified", certified, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			return tunamh.New(tunamh.Config{Target: regression(t), Proposal: kernels.Isotropic(0.1), Rate: 0.8,
				Iterations: steps}, records)
		}, nil},
		{"penalty, certified", certified, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			return penalty.New(penalty.Config{Target: regression(t), Proposal: kernels.Truncated(0.4, 0.9),
				Noise: penalty.Fixed(1), Iterations: steps}, records)
		}, nil},
		{"Barker dynamics, certified", certified, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			return barkerdynamics.New(barkerdynamics.Config{Target: regression(t), Scale: 0.3, Adjusted: true,
				Iterations: steps}, records)
		}, nil},
		{"penalty, decisions", r, walk(penalty.Config{Proposal: move, Noise: penalty.Fixed(1), Clip: 20}),
			exactly(points, 1)},
		{"penalty, ratios", r, walk(penalty.Config{Proposal: move, Noise: penalty.Scaled(0.01), Clip: 20,
			Accounting: curator.Published}), exactly(points, 1)},
		{"penalty, guided", r, walk(penalty.Config{Proposal: kernels.OneComponent(0.4), Guided: true, Noise: penalty.Fixed(1),
			Clip: 20}), exactly(points, 1)},
		{"Barker dynamics", r, signs(false), nil},
		{"Barker dynamics, adjusted", r, signs(true), exactly(points, 1)},
	}
}

// gradientKernels are the samplers that release gradients.
func gradientKernels(t testing.TB) []law {
	m, r := mean(t), curator.Records{X: points, Features: 2, Radius: 3}
	hmc := func(c dphmc.Config) proptest.Factory {
		return func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			c := c
			c.Target, c.Iterations, c.Steps, c.StepSize, c.GradientNoise, c.GradientClip = m, steps, 3, 0.2, 0.05, 10
			return dphmc.New(c, records)
		}
	}
	langevin := dpsgld.Config{Target: m, Step: dpsgld.Constant(0.01), NoiseMultiplier: 0.1, Clip: 10}
	return []law{
		{"dphmc, Barker bit", r, hmc(dphmc.Config{MaxMove: 4, RatioClip: 30}), exactly(points, 1)},
		{"dphmc, published", r, hmc(dphmc.Config{Acceptance: dphmc.PublishedPenalty, RatioClip: 30, RatioNoise: 0.02,
			FreshStart: true}), exactly(points, 1)},
		{"dpsgld", r, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			c := langevin
			c.Iterations = steps
			return dpsgld.New(c, records)
		}, nil},
		{"dphmc, batches and masses", r, hmc(dphmc.Config{MaxMove: 4, RatioClip: 30, GradientBatch: curator.Poisson(0.5),
			Mass: []float64{2, 0.5}, Jitter: dphmc.Uniform}), exactly(points, 1)},
		{"dphmc, certified moves", r, hmc(dphmc.Config{Acceptance: dphmc.PublishedPenalty, RatioNoise: 0.1}),
			exactly(points, 1)},
		{"dpsgld, fixed batches", r, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			c := langevin
			c.Iterations, c.Batch, c.Step, c.Precondition = steps, curator.FixedSize(3), dpsgld.Polynomial(0.01, 5, 0.6),
				[]float64{1, 2}
			return dpsgld.New(c, records)
		}, nil},
		{"dpsgld, as published", r, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			c := langevin
			c.Iterations, c.AsPublished = steps, true
			return dpsgld.New(c, records)
		}, nil},
		{"dpsgld, thermostat", r, func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
			c := langevin
			c.Iterations, c.Friction, c.Batch = steps, 1, curator.Poisson(0.5)
			return dpsgld.NewThermostat(c, records)
		}, nil},
	}
}

func (l law) options() proptest.KernelOptions {
	return proptest.KernelOptions{Records: l.records, Adjacency: accountant.Substitute, Start: []float64{0.3, -0.1},
		Exact: l.exact, Effort: proptest.Quick}
}

// TestKernels holds every sampler to the laws of package proptest. Tests of
// invariance have a false-alarm rate of 10⁻⁶ each.
func TestKernels(t *testing.T) {
	for _, l := range slices.Concat(barkers(t), others(t), gradientKernels(t)) {
		t.Run(l.name, func(t *testing.T) { proptest.CheckKernel(t, l.factory, l.options()) })
	}
}

// negated has the inverse of its prior, as a kernel with the wrong sign of the
// log-prior ratio sees it.
type negated struct{ *targets.GaussianMean }

func (n negated) LogPrior(theta []float64) float64 { return -n.GaussianMean.LogPrior(theta) }

// stale is a Barker chain that, after a rejection, takes the losses of the
// rejected proposal for those of its state.
type stale struct {
	bits     *curator.Bits
	target   targets.Target
	at, next []float64
}

func (k *stale) Name() string { return "stale" }
func (k *stale) Dim() int     { return len(k.next) }
func (k *stale) Left() int64  { return k.bits.Left() }
func (k *stale) Init(theta []float64) (*kernels.State, error) {
	return kernels.NewState(k.target, theta)
}

func (k *stale) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if s.Iteration == 0 || math.IsNaN(s.Theta[0]) {
		copy(k.at, s.Theta)
	}
	for j, v := range s.Theta {
		k.next[j] = v + 0.4*rng.NormFloat64()
	}
	accepted, err := k.bits.Accept(k.next, k.at, k.target.LogPrior(k.next)-k.target.LogPrior(s.Theta))
	if err != nil {
		return kernels.Info{}, err
	}
	if accepted {
		copy(s.Theta, k.next)
	}
	copy(k.at, k.next)
	s.Iteration++
	return kernels.Info{Accepted: accepted, StepSize: 0.4}, nil
}

// TestMutantsAreRejected: the mistakes that kernels like to make change the law.
func TestMutantsAreRejected(t *testing.T) {
	m, move := mean(t), kernels.Isotropic(0.4)
	cached := law{records: curator.Records{X: points, Features: 2}, exact: exactly(points, 1)}
	cached.factory = func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
		bits, err := records.GrantBits(curator.AcceptanceBit{Target: m, Clip: 50}, steps)
		return &stale{bits, m, make([]float64, 2), make([]float64, 2)}, err
	}
	missing := barkerLaw("", alike, barker.Config{Target: m, Proposal: move, Clip: 50, Batch: curator.FixedSize(2),
		Temperature: 2.0 / 8}, 1)
	for name, l := range map[string]law{
		"wrong sign of the log-prior ratio": barkerLaw("", points,
			barker.Config{Target: negated{m}, Proposal: move, Clip: 50}, 1),
		"missing N/b":                    missing,
		"stale cache after a rejection":  cached,
		"temperature forgotten":          barkerLaw("", points, barker.Config{Target: m, Proposal: move, Clip: 50}, 0.5),
		"contributions clipped unawares": barkerLaw("", points, barker.Config{Target: m, Proposal: move, Clip: 0.05}, 1),
	} {
		t.Run(name, func(t *testing.T) {
			report, failed := proptest.Try(t.Name(), func(t rapid.TB) { proptest.CheckKernel(t, l.factory, l.options()) })
			if !failed || !strings.Contains(report, "does not leave the exact law invariant") {
				t.Errorf("not rejected:\n%s", report)
			}
		})
	}
}
