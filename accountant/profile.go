package accountant

// Proof: docs/proofs/accountant-sampling.md.

import "math"

// profileCurve amplifies a privacy profile. For any pair,
//
//	e^{(α−1)D_α} = 1 + α(α−1)∫₀^∞ [e^{(α−1)t} δ(t) + e^{−αt} δ′(t)] dt
//
// with δ, δ′ the profiles of the two directions, so bounding both profiles
// bounds every Rényi divergence. Sampling turns a profile δ into
// q·δ(log(1+(e^t−1)/q)) (Balle, Barthe, Gaboardi 2018), under substitution in
// both directions, under add/remove in one, the other being
// (1−e^t(1−q))·δ(log(q e^t/(1−e^t(1−q)))) (Zhu, Dong, Wang 2022). In the
// variable v, the argument of δ, both become smooth integrals.
type profileCurve struct {
	logDelta  func(v float64) float64
	q         float64
	oneSided  bool // Poisson sampling under add/remove
	end       func(order float64) float64
	width     func(order float64) float64 // a panel length that resolves the integrand
	unsampled func(order float64) float64
}

// profiled mechanisms bound log δ(ε), ε ≥ 0, for every adjacent pair in both directions.
type profiled interface {
	logProfile(adj Adjacency, eps float64) float64
}

func newProfileCurve(scheme string, q float64, m profiled, adj Adjacency) *profileCurve {
	c := &profileCurve{
		logDelta:  func(v float64) float64 { return m.logProfile(adj, v) },
		q:         q,
		oneSided:  scheme == schemePoisson,
		unsampled: func(order float64) float64 { return m.(mechanism).rdp(adj, order) },
	}
	if g, ok := m.(gaussianLike); ok { // a peak of width µ, at αµ² at most
		mu := g.mu()
		c.end = func(order float64) float64 { return order*mu*mu + 10*mu }
		c.width = func(float64) float64 { return min(mu, 2) }
		return c
	}
	s := m.(pureLike).pureEpsilon(adj)
	c.end = func(float64) float64 { return s }
	c.width = func(order float64) float64 { return min(s, 1, 8/order) }
	return c
}

// rdp sums 8-point Gauss–Legendre panels in log space.
func (c *profileCurve) rdp(order float64) float64 {
	end := c.end(order)
	panels := math.Ceil(end / c.width(order))
	base := c.unsampled(order)
	if math.IsInf(end, 1) || panels*8 > workLimit {
		return base
	}
	forward, backward := newLogSum(), newLogSum()
	half := end / panels / 2
	for i := range int(panels) {
		mid := half * float64(2*i+1)
		for j, t := range gaussNodes {
			w := math.Log(gaussWeights[j] * half)
			c.add(&forward, &backward, order, mid-half*t, w)
			c.add(&forward, &backward, order, mid+half*t, w)
		}
	}
	l := max(forward.log(), backward.log()) + math.Log(order*(order-1)) + quadratureMargin
	return min(fromExcess(order, l), base)
}

// add contributes the integrand at v to the moments of both directions.
func (c *profileCurve) add(forward, backward *logSum, order, v, logWeight float64) {
	logDelta := c.logDelta(v)
	if math.IsInf(logDelta, -1) {
		return
	}
	logDelta += logWeight + 2*math.Log(c.q)
	t, _ := logMixture(c.q, v) // e^t = 1 − q + q e^v
	up, down := logDelta+v+(order-2)*t, logDelta+v-(order+1)*t
	if !c.oneSided {
		forward.add(up)
		forward.add(down)
		return
	}
	k := v + math.Log(c.q*math.Exp(-v)+1-c.q) // log(q + (1−q)e^v)
	forward.add(up)
	forward.add(logDelta - order*(v-k) - 2*k)
	backward.add(down)
	backward.add(logDelta + (order-1)*(v-k) - 2*k)
}
