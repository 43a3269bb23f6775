package accountant

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestLastIterateIsAttained: the affine map x ↦ cx, shifted by Δ on the other data set, has
// a normal last iterate, of which µ is known by adding up. The price is that and no less.
// The price of all iterates is the mutant: it is above wherever there is a step to hide.
func TestLastIterateIsAttained(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.Float64Range(0, 1).Draw(rt, "contraction")
		steps := rapid.Int64Range(1, 300).Draw(rt, "steps")
		sigma := rapid.Float64Range(0.1, 50).Draw(rt, "noise")
		e, err := LastIterate(Substitute, sigma, c, steps, 0)
		if err != nil {
			rt.Fatal(err)
		}
		shift, variance := 0.0, 0.0
		for range steps {
			shift, variance = c*shift+1, c*c*variance+sigma*sigma
		}
		mu, ok := e.gaussianMu()
		if want := shift / math.Sqrt(variance); !ok || !(mu >= want) || mu > want*(1+1e-9) {
			rt.Errorf("µ = %v, by the recursion %v", mu, want)
		}
		if all := math.Sqrt(float64(steps)) / sigma; mu > all*(1+1e-9) || steps > 20 && c < 0.7 && mu > 0.6*all {
			rt.Errorf("µ = %v, of all iterates %v", mu, all)
		}
	})
}

// TestShiftsEndTogether: the shifts b of the proof, in proportion to c^{T−k}, bring the two
// chains together at the last step and never overshoot, and their squares add up to µ².
func TestShiftsEndTogether(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.Float64Range(0.01, 0.999).Draw(rt, "contraction")
		steps := rapid.IntRange(1, 200).Draw(rt, "steps")
		sum, square := 0.0, 0.0 // of c^{T−k}, and of its square
		for k := range steps {
			sum += math.Pow(c, float64(k))
			square += math.Pow(c, float64(2*k))
		}
		z, squares := 0.0, 0.0
		for k := 1; k <= steps; k++ {
			b := sum / square * math.Pow(c, float64(steps-k))
			squares += b * b
			if z = c*z + 1 - b; z < -1e-9 {
				rt.Fatalf("the distance is %v after %d steps of %d", z, k, steps)
			}
		}
		if want := iterated(c, int64(steps)); math.Abs(z) > 1e-9 || math.Abs(squares/want-1) > 1e-9 {
			rt.Errorf("the distance is %v at the end, and Σb² is %v for %v", z, squares, want)
		}
	})
}

func TestLastIterateRefuses(t *testing.T) {
	for _, bad := range []struct {
		contraction float64
		steps       int64
	}{{-0.1, 3}, {1.1, 3}, {math.NaN(), 3}, {0.5, 0}} {
		if _, err := LastIterate(Substitute, 1, bad.contraction, bad.steps, 0); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}
