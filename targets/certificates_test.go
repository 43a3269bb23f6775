package targets

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
)

// climb returns the largest value found of f over vectors of length n, by random
// restarts and moves of one or all coordinates at every scale from 10⁻⁶ to 10³.
func climb(rng *rand.Rand, n, restarts, moves int, f func(u []float64) float64) float64 {
	best := math.Inf(-1)
	u, trial := make([]float64, n), make([]float64, n)
	for range restarts {
		normals(rng, u)
		now := f(u)
		for range moves {
			copy(trial, u)
			scale := math.Pow(10, -6+9*rng.Float64()*rng.Float64())
			if rng.IntN(2) == 0 {
				trial[rng.IntN(n)] += scale * rng.NormFloat64()
			} else {
				for i := range trial {
					trial[i] += scale * rng.NormFloat64()
				}
			}
			if v := f(trial); v > now {
				now = v
				copy(u, trial)
			}
		}
		best = max(best, now)
	}
	return best
}

// adversary turns a search vector into records, with ‖x‖ ≤ radius.
type adversary struct {
	c      *modelCase
	p      int
	radius float64
}

func (a adversary) size() int { return a.p + 1 }

func (a adversary) record(u []float64) Rows {
	x := make([]float64, a.p)
	copy(x, u)
	if n := math.Sqrt(dot(x, x)); n > a.radius {
		for i := range x {
			x[i] *= a.radius / n * (1 - 1e-15)
		}
	}
	return Rows{X: x, P: a.p, Y: []float64{a.c.response(u[a.p])}}
}

// checkTightness fails when found exceeds bound, or falls short of the stated
// share of a finite bound.
func checkTightness(t *testing.T, name string, found, bound, share float64) {
	t.Helper()
	if !(found <= bound) {
		t.Errorf("%s: a search found %v, above the claimed bound %v", name, found, bound)
	}
	if !math.IsInf(bound, 1) && found < share*bound {
		t.Errorf("%s: a search found %v, only %.3f of the bound %v", name, found, found/bound, bound)
	}
}

func TestRangeCertificates(t *testing.T) {
	forEachCase(t, func(t *testing.T, c *modelCase, rng *rand.Rand) {
		p, _ := c.target.Shape()
		d, a := c.target.Dim(), adversary{c, p, math.Inf(1)}
		found := climb(rng, d+2*a.size(), 6, 1500, func(u []float64) float64 {
			theta, first, second := u[:d], u[d:d+a.size()], u[d+a.size():]
			diff := lossOf(c.target, theta, a.record(first))[0] - lossOf(c.target, theta, a.record(second))[0]
			if math.IsNaN(diff) {
				return 0
			}
			return diff
		})
		checkTightness(t, "range", found, c.target.(RangeCertificate).LossRange(), 0.95)
	})
}

func TestLipschitzCertificates(t *testing.T) {
	forEachCase(t, func(t *testing.T, c *modelCase, rng *rand.Rand) {
		target, ok := c.target.(LinearTarget)
		if !ok {
			return
		}
		found := climb(rng, 2, 6, 1500, func(u []float64) float64 {
			slope := []float64{u[0]}
			target.SlopeAt(slope, slope, []float64{c.response(u[1])})
			return math.Abs(slope[0])
		})
		checkTightness(t, "Lipschitz", found, target.PredictorLipschitz(), 0.99)
	})
}

func TestGradientCertificates(t *testing.T) {
	forEachCase(t, func(t *testing.T, c *modelCase, rng *rand.Rand) {
		p, _ := c.target.Shape()
		d, a := c.target.Dim(), adversary{c, p, 1.7}
		target, ok := c.target.(GradCertificate)
		if !ok {
			return
		}
		grad := make([]float64, d)
		found := climb(rng, d+a.size(), 6, 1500, func(u []float64) float64 {
			c.target.(GradTarget).LossGrad(grad, u[:d], a.record(u[d:]))
			return math.Sqrt(dot(grad, grad))
		})
		checkTightness(t, "gradient", found, target.GradBound(a.radius), 0.95)
	})
}

// TestRatioCertificates searches for the move and record that come closest to
// the bound, among moves of every length.
func TestRatioCertificates(t *testing.T) {
	forEachCase(t, func(t *testing.T, c *modelCase, rng *rand.Rand) {
		p, _ := c.target.Shape()
		d, a := c.target.Dim(), adversary{c, p, 1.7}
		next := make([]float64, d)
		bound := c.target.(RatioCertificate).RatioBound
		found := climb(rng, 2*d+a.size()+1, 14, 3000, func(u []float64) float64 {
			theta, length := u[:d], math.Exp(max(-10, -3+u[2*d]))
			if dot(theta, theta) > 1e4 {
				return 0 // so far out a climb finds roundings, not ratios
			}
			for j := range next {
				next[j] = theta[j] + length*u[d+j]
			}
			z := a.record(u[2*d+1:])
			now, then := lossOf(c.target, theta, z)[0], lossOf(c.target, next, z)[0]
			// A difference is good to some units in the last place of the losses,
			// which the bound of a tiny move may lie below.
			blur := 1e-14 * (1 + math.Abs(now) + math.Abs(then))
			claimed := bound(theta, next, a.radius)
			if claimed == 0 || math.IsInf(claimed, 1) || math.IsNaN(now-then) {
				return 0
			}
			return max(0, math.Abs(now-then)-blur) / claimed
		})
		if math.IsInf(bound(make([]float64, d), ones(d), a.radius), 1) {
			return
		}
		const rounding = 1e-6 // left over by moves whose ratio is nearly all rounding
		checkTightness(t, "ratio", found, 1+rounding, c.ratioShare())
	})
}

