package accountant

// Proof: docs/proofs/accountant-curves.md.

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
		cs = append(cs, candidate{"pure", methodPure, theoremBasic, eps, 0})
	}
	if eps, n, ok := e.repeatedPure(); ok && rest >= 0 {
		cs = append(cs, candidate{"pure-optimal", methodPure, theoremOptimal, optimalEpsilon(eps, n, rest), 0})
	}
	return cs
}

// pureLike mechanisms are ε-DP.
type pureLike interface{ pureEpsilon(adj Adjacency) float64 }

// basic returns the sums of ε and δ where every part has a pure cost. They are
// exact and rounded up once, so that an event is (ε, δ)-DP at its own ε and δ.
func (e Event) basic() (eps, delta float64, ok bool) {
	if eps, ok = e.basicAlone(); ok {
		return eps, 0, true
	}
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

// basicAlone is the same for one mechanism that cannot fail, of ordinary size: a
// product and its exact error.
func (e Event) basicAlone() (eps float64, ok bool) {
	if len(e.parts) != 1 {
		return 0, false
	}
	p := e.flat().parts[0]
	m, pureOK := p.m.(pureLike)
	if _, fails := p.m.(failing); !pureOK || fails || p.count >= 1<<53 {
		return 0, false
	}
	n, each := float64(p.count), m.pureEpsilon(e.adj)
	if eps = n * each; math.FMA(n, each, -eps) > 0 {
		eps = math.Nextafter(eps, math.Inf(1))
	}
	return eps, each > 1e-200 && eps < 1e200
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
// ε-DP releases can be simulated.
func optimalEpsilon(eps float64, n int64, delta float64) float64 {
	w := newResponses(eps, n)
	logDelta := math.Log(delta) - 1e-10 // covers the rounding of the masses
	scale, d := math.Inf(1), 0.0
	for ; w.loss() > 0; w.next() {
		if w.scale != scale {
			scale, d = w.scale, math.Exp(logDelta-w.scale)
		}
		next := w.past + w.tied*w.rise // δ at the next loss, or at 0 before it
		if w.loss() < 2*eps {
			next = w.delta(0)
		}
		if next > d {
			t := w.loss() + math.Log1p(-(d-w.past)/w.tied)
			return min(w.loss(), max(0, t)) * (1 + slack)
		}
	}
	return 0
}

// optimalDelta is δ at ε of the same composition.
func optimalDelta(eps float64, n int64, target float64) float64 {
	w := newResponses(eps, n)
	if w.loss() <= target {
		return 0
	}
	for w.loss()-2*eps > max(target, 0) {
		w.next()
	}
	return min(1, math.Exp(w.scale+math.Log(w.delta(target)))*(1+1e-10))
}

// responses walks the losses (2j−n)ε of n randomised responses down from j = n,
// where j of them tell the truth. All masses are times e^−scale; every sum is of
// positive terms, so n steps err by a relative 1e-15·n at most.
type responses struct {
	eps, fall, rise float64 // e^−ε, 1 − e^−2ε
	n, j            int64
	mass            float64 // that j tell the truth
	past            float64 // δ at the loss
	tied            float64 // expected e^−(excess over the loss), of losses from here on
	scale           float64
}

func newResponses(eps float64, n int64) responses {
	return responses{eps: eps, fall: math.Exp(-eps), rise: -math.Expm1(-2 * eps), n: n, j: n,
		mass: 1, tied: 1, scale: -float64(n) * softplus(-eps)}
}

func (w *responses) loss() float64 { return float64(2*w.j-w.n) * w.eps }

// delta is δ, times e^−scale, at a loss that the next one does not exceed.
func (w *responses) delta(at float64) float64 { return w.past - w.tied*math.Expm1(at-w.loss()) }

func (w *responses) next() {
	w.past += w.tied * w.rise
	w.mass *= w.fall * float64(w.j) / float64(w.n-w.j+1)
	w.tied = w.tied*w.fall*w.fall + w.mass
	w.j--
	if top := max(w.past, w.tied); top > 0x1p500 || top < 0x1p-500 {
		w.mass, w.past, w.tied = w.mass/top, w.past/top, w.tied/top
		w.scale += math.Log(top)
	}
}

const (
	theoremBasic   = "basic composition (Dwork et al. 2006)"
	theoremOptimal = "optimal composition of one pure mechanism (Kairouz, Oh, Viswanath 2015, Thm 3.3)"
)
