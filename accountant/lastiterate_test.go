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
		e, err := GridGaussian{NoiseMultiplier: sigma}.LastIterate(Substitute, c, steps)
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

// TestTrajectoriesAreHardlyDearer: the last iterate costs at least tanh(x)/x of all iterates,
// x = T·|log c|/2 (docs/proofs/last-iterate.md, "Beside the whole trajectory"). Over the
// steps that a chain needs for a new draw it saves a quarter at most, and next to nothing
// where the records say more than the prior.
func TestTrajectoriesAreHardlyDearer(t *testing.T) {
	share := func(c float64, steps int64) float64 { return iterated(c, steps) / float64(steps) }
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.Float64Range(1e-6, 0.999999).Draw(rt, "contraction")
		steps := rapid.Int64Range(1, 1e6).Draw(rt, "steps")
		x := -float64(steps) * math.Log(c) / 2
		if got, least := share(c, steps), math.Tanh(x)/x; got < least*(1-1e-9) || got > 1+1e-9 {
			rt.Errorf("the last iterate costs %v of all, want at least %v", got, least)
		}
	})
	const hm = 1e-6                                                                  // step times the prior's curvature
	for times, saves := range map[float64]float64{1: 0.238, 2: 0.0758, 10: 0.0033} { // its curvature, in the prior's
		draw := int64(2 / (hm * times))
		if got := 1 - share(1-hm, draw); math.Abs(got-saves) > 0.001 {
			t.Errorf("a posterior of %v times the prior's curvature: %v is saved, want %v", times, got, saves)
		}
	}
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
		if _, err := (GridGaussian{NoiseMultiplier: 1}).LastIterate(Substitute, bad.contraction, bad.steps); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}