// TestBoundsAreNumbers: a bound is never NaN, not even at radius zero or
// infinity or for a state that stays, whose ratio is bounded by the least there
// is: roundings.
func TestBoundsAreNumbers(t *testing.T) {
	forEachCase(t, func(t *testing.T, c *modelCase, rng *rand.Rand) {
		theta, next := c.draw(rng), c.draw(rng)
		ratio := c.target.(RatioCertificate).RatioBound
		for _, radius := range []float64{0, 1, 1e308, math.Inf(1)} {
			if v := ratio(theta, next, radius); !(v >= 0) {
				t.Errorf("ratio bound %v at radius %v", v, radius)
			}
			if v := ratio(theta, theta, radius); !(v >= 0 && v < 1e-12) {
				t.Errorf("ratio bound %v at radius %v for a state that stays", v, radius)
			}
			if g, ok := c.target.(GradCertificate); ok && !(g.GradBound(radius) >= 0) {
				t.Errorf("gradient bound %v at radius %v", g.GradBound(radius), radius)
			}
		}
	})
}

// ratioShare is how much of the bound on moves must be attained. Poisson
// regression has no Lipschitz constant for β < 2, only the range, and a single
// count cannot cover that: its own mass can rise to one only at y = 0, where the
// loss cannot reach the top of the range.
func (c *modelCase) ratioShare() float64 {
	if strings.HasPrefix(c.name, "poisson") && c.loss.Beta < 2 {
		return 0.6
	}
	return 0.95
}

func ones(d int) []float64 {
	v := make([]float64, d)
	for i := range v {
		v[i] = 1
	}
	return v
}

// TestSearchCatchesLooseAndFalseBounds: the helper rejects a bound 1% too small
// and one 10% too large.
func TestSearchCatchesLooseAndFalseBounds(t *testing.T) {
	m := must[*Regression](t)(New(RegressionConfig{Features: 1, Loss: betaLoss(t, 1.5), Prior: priors.Gaussian{SD: 1}}))
	found := climb(rand.New(rand.NewPCG(7, 8)), 2, 6, 1500, func(u []float64) float64 {
		slope := []float64{u[0]}
		m.SlopeAt(slope, slope, []float64{u[1]})
		return math.Abs(slope[0])
	})
	if l := m.PredictorLipschitz(); !(found > 0.99*l && found < 0.95*1.1*l) {
		t.Errorf("found %v; a bound of 0.99·%v or of 1.1·%v would pass", found, l, l)
	}
}

// TestNetworkGradientIsAttained: in a box of weights there is a network, and a
// record, whose gradient comes within 1% of the bound: both hidden units as far
// out as they go, with opposite effects on two classes whose odds are 2 to 1.
func TestNetworkGradientIsAttained(t *testing.T) {
	const b = 1.5
	for _, l := range []Loss{betaLoss(t, 1.5), betaLoss(t, 2)} {
		m := must[*Network](t)(New(NetworkConfig{Features: 2, Hidden: 2, Classes: 3, ReLU: true, Loss: l,
			Prior: priors.Uniform{Low: -b, High: b}}))
		x := math.Sqrt(0.5)
		best := 0.0
		for odds := -3.0; odds <= 3; odds += 0.05 {
			theta := []float64{
				b, b, b, b, b, b, // into the hidden units
				b, -b, -b, b, -b, -b, // out of them, class by class
				odds / 2, -odds / 2, -b,
			}
			grad := make([]float64, len(theta))
			m.LossGrad(grad, theta, Rows{X: []float64{x, x}, P: 2, Y: []float64{0}})
			best = max(best, math.Sqrt(dot(grad, grad)))
		}
		checkTightness(t, "gradient", best, m.GradBound(1), 0.99)
	}
	if g := must[*Network](t)(New(NetworkConfig{Features: 2, Hidden: 2, Classes: 3,
		Prior: priors.Gaussian{SD: 1}})).GradBound(1); !math.IsInf(g, 1) {
		t.Errorf("the gradient bound is %v where the prior has no bound", g)
	}
}

// TestGradientBoundOfShortRows: where rows are short, the scale's part of the
// gradient is the greater one.
func TestGradientBoundOfShortRows(t *testing.T) {
	const radius = 0.01
	m := must[*Linear](t)(New(LinearConfig{Features: 1, Loss: betaLoss(t, 1.5), Prior: priors.Gaussian{SD: 1},
		MinScale: 0.3, ScalePrior: priors.HalfCauchy{Scale: 1}}))
	best, grad := 0.0, make([]float64, 2)
	for omega := -4.0; omega < 2; omega += 0.02 {
		for y := 0.0; y < 6; y += 0.1 {
			m.LossGrad(grad, []float64{0, omega}, Rows{X: []float64{radius}, P: 1, Y: []float64{y}})
			best = max(best, math.Hypot(grad[0], grad[1]))
		}
	}
	checkTightness(t, "gradient", best, m.GradBound(radius), 0.99)
}
