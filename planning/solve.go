package planning

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// Budget is the (ε, δ) that a plan may spend. Both fields are required; neither
// has a default.
type Budget struct {
	// Epsilon is the largest ε, ≥ 0 and finite.
	Epsilon float64
	// Delta is δ, in [0, 1).
	Delta float64
}

func (b Budget) check() error {
	switch {
	case !(b.Epsilon >= 0) || math.IsInf(b.Epsilon, 1):
		return fmt.Errorf("planning: Budget.Epsilon is %v; it must be finite and at least 0", b.Epsilon)
	case !(b.Delta >= 0 && b.Delta < 1):
		return fmt.Errorf("planning: Budget.Delta is %v; it must be in [0, 1)", b.Delta)
	}
	return nil
}

// Parameter is one number that the cost of a release depends on.
type Parameter[T int64 | float64] struct {
	// Name is what error messages call the parameter. Required.
	Name string
	// Event is everything that is released when the parameter is x. Its cost
	// must rise or fall with x throughout; which of the two is found out.
	// Required.
	Event func(x T) (accountant.Event, error)
	// Low and High are the range to search, both included. Event must have an
	// answer everywhere in it. Low < High; real parameters need a positive Low,
	// integers one of at least 0. Required.
	Low, High T
}

func (p Parameter[T]) check() error {
	switch {
	case p.Name == "":
		return errors.New("planning: Parameter.Name is not set")
	case p.Event == nil:
		return fmt.Errorf("planning: %s: Parameter.Event is not set", p.Name)
	case !(p.Low < p.High) || math.IsInf(float64(p.High), 1):
		return fmt.Errorf("planning: %s: the range is [%v, %v]; it must be finite with Low < High", p.Name, p.Low, p.High)
	case p.Low < 0 || p.Low == 0 && !isInteger[T]():
		return fmt.Errorf("planning: %s: the range is [%v, %v]; Low must be positive, or 0 for integers", p.Name,
			p.Low, p.High)
	}
	return nil
}

// isInteger reports whether T is the integer type: halves vanish in it.
func isInteger[T int64 | float64]() bool { return T(1)/2 == 0 }

// Plan is the answer to a budget question.
type Plan[T int64 | float64] struct {
	// Value is the parameter's best value within the budget.
	Value T
	// Event is what is released at that value, Guarantee what it costs at the
	// budget's δ: never more than the budget's ε.
	Event     accountant.Event
	Guarantee accountant.Guarantee
	// AtEnd reports that the budget covers the whole range, so that Value is the
	// range's dearer end (High, if both ends cost the same) and not a solution.
	AtEnd bool
}

// Solve returns the value in the parameter's range whose release comes closest
// to the budget from below. The next value on the dearer side, one more or one
// less for integers and one farther by 1e-6 relative for real numbers, is not
// within the budget.
//
// Errors: a budget or a parameter that is not set or out of range, an error of
// Event, and an *accountant.UnreachableError, which holds the nearest reachable
// value and its cost, if nothing in the range is within the budget.
func Solve[T int64 | float64](p Parameter[T], b Budget) (Plan[T], error) {
	if err := errors.Join(b.check(), p.check()); err != nil {
		return Plan[T]{}, err
	}
	plan, err := (&search[T]{p, b, make(map[T]accountant.Event)}).run()
	if err != nil {
		return Plan[T]{}, fmt.Errorf("planning: %s: %w", p.Name, err)
	}
	return plan, nil
}

// search keeps every event it has priced: events remember their own costs.
type search[T int64 | float64] struct {
	Parameter[T]
	Budget
	events map[T]accountant.Event
}

func (s *search[T]) event(x T) (accountant.Event, error) {
	e, known := s.events[x]
	if known {
		return e, nil
	}
	e, err := s.Event(x)
	if err == nil {
		s.events[x] = e
	}
	return e, err
}

// at is the plan of choosing x, within the budget or not.
func (s *search[T]) at(x T) (Plan[T], error) {
	e, err := s.event(x)
	if err != nil {
		return Plan[T]{}, err
	}
	g, err := e.Epsilon(s.Delta)
	return Plan[T]{Value: x, Event: e, Guarantee: g}, err
}

