package curator

import "github.com/dpmcmc/dpmcmc/internal/noise"

// What leaves the room leaves it here, and only under a grant.

// decideLogistic releases a bit whose log-odds are a sum of contributions, each within
// what was charged, plus public ones, in steps of unit.
func (g *grant) decideLogistic(sum int64, public, unit float64) bool {
	return g.decide(noise.Logistic(stepsToLogOdds(sum+wholeSteps(public, unit), unit, clamp)))
}

// refuse releases that a move is not accepted, whatever the records.
func (g *grant) refuse() bool { return g.track.Bit(false) }

// decide releases a bit, given the smaller of its two probabilities and whether it is
// that of false.
func (g *grant) decide(tail float64, upper bool) bool {
	return g.track.Bit(noise.Bit(g.secret, tail, upper))
}

// noisy releases sums of contributions with exact discrete Gaussian noise, in units of
// the grid's step, times a public factor.
func (g *grant) noisy(dst []float64, sums []int64, normal *noise.DiscreteGaussian, step, factor float64) {
	for j, s := range sums {
		dst[j] = float64(s+normal.Sample(g.secret)) * step * factor
	}
	g.track.Values(dst)
}

// publish passes on values that were released, or drawn from public randomness.
func (g *grant) publish(v []float64) { g.track.Values(v) }
