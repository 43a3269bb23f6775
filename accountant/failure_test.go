package accountant

import (
	"math"
	"testing"
)

// TestCertainFailureCostsEverything: releases that are all but certain to fail
// outright have no ε below δ = 1, and no δ below 1, whatever rounding makes of
// their probability. A group of records makes a failure likelier and never an
// undefined number.
func TestCertainFailureCostsEverything(t *testing.T) {
	half := must(Approximate(Substitute, 1, 0.5))
	group, err := must(Approximate(Substitute, 800, 0.1)).Group(3) // e^{3·800} is +Inf
	if err != nil {
		t.Fatal(err)
	}
	batch, err := withoutReplacement(100, 50)
	sampled := sample(t, batch, err, must(Approximate(Substitute, 800, 0.2)))
	chained, err := sampled.Group(2)
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]Event{"repeated": times(t, half, 200), "group": group,
		"group of a sampled one": chained} {
		g, err := e.Epsilon(0.9)
		if err != nil || !math.IsInf(g.Epsilon, 1) {
			t.Errorf("%s: ε %v at δ 0.9 (%v), want +Inf", name, g.Epsilon, err)
		}
		if c, err := e.ClassicEpsilon(0.9); err != nil || !math.IsInf(c.Epsilon, 1) {
			t.Errorf("%s: classic ε %v at δ 0.9 (%v), want +Inf", name, c.Epsilon, err)
		}
		if d, err := e.Delta(1); err != nil || d.Delta != 1 {
			t.Errorf("%s: δ %v at ε 1 (%v), want 1", name, d.Delta, err)
		}
		b, err := NewBudget(BudgetConfig{Epsilon: 10, Delta: 1e-6, Adjacency: Substitute})
		if err != nil {
			t.Fatal(err)
		}
		if b.Charge(e, 1) == nil {
			t.Errorf("%s: a budget of δ = 1e-6 pays for a certain failure", name)
		}
		f, err := NewFilter(BudgetConfig{Epsilon: 1e6, Delta: 1e-6, Adjacency: Substitute, Order: 2}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if f.Charge(e, 1) == nil {
			t.Errorf("%s: a filter, which covers no failures, admits one", name)
		}
	}
	if g, err := times(t, half, 200).Epsilon(1); err != nil || g.Epsilon != 0 {
		t.Errorf("ε %v at δ 1 (%v), want 0", g.Epsilon, err)
	}
}

func times(t testing.TB, e Event, n int64) Event {
	t.Helper()
	out, err := e.Times(n)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLongSumsRoundUp: a composition of many different mechanisms costs no less
// than they do, added in exact arithmetic.
func TestLongSumsRoundUp(t *testing.T) {
	for _, n := range []int{200, 3000, 40_000} {
		parts := make([]Event, n)
		exact := exactSum()
		for i := range parts {
			rho := 1.0
			if i > 0 {
				rho = 1e-16 * (1 + 0.05*float64(i)/float64(n)) // each is lost in the rounding of a sum of 2
			}
			parts[i] = must(ZCDP(Substitute, rho))
			addTimes(exact, 1, 2*rho)
		}
		whole, err := Compose(parts...)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := whole.RDP(2), roundedUp(exact); got < want {
			t.Errorf("%d parts: %v, in exact arithmetic %v", n, got, want)
		}
	}
}
