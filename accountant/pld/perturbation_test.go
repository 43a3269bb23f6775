package pld

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// parabola is f_t, the maximum over p in [0, 1] of p·y + p(1−p)·t.
func parabola(t, y float64) float64 {
	switch {
	case y <= -t:
		return 0
	case y < t:
		return (y + t) * (y + t) / (4 * t)
	}
	return y
}

// TestExcessAgainstQuadrature: E(X − ε)₊ is never below its integral, and not above that of
// chords at their largest distance from the parabola.
func TestExcessAgainstQuadrature(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := math.Exp(rapid.Float64Range(-4, 1).Draw(t, "log s"))
		curved := rapid.SampledFrom([]float64{0, 1e-3, 0.1, 1, 5}).Draw(t, "curvature")
		at := rapid.Float64Range(-1, 6).Draw(t, "at")
		kind := rapid.SampledFrom([]string{"add/remove", "substitution", "convex"}).Draw(t, "kind")
		p := perturbed{s: s, base: s * s / 2, sides: 1, knots: folded(curved, 1)}
		loss := func(z float64) float64 { return parabola(curved, s*z) }
		switch kind {
		case "substitution":
			p.knots = both(curved)
			loss = func(z float64) float64 { return (parabola(2*curved, s*z) + max(0, s*z)) / 2 }
		case "convex":
			p.knots, p.sides, p.base = folded(0, 1), 2, s*s/2+curved
			loss = func(z float64) float64 { return curved + math.Abs(s*z) }
		}
		eps := max(0, s*s/2+loss(at))
		want, most := 0.0, 0.0
		const step = 1e-3
		for z := -12 + step/2; z < 12; z += step {
			over := s*s/2 + loss(z) - eps
			want += step * normal.Density(z) * max(0, over)
			most += step * normal.Density(z) * max(0, over+2*curved/(4*foldedCells*foldedCells))
		}
		if got := p.excess(eps); got < want*(1-2e-5)-1e-15 || got > most*(1+2e-5)+1e-15 {
			t.Fatalf("%s: E(X − %v)₊ = %v, quadrature from %v to %v", kind, eps, got, want, most)
		}
	})
}

// TestPerturbationProfiles: profiles fall and are convex in e^ε, from 0 on and across it, so
// that a pair of distributions has them.
func TestPerturbationProfiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sigma := math.Exp(rapid.Float64Range(-1, 5).Draw(t, "log σ"))
		curved := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 3)).Draw(t, "curvature")
		m := must(LogisticPerturbation(sigma, curved, rapid.Bool().Draw(t, "substitution")))
		if rapid.Bool().Draw(t, "convex") {
			m = must(ConvexPerturbation(sigma, curved))
		}
		whole := func(alpha float64) float64 { // of any α > 0
			if alpha < 1 {
				return 1 - alpha + alpha*m.forward(-math.Log(alpha))
			}
			return m.forward(math.Log(alpha))
		}
		a := math.Exp(rapid.Float64Range(-3, 3).Draw(t, "log α"))
		d := a * rapid.Float64Range(1e-3, 0.5).Draw(t, "step")
		left, middle, right := whole(a-d), whole(a), whole(a+d)
		if !(left >= middle && middle >= right && right >= 0) || middle > (left+right)/2+1e-9 {
			t.Fatalf("%s: %v, %v, %v at %v ± %v", m, left, middle, right, a, d)
		}
	})
}

// TestPerturbationLimits: no noise reveals all, and much noise what the curvature does.
func TestPerturbationLimits(t *testing.T) {
	for _, sigma := range []float64{-1, math.NaN()} {
		if _, err := ConvexPerturbation(sigma, 1); err == nil {
			t.Errorf("multiplier %v: no error", sigma)
		}
	}
	if _, err := LogisticPerturbation(1, math.NaN(), true); err == nil {
		t.Error("curvature NaN: no error")
	}
	if d := must(LogisticPerturbation(0, 1, true)).forward(3); d != 1 {
		t.Errorf("without noise δ = %v", d)
	}
	for eps, most := range map[float64]float64{0.4: 1e-6, 0.3: 0.2} {
		if d := must(ConvexPerturbation(1e9, 0.4)).forward(eps); d > most {
			t.Errorf("much noise: δ(%v) = %v", eps, d)
		}
	}
	if d := must(LogisticPerturbation(1e9, 0.4, false)).forward(0.1); d > 1e-4 || d == 0 {
		t.Errorf("much noise: δ(0.1) = %v", d)
	}
}
