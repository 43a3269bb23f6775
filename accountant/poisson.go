package accountant

// Proof: docs/proofs/accountant-sampling.md.

import "math"

// logSum accumulates log Σ e^{x}.
type logSum struct{ top, sum float64 }

func newLogSum() logSum { return logSum{top: math.Inf(-1)} }

func (s *logSum) add(x float64) {
	switch {
	case math.IsInf(x, -1) || math.IsInf(s.top, 1):
	case math.IsInf(x, 1):
		s.top, s.sum = x, 1
	case x <= s.top:
		s.sum += math.Exp(x - s.top)
	default:
		s.sum = s.sum*math.Exp(s.top-x) + 1
		s.top = x
	}
}

func (s *logSum) log() float64 {
	if s.sum == 0 {
		return math.Inf(-1)
	}
	return s.top + math.Log(s.sum)
}

// fromExcess returns log(1 + e^l)/(α−1), the cost whose moment is 1 + e^l.
func fromExcess(order, l float64) float64 { return softplus(l) / (order - 1) }

// quadratureMargin is the relative error allowed for, and added to, moments by
// quadrature or by sums in log space; measured errors stay below a tenth of it.
const quadratureMargin = 1e-10

// workLimit is the largest number of terms a moment is summed over.
const workLimit = 1 << 15

// poissonGaussianRDP is the cost under add/remove of a Gaussian release, noise
// 1/µ, on a Poisson batch of rate q (Mironov, Talwar, Zhang 2019): the Rényi
// divergence of (1−q)N(0,1)+qN(µ,1) from N(0,1), the larger direction.
func poissonGaussianRDP(order, mu, q float64) float64 {
	nodes := (20 + order*mu) / poissonStep(mu)
	integer := order == math.Floor(order)
	switch {
	case integer && order <= min(nodes, workLimit):
		return poissonGaussianSum(order, mu, q)
	case nodes <= workLimit:
		return poissonGaussianIntegral(order, mu, q)
	}
	return gaussianRDP(order, mu)
}

// poissonGaussianSum is the binomial sum for an integer order, in positive
// terms: A − 1 = Σ_{k≥2} C(α,k)(1−q)^{α−k} q^k (e^{(k²−k)µ²/2} − 1).
func poissonGaussianSum(order, mu, q float64) float64 {
	logOdds := math.Log(q) - math.Log1p(-q)
	term := order * math.Log1p(-q)
	s := newLogSum()
	for k := 0.0; k < order; k++ {
		term += logOdds + math.Log((order-k)/(k+1))
		if y := (k + 1) * k * mu * mu / 2; y > 0 {
			s.add(term + logExpm1(y))
		}
	}
	return fromExcess(order, s.log()+1e-12)
}

func logExpm1(y float64) float64 {
	if y > 40 {
		return y
	}
	return math.Log(math.Expm1(y))
}

// logPowerExcess returns log((1+t)^a − 1 − at) for a > 1, t > −1, given
// l = log(1+t), without cancellation or overflow.
func logPowerExcess(a, t, l float64) float64 {
	if x := a * l; x > 700 {
		return x
	}
	return math.Log(powerExcess(a, t, l))
}

// powerExcess is the same without the logarithm, for a·l ≤ 700.
func powerExcess(a, t, l float64) float64 {
	if math.Abs(t) < 0.1 {
		return expm1MinusX(a*l) - a*minusLog1p(t)
	}
	return math.Expm1(a*l) - a*t
}

// minusLog1p returns t − log(1+t) for |t| < 0.1 without cancellation.
func minusLog1p(t float64) float64 {
	// With z = t/(2+t), log(1+t) = 2(z + z³/3 + z⁵/5 + …) and t − 2z = tz.
	z := t / (2 + t)
	y := z * z
	return z * (t - 2*y*(1.0/3+y*(1.0/5+y*(1.0/7+y*(1.0/9+y*(1.0/11+y*(1.0/13+y/15)))))))
}

// poissonGaussianIntegral is the same at any order by the trapezoidal rule on
// φ(y)·[(1+qw)^α − 1 − αqw], w = e^{µy−µ²/2} − 1, a non-negative analytic
// integrand, so that the rule converges geometrically (docs/proofs/accountant-sampling.md).
func poissonGaussianIntegral(order, mu, q float64) float64 {
	step := poissonStep(mu)
	s := newLogSum()
	for y := -9.5; y <= order*mu+9.5; y += step {
		l, t := logMixture(q, mu*y-mu*mu/2)
		s.add(logPowerExcess(order, t, l) - y*y/2)
	}
	return fromExcess(order, s.log()+math.Log(step)-math.Log(2*math.Pi)/2+quadratureMargin)
}

// poissonStep resolves the unit Gaussian and the branch points of the integrand, at
// distance π/µ from the real line.
func poissonStep(mu float64) float64 { return min(0.5, 0.5/mu) }

// logMixture returns log(1 + t) and t for t = q(e^x − 1).
func logMixture(q, x float64) (l, t float64) {
	if x > 600 {
		return math.Log(q) + x, math.Inf(1)
	}
	t = q * math.Expm1(x)
	return math.Log1p(t), t
}

// poissonSubstitutionRDP is the cost under substitution of a Gaussian release
// on a Poisson batch. µ is the sensitivity of replacing a record over the
// noise, each record moving the mean by at most half of it; the worst pair is
// (1−q)N(0,1)+qN(±µ/2,1) (docs/proofs/accountant-sampling.md).
func poissonSubstitutionRDP(order, mu, q float64) float64 {
	h := mu / 2
	end := h*(order+(order-1)*q) + 9.5
	if 8*(end+9.5+h) > workLimit {
		return gaussianRDP(order, mu)
	}
	step := min(0.125, 0.5/h)
	s := newLogSum()
	for y := -9.5 - h; y <= end; y += step {
		lp, _ := logMixture(q, h*y-h*h/2)
		lr, _ := logMixture(q, -h*y-h*h/2)
		l := lp - lr
		s.add(logPowerExcess(order, math.Expm1(l), l) + lr - y*y/2)
	}
	l := s.log() + math.Log(step) - math.Log(2*math.Pi)/2 + quadratureMargin
	return min(fromExcess(order, l), gaussianRDP(order, mu))
}
