package accountant

// Proof: docs/proofs/accountant-curves.md.

import (
	"math"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// logGaussianDelta returns log δ(ε) of the pair N(µ,1), N(0,1) for µ ≥ 0 and
// real ε (Balle, Wang 2018): δ = Φ(a) − e^ε Φ(a−µ) with a = µ/2 − ε/µ. With the
// Mills ratio m(y) = Φ(−y)/φ(y) this is φ(a)·(m(−a) − m(µ−a)), free of
// cancellation and underflow.
func logGaussianDelta(mu, eps float64) float64 {
	switch {
	case mu == 0:
		return math.Log(max(0, -math.Expm1(eps)))
	case math.IsInf(mu, 1):
		return 0
	}
	a := mu/2 - eps/mu
	if a > 1 {
		upper := math.Erfc(a/math.Sqrt2) / 2 // 1 − Φ(a)
		return math.Log1p(-upper - normal.Density(a)*normal.Mills(mu-a))
	}
	var diff float64
	if mu < 0.5 {
		diff = legendre8(normal.MillsFall, -a, mu)
	} else {
		diff = normal.Mills(-a) - normal.Mills(mu-a)
	}
	return -a*a/2 - math.Log(2*math.Pi)/2 + math.Log(diff)
}

// gaussianEpsilon returns the smallest ε ≥ 0 with δ(ε) ≤ e^{logDelta}, rounded up.
func gaussianEpsilon(mu, logDelta float64) float64 {
	switch {
	case mu == 0 || logGaussianDelta(mu, 0) <= logDelta:
		return 0
	case math.IsInf(logDelta, -1):
		return math.Inf(1)
	}
	// log δ is concave, so Newton's steps come down from above and never pass the root.
	hi := mu*mu/2 + mu*math.Sqrt(-2*logDelta) // zCDP's bound
	for range 200 {
		l := logGaussianDelta(mu, hi)
		next := hi - (logDelta-l)/gaussianFall(mu, hi, l)
		if !(next < hi*(1-1e-13)) {
			break
		}
		hi = max(0, next)
	}
	return hi * (1 + 1e-12)
}

// gaussianFall is −d log δ/dε = e^ε Φ(a−µ)/δ, given log δ.
func gaussianFall(mu, eps, logDelta float64) float64 {
	at := eps/mu - mu/2
	return normal.Mills(at+mu) * math.Exp(-at*at/2-math.Log(2*math.Pi)/2-logDelta)
}

// Nodes and weights of 8-point Gauss–Legendre quadrature on [−1, 1].
var (
	gaussNodes   = [4]float64{0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363}
	gaussWeights = [4]float64{0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763}
)

// legendre8 integrates f over [lo, lo+h].
func legendre8(f func(float64) float64, lo, h float64) float64 {
	mid, half, sum := lo+h/2, h/2, 0.0
	for i, t := range gaussNodes {
		sum += gaussWeights[i] * (f(mid-half*t) + f(mid+half*t))
	}
	return sum * half
}
