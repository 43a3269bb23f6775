package proptest

import (
	"math"
	"math/rand/v2"
	"slices"
)

// climb looks for the largest value of f over vectors of length n: from each of
// several starting points, moves of one or all coordinates at every scale from
// 10⁻⁶ to 10³, kept when they do not make f smaller. Every second start has
// extreme coordinates. NaN counts as worse than any number.
func climb(rng *rand.Rand, n, restarts, moves int, f func(u []float64) float64) (at []float64, best float64) {
	at, best = make([]float64, n), math.Inf(-1)
	closer := 1.0
	for restart := range restarts {
		u := start(rng, n, restart%2 == 1)
		now := valueOr(f(u))
		for range 20 { // parameters outside the prior's support say nothing: start closer
			if !math.IsInf(now, -1) {
				break
			}
			normals(rng, u)
			closer *= 0.8
			for i := range u {
				u[i] *= closer
			}
			now = valueOr(f(u))
		}
		now = ascend(rng, u, now, moves, f)
		if now > best {
			best = now
			copy(at, u)
		}
	}
	return at, best
}

// ascend moves u to larger values of f, from its value now.
func ascend(rng *rand.Rand, u []float64, now float64, moves int, f func(u []float64) float64) float64 {
	n, trial := len(u), make([]float64, len(u))
	for range moves {
		copy(trial, u)
		scale := math.Pow(10, -6+9*rng.Float64()*rng.Float64())
		if rng.IntN(2) == 0 {
			trial[rng.IntN(n)] += scale * rng.NormFloat64()
		} else {
			for i := range trial {
				trial[i] += scale * rng.NormFloat64()
			}
		}
		if v := valueOr(f(trial)); v >= now {
			now = v
			copy(u, trial)
		}
	}
	return now
}

// start draws a starting point, of which one coordinate in five is extreme.
func start(rng *rand.Rand, n int, extreme bool) []float64 {
	u := make([]float64, n)
	normals(rng, u)
	for i := range u {
		if extreme && rng.IntN(5) == 0 {
			u[i] = extremes[rng.IntN(len(extremes))]
		}
	}
	return u
}

func valueOr(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(-1)
	}
	return v
}

// shrink makes u as plain as it can while it still violates a bound: coordinates
// go to 0, to ±1, to an integer, to few digits, until none can go further.
func shrink(u []float64, violates func(u []float64) bool) {
	trial := slices.Clone(u)
	for changed := true; changed; {
		changed = false
		for i, v := range u {
			for _, s := range simpler(v) {
				if trial[i] = s; violates(trial) {
					u[i], changed = s, true
					break
				}
				trial[i] = v
			}
		}
	}
}

// simpler lists numbers that are plainer than v, the plainest first; it is empty
// for 0, and applying it again and again ends.
func simpler(v float64) []float64 {
	all := []float64{0, 1, -1}
	if k := slices.Index(all, v); k >= 0 {
		return all[:k]
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return all
	}
	for _, digits := range []float64{1, 10, 1000} {
		if r := math.Round(v*digits) / digits; r == v {
			return all
		} else if math.Abs(r) < math.MaxFloat64 {
			all = append(all, r)
		}
	}
	return all
}
