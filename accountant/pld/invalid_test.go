package pld

import (
	"math"
	"strings"
	"sync"
	"testing"
)

func TestInvalidInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	g := must(Gaussian(1))
	for name, build := range map[string]func() (Mechanism, error){
		"Gaussian NaN":       func() (Mechanism, error) { return Gaussian(nan) },
		"Gaussian negative":  func() (Mechanism, error) { return Gaussian(-1) },
		"Laplace NaN":        func() (Mechanism, error) { return Laplace(nan) },
		"Laplace negative":   func() (Mechanism, error) { return Laplace(-1) },
		"rate NaN":           func() (Mechanism, error) { return PoissonAddRemove(nan, g) },
		"rate negative":      func() (Mechanism, error) { return PoissonAddRemove(-0.1, g) },
		"rate above 1":       func() (Mechanism, error) { return PoissonAddRemove(1.1, g) },
		"zero base":          func() (Mechanism, error) { return PoissonAddRemove(0.1, Mechanism{}) },
		"substitution rate":  func() (Mechanism, error) { return PoissonGaussianSubstitution(2, 1) },
		"substitution noise": func() (Mechanism, error) { return PoissonGaussianSubstitution(0.1, nan) },
		"fixed-size rate":    func() (Mechanism, error) { return WithoutReplacementSubstitution(-1, g) },
		"fixed-size pair": func() (Mechanism, error) {
			return WithoutReplacementSubstitution(0.1, must(Binary(0.1, 0.3)))
		},
		"response epsilon":    func() (Mechanism, error) { return RandomizedResponse(nan, 2) },
		"response categories": func() (Mechanism, error) { return RandomizedResponse(1, 1) },
		"pure negative":       func() (Mechanism, error) { return Pure(-1) },
		"approximate delta 1": func() (Mechanism, error) { return Approximate(1, 1) },
		"approximate NaN":     func() (Mechanism, error) { return Approximate(1, nan) },
		"binary above 1":      func() (Mechanism, error) { return Binary(0.5, 1.5) },
		"range negative":      func() (Mechanism, error) { return BoundedRange(-1) },
		"bit rate":            func() (Mechanism, error) { return PoissonBitSubstitution(nan, 1) },
		"bit contribution":    func() (Mechanism, error) { return PoissonBitSubstitution(0.1, nan) },
		"discrete zero":       func() (Mechanism, error) { return DiscreteGaussian(0) },
		"discrete infinite":   func() (Mechanism, error) { return DiscreteGaussian(inf) },
	} {
		if m, err := build(); err == nil || !strings.HasPrefix(err.Error(), "pld: ") {
			t.Errorf("%s: accepted as %s, error %v", name, m, err)
		}
	}
	for name, c := range map[string]struct {
		parts  []Part
		target Target
	}{
		"no target":      {[]Part{{g, 1}}, Target{}},
		"delta 0":        {[]Part{{g, 1}}, AtDelta(0)},
		"delta 1":        {[]Part{{g, 1}}, AtDelta(1)},
		"delta NaN":      {[]Part{{g, 1}}, AtDelta(nan)},
		"epsilon -1":     {[]Part{{g, 1}}, AtEpsilon(-1)},
		"epsilon +Inf":   {[]Part{{g, 1}}, AtEpsilon(inf)},
		"negative count": {[]Part{{g, -1}}, AtDelta(1e-5)},
		"zero mechanism": {[]Part{{Mechanism{}, 1}}, AtDelta(1e-5)},
	} {
		if _, err := Compose(c.parts, c.target); err == nil || !strings.HasPrefix(err.Error(), "pld: ") {
			t.Errorf("%s: accepted, error %v", name, err)
		}
	}
	r := compose(t, AtDelta(1e-5), Part{g, 3})
	if !math.IsInf(r.Epsilon(nan), 1) || !math.IsInf(r.Epsilon(-1), 1) || !math.IsInf(r.Epsilon(0), 1) ||
		r.Delta(nan) != 1 || r.Delta(-1) != 1 ||
		r.LowerEpsilon(nan) != 0 || r.LowerDelta(nan) != 0 {
		t.Error("a wrong query is answered with less than everything")
	}
}