// fits reports whether the budget covers a plan.
func (s *search[T]) fits(p Plan[T]) bool { return p.Guarantee.Epsilon <= s.Epsilon }

// run starts in the middle of the range, finds out there whether the cost rises
// or falls, and walks towards the budget until it has passed it or has come to
// an end. So the ends, where costs may be absurd and slow to compute, are looked
// at only if they matter.
func (s *search[T]) run() (Plan[T], error) {
	here, err := s.at(s.middle(s.Low, s.High))
	if err != nil {
		return Plan[T]{}, err
	}
	there, err := s.at(s.stride(here.Value, true))
	if err != nil {
		return Plan[T]{}, err
	}
	if here.Guarantee.Epsilon == there.Guarantee.Epsilon {
		return s.fromEnds()
	}
	fits, rises := s.fits(here), there.Guarantee.Epsilon > here.Guarantee.Epsilon
	for {
		x := s.stride(here.Value, fits == rises)
		if x == here.Value {
			return s.end(here)
		}
		next, err := s.at(x)
		switch {
		case err != nil:
			return Plan[T]{}, err
		case s.fits(next) && !fits:
			return s.narrow(next, here)
		case fits && !s.fits(next):
			return s.narrow(here, next)
		}
		here = next
	}
}

// fromEnds solves where the cost is flat in the middle of the range.
func (s *search[T]) fromEnds() (Plan[T], error) {
	cheap, err := s.at(s.Low)
	if err != nil {
		return Plan[T]{}, err
	}
	dear, err := s.at(s.High)
	if err != nil {
		return Plan[T]{}, err
	}
	if dear.Guarantee.Epsilon < cheap.Guarantee.Epsilon {
		cheap, dear = dear, cheap
	}
	switch {
	case s.fits(dear):
		return s.end(dear)
	case s.fits(cheap):
		return s.narrow(cheap, dear)
	}
	return s.end(cheap)
}

// end is the answer at an end of the range that the search was driven to.
func (s *search[T]) end(p Plan[T]) (Plan[T], error) {
	if !s.fits(p) {
		return Plan[T]{}, &accountant.UnreachableError{Target: s.Epsilon, Nearest: float64(p.Value), Guarantee: p.Guarantee}
	}
	p.AtEnd = true
	return p, nil
}

// stride is a value farther up or down the range: 8 times, or an eighth.
func (s *search[T]) stride(x T, up bool) T {
	switch {
	case !up:
		return max(s.Low, x/8)
	case x >= s.High/8:
		return s.High
	}
	return max(x, s.least()) * 8
}

// narrow closes in on the budget from two values, of which good fits and bad
// does not.
func (s *search[T]) narrow(good, bad Plan[T]) (Plan[T], error) {
	low, high := min(good.Value, bad.Value), max(good.Value, bad.Value)
	if isInteger[T]() {
		return s.bisect(good, bad)
	}
	x, _, err := accountant.SolveParameter(func(x float64) (accountant.Event, error) { return s.event(T(x)) },
		float64(low), float64(high), s.Epsilon, s.Delta, bad.Value == high)
	if err != nil {
		return Plan[T]{}, err
	}
	return s.at(T(x))
}

// bisect narrows an integer bracket, of which good fits and bad does not, until
// the two are neighbours.
func (s *search[T]) bisect(good, bad Plan[T]) (Plan[T], error) {
	for {
		low, high := min(good.Value, bad.Value), max(good.Value, bad.Value)
		if high-low <= 1 {
			return good, nil
		}
		mid, err := s.at(s.middle(low, high))
		switch {
		case err != nil:
			return Plan[T]{}, err
		case s.fits(mid):
			good = mid
		default:
			bad = mid
		}
	}
}

// middle is a value between low and high, strictly so unless they are
// neighbours: the geometric mean of a wide range, for the answer may be of any
// magnitude.
func (s *search[T]) middle(low, high T) T {
	if low < high/16 {
		return T(math.Sqrt(float64(max(low, s.least()))) * math.Sqrt(float64(high)))
	}
	return low + (high-low)/2
}

// least stands in for an integer range's 0 in geometric means.
func (s *search[T]) least() T {
	if isInteger[T]() {
		return 1
	}
	return s.Low
}
