package dphmc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// agrees holds a chain from the problem's start to the exact moments, within 5
// Monte Carlo standard errors. False-alarm rate: 6·10⁻⁷ for each of four figures,
// and the seeds of these tests are fixed.
func (m model) agrees(t testing.TB, what string, k kernels.Kernel) bool {
	t.Helper()
	draws, accepted := posteriors.Walk(t, k, m.Start, steps)
	return m.Exact(1, 1).Agree(t, fmt.Sprintf("%s, %s (%.0f%% accepted)", m.Name, what, 100*accepted), draws, 5, 0)
}

const steps = 20_000

// TestExactPosterior holds chains with very noisy, clipped or minibatch gradients
// to the exact posterior, for both tests and both ways to start.
func TestExactPosterior(t *testing.T) {
	for _, m := range []model{gaussian(0), gaussian(1), logistic()} {
		for _, tc := range []struct {
			name   string
			change func(*Config)
		}{
			{"bit", func(*Config) {}},
			{"bit, fresh start, uniform jitter", func(c *Config) { c.FreshStart, c.Jitter = true, Uniform }},
			{"bit, minibatch gradients, masses", func(c *Config) {
				c.GradientBatch, c.Mass = curator.Batch{Rate: 0.3}, []float64{2, 0.7}
			}},
			{"penalty", func(c *Config) { c.Acceptance, c.MaxMove, c.RatioNoise = PublishedPenalty, 0, 0.3 }},
		} {
			c := m.config(steps, 1)
			tc.change(&c)
			if c.Acceptance == PublishedPenalty && c.RatioClip > 0 {
				c.RatioClip = 7
			}
			k := posteriors.Must(New(c, m.Seal()))
			if !m.agrees(t, tc.name, k) {
				t.Errorf("%s, %s: not the posterior", m.Name, tc.name)
			}
			if k.Left() != 0 || k.Gradients.Left() != 0 {
				t.Errorf("%s, %s: %d trajectories and %d gradients are left over", m.Name, tc.name, k.Left(), k.Gradients.Left())
			}
		}
	}
}

// stale makes every step with the same momenta.
type stale struct{ kernels.Kernel }

func (k stale) Step(_ *rand.Rand, s *kernels.State) (kernels.Info, error) {
	return k.Kernel.Step(kernels.Stream(11, 0), s)
}

// TestMutantsAreRejected runs chains with a known fault through the same
// comparison: momentum that is not refreshed, and records clipped in the test.
func TestMutantsAreRejected(t *testing.T) {
	m := gaussian(0)
	c := m.config(steps, 0.3)
	c.Jitter = NoJitter
	clipped := c
	clipped.RatioClip = 0.4
	for name, k := range map[string]kernels.Kernel{
		"momentum not refreshed": stale{posteriors.Must(New(c, m.Seal()))},
		"clipped ratios":         posteriors.Must(New(clipped, m.Seal())),
	} {
		if m.agrees(t, name, k) {
			t.Errorf("%s: the comparison does not notice", name)
		}
	}
}

// TestRejectClipped has ratios that would be clipped rejected instead, which
// restores exactness.
func TestRejectClipped(t *testing.T) {
	m := gaussian(0)
	m.Records.Radius = 3
	for i, x := range m.Records.X {
		m.Records.X[i] = max(-2, min(2, x)) // inside the radius, so that sealing changes nothing
	}
	m.Exact = m.Integrated()
	c := m.config(steps, 0.3)
	c.MaxMove, c.RatioClip, c.RejectClipped = 0.8, 3.3, true
	k := posteriors.Must(New(c, m.Seal()))
	if !m.agrees(t, "rejecting", k) {
		t.Error("not the posterior")
	}
	rejected := 0
	theta, next := []float64{0, 0}, []float64{0, 0}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		for j := range theta {
			theta[j], next[j] = 4*rng.NormFloat64(), 4*rng.NormFloat64()
		}
		forth, back := k.allowed(next, theta, kernels.Distance(next, theta)),
			k.allowed(theta, next, kernels.Distance(next, theta))
		if forth != back {
			t.Fatalf("the move between %v and %v is allowed in one direction only", theta, next)
		}
		if !forth {
			rejected++
		}
	}
	if rejected == 0 {
		t.Error("no move was rejected, so nothing was tested")
	}
}