func TestExtremes(t *testing.T) {
	for _, c := range []struct {
		name   string
		m      Mechanism
		count  int64
		delta  float64
		lo, hi float64
	}{
		{"no noise", must(Gaussian(0)), 3, 1e-5, math.Inf(1), math.Inf(1)},
		{"no noise, sampled", must(PoissonAddRemove(0.01, must(Gaussian(0)))), 1, 1e-5, math.Inf(1), math.Inf(1)},
		{"underflowing noise", must(PoissonAddRemove(0.01, must(Gaussian(1e-200)))), 2, 1e-5, math.Inf(1), math.Inf(1)},
		{"no noise, rarely sampled", must(PoissonAddRemove(1e-9, must(Gaussian(0)))), 2, 1e-5, 0, 1e-6},
		{"infinite noise", must(Gaussian(math.Inf(1))), 5, 1e-5, 0, 0},
		{"rate 0", must(PoissonAddRemove(0, must(Gaussian(1)))), 5, 1e-5, 0, 0},
		{"count 0", must(Gaussian(1)), 0, 1e-5, 0, 0},
		{"rate 1", must(PoissonAddRemove(1, must(Gaussian(1)))), 1, 1e-5, 4.37717, 4.37718},
		{"tiny delta", must(Gaussian(1)), 1, 1e-300, 37, 37.6},
		{"large delta", must(PoissonAddRemove(0.1, must(Gaussian(3)))), 10, 0.999, 0, 0},
		{"huge loss", must(PoissonAddRemove(0.5, must(Gaussian(0.01)))), 100, 1e-5, 1e5, 1e6},
		{"tiny loss", must(PoissonAddRemove(1e-6, must(Gaussian(1000)))), 1_000_000, 1e-12, 0, 1e-5},
		{"many steps", must(PoissonAddRemove(1e-3, must(Gaussian(50)))), 1_000_000_000, 1e-6, 1, 10},
		{"an optimum of hardly any noise", must(LogisticPerturbation(0.02, 0.1, true)), 3, 1e-6, 3000, 6000},
		{"nearly always without noise", must(PoissonAddRemove(1-1e-12, must(Gaussian(0)))), 1000, 1e-6, math.Inf(1),
			math.Inf(1)},
		{"without noise half of the time", must(PoissonAddRemove(0.5, must(Gaussian(0)))), 1000, 1e-280, math.Inf(1),
			math.Inf(1)},
	} {
		r := compose(t, AtDelta(c.delta), Part{c.m, c.count})
		if e := r.Epsilon(c.delta); !(e >= c.lo && e <= c.hi) {
			t.Errorf("%s: ε = %v, want in [%v, %v]", c.name, e, c.lo, c.hi)
		}
		if e := r.LowerEpsilon(c.delta); !(e <= r.Epsilon(c.delta)) {
			t.Errorf("%s: lower ε = %v above %v", c.name, e, r.Epsilon(c.delta))
		}
	}
	// Continuous as the rate tends to 1.
	near := compose(t, AtDelta(1e-5), Part{must(PoissonAddRemove(1-1e-12, must(Gaussian(1)))), 4}).Epsilon(1e-5)
	at := compose(t, AtDelta(1e-5), Part{must(Gaussian(1)), 4}).Epsilon(1e-5)
	if math.Abs(near/at-1) > 1e-5 {
		t.Errorf("rate 1−1e-12 costs %v, rate 1 %v", near, at)
	}
}

// A lattice whose tilted mass is all at one end keeps its ends.
func TestHugeLossesThatMayFail(t *testing.T) {
	r := compose(t, AtDelta(1e-6), Part{must(Approximate(100, 1e-12)), 600}, Part{must(Gaussian(1e6)), 1})
	if e := r.Epsilon(1e-6); !(e >= 59_999) {
		t.Errorf("ε = %v, and one loss of 60000 is nearly sure", e)
	}
}

// An overflow is an error, and no table of a length without meaning.
func TestAllocationOfHardlyAnyNoise(t *testing.T) {
	for _, sigma := range []float64{0.03, 1e-3, 1e-6} {
		if _, err := GaussianAllocation(sigma, 2); err == nil {
			t.Errorf("an epoch of noise multiplier %v has a grid", sigma)
		}
	}
}

func TestConcurrentQueries(t *testing.T) {
	r := compose(t, AtDelta(1e-5), Part{must(PoissonAddRemove(0.1, must(Gaussian(2)))), 50})
	want := r.Epsilon(1e-5)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if e := r.Epsilon(1e-5); e != want || r.LowerEpsilon(1e-5) > e {
				t.Errorf("ε = %v, alone %v", e, want)
			}
		})
	}
	wg.Wait()
}
