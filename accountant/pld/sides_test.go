package pld

import (
	"math"
	"testing"
)

// sidesOf composes both directions of m, after change.
func sidesOf(m Mechanism, count int64, t Target, change func(plans []plan)) []bound {
	parts := []Part{{m, count}}
	plans := []plan{newJob(parts, 0, t, false).prepare(0), newJob(parts, 1, t, false).prepare(0)}
	change(plans)
	return runAll(plans, t)
}

// Leaving one direction to a coarse grid changes no answer at the target, and what is left
// stays an upper bound, no higher than 1e-3 above.
func TestCoarseDirectionDoesNotDecide(t *testing.T) {
	left := 0
	for _, c := range []struct {
		sigma, q float64
		count    int64
	}{{1, 0.1, 10}, {8, 0.001, 1000}, {1, 0.01, 1000}, {4, 0.3, 37}, {0.7, 0.05, 64}} {
		m := must(PoissonAddRemove(c.q, must(Gaussian(c.sigma))))
		for _, target := range []Target{AtDelta(1e-5), AtEpsilon(1)} {
			fine := sidesOf(m, c.count, target, func([]plan) {})
			out := sidesOf(m, c.count, target, func(p []plan) {
				leave(&p[0], &p[1])
				if max(p[0].leeway, p[1].leeway) > accuracy {
					left++
				}
			})
			delta := max(1e-12, min(1e-2, largestDelta(fine, 1)))
			if !target.byEpsilon {
				delta = 1e-5
			}
			if a, b := largestEpsilon(fine, delta), largestEpsilon(out, delta); math.Abs(a-b) > 1e-9*a {
				t.Errorf("%+v at %+v: ε = %v, %v with both directions fine", c, target, b, a)
			}
			for side := range out {
				a, b := fine[side].epsilon(delta), out[side].epsilon(delta)
				if b < a*(1-1e-5) || b > a*(1+2*coarsest) {
					t.Errorf("%+v at %+v: direction %d has ε = %v, %v on a fine grid", c, target, side, b, a)
				}
			}
		}
	}
	if left < 5 {
		t.Errorf("only %d compositions had a direction left to a coarse grid", left)
	}
}

// A direction that was taken for the lesser one and decides is composed anew.
func TestMisjudgedDirectionIsComposedAnew(t *testing.T) {
	m := must(PoissonAddRemove(0.1, must(Gaussian(1))))
	target := AtDelta(1e-5)
	fine := largestEpsilon(sidesOf(m, 10, target, func([]plan) {}), 1e-5)
	for side := range 2 {
		out := sidesOf(m, 10, target, func(p []plan) { p[side].leeway = coarsest })
		if got := largestEpsilon(out, 1e-5); got != fine {
			t.Errorf("direction %d left: ε = %v, want %v", side, got, fine)
		}
	}
	both := sidesOf(m, 10, target, func(p []plan) { p[0].leeway, p[1].leeway = coarsest, coarsest })
	if got := largestEpsilon(both, 1e-5); got != fine {
		t.Errorf("both left: ε = %v, want %v", got, fine)
	}
}
