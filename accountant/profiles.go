package accountant

// Proof: docs/proofs/accountant-bounded-range.md, docs/proofs/curator.md.

import "math"

// logBoundedRangeProfile returns log δ(ε) of the worst s-bounded-range
// mechanism, ε ≥ 0: e^ε (e^{(s−ε)/2} − 1)²/(e^s − 1).
func logBoundedRangeProfile(s, eps float64) float64 {
	if eps >= s {
		return math.Inf(-1)
	}
	return 2*math.Log(-math.Expm1((eps-s)/2)) - math.Log(-math.Expm1(-s))
}

// boundedRange is a release whose log-probability ratio between adjacent data
// sets varies over outputs within an interval of length s.
type boundedRange struct{ s float64 }

func (m boundedRange) kind() string { return "bounded_range" }

func (m boundedRange) fields() []field { return []field{{"range", m.s}} }

func (m boundedRange) rdp(_ Adjacency, order float64) float64 { return boundedRangeRDP(order, m.s) }

func (m boundedRange) pureEpsilon(Adjacency) float64 { return m.s }

func (m boundedRange) logProfile(_ Adjacency, eps float64) float64 {
	return logBoundedRangeProfile(m.s, eps)
}

func (m acceptanceBit) logProfile(adj Adjacency, eps float64) float64 {
	return logBoundedRangeProfile(m.spread(adj), eps)
}

func (m gaussian) logProfile(_ Adjacency, eps float64) float64 {
	return logGaussianDelta(1/m.sigma, eps)
}

// discreteGaussian noise on a grid; its curve is at most the Gaussian's for
// integer shifts (Canonne, Kamath, Steinke 2020, Prop. 5).
type discreteGaussian struct{ sigma float64 }

func (m discreteGaussian) kind() string { return "discrete_gaussian" }

func (m discreteGaussian) fields() []field { return []field{{"noise_multiplier", m.sigma}} }

func (m discreteGaussian) rdp(_ Adjacency, order float64) float64 {
	return gaussianRDP(order, 1/m.sigma)
}
