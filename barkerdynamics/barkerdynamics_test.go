package barkerdynamics

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// model is a posterior with the scale and the clip of a chain.
type model struct {
	posteriors.Problem
	clip, scale float64
}

// bent is a Gaussian mean, or a banana, whose clip never binds.
func bent(curvature float64) model { return model{posteriors.Bent(curvature), 60, 0.3} }

// certified is a logistic regression, which needs no clip.
func certified() model { return model{posteriors.Circle(), 0, 0.8} }

func (m model) config(n int64) Config {
	return Config{Target: m.Target, Scale: m.scale, Iterations: n, Clip: m.clip}
}

func factory(c Config) posteriors.Factory {
	return func(sealed *curator.Curator, steps int64) (kernels.Kernel, error) {
		c.Iterations = steps
		return New(c, sealed)
	}
}

const dynamicsSteps = 50_000

// TestDynamicsPosterior holds the adjusted chain to the exact posterior, and the
// unadjusted one to its documented bias; the unadjusted chain at a large scale is
// the mutant that the comparison must reject.
func TestDynamicsPosterior(t *testing.T) {
	for _, m := range []model{bent(0), bent(1), certified()} {
		// agrees holds a chain to 5 Monte Carlo standard errors and to a bias.
		agrees := func(what string, c Config, bias float64) bool {
			draws, accepted := posteriors.Walk(t, posteriors.Must(New(c, m.Seal())), m.Start, c.Iterations)
			return m.Exact(1, 1).Agree(t, fmt.Sprintf("%s, %s (%.0f%% accepted)", m.Name, what, 100*accepted), draws, 5, bias)
		}
		c := m.config(dynamicsSteps)
		if agrees("unadjusted", c, 0) {
			t.Errorf("%s: the comparison does not notice that nothing is accepted or rejected", m.Name)
		}
		c.Adjusted = true
		if !agrees("adjusted", c, 0) {
			t.Errorf("%s, adjusted: not the posterior", m.Name)
		}
		c.Adjusted, c.Scale = false, c.Scale/5
		if !agrees("unadjusted, small", c, 0.05) {
			t.Errorf("%s: a small scale is biased by more than 5%%", m.Name)
		}
	}
}

// TestDynamicsCost checks the ratio of prices that is documented, and that the
// signs alone cost the same in any dimension.
func TestDynamicsCost(t *testing.T) {
	m := certified()
	facts := m.Seal().Facts()
	c := m.config(1)
	c.Scale = 1e-3
	signs, err := Cost(c, facts)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := signs.RDP(2), 2*4e-6/8; math.Abs(got/want-1) > 1e-3 {
		t.Errorf("signs of scale 10⁻³ cost %v at order 2, want %v", got, want)
	}
	c.Adjusted = true
	both, err := Cost(c, facts)
	if err != nil {
		t.Fatal(err)
	}
	if got := both.RDP(2) / signs.RDP(2); math.Abs(got-19) > 0.1 {
		t.Errorf("adjusting costs %v times the signs, want 1 + 9·2", got)
	}
	wide, err := targets.New(targets.RegressionConfig{Features: 50, Prior: priors.Gaussian{SD: 2}})
	if err != nil {
		t.Fatal(err)
	}
	facts.Features, c.Adjusted, c.Target = 50, false, wide
	same, err := Cost(c, facts)
	if err != nil {
		t.Fatal(err)
	}
	if got := same.RDP(2) / signs.RDP(2); math.Abs(got-1) > 1e-5 {
		t.Errorf("50 signs cost %v times what 2 do", got)
	}
}

func TestDynamicsRefusals(t *testing.T) {
	m := bent(0)
	for name, change := range map[string]func(*Config){
		"no target":     func(c *Config) { c.Target = nil },
		"no scale":      func(c *Config) { c.Scale = 0 },
		"no iterations": func(c *Config) { c.Iterations = -1 },
		"no clip":       func(c *Config) { c.Clip = 0 },
		"temperature":   func(c *Config) { c.Temperature = math.NaN() },
	} {
		c := m.config(10)
		change(&c)
		records := m.Seal()
		if _, err := New(c, records); err == nil {
			t.Errorf("%s: no error", name)
		}
		if spent, err := records.Budget().Spent(); err != nil || spent.Epsilon != 0 {
			t.Errorf("%s: a refused chain spent %v (%v)", name, spent, err)
		}
	}
}

// TestMovesAreTheCurators: no stream is needed.
func TestMovesAreTheCurators(t *testing.T) {
	m := certified()
	for _, adjusted := range []bool{false, true} {
		c := m.config(1000)
		c.Adjusted = adjusted
		k := posteriors.Must(New(c, m.Seal()))
		if _, err := k.Step(nil, posteriors.Must(k.Init([]float64{0, 0}))); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkDynamics times a step on the full data of 10⁵ records with 10 features.
func BenchmarkDynamics(b *testing.B) {
	target := posteriors.Must(targets.New(targets.RegressionConfig{Features: 10, Prior: priors.Gaussian{SD: 3}}))
	for _, adjusted := range []bool{false, true} {
		b.Run(fmt.Sprintf("adjusted=%v", adjusted), func(b *testing.B) {
			posteriors.BenchmarkSteps(b, posteriors.Simulated(100_000, 10), make([]float64, 10),
				factory(Config{Target: target, Scale: 1e-6, Adjusted: adjusted}))
		})
	}
}
