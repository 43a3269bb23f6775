package proptest_test

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/proptest"
)

// TestSumsLeadToWhatIsWrong: a jump of the value, or a wrong slope, is found where it is. What is
// smooth is not blamed, and kinks and poles are no jumps.
func TestSumsLeadToWhatIsWrong(t *testing.T) {
	line := func(v float64) float64 { return v }
	one := func(float64) float64 { return 1 }
	within := func(low, high, by float64) func(v float64) float64 {
		return func(v float64) float64 {
			if v > low && v < high {
				return by
			}
			return 1
		}
	}
	for name, c := range map[string]struct {
		f, slope func(v float64) float64
		at, jump float64 // NaN where nothing is blamed
	}{
		"exponential": {func(v float64) float64 { return math.Exp(9 * v) },
			func(v float64) float64 { return 9 * math.Exp(9*v) }, math.NaN(), 0},
		"kink": {func(v float64) float64 { return math.Abs(v - 0.3) },
			func(v float64) float64 { return math.Copysign(1, v-0.3) }, 0.3, 0},
		"steep": {func(v float64) float64 { return math.Tanh(1e6 * (v - 0.3)) }, // the laws of scenes pass there
			func(v float64) float64 { return 1e6 / math.Pow(math.Cosh(1e6*(v-0.3)), 2) }, 0.3, 0},
		"pole": {func(v float64) float64 { return -math.Log(math.Abs(v-0.3)) / 2 },
			func(v float64) float64 { return -1 / (v - 0.3) / 2 }, 0.3, 0},
		"jump":        {func(v float64) float64 { return line(v) + 1e-5*(within(0.3, 2, 2)(v)-1) }, one, 0.3, 1e-5},
		"wrong slope": {line, within(0.4, 0.6, 1.01), 0.5, 0},
	} {
		at, jump := proptest.Blame(c.f, c.slope)
		if math.IsNaN(at) != math.IsNaN(c.at) || math.Abs(at-c.at) > 0.11 || math.Abs(jump-c.jump) > 1e-9 {
			t.Errorf("%s: blames %v with a jump of %v, want %v and %v", name, at, jump, c.at, c.jump)
		}
	}
}