// TestCertificatesReplaceClips runs both tests without clips: the penalty also on
// a Gaussian mean and a mixture, of which only single moves are certified. A bit
// there is refused.
func TestCertificatesReplaceClips(t *testing.T) {
	for _, p := range posteriors.All() {
		for _, acceptance := range []Acceptance{BarkerBit, PublishedPenalty} {
			m := model{p, Config{Steps: 3, StepSize: 0.5, GradientClip: 5, Temperature: p.Temperature, Acceptance: acceptance}}
			c := m.config(steps, 0.3)
			if c.MaxMove = 3; acceptance == PublishedPenalty {
				c.MaxMove, c.RatioNoise = 0, 0.1
			}
			k, err := New(c, m.Seal())
			switch {
			case acceptance == BarkerBit && p.Name != "logistic":
				if err == nil {
					t.Errorf("%s: a bit without any bound is granted", p.Name)
				}
			case err != nil:
				t.Errorf("%s, %v: %v", p.Name, acceptance, err)
			case !m.agrees(t, acceptance.String(), k):
				t.Errorf("%s, %v: not the posterior", p.Name, acceptance)
			}
		}
	}
}

// TestGradientCertificatePricesTheBit: without a linear predictor the certified
// gradient bounds what a record can do to a move of the longest length.
func TestGradientCertificatePricesTheBit(t *testing.T) {
	softmax := posteriors.Must(targets.New(targets.SoftmaxConfig{Features: 2, Classes: 3,
		Prior: priors.Gaussian{SD: 2}}))
	facts := curator.Facts{Records: 100, Features: 2, Response: true, Radius: 1.5, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
	c := Config{Target: softmax, Iterations: 1, Steps: 1, StepSize: 0.1, GradientNoise: 1, MaxMove: 0.2, Temperature: 0.5}
	_, test, err := c.prices(facts)
	if err != nil {
		t.Fatal(err)
	}
	want, err := accountant.Bit{Contribution: 0.5 * softmax.GradBound(1.5) * 0.2}.Event(accountant.Substitute)
	if err != nil {
		t.Fatal(err)
	}
	if got := test.RDP(2) / want.RDP(2); math.Abs(got-1) > 1e-6 {
		t.Errorf("a bit costs %v times that of τ·GradBound·MaxMove", got)
	}
	facts.Radius, c.GradientClip = 0, 1
	if _, err := Cost(c, facts); err == nil {
		t.Error("a certificate was used for records of any size")
	}
}

// TestDivergenceIsRejectedUnseen drives trajectories to infinity: the chain stays
// where it is, no bit is drawn, and the step is used up.
func TestDivergenceIsRejectedUnseen(t *testing.T) {
	for _, acceptance := range []Acceptance{BarkerBit, PublishedPenalty} {
		m := gaussian(1)
		c := m.config(20, 1)
		c.StepSize, c.Jitter, c.Acceptance = 1e120, NoJitter, acceptance
		if acceptance == PublishedPenalty {
			c.MaxMove, c.RatioNoise = 0, 1
		}
		k := posteriors.Must(New(c, m.Seal()))
		draws, accepted := posteriors.Walk(t, k, m.Start, 20)
		if accepted != 0 || draws[0][19] != 0.5 || k.Left() != 0 {
			t.Errorf("%v: diverging trajectories: %v accepted, at %v, %d left", acceptance, accepted, draws[0][19], k.Left())
		}
		if k.bits != nil && k.bits.Left() != 20 || k.ratios != nil && k.ratios.Left() != 20 {
			t.Errorf("%v: a test looked at the data for a trajectory that had diverged", acceptance)
		}
		if _, err := k.Step(kernels.Stream(11, 0), &kernels.State{Theta: []float64{0, 0}}); err == nil {
			t.Error("a trajectory that was not paid for was made")
		}
	}
}

// TestCost holds the two prices to the releases they list: reusing a gradient
// saves one in each iteration but the first.
func TestCost(t *testing.T) {
	m := logistic()
	c := m.config(100, 1)
	facts := m.Seal().Facts()
	force, err := c.gradient().Event(facts)
	if err != nil {
		t.Fatal(err)
	}
	bit, err := c.bit(facts).Event(facts)
	if err != nil {
		t.Fatal(err)
	}
	const order = 3.0
	for fresh, gradients := range map[bool]float64{false: 4*100 + 1, true: 5 * 100} {
		c.FreshStart = fresh
		chain, err := ChainCost(c, facts)
		if err != nil {
			t.Fatal(err)
		}
		want := gradients*force.RDP(order) + 100*bit.RDP(order)
		if got := chain.RDP(order); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("fresh start %v: a chain costs %v at order 3, want %v", fresh, got, want)
		}
		step, err := Cost(c, facts)
		if err != nil {
			t.Fatal(err)
		}
		want = math.Floor(gradients/100)*force.RDP(order) + bit.RDP(order)
		if got := step.RDP(order); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("fresh start %v: an iteration costs %v at order 3, want %v", fresh, got, want)
		}
		records := m.Seal()
		if _, err := New(c, records); err != nil {
			t.Fatal(err)
		}
		if spent := records.Budget().Events(); !spent.Equal(chain) {
			t.Errorf("fresh start %v: New charged %v, ChainCost says %v", fresh, spent, chain)
		}
	}
}

