package room

// Proof: docs/proofs/curator.md.

import "github.com/dpmcmc/dpmcmc/internal/core/noise"

// What leaves the room leaves it here, and only under a grant.

// Logistic releases a bit whose log-odds are a sum of contributions, each within
// what was charged, plus public ones, in steps of unit.
func (g *Grant) Logistic(sum int64, public, unit float64) bool {
	return g.Decide(noise.Logistic(StepsToLogOdds(sum+WholeSteps(public, unit), unit, Clamp)))
}

// Refuse releases that a move is not accepted, whatever the records.
func (g *Grant) Refuse() bool { return g.track.Bit(false) }

// Decide releases a bit, given the smaller of its two probabilities and whether it is
// that of false.
func (g *Grant) Decide(tail float64, upper bool) bool {
	return g.track.Bit(noise.Bit(g.secret, tail, upper))
}

// Noisy releases sums of contributions with exact discrete Gaussian noise, in units of
// the grid's step, times a public factor.
func (g *Grant) Noisy(dst []float64, sums []int64, normal *noise.DiscreteGaussian, step, factor float64) {
	for j, s := range sums {
		dst[j] = float64(s+normal.Sample(g.secret)) * step * factor
	}
	g.track.Values(dst)
}

// Publish passes on values that were released, or drawn from public randomness.
func (g *Grant) Publish(v []float64) { g.track.Values(v) }
