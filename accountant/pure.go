package accountant

import (
	"math"
	"math/big"
)

func init() { otherBounds = append(otherBounds, pureBounds) }

// pureBounds are the bounds on ε of events whose every part has a pure cost.
func pureBounds(e Event, delta, rest float64) (cs []candidate) {
	if eps, d, ok := e.basic(); ok {
		if delta < d {
			eps = math.Inf(1)
		}
		cs = append(cs, candidate{"pure", MethodPure, theoremBasic, eps, 0})
	}
	if eps, n, ok := e.repeatedPure(); ok && rest >= 0 {
		cs = append(cs, candidate{"pure-optimal", MethodPure, theoremOptimal, optimalEpsilon(eps, n, rest), 0})
	}
	return cs
}

// basic returns the sums of ε and δ where every part has a pure cost. They are
// exact and rounded up once, so that an event is (ε, δ)-DP at its own ε and δ.
func (e Event) basic() (eps, delta float64, ok bool) {
	sumEps, sumDelta := exactSum(), exactSum()
	for _, p := range e.flat().parts {
		m, pureOK := p.m.(pureLike)
		if !pureOK {
			return 0, 0, false
		}
		each := m.pureEpsilon(e.adj)
		if math.IsInf(each, 1) {
			return each, 1, false
		}
		addTimes(sumEps, p.count, each)
		if f, fails := p.m.(failing); fails {
			addTimes(sumDelta, p.count, f.failure())
		}
	}
	return roundedUp(sumEps), min(1, roundedUp(sumDelta)), true
}

// exactSum holds sums of integers times float64s of ordinary size exactly, and
// rounds up beyond.
func exactSum() *big.Float { return new(big.Float).SetPrec(2048).SetMode(big.ToPositiveInf) }

func addTimes(sum *big.Float, n int64, x float64) {
	term := exactSum().SetInt64(n)
	sum.Add(sum, term.Mul(term, new(big.Float).SetFloat64(x)))
}

// roundedUp is the least float64 that is not below v.
func roundedUp(v *big.Float) float64 {
	f, accuracy := v.Float64()
	if accuracy == big.Below {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}

// optimalLimit bounds the work of optimal composition, linear in the count.
const optimalLimit = 1 << 14

// repeatedPure returns ε and the count of an event that is one pure mechanism
// repeated few enough times for exact composition.
func (e Event) repeatedPure() (eps float64, count int64, ok bool) {
	if len(e.parts) != 1 || e.parts[0].count > optimalLimit {
		return 0, 0, false
	}
	m, ok := e.flat().parts[0].m.(pureLike)
	if !ok {
		return 0, 0, false
	}
	eps = m.pureEpsilon(e.adj)
	return eps, e.parts[0].count, eps > 0 && !math.IsInf(eps, 1)
}

// optimalEpsilon is the exact ε at δ of n randomised responses, into which n
// ε-DP releases can be simulated. The privacy loss takes the values (2j−n)ε
// with the probabilities of a binomial; sums run from the largest loss down
// until δ is passed, inside one interval of which δ(·) is solved exactly.
func optimalEpsilon(eps float64, n int64, delta float64) float64 {
	logDelta := math.Log(delta) - 1e-10 // covers the rounding of the log-probabilities
	logP, logQ := math.Inf(-1), math.Inf(-1)
	for j := n; 2*j > n; j-- {
		l := logBinomialMass(n, j, eps)
		loss := float64(2*j-n) * eps
		logP, logQ = logAddExp(logP, l), logAddExp(logQ, l-loss)
		next := max(0, loss-2*eps)
		if d := logP + math.Log1p(-math.Exp(min(0, next+logQ-logP))); d > logDelta {
			// δ(t) = P − e^t Q on [next, loss] passes delta here.
			t := logP + math.Log1p(-math.Exp(logDelta-logP)) - logQ
			return min(loss, max(0, t)) * (1 + slack)
		}
	}
	return 0
}

// optimalDelta is δ at ε of the same composition.
func optimalDelta(eps float64, n int64, target float64) float64 {
	total := 0.0
	for j := n; 2*j > n; j-- {
		loss := float64(2*j-n) * eps
		if loss <= target {
			break
		}
		total += math.Exp(logBinomialMass(n, j, eps)) * -math.Expm1(target-loss)
	}
	return min(1, total*(1+1e-10))
}

// logBinomialMass is the log-probability that j of n randomised responses tell
// the truth.
func logBinomialMass(n, j int64, eps float64) float64 {
	return logChoose(float64(n), float64(j)) - float64(j)*softplus(-eps) - float64(n-j)*softplus(eps)
}

// logChoose is the logarithm of the binomial coefficient.
func logChoose(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}

const (
	theoremBasic   = "basic composition (Dwork et al. 2006)"
	theoremOptimal = "optimal composition of one pure mechanism (Kairouz, Oh, Viswanath 2015, Thm 3.3)"
)