func TestRefusals(t *testing.T) {
	m := logistic()
	for name, change := range map[string]func(*Config){
		"no target":               func(c *Config) { c.Target = nil },
		"no iterations":           func(c *Config) { c.Iterations = 0 },
		"no steps":                func(c *Config) { c.Steps = 0 },
		"no step size":            func(c *Config) { c.StepSize = 0 },
		"NaN step size":           func(c *Config) { c.StepSize = math.NaN() },
		"unknown jitter":          func(c *Config) { c.Jitter = 9 },
		"wide jitter":             func(c *Config) { c.JitterWidth = 2 },
		"short mass":              func(c *Config) { c.Mass = []float64{1} },
		"zero mass":               func(c *Config) { c.Mass = []float64{1, 0} },
		"no gradient noise":       func(c *Config) { c.GradientNoise = 0 },
		"negative gradient clip":  func(c *Config) { c.GradientClip = -1 },
		"temperature above 1":     func(c *Config) { c.Temperature = 1.5 },
		"unknown acceptance":      func(c *Config) { c.Acceptance = 9 },
		"negative move":           func(c *Config) { c.MaxMove = -1 },
		"nothing bounds the bit":  func(c *Config) { c.MaxMove = 0 },
		"clip without a move":     func(c *Config) { c.MaxMove, c.RatioClip = 0, 1 },
		"NaN clip":                func(c *Config) { c.RatioClip = math.NaN() },
		"noise for a bit":         func(c *Config) { c.RatioNoise = 1 },
		"a penalty with a move":   func(c *Config) { c.Acceptance, c.RatioNoise = PublishedPenalty, 1 },
		"a penalty without noise": func(c *Config) { c.Acceptance, c.MaxMove = PublishedPenalty, 0 },
		"rejecting without clip":  func(c *Config) { c.RejectClipped = true },
	} {
		c := m.config(10, 1)
		change(&c)
		records := m.Seal()
		if _, err := New(c, records); err == nil {
			t.Errorf("%s: no error from New", name)
		}
		if _, err := Cost(c, records.Facts()); err == nil {
			t.Errorf("%s: no error from Cost", name)
		}
		if _, err := ChainCost(c, records.Facts()); err == nil {
			t.Errorf("%s: no error from ChainCost", name)
		}
		if spent, err := records.Budget().Spent(); err != nil || spent.Epsilon != 0 {
			t.Errorf("%s: a refused chain spent %v (%v)", name, spent, err)
		}
	}
	k := posteriors.Must(New(m.config(1, 1), m.Seal()))
	if _, err := k.Init([]float64{math.NaN(), 0}); err == nil {
		t.Error("a start that is not a number was accepted")
	}
}

// TestRangeCertificateAllowsAnyMove runs a chain whose loss has a finite range:
// it needs neither a longest move nor a clip, and pays for the range.
func TestRangeCertificateAllowsAnyMove(t *testing.T) {
	m := logistic()
	m.Target = posteriors.Must(targets.New(targets.RegressionConfig{
		Features: 2, Loss: targets.Loss{Beta: 1.5}, Prior: priors.Gaussian{SD: 2}}))
	m.Exact = m.Integrated()
	c := m.config(steps, 1)
	c.MaxMove = 0
	k := posteriors.Must(New(c, m.Seal()))
	if !m.agrees(t, "β loss, any move", k) {
		t.Error("not the posterior")
	}
	bound, err := accountant.Bit{Contribution: 2}.Event(accountant.Substitute) // R_ℓ = 1/(β−1)
	if err != nil {
		t.Fatal(err)
	}
	if got := k.bits.Event().RDP(2) / bound.RDP(2); math.Abs(got-1) > 1e-6 {
		t.Errorf("a bit costs %v times that of the loss's range", got)
	}
}

// BenchmarkStep times trajectories whose ends are tested, on all records: moves
// stay within MaxMove, whatever the noise of the batch's gradients.
func BenchmarkStep(b *testing.B) {
	target := posteriors.Must(targets.New(targets.RegressionConfig{Features: 10, Prior: priors.Gaussian{SD: 3}}))
	for _, bc := range []struct {
		name  string
		n     int
		batch curator.Batch
		noise float64
	}{{"full/N=1e5/L=5", 100_000, curator.Batch{}, 400},
		{"poisson/N=1e6/b=1000/L=5", 1_000_000, curator.Batch{Rate: 0.001}, 0.4}} {
		b.Run(bc.name, func(b *testing.B) {
			posteriors.BenchmarkSteps(b, posteriors.Simulated(bc.n, 10), make([]float64, 10), factory(Config{
				Target: target, Steps: 5, StepSize: 0.0003, GradientNoise: bc.noise, GradientBatch: bc.batch, MaxMove: 0.1,
			}))
		})
	}
}
