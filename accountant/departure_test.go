package accountant

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// drawn is a Poisson-sampled event that costs next to nothing, 2^k times: of total
// variation 2^(k−100).
func drawn(t *testing.T, k int) Event {
	t.Helper()
	return must(poissonOf(t, 1e-12, must(Gaussian(AddRemove, 1))).Times(1 << k))
}

// TestDrawnBatchesAreCharged: every δ holds (1 + e^ε) times the total variation of the
// batches' sizes, and where δ does not cover that, batches amplify
// nothing.
func TestDrawnBatchesAreCharged(t *testing.T) {
	for _, k := range []int{0, 20, 60} {
		e, v := drawn(t, k), math.Ldexp(1, k-100)
		for _, eps := range []float64{0, 1, 8} {
			floor := (1 + math.Exp(min(eps, 1))) * v // the δ of a smaller ε may be the smaller one
			g, err := e.Delta(eps)
			if err != nil {
				t.Fatal(err)
			}
			for name, d := range g.Alternatives {
				if !(d >= floor) && !strings.HasSuffix(name, "-undrawn") {
					t.Errorf("2^%d batches: δ %v by %s at ε %v, at least %v departs", k, d, name, eps, floor)
				}
			}
			if r, _, err := e.RefineDelta(eps); err != nil || !(r.Alternatives[MethodPLD] >= (1+math.Exp(eps))*v) {
				t.Errorf("2^%d batches: δ %v refined at ε %v (%v)", k, r.Alternatives[MethodPLD], eps, err)
			}
		}
		last := 1.0
		for eps := 0.0; eps < 60; eps += 1.5 {
			g, err := e.Delta(eps)
			if err != nil || g.Delta > last {
				t.Errorf("2^%d batches: δ %v at ε %v after %v (%v)", k, g.Delta, eps, last, err)
			}
			last = g.Delta
		}
		whole, err1 := must(must(Gaussian(AddRemove, 1)).Times(1 << k)).Epsilon(1.9 * v)
		if g, err := e.Epsilon(1.9 * v); errors.Join(err, err1) != nil || g.Epsilon != whole.Epsilon {
			t.Errorf("2^%d batches: ε %v where δ does not cover what departs, %v without batches", k, g.Epsilon, whole.Epsilon)
		}
		if g, err := e.ClassicEpsilon(min(0.5, 1.9*v)); err != nil || !math.IsInf(g.Epsilon, 1) {
			t.Errorf("2^%d batches: classic ε %v where δ does not cover what departs (%v)", k, g.Epsilon, err)
		}
		g, _, err := e.RefineEpsilon(1e6 * v)
		if err != nil || math.IsInf(g.Epsilon, 1) || (1+math.Exp(g.Epsilon))*v > 1e6*v {
			t.Errorf("2^%d batches: ε %v (%v)", k, g.Epsilon, err)
		}
	}
	response := must(RandomizedResponse(AddRemove, 1))
	if g, err := poissonOf(t, 0.01, response).Epsilon(0); err != nil || !(g.Epsilon >= 1) {
		t.Errorf("drawn batches are ε-DP with ε %v (%v)", g.Epsilon, err)
	}
	if g, err := must(ObjectivePerturbation(AddRemove, 5, 0.1)).Epsilon(0); err != nil || !math.IsInf(g.Epsilon, 1) {
		t.Errorf("a drawn optimum has ε %v at δ 0 (%v)", g.Epsilon, err)
	}
}

// TestWhatDepartsIsFound: in groups, in batches of what departs itself, and in optima;
// and not where nothing is drawn.
func TestWhatDepartsIsFound(t *testing.T) {
	optimum := must(ObjectivePerturbation(AddRemove, 5, 0.1))
	convex := must(ConvexPerturbation(AddRemove, 5, 0.1))
	for name, c := range map[string]struct {
		e    Event
		want float64
	}{
		"batch":              {drawn(t, 0), drawVariation},
		"group of batches":   {must(GroupPrivacy(drawn(t, 1), 3)), 2 * drawVariation},
		"substitution":       {must(FromAddRemove(drawn(t, 0))), drawVariation},
		"optimum":            {optimum, linearVariation},
		"convex optimum":     {convex, linearVariation},
		"group of optima":    {must(GroupPrivacy(optimum, 2)), linearVariation},
		"composition":        {must(Compose(optimum, convex, drawn(t, 3))), 2*linearVariation + 8*drawVariation},
		"every record":       {poissonOf(t, 1, must(Gaussian(AddRemove, 1))), 0},
		"no batch":           {must(Gaussian(AddRemove, 1)), 0},
		"an optimum's batch": {poissonOf(t, 0.1, optimum), linearVariation + drawVariation},
	} {
		if _, got := c.e.departure(); !(got >= c.want && got <= c.want*(1+1e-12)) {
			t.Errorf("%s: total variation %v, want %v", name, got, c.want)
		}
	}
}

// TestOneOrderCoversWhatDeparts: a budget of one order, and a filter, keep a part of δ
// for what departs, and refuse what exceeds that.
func TestOneOrderCoversWhatDeparts(t *testing.T) {
	const eps, delta = 1.0, 1e-6
	// The largest power of two of batches that 2⁻³⁰ of δ covers at ε.
	k := int(math.Floor(math.Log2(delta*0x1p-30/(1+math.Exp(eps))))) + 100
	for _, c := range []struct {
		k    int
		fits bool
	}{{k, true}, {k + 1, false}} {
		b, err := NewBudget(BudgetConfig{Epsilon: eps, Delta: delta, Adjacency: AddRemove, Order: 40})
		if err != nil {
			t.Fatal(err)
		}
		f, err := NewFilter(FilterConfig{Epsilon: eps, Delta: delta, Adjacency: AddRemove, Order: 40})
		if err != nil {
			t.Fatal(err)
		}
		for name, charge := range map[string]func(Event, int64) error{"budget": b.Charge, "filter": f.Charge} {
			err := charge(drawn(t, c.k), 1)
			var exceeded *ExceededError
			if c.fits && err != nil || !c.fits && !errors.As(err, &exceeded) {
				t.Errorf("%s: 2^%d batches: %v", name, c.k, err)
			}
		}
	}
}
