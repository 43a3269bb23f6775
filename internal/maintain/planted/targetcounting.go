package planted

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Targets here count a record in one place and not in another.

// inThousands is Huber's regression in chunks of a thousand, which may leave out a last one of one record.
func inThousands(leavesOut bool) func() targets.Target {
	return func() targets.Target {
		m := robust(2, 1.5)
		m.batch = func(dst []float64, _ targets.Rows) {
			if n := len(dst); leavesOut && n > 1000 && n%1000 == 1 {
				dst[n-1] = 0
			}
		}
		return m
	}
}

// filledIn has two slopes, and two parameters for what its features are where they are missing. The gradient
// may forget the second of these beside the first.
func filledIn(forgets bool) func() targets.Target {
	fill := func(t, x []float64) (a, b float64) {
		return either(math.IsNaN(x[0]), t[2], x[0]), either(math.IsNaN(x[1]), t[3], x[1])
	}
	return func() targets.Target {
		return &own{dim: 4, features: 2, loss: func(t, x []float64, y float64) float64 {
			a, b := fill(t, x)
			return math.Hypot(1, t[0]*a+t[1]*b-y) - 1
		}, grad: func(g, t, x []float64, y float64) {
			a, b := fill(t, x)
			r := t[0]*a + t[1]*b - y
			by := r / math.Hypot(1, r)
			g[0], g[1] = by*a, by*b
			g[2] = either(math.IsNaN(x[0]), by*t[0], 0)
			g[3] = either(math.IsNaN(x[1]) && !(forgets && math.IsNaN(x[0])), by*t[1], 0)
		}}
	}
}

// ofGroups has a mean for each of three groups. Another group is none of them, or in the gradient the first.
func ofGroups(another bool) func() targets.Target {
	return func() targets.Target {
		return &own{dim: 3, features: 1, loss: func(t, x []float64, y float64) float64 {
			for k, mean := range t {
				if x[0] == float64(k) {
					return math.Hypot(1, mean-y) - 1
				}
			}
			return math.NaN()
		}, grad: func(g, t, x []float64, y float64) {
			known := false
			for k, mean := range t {
				here := x[0] == float64(k)
				known = known || here
				g[k] = either(here, (mean-y)/math.Hypot(1, mean-y), 0)
			}
			if !known {
				g[0] = either(another, (t[0]-y)/math.Hypot(1, t[0]-y), math.NaN())
			}
		}}
	}
}

func groupCase(name, effect string, another bool) Case {
	return Case{Name: name, Effect: effect,
		Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
			proptest.CheckTarget(t, ofGroups(another)(), proptest.TargetOptions{Seed: seed, Effort: effort,
				Record: func(rng *rand.Rand, x []float64) float64 {
					x[0] = float64(rng.IntN(3))
					return rng.NormFloat64()
				}})
		}}
}

// bordered are responses above a parameter, with an exponential law. An infinite ratio may count for nothing.
func bordered(nothing bool) func() targets.Target {
	return func() targets.Target {
		loss := func(t, _ []float64, y float64) float64 {
			if y < t[0] {
				return math.Inf(1)
			}
			return y - t[0]
		}
		return &own{dim: 1, loss: loss, ratio: func(t, next, x []float64, y float64) float64 {
			r := loss(t, x, y) - loss(next, x, y)
			return either(nothing && math.IsInf(r, 0), 0, r)
		}, grad: func(g, t, _ []float64, y float64) { g[0] = either(y < t[0], math.NaN(), -1) }}
	}
}

// afar are responses above what parameters usually are.
func afar(u float64) float64 { return either(math.IsNaN(u), u, 8+math.Abs(u)) }

// broken has a slope that changes at a decimal number, which belongs to one side in the loss.
func broken(strict bool) func() targets.Target {
	const knot = 0.3
	part := func(x float64) float64 { return max(0, x-knot) + either(x >= knot, 0.1, 0) }
	return func() targets.Target {
		return &own{dim: 2, features: 1, loss: func(t, x []float64, y float64) float64 {
			return math.Hypot(1, t[0]*x[0]+t[1]*part(x[0])-y) - 1
		}, grad: func(g, t, x []float64, y float64) {
			r := t[0]*x[0] + t[1]*part(x[0]) - y
			by := r / math.Hypot(1, r)
			g[0], g[1] = by*x[0], by*part(x[0])
			if strict && x[0] == knot {
				g[1] = 0
			}
		}}
	}
}
