package pld

import (
	"math"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// black is E(L − k)₊ of a lognormal number of mean 1.
func black(mu, k float64) float64 {
	if k <= 0 {
		return 1 - k
	}
	y := math.Log(k)/mu + mu/2
	return normal.Tail(y-mu) - k*normal.Tail(y)
}

// over sums f over a standard normal number.
func over(f func(x float64) float64) float64 {
	const h = 1.0 / 64
	sum := 0.0
	for x := -12.0; x <= 12; x += h {
		sum += h * normal.Density(x) * f(x)
	}
	return sum
}

// ratioTwo is E(S − u)₊ of two steps, by quadrature over one and in closed form over the other.
func ratioTwo(mu, u float64) float64 {
	return over(func(x float64) float64 { return black(mu, 2*u-math.Exp(mu*x-mu*mu/2)) / 2 })
}

// TestAllocationProfiles: profiles are above those of the worst pair of two steps, by less
// than a two-hundredth (a quarter far out, where a piece of the grid is wide beside S) and the
// stated failure, in both directions.
func TestAllocationProfiles(t *testing.T) {
	for _, sigma := range []float64{1, 1.5, 5, 40} {
		m := must(GaussianAllocation(sigma, 2))
		for _, share := range []float64{0, 0.2, 1, 2, 4} {
			eps := share / sigma
			want := [2]float64{ratioTwo(1/sigma, math.Exp(eps)), 0}
			// (1 − uS)₊ = (uS − 1)₊ + 1 − uS.
			want[1] = math.Exp(eps)*ratioTwo(1/sigma, math.Exp(-eps)) - math.Expm1(eps)
			for side, got := range []float64{m.forward(eps), m.backward(eps)} {
				loose := want[side]/200 + m.failures[side]
				if share > 1 {
					loose += want[side] / 4
				}
				if got < want[side]-1e-13 || got > want[side]+loose {
					t.Errorf("%v, direction %d at ε = %v: %v, by quadrature %v", m, side, eps, got, want[side])
				}
			}
		}
		if max(m.failures[0], m.failures[1]) > 1e-6 {
			t.Errorf("%v fails with probability %v", m, m.failures)
		}
	}
}

// TestAllocatedReplacement: under substitution the profile is above that of opposite vectors
// along one line in two steps, by less than a fifth at small losses.
func TestAllocatedReplacement(t *testing.T) {
	for _, sigma := range []float64{1, 3, 10} {
		mu, m := 1/sigma, must(GaussianAllocationSubstitution(sigma, 2))
		ratio := func(x, y, sign float64) float64 {
			return (math.Exp(sign*mu*x-mu*mu/2) + math.Exp(sign*mu*y-mu*mu/2)) / 2
		}
		for _, share := range []float64{0, 0.3, 1, 2} {
			eps := share / sigma
			want := 0.0
			const h = 1.0 / 16 // of sums whose summands have a kink: within a hundredth
			for x := -8.0; x <= 8; x += h {
				for y := -8.0; y <= 8; y += h {
					want += h * h * normal.Density(x) * normal.Density(y) * max(0, ratio(x, y, 1)-math.Exp(eps)*ratio(x, y, -1))
				}
			}
			if got := m.forward(eps); got < want*0.99 || share <= 0.3 && got > want*1.2 {
				t.Errorf("%v at ε = %v: %v, by quadrature %v", m, eps, got, want)
			}
		}
	}
}

// TestAllocationSpreadsKeepTheMean: tables of many steps have the mean of S, and hardly more
// than its variance, from which a grid that moved masses to the nearest point would be told.
func TestAllocationSpreadsKeepTheMean(t *testing.T) {
	for _, c := range []struct {
		sigma float64
		steps int64
	}{{1, 1000}, {0.9, 30}, {3, 100_000}, {20, 7}} {
		a, _, err := allocation("", c.sigma, c.steps)
		if err != nil {
			t.Fatal(err)
		}
		mean := a.above.over(1) + 1 - a.below.over(-1)
		// E(S−1)² = 2∫₁E(S − u)₊du + 2∫₋₁E(−S − x)₊dx.
		variance := 0.0
		for _, half := range []*calls{&a.above, &a.below} {
			from := 1.0
			if half == &a.below {
				from = -1
			}
			for x := from; x < half.end(); x += half.step {
				variance += 2 * half.step * half.over(x+half.step/2)
			}
		}
		want := math.Expm1(1/(c.sigma*c.sigma)) / float64(c.steps)
		if math.Abs(mean-1) > 1e-8 || variance < want*(1-1e-5) || variance > want*(1+3e-3) {
			t.Errorf("σ = %v, %d steps: mean %v, variance %v, want 1 and %v", c.sigma, c.steps, mean, variance, want)
		}
	}
}

// TestAllocationEdges: one step is a Gaussian, no noise reveals all, and what no grid holds is
// refused.
func TestAllocationEdges(t *testing.T) {
	gaussian := must(Gaussian(2))
	if m := must(GaussianAllocation(2, 1)); m.forward(0.3) != gaussian.forward(0.3) {
		t.Errorf("one step is %v", m)
	}
	if m := must(GaussianAllocationSubstitution(4, 1)); m.forward(0.3) != gaussian.forward(0.3) {
		t.Errorf("one step under substitution is %v", m)
	}
	if m := must(GaussianAllocation(0, 10)); m.forward(5) != 1 {
		t.Errorf("no noise is %v", m)
	}
	if m := must(GaussianAllocation(math.Inf(1), 10)); m.forward(0) != 0 {
		t.Errorf("noise without end is %v", m)
	}
	for want, build := range map[string]func() (Mechanism, error){
		"steps 0":          func() (Mechanism, error) { return GaussianAllocation(1, 0) },
		"noise multiplier": func() (Mechanism, error) { return GaussianAllocationSubstitution(-1, 5) },
		"fine enough":      func() (Mechanism, error) { return GaussianAllocation(0.3, 100) },
		"use RDP":          func() (Mechanism, error) { return GaussianAllocation(1e5, 100) },
	} {
		if _, err := build(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}
