package accountant

// Proof: docs/proofs/accountant-sampling.md.

import "math"

// momentCurve amplifies a Rényi curve through its values at integer orders;
// between integers (α−1)ε(α), which is convex, is interpolated linearly.
type momentCurve struct {
	q         float64
	inner     Event
	pure      float64
	logExcess func(order float64) float64 // log of moment − 1 at an integer order
}

// momentLimit is the largest integer order summed; beyond it the event is
// charged as if it were not sampled, which is valid.
const momentLimit = 512

func newMomentCurve(scheme string, q float64, e Event) *momentCurve {
	c := &momentCurve{q: q, inner: e, pure: e.RDP(math.Inf(1))}
	c.logExcess = c.withoutReplacement
	if scheme == schemePoisson {
		c.logExcess = c.poisson
	}
	return c
}

func (c *momentCurve) rdp(order float64) float64 {
	lo := math.Floor(order)
	if lo+1 > momentLimit {
		return c.inner.RDP(order)
	}
	below := 0.0 // (α−1)ε(α) at α = 1
	if lo > 1 {
		below = softplus(c.logExcess(lo))
	}
	if lo == order {
		return min(below/(order-1), c.inner.RDP(order))
	}
	above := softplus(c.logExcess(lo + 1))
	return min((below+(order-lo)*(above-below))/(order-1), c.inner.RDP(order))
}

// withoutReplacement is Wang, Balle, Kasiviswanathan 2019, Thm 9.
func (c *momentCurve) withoutReplacement(order float64) float64 {
	cap := math.Log(math.Expm1(c.pure)) // log(e^{ε(∞)} − 1)
	if c.pure > 40 {
		cap = c.pure
	}
	e2 := c.inner.RDP(2)
	s := newLogSum()
	s.add(2*math.Log(c.q) + logChoose(order, 2) +
		min(math.Log(4)+logExpm1(e2), e2+min(math.Ln2, 2*cap)))
	for j := 3.0; j <= order; j++ {
		s.add(j*math.Log(c.q) + logChoose(order, j) + (j-1)*c.inner.RDP(j) + min(math.Ln2, j*cap))
	}
	return s.log() + 1e-12
}

// poisson is Zhu, Wang 2019, Thm 5, for add/remove.
func (c *momentCurve) poisson(order float64) float64 {
	s := newLogSum()
	for j := 2.0; j <= order; j++ {
		x := (j - 1) * c.inner.RDP(j)
		if j > 2 {
			x += math.Log(3)
		}
		s.add(logChoose(order, j) + j*math.Log(c.q) + (order-j)*math.Log1p(-c.q) + logExpm1(x))
	}
	return s.log() + 1e-12
}

// logChoose is the logarithm of the binomial coefficient.
func logChoose(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}
