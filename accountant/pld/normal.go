package pld

import (
	"math"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// narrow is the width below which a fall of the Mills ratio is integrated from
// its derivative, because subtracting two values would lose too many digits.
const narrow = 0.1

// millsDrop is m(y) − m(y+h) for y ≥ −h and 0 ≤ h ≤ narrow, by four-point
// Gauss–Legendre quadrature (relative error below 1e-14 at this width).
func millsDrop(y, h float64) float64 {
	const (
		x1, w1 = 0.3399810435848563, 0.6521451548625461
		x2, w2 = 0.8611363115940526, 0.3478548451374538
	)
	c, r := y+h/2, h/2
	return r * (w1*(normal.MillsFall(c-r*x1)+normal.MillsFall(c+r*x1)) +
		w2*(normal.MillsFall(c-r*x2)+normal.MillsFall(c+r*x2)))
}

// tailLess is Φ̄(x) − φ(x)·m(x+h): the Gaussian hockey-stick
// divergence of shift h > 0 at the threshold x, free of cancellation.
func tailLess(x, h float64) float64 {
	if h < narrow {
		return normal.Density(x) * millsDrop(x, h)
	}
	return max(0, normal.Tail(x)-normal.Density(x)*normal.Mills(x+h))
}

// tailMore is e^logScale·(φ(x)·m(x−h) − Φ̄(x)), h > 0.
func tailMore(x, h, logScale float64) float64 {
	d := math.Exp(logScale-x*x/2) / math.Sqrt(2*math.Pi)
	if h < narrow {
		return d * millsDrop(x-h, h)
	}
	return max(0, d*(normal.Mills(x-h)-normal.Mills(x)))
}

// gaussianDelta is the hockey-stick divergence of N(mu,1) from N(0,1) at ε ≥ 0,
// Φ̄(ε/µ − µ/2) − e^ε Φ̄(ε/µ + µ/2) (Balle, Wang 2018, Theorem 8).
func gaussianDelta(mu, eps float64) float64 { return tailLess(eps/mu-mu/2, mu) }
