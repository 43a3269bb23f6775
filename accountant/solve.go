package accountant

import (
	"fmt"
	"math"
)

// MaxCount returns the largest number of releases of the event that is
// (epsilon, delta)-DP by Event.Epsilon: exact, 0 if not even one fits,
// math.MaxInt64 if the event costs nothing.
func (e Event) MaxCount(epsilon, delta float64) (int64, error) {
	if !(epsilon >= 0) {
		return 0, fmt.Errorf("accountant: MaxCount: epsilon %v: must be a number ≥ 0", epsilon)
	}
	return largestCount(func(n int64) (bool, error) {
		repeated, err := e.Times(n)
		if err != nil {
			return false, err
		}
		g, err := repeated.Epsilon(delta)
		return err == nil && g.Epsilon <= epsilon, err
	})
}

// largestCount returns the largest n ≥ 0 with fits(n), which must be true up to
// some count and false beyond; counts above 2⁶² are reported as math.MaxInt64.
func largestCount(fits func(n int64) (bool, error)) (int64, error) {
	lo, hi := int64(0), int64(1)
	for {
		ok, err := fits(hi)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		if hi > math.MaxInt64/4 {
			return math.MaxInt64, nil
		}
		lo, hi = hi, hi*4
	}
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		ok, err := fits(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// UnreachableError says that no value of a parameter meets a target, and which
// end of the range comes nearest.
type UnreachableError struct {
	// Target is the ε asked for.
	Target float64
	// Nearest is the end of the range with the smaller cost, Guarantee its cost.
	Nearest   float64
	Guarantee Guarantee
}

// Error names the target and the nearest reachable ε.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("accountant: ε = %.6g at δ = %.3g cannot be reached: ε = %.6g comes nearest, by the value %.6g; "+
		"ask for that", e.Target, e.Guarantee.Delta, e.Guarantee.Epsilon, e.Nearest)
}

// solveTolerance is the relative width at which SolveParameter stops.
const solveTolerance = 1e-7

// SolveParameter returns the value x in [lo, hi] at which the event factory(x)
// comes closest to (epsilon, delta)-DP from below: its ε never exceeds epsilon,
// and x is within 1e-7 relative (or, at 0, 1e-7 of the range) of the best. The
// cost must be monotone in x, rising if increasing is true, falling otherwise.
// If the whole range fits, the dearest end is returned; if none of it does, the
// error is an *UnreachableError.
func SolveParameter(factory func(x float64) (Event, error), lo, hi, epsilon, delta float64, increasing bool) (float64,
	Guarantee, error) {
	if !(lo < hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return 0, Guarantee{}, fmt.Errorf("accountant: SolveParameter: range [%v, %v]: must be finite with lo < hi", lo, hi)
	}
	if !(epsilon >= 0) {
		return 0, Guarantee{}, fmt.Errorf("accountant: SolveParameter: epsilon %v: must be a number ≥ 0", epsilon)
	}
	at := func(x float64) (Guarantee, error) {
		e, err := factory(x)
		if err != nil {
			return Guarantee{}, err
		}
		return e.Epsilon(delta)
	}
	cheap, dear := lo, hi
	if !increasing {
		cheap, dear = hi, lo
	}
	dearest, err := at(dear)
	if err != nil || dearest.Epsilon <= epsilon {
		return dear, dearest, err
	}
	best, err := at(cheap)
	if err != nil {
		return 0, Guarantee{}, err
	}
	if best.Epsilon > epsilon {
		return 0, Guarantee{}, &UnreachableError{epsilon, cheap, best}
	}
	s := rootSearch{good: cheap, bad: dear, logs: lo > 0 && epsilon > 0}
	s.fGood, s.fBad = s.gap(best.Epsilon, epsilon), s.gap(dearest.Epsilon, epsilon)
	for range 200 {
		x, more := s.next(solveTolerance * (hi - lo))
		if !more {
			break
		}
		g, err := at(x)
		if err != nil {
			return 0, Guarantee{}, err
		}
		if g.Epsilon <= epsilon {
			best = g
		}
		s.put(x, s.gap(g.Epsilon, epsilon), g.Epsilon <= epsilon)
	}
	return s.good, best, nil
}

// rootSearch narrows a bracket by the Illinois variant of regula falsi, with a
// bisection whenever that has not halved the bracket twice in a row.
type rootSearch struct {
	good, bad   float64 // the cost fits at good and not at bad
	fGood, fBad float64 // signed distances to the target
	logs        bool    // interpolate logarithms
	stalled     int
	last        int // which end moved last
}

func (s *rootSearch) gap(eps, target float64) float64 {
	if s.logs {
		return math.Log(max(eps, 1e-300)) - math.Log(target)
	}
	return eps - target
}

// next proposes a point strictly inside the bracket, or says it is narrow.
func (s *rootSearch) next(absolute float64) (x float64, more bool) {
	width := math.Abs(s.bad - s.good)
	if width <= solveTolerance*math.Abs(s.good) || s.good == 0 && width <= absolute {
		return 0, false
	}
	a, b := s.good, s.bad
	if s.logs {
		a, b = math.Log(a), math.Log(b)
	}
	t := 0.5
	if s.stalled < 2 && !math.IsInf(s.fBad, 0) && s.fBad > s.fGood {
		t = min(0.999, max(0.001, -s.fGood/(s.fBad-s.fGood)))
		// Step a little past the root, so that both ends close in.
		nudge := 0.3 * solveTolerance / max(math.Abs(b-a), solveTolerance)
		if s.last > 0 {
			t += nudge
		} else {
			t -= nudge
		}
	}
	x = a + t*(b-a)
	if s.logs {
		x = math.Exp(x)
	}
	return x, x != s.good && x != s.bad
}

func (s *rootSearch) put(x, f float64, fits bool) {
	before := math.Abs(s.bad - s.good)
	if fits {
		s.good, s.fGood = x, f
		if s.last > 0 {
			s.fBad /= 2
		}
		s.last = 1
	} else {
		s.bad, s.fBad = x, f
		if s.last < 0 {
			s.fGood /= 2
		}
		s.last = -1
	}
	switch {
	case s.stalled >= 2 || math.Abs(s.bad-s.good) <= before/2:
		s.stalled = 0
	default:
		s.stalled++
	}
}
