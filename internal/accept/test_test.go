package accept

import (
	"math"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// corrected1 and the others are shared: their constants take a while.
var (
	corrected1 = sync.OnceValue(func() Test { return must(NewCorrected(1, 0.5, 8)) })
	corrected2 = sync.OnceValue(func() Test { return must(NewCorrected(2, 1, 8)) })
	full1      = sync.OnceValue(func() Test { return must(NewCorrected(1, 0, 8)) })
	penaltyU2  = sync.OnceValue(func() Test { return must(NewPenalty(1, 0.5, 2)) })
	penaltyU8  = sync.OnceValue(func() Test { return must(NewPenalty(1, 0, 8)) })
)

func must[T Test](t T, err error) Test {
	if err != nil {
		panic(err)
	}
	return t
}

func someTests() map[string]Test {
	return map[string]Test{
		"logistic": Logistic{}, "corrected C=1": corrected1(), "corrected C=2": corrected2(),
		"corrected full": full1(), "penalty U=2": penaltyU2(), "penalty U=8": penaltyU8(),
	}
}

// probability returns a(u; v) itself.
func probability(t Test, u, v float64) float64 {
	tail, upper := t.Accept(u, v)
	if upper {
		return 1 - tail
	}
	return tail
}

// logitAt returns logit a(u; v) from the smaller side.
func logitAt(t Test, u, v float64) float64 {
	tail, upper := t.Accept(u, v)
	value := math.Log(tail) - math.Log1p(-tail)
	if upper {
		return -value
	}
	return value
}

func TestAcceptContract(t *testing.T) {
	for name, test := range someTests() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				v := rapid.Float64Range(-1, 2).Draw(t, "v")
				u := rapid.Float64Range(-700, 700).Draw(t, "u")
				larger := u + rapid.Float64Range(0, 5).Draw(t, "rise")
				tail, _ := test.Accept(u, v)
				if !(tail >= MinTail && tail <= 0.5+RelErr) {
					t.Fatalf("tail %v at u = %v is outside [2⁻⁶⁴, ½]", tail, u)
				}
				if logitAt(test, u, v) > logitAt(test, larger, v)+rounding {
					t.Fatalf("a falls between u = %v and %v at v = %v", u, larger, v)
				}
				if clamped := min(max(v, 0), test.VarianceLimit()); probability(test, u, v) != probability(test, u, clamped) {
					t.Fatalf("v = %v is not clamped to [0, %v]", v, test.VarianceLimit())
				}
			})
			for _, c := range []struct {
				u     float64
				upper bool
			}{{math.NaN(), false}, {math.Inf(-1), false}, {math.Inf(1), true}, {-1e300, false}, {1e300, true}} {
				tail, upper := test.Accept(c.u, math.NaN())
				if tail != MinTail || upper != c.upper {
					t.Errorf("Accept(%v) = %v, %v; want MinTail, %v", c.u, tail, upper, c.upper)
				}
			}
			if n := testing.AllocsPerRun(100, func() { test.Accept(1.5, 0.2) }); n != 0 {
				t.Errorf("Accept allocates %v times", n)
			}
		})
	}
}

// Beyond its limit a test falls like e^−|u| instead of staying at a floor.
func TestTailsBeyondTheLimit(t *testing.T) {
	for name, test := range someTests() {
		for _, sign := range []float64{-1, 1} {
			edge, _ := test.Accept(sign*test.limit(), 0.1)
			further, _ := test.Accept(sign*(test.limit()+7), 0.1)
			if want := max(MinTail, edge*math.Exp(-7)); math.Abs(further/want-1) > 1e-12 {
				t.Errorf("%s: tail %v at %v+7, want %v", name, further, test.limit(), want)
			}
		}
	}
}

func TestConstructorsRefuse(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		make func() (Test, error)
		want string
	}{
		{"unknown variance", func() (Test, error) { return NewCorrected(1.2, 0.5, 8) }, "0.5, 1, 1.5, 2"},
		{"NaN variance", func() (Test, error) { return NewCorrected(nan, 0.5, 8) }, "noise variance"},
		{"no noise left", func() (Test, error) { return NewCorrected(1, 1, 8) }, "variance limit"},
		{"negative batch variance", func() (Test, error) { return NewCorrected(1, -0.1, 8) }, "variance limit"},
		{"NaN batch variance", func() (Test, error) { return NewPenalty(1, nan, 8) }, "variance limit"},
		{"zero limit", func() (Test, error) { return NewCorrected(1, 0.5, 0) }, "log-odds limit"},
		{"NaN limit", func() (Test, error) { return NewCorrected(1, 0.5, nan) }, "log-odds limit"},
		{"large limit", func() (Test, error) { return NewPenalty(1, 0.5, 33) }, "log-odds limit"},
		{"little noise", func() (Test, error) { return NewPenalty(0.2, 0, 8) }, "noise variance"},
		{"much noise", func() (Test, error) { return NewPenalty(math.Inf(1), 0, 8) }, "noise variance"},
		{"limit before the test has turned", func() (Test, error) { return NewPenalty(16, 0, 0.5) }, "raise the limit"},
	} {
		if _, err := c.make(); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "accept: ") {
			t.Errorf("%s: error %v, want one about %q", c.name, err, c.want)
		}
	}
}
