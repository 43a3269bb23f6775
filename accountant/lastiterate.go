package accountant

// Proof: docs/proofs/last-iterate.md.

import (
	"fmt"
	"math"
)

// LastIterate is the release of the last of steps ≥ 1 states x ← φ(x) + noise, and of no
// other. φ contracts distances by contraction, in [0, 1], on either data set. The multiplier
// is over how far adjacent data sets can move φ(x). Steps after the first cost less and less:
// the release is that of one Gaussian with
//
//	µ² = (1 − cᵀ)(1 + c)/((1 + cᵀ)(1 − c))/NoiseMultiplier²,
//
// T at c = 1 and at most (1 + c)/(1 − c) (Bok, Su, Altschuler 2024, shifted interpolation).
// It is attained (docs/proofs/last-iterate.md).
func (g GridGaussian) LastIterate(adj Adjacency, contraction float64, steps int64) (Event, error) {
	if !(contraction >= 0 && contraction <= 1) {
		return Event{}, fmt.Errorf("accountant: LastIterate: contraction %v: must be in [0, 1]", contraction)
	}
	if steps < 1 {
		return Event{}, fmt.Errorf("accountant: LastIterate: steps %d: must be at least 1", steps)
	}
	// A hair smaller, for the rounding of the factor.
	multiplier := g.NoiseMultiplier / math.Sqrt(iterated(contraction, steps)) * (1 - 1e-12)
	most := 2 * math.Sqrt(float64(steps)) / g.NoiseMultiplier // of all shifts together, and so of each
	return stated(adj, gridGaussian{gaussian{multiplier}, float64(steps) * g.departure(most)})
}

// iterated is µ² of so many steps over that of one.
func iterated(contraction float64, steps int64) float64 {
	t := float64(steps)
	power := t * math.Log1p(contraction-1) // log cᵀ
	if 1-contraction < 1e-15 || -power < 1e-9 {
		return t // the limit, which is never less
	}
	return -math.Expm1(power) * (1 + contraction) / ((1 + math.Exp(power)) * (1 - contraction))
}
