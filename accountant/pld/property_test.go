package pld

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// anyMechanism draws a mechanism with its pure-DP bound (+Inf if none).
func anyMechanism(t *rapid.T) (Mechanism, float64) {
	q := rapid.Float64Range(0.01, 0.9).Draw(t, "q")
	x := rapid.Float64Range(0.3, 4).Draw(t, "x")
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return must(Gaussian(x)), math.Inf(1)
	case 1:
		return must(PoissonAddRemove(q, must(Gaussian(x)))), math.Inf(1)
	case 2:
		return must(PoissonGaussianSubstitution(q, x)), math.Inf(1)
	case 3:
		return must(WithoutReplacementSubstitution(q, must(Gaussian(x)))), math.Inf(1)
	case 4:
		return must(Laplace(x)), 1 / x
	case 5:
		return must(RandomizedResponse(x, 3)), x
	case 6:
		return must(BoundedRange(x)), x
	case 7:
		m := must(PoissonBitSubstitution(q, x))
		return m, m.knee
	case 8:
		return must(LogisticPerturbation(x, q, rapid.Bool().Draw(t, "substitution"))), math.Inf(1)
	}
	return must(PoissonAddRemove(q, must(Laplace(x)))), math.Log1p(q * math.Expm1(1/x))
}

// Each draw checks one property, to keep the suite short.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, pure := anyMechanism(t)
		n := rapid.Int64Range(1, 60).Draw(t, "count")
		delta := math.Pow(10, rapid.Float64Range(-12, -2).Draw(t, "log delta"))
		cost := func(parts ...Part) float64 {
			r, err := Compose(parts, AtDelta(delta))
			if err != nil {
				t.Fatal(err)
			}
			return r.Epsilon(delta)
		}
		r, err := Compose([]Part{{m, n}}, AtDelta(delta))
		if err != nil {
			t.Fatal(err)
		}
		eps := r.Epsilon(delta)
		if eps > float64(n)*pure*(1+1e-4) {
			t.Fatalf("%s × %d: ε = %v above basic composition %v", m, n, eps, float64(n)*pure)
		}
		if d := r.Delta(eps); d > delta || r.Delta(eps*1.01) > d || r.Delta(eps*0.99) < d {
			t.Fatalf("%s × %d: δ(ε(δ)) = %v for δ = %v, or not decreasing", m, n, d, delta)
		}
		switch rapid.IntRange(0, 3).Draw(t, "property") {
		case 0:
			if low := r.LowerEpsilon(delta); !(low <= eps) {
				t.Fatalf("%s × %d: lower %v above upper %v", m, n, low, eps)
			}
		case 1:
			if more := cost(Part{m, n + 1}); more < eps*(1-1e-4) {
				t.Fatalf("%s: %d releases cost %v, one more %v", m, n, eps, more)
			}
		case 2:
			a := rapid.Int64Range(0, n).Draw(t, "a")
			if split := cost(Part{m, a}, Part{m, n - a}); math.Abs(split-eps) > 2e-4*eps+1e-9 {
				t.Fatalf("%s × %d: ε = %v, split at %d: %v", m, n, eps, a, split)
			}
		case 3:
			other, _ := anyMechanism(t)
			one, two := cost(Part{m, n}, Part{other, 2}), cost(Part{other, 2}, Part{m, n})
			if math.Abs(one-two) > 1e-9*one || one < eps*(1-1e-4) {
				t.Fatalf("%s, %s: ε = %v in one order, %v in the other, %v for the first alone", m, other, one, two, eps)
			}
		}
	})
}

// More noise and a lower rate never cost more.
func TestMonotoneInParameters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sigma := rapid.Float64Range(0.5, 8).Draw(t, "sigma")
		q := rapid.Float64Range(0.005, 0.5).Draw(t, "q")
		n := rapid.Int64Range(2, 200).Draw(t, "count")
		cost := func(q, sigma float64) float64 {
			r, err := Compose([]Part{{must(PoissonAddRemove(q, must(Gaussian(sigma)))), n}}, AtDelta(1e-6))
			if err != nil {
				t.Fatal(err)
			}
			return r.Epsilon(1e-6)
		}
		base := cost(q, sigma)
		if rapid.Bool().Draw(t, "noise") {
			if v := cost(q, sigma*1.01); v > base {
				t.Fatalf("σ=%v q=%v T=%d: ε = %v, with more noise %v", sigma, q, n, base, v)
			}
		} else if v := cost(q*0.99, sigma); v > base {
			t.Fatalf("σ=%v q=%v T=%d: ε = %v, at a lower rate %v", sigma, q, n, base, v)
		}
		whole, err := Compose([]Part{{must(Gaussian(sigma)), n}}, AtDelta(1e-6))
		if err != nil {
			t.Fatal(err)
		}
		if base > whole.Epsilon(1e-6)*(1+1e-5) {
			t.Fatalf("σ=%v q=%v T=%d: sampled %v, unsampled %v", sigma, q, n, base, whole.Epsilon(1e-6))
		}
	})
}
