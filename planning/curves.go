package planning

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// Curve is a tabulated function: Y[i] belongs to X[i]. +Inf in Y is a cost that
// no bound covers.
type Curve struct {
	Name string
	X, Y []float64
}

func (c *Curve) add(x, y float64) { c.X, c.Y = append(c.X, x), append(c.Y, y) }

// EpsilonCurve tabulates ε at the given δ against a parameter: against the
// number of iterations if event is a step's Event.Times. Errors are those of
// event, and a δ outside [0, 1].
func EpsilonCurve[T int64 | float64](name string, event func(x T) (accountant.Event, error), xs []T,
	delta float64) (Curve, error) {
	c := Curve{Name: name}
	for _, x := range xs {
		e, err := event(x)
		if err != nil {
			return Curve{}, fmt.Errorf("planning: %s: at %v: %w", name, x, err)
		}
		g, err := e.Epsilon(delta)
		if err != nil {
			return Curve{}, fmt.Errorf("planning: %s: %w", name, err)
		}
		c.add(float64(x), g.Epsilon)
	}
	return c, nil
}

// Ladder returns at most n distinct integers from low to high, both included,
// spaced evenly on a logarithmic scale; 1 ≤ low ≤ high and n ≥ 2, or it panics.
func Ladder(low, high int64, n int) []int64 {
	if low < 1 || low > high {
		panic(fmt.Sprintf("planning: Ladder from %d to %d; 1 ≤ low ≤ high is needed", low, high))
	}
	var out []int64
	for _, x := range Geometric(float64(low), float64(high), n) {
		out = append(out, min(max(int64(math.Round(x)), low), high))
	}
	out[0], out[len(out)-1] = low, high
	return slices.Compact(out)
}

// Geometric returns n numbers from low to high, both included, spaced evenly on
// a logarithmic scale; 0 < low ≤ high and n ≥ 2, or it panics.
func Geometric(low, high float64, n int) []float64 {
	if !(low > 0 && low <= high) || math.IsInf(high, 1) || n < 2 {
		panic(fmt.Sprintf("planning: %d numbers from %v to %v; 0 < low ≤ high and at least 2 are needed", n, low, high))
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = low * math.Pow(high/low, float64(i)/float64(n-1))
	}
	out[n-1] = high
	return out
}
