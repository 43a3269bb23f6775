package accountant

// Proof: docs/proofs/optimum.md.

import (
	"fmt"
	"math"
)

// convexPerturbation is the exact minimum of a convex objective with a random
// linear term.
type convexPerturbation struct{ sigma, curvature float64 }

// ConvexPerturbation is the release of the exact minimum of a sum of convex losses
// of linear predictors, a ridge (Λ/2)‖θ‖² with Λ > 0 and a linear term b·θ,
// b ~ N(0, σ²I). noiseMultiplier ≥ 0 is σ over the L2 sensitivity of the gradients'
// sum under adj; curvature ≥ 0 bounds Σ ℓ″‖x‖²/Λ over the rows of one person. With
// s = 1/noiseMultiplier the curve is
//
//	α·s²/2 + log(2Φ((α−1)s))/(α−1) + curvature
//
// (docs/proofs/optimum.md, "Other convex losses"). Unlike ObjectivePerturbation,
// which is for the logistic loss and cheaper, it uses of a loss only that its slope
// and its curvature are bounded.
func ConvexPerturbation(adj Adjacency, noiseMultiplier, curvature float64) (Event, error) {
	if err := noise("ConvexPerturbation", noiseMultiplier); err != nil {
		return Event{}, err
	}
	if !(curvature >= 0) || math.IsInf(curvature, 1) {
		return Event{}, fmt.Errorf("accountant: ConvexPerturbation: curvature %v: must be a finite number ≥ 0 (a person's "+
			"Σ ℓ″‖x‖² over the ridge)", curvature)
	}
	return newEvent(adj, convexPerturbation{noiseMultiplier, curvature})
}

func (m convexPerturbation) kind() string { return "convex_perturbation" }
func (m convexPerturbation) fields() []field {
	return []field{{"noise_multiplier", m.sigma}, {"curvature", m.curvature}}
}

func (m convexPerturbation) rdp(_ Adjacency, order float64) float64 {
	s, k := 1/m.sigma, max(order-1, lowestExcess)
	switch {
	case s == 0:
		return m.curvature + linearDeparture
	case math.IsInf(s, 1) || math.IsInf(k, 1):
		return math.Inf(1)
	}
	folded := math.Log1p(math.Erf(k * s / math.Sqrt2)) // log 2Φ(ks)
	return (1+k)*s*s/2 + folded/k*(1+1e-12) + m.curvature + linearDeparture
}
