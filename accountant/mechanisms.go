package accountant

// Proof: docs/proofs/accountant-curves.md.

import "math"

// gaussianDP is Gaussian differential privacy (Dong, Roth, Su 2022).
type gaussianDP struct{ m float64 }

func (m gaussianDP) kind() string { return "gaussian_dp" }

func (m gaussianDP) fields() []field { return []field{{"mu", m.m}} }

func (m gaussianDP) mu() float64 { return m.m }

func (m gaussianDP) rdp(_ Adjacency, order float64) float64 { return gaussianRDP(order, m.m) }

func (m gaussianDP) logProfile(_ Adjacency, eps float64) float64 {
	return logGaussianDelta(m.m, eps)
}

// zcdp is zero-concentrated DP (Bun, Steinke 2016).
type zcdp struct{ rho float64 }

func (m zcdp) kind() string { return "zcdp" }

func (m zcdp) fields() []field { return []field{{"rho", m.rho}} }

func (m zcdp) rdp(_ Adjacency, order float64) float64 {
	if m.rho == 0 {
		return 0
	}
	return order * m.rho
}

// laplace noise whose scale is b times the sensitivity.
type laplace struct{ b float64 }

func (m laplace) kind() string { return "laplace" }

func (m laplace) fields() []field { return []field{{"noise_multiplier", m.b}} }

func (m laplace) pureEpsilon(Adjacency) float64 { return 1 / m.b }

// rdp is Mironov 2017, Prop. 6, in non-negative terms.
func (m laplace) rdp(_ Adjacency, order float64) float64 {
	eps := 1 / m.b
	switch {
	case math.IsInf(order, 1) || math.IsInf(eps, 1):
		return eps
	case (order-1)*eps > 600:
		return eps + math.Log(order/(2*order-1))/(order-1) +
			math.Log1p((order-1)/order*math.Exp(-(2*order-1)*eps))/(order-1)
	}
	x := (order*expm1MinusX((order-1)*eps) + (order-1)*expm1MinusX(-order*eps)) / (2*order - 1)
	return min(math.Log1p(x)/(order-1), eps)
}

func (m laplace) logProfile(_ Adjacency, eps float64) float64 {
	return math.Log(max(0, -math.Expm1((eps-1/m.b)/2)))
}

// pure is ε-DP with nothing else known.
type pure struct{ eps float64 }

func (m pure) kind() string { return "pure" }

func (m pure) fields() []field { return []field{{"epsilon", m.eps}} }

func (m pure) pureEpsilon(Adjacency) float64 { return m.eps }

func (m pure) rdp(_ Adjacency, order float64) float64 { return responseRDP(order, m.eps, 2) }

func (m pure) logProfile(_ Adjacency, eps float64) float64 {
	return logResponseProfile(m.eps, 2, eps)
}

// approximate is (ε, δ)-DP: a failure of probability δ beside ε-DP (Kairouz,
// Oh, Viswanath 2015, Thm 3.3).
type approximate struct{ eps, delta float64 }

func (m approximate) kind() string { return "approximate" }

func (m approximate) fields() []field { return []field{{"epsilon", m.eps}, {"delta", m.delta}} }

func (m approximate) pureEpsilon(Adjacency) float64 { return m.eps }

func (m approximate) failure() float64 { return m.delta }

func (m approximate) rdp(_ Adjacency, order float64) float64 { return responseRDP(order, m.eps, 2) }

// randomizedResponse reports one of k values, the true one e^ε times as
// likely as each other.
type randomizedResponse struct {
	eps float64
	k   int64
}

func (m randomizedResponse) kind() string { return "randomized_response" }

func (m randomizedResponse) fields() []field {
	return []field{{"epsilon", m.eps}, {"categories", m.k}}
}

func (m randomizedResponse) pureEpsilon(Adjacency) float64 { return m.eps }

func (m randomizedResponse) rdp(_ Adjacency, order float64) float64 {
	return responseRDP(order, m.eps, float64(m.k))
}

func (m randomizedResponse) logProfile(_ Adjacency, eps float64) float64 {
	return logResponseProfile(m.eps, float64(m.k), eps)
}

// responseRDP is the Rényi divergence between k-ary randomised responses to
// two values: log(1 + (e^{(α−1)ε} − 1)(1 − e^{−αε})e^ε/(e^ε+k−1))/(α−1). For
// k = 2 it is the worst case of ε-DP.
func responseRDP(order, eps, k float64) float64 {
	switch {
	case math.IsInf(order, 1) || math.IsInf(eps, 1):
		return eps
	case eps == 0:
		return 0
	}
	f := -math.Expm1(-order*eps) / (1 + (k-1)*math.Exp(-eps))
	if (order-1)*eps > 600 {
		return min(eps, eps+math.Log(f)/(order-1))
	}
	return min(eps, math.Log1p(math.Expm1((order-1)*eps)*f)/(order-1))
}

// logResponseProfile is log δ(t) of the same pair: (e^ε − e^t)₊/(e^ε + k − 1).
func logResponseProfile(eps, k, t float64) float64 {
	return math.Log(max(0, -math.Expm1(t-eps)) / (1 + (k-1)*math.Exp(-eps)))
}
