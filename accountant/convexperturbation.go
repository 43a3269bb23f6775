package accountant

// Proof: docs/proofs/optimum.md.

import "math"

// convexPerturbation is the exact minimum of a convex objective with a random
// linear term.
type convexPerturbation struct{ sigma, curvature float64 }

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
