package sgnht

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
)

const (
	testClip = 20 // far beyond any gradient of the test's records
	steps    = 50_000
)

func factory(c Config) posteriors.Factory {
	return func(sealed *curator.Curator, n int64) (kernels.Kernel, error) {
		c.Iterations = n
		return New(c, sealed)
	}
}

// TestPosterior holds the thermostat to the posterior with little noise, with
// privacy noise beyond its friction, and with the noise of minibatches, whose
// variance it is not told. Its splitting has a bias of order h², 0.2% here,
// inside the Monte Carlo error. The mutant whose friction is too heavy to learn
// must be rejected where there is something to learn. Within 5 Monte Carlo standard
// errors: 6·10⁻⁷ each; the seeds are fixed.
func TestPosterior(t *testing.T) {
	cloud := posteriors.NewCloud(2, 5)
	for _, tc := range []struct {
		name       string
		multiplier float64
		batch      curator.Batch
		mass       float64
		right      bool
	}{
		{"little noise", 0.01, curator.Batch{}, 0, true},
		{"excess", 0.5, curator.Batch{}, 0, true},
		{"batches", 0.05, curator.Batch{Rate: 0.4}, 0, true},
		{"batches, cannot learn", 0.05, curator.Batch{Rate: 0.4}, 1e12, false},
	} {
		k := posteriors.Must(New(Config{Driven: kernels.Driven{Target: cloud.Target, Iterations: steps,
			Step: kernels.Constant(0.03), NoiseMultiplier: tc.multiplier, Clip: testClip, Batch: tc.batch}, Friction: 4,
			ThermalMass: tc.mass}, cloud.Seal()))
		draws, _ := posteriors.Walk(t, k, cloud.Center, steps)
		exact := posteriors.Moments{Mean: cloud.Center}
		for j := range draws {
			draws[j] = draws[j][steps/10:]
			exact.SD = append(exact.SD, 1/math.Sqrt(cloud.Curvature))
		}
		if right := exact.Agree(t, tc.name, draws, 5, 0); right != tc.right {
			t.Errorf("%s: samples the posterior: %v, want %v", tc.name, right, tc.right)
		}
	}
}

// TestLogisticBias measures the kernel on a certified logistic posterior against
// quadrature: means and standard deviations are within 3% of a standard deviation plus
// 5 Monte Carlo standard errors (6·10⁻⁷ each; the seed is fixed).
func TestLogisticBias(t *testing.T) {
	p := posteriors.Circle()
	exact := p.Exact(1, 1)
	c := Config{Driven: kernels.Driven{Target: p.Target, Step: kernels.Constant(0.2), NoiseMultiplier: 1}, Friction: 1}
	draws, _ := posteriors.Walk(t, posteriors.Must(factory(c)(p.Seal(), 2*steps)), exact.Mean, 2*steps)
	if !exact.Agree(t, "thermostat", draws, 5, 0.03) {
		t.Error("beyond the documented bias")
	}
}

func TestRefusals(t *testing.T) {
	cloud := posteriors.NewCloud(2, 3)
	good := Config{Driven: kernels.Driven{Target: cloud.Target, Iterations: 10, Step: kernels.Constant(0.001),
		NoiseMultiplier: 0.5, Clip: testClip}, Friction: 1}
	if _, err := New(good, cloud.Seal()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"no target":            func(c *Config) { c.Target = nil },
		"no iterations":        func(c *Config) { c.Iterations = 0 },
		"no step":              func(c *Config) { c.Step = kernels.Schedule{} },
		"no friction":          func(c *Config) { c.Friction = 0 },
		"NaN friction":         func(c *Config) { c.Friction = math.NaN() },
		"negative mass":        func(c *Config) { c.ThermalMass = -1 },
		"nothing bounds":       func(c *Config) { c.Clip = 0 },
		"short preconditioner": func(c *Config) { c.Precondition = []float64{1} },
	} {
		c := good
		change(&c)
		if _, err := New(c, cloud.Seal()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestLeavingTheSupport checks that steps out of the prior's support, which begins just
// below the posterior's mean, are not made, but are paid for.
func TestLeavingTheSupport(t *testing.T) {
	cloud := posteriors.NewCloud(1, 3)
	k := posteriors.Must(New(Config{Driven: kernels.Driven{Target: posteriors.Above{GradTarget: cloud.Target, Low: 0.6},
		Iterations: 1000, Step: kernels.Constant(0.03), NoiseMultiplier: 0.1, Clip: testClip}, Friction: 4}, cloud.Seal()))
	posteriors.CheckSupport(t, k, cloud.Center, 0.6)
}

// TestStatesOfNoChainAreRefused: an error says so and changes nothing, where a step
// would be refused for ever without one.
func TestStatesOfNoChainAreRefused(t *testing.T) {
	cloud := posteriors.NewCloud(1, 3)
	k := posteriors.Must(New(Config{Driven: kernels.Driven{Target: cloud.Target, Step: kernels.Constant(0.01),
		NoiseMultiplier: 1, Clip: testClip, Iterations: 5}, Friction: 1}, cloud.Seal()))
	rng := rand.New(rand.NewPCG(1, 1))
	for _, theta := range [][]float64{{math.NaN()}, {math.Inf(1)}, {}, {1, 2}} {
		s := &kernels.State{Theta: theta}
		if _, err := k.Step(rng, s); err == nil || !strings.Contains(err.Error(), "sgnht: the state") {
			t.Errorf("the state %v gives the error %v", theta, err)
		}
		if k.Left() != 5 || s.Iteration != 0 {
			t.Errorf("the state %v used up a step: %d left, iteration %d", theta, k.Left(), s.Iteration)
		}
		if _, err := k.Init(theta); err == nil {
			t.Errorf("Init takes the state %v", theta)
		}
	}
	s := posteriors.Must(k.Init([]float64{0}))
	if _, err := k.Step(rng, s); err != nil {
		t.Error(err)
	}
}
