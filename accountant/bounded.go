package accountant

// Proof: docs/proofs/accountant-bounded-range.md.

import "math"

// boundedRangeRDP returns ε_BR(α; s), the largest Rényi divergence of order
// α > 1 between the outputs of an s-bounded-range mechanism (theory §2.2). With
// S(x) = log(sinh x / x) it is
//
//	[S(αs/2) − S(s/2)]/(α−1) + S(αs/2) − S((α−1)s/2),
//
// a sum of non-negative terms. It is convex and increasing in s and at most
// min(αs²/8, s). The identity is derived in docs/proofs/accountant-bounded-range.md.
func boundedRangeRDP(order, s float64) float64 {
	switch {
	case s == 0:
		return 0
	case math.IsInf(order, 1) || math.IsInf(s, 1):
		return s
	}
	x := order * s / 2
	if x < 0.05 {
		return boundedRangeSeries(order, s)
	}
	below := x - s/2
	rise := logSinhcRise(below, s/2)
	eps := logSinhcRise(s/2, below)/(order-1) + rise
	return min(eps, order*s*s/8, s)
}

// boundedRangeSeries sums the Taylor series in s to s⁸; αs/2 < 0.05 leaves a
// relative remainder below 1e-15.
func boundedRangeSeries(a, s float64) float64 {
	h := s * s / 4
	p2 := 5 * a * (a*a - a + 1)
	p3 := 7 * a * (a*a*a*a - 2*a*a*a + 3*a*a - 2*a + 1)
	p4 := a * (9 + a*(-27+a*(57+a*(-69+a*(57+a*(-27+9*a))))))
	return h * (a/2 - h*(p2/180-h*(p3/2835-h*p4/37800)))
}

// acceptanceBit is one released bit whose log-odds a record moves by at most c.
type acceptanceBit struct{ c float64 }

func (m acceptanceBit) kind() string { return "acceptance_bit" }

func (m acceptanceBit) fields() []field { return []field{{"contribution", m.c}} }

// spread is how far the log-odds differ between adjacent data sets.
func (m acceptanceBit) spread(adj Adjacency) float64 {
	if adj == Substitute {
		return 2 * m.c * inflation
	}
	return m.c * inflation
}

func (m acceptanceBit) rdp(adj Adjacency, order float64) float64 {
	return boundedRangeRDP(order, m.spread(adj))
}

func (m acceptanceBit) pureEpsilon(adj Adjacency) float64 { return m.spread(adj) }

// inflation enlarges the charged range of acceptance bits, to cover the
// rounding with which the mechanism computes its acceptance probability: a
// log-odds error of up to 1e-9 of the contribution is paid for.
const inflation = 1 + 1e-9

// langevin returns coth x − 1/x for x ≥ 0.
func langevin(x float64) float64 {
	if x < 0.3 { // Lambert's continued fraction, but for less than 10⁻¹⁷
		y := x * x
		return x / (3 + y/(5+y/(7+y/(9+y/(11+y/13)))))
	}
	return 1/math.Tanh(x) - 1/x
}

// logSinhc returns log(sinh x / x) for x ≥ 0, its accuracy absolute.
func logSinhc(x float64) float64 {
	if x < 1e-4 {
		return x * x / 6
	}
	if x < 1 {
		return math.Log(math.Sinh(x) / x)
	}
	return x + math.Log1p(-math.Exp(-2*x)) - math.Log(2*x)
}

// logSinhcRise returns logSinhc(lo+h) − logSinhc(lo) for lo, h ≥ 0 with
// relative accuracy.
func logSinhcRise(lo, h float64) float64 {
	switch {
	case h <= 0.25:
		return legendre8(langevin, lo, h)
	case lo < 1:
		return logSinhc(lo+h) - logSinhc(lo)
	}
	return h - math.Log1p(h/lo) + math.Log1p(-math.Exp(-2*(lo+h))) - math.Log1p(-math.Exp(-2*lo))
}
