package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"math"

	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// newProbit is the family of P(y = 1) = Φ(η).
//
// Certificates: R_ℓ = 1/(β−1). The log loss has no Lipschitz constant (its slope
// grows like |η|), only one within a range of η; that of the β loss, about
// e^−½/√(β−1) for β near 1, is computed.
func newProbit(_ RegressionConfig, l loss) (family, error) {
	f := binary{loss: l, at: probitAt, halved: convex.HalvedProbit(), capped: convex.Probit}
	f.within = func(eta float64) float64 { _, h := convex.NormalTail(eta); return h }
	if b := l.b; b > 0 {
		far := 10 + 8/math.Sqrt(b)
		f.lip = f.slopeCeiling(-far, far)
	}
	return f, nil
}

// newCLogLog is the family of P(y = 1) = 1 − exp(−e^η).
//
// Certificates: R_ℓ = 1/(β−1). The log loss has slope e^η at y = 0, so no
// Lipschitz constant beyond a range of η; that of the β loss, about
// 1/(e(β−1)) for β near 1, is computed.
func newCLogLog(_ RegressionConfig, l loss) (family, error) {
	f := binary{loss: l, at: clogLogAt, halved: convex.HalvedCLogLog(), capped: convex.CLogLog}
	f.within = func(eta float64) float64 { return max(1, math.Exp(eta)) }
	if b := l.b; b > 0 {
		f.lip = f.slopeCeiling(-40-4/b-math.Log1p(2/b), math.Log(40+40/b))
	}
	return f, nil
}

// binary is the family of a 0/1 response whose probability is a function of η.
type binary struct {
	loss loss
	// at returns the logarithms of P(y=1) and P(y=0), and the slopes
	// h1 = ∂log P(y=1)/∂η and h0 = −∂log P(y=0)/∂η, both at least 0.
	at func(eta float64) (log1, log0, h1, h0 float64)
	// within bounds the slope of the log loss over |η| ≤ eta.
	within func(eta float64) float64
	lip    float64 // least upper bound of the β loss's slope
	// halved is the loss of slopes within ½ that stands for the log loss.
	halved convex.Loss
	// capped makes the log loss whose slope is cut.
	capped func(slope float64) (convex.Loss, error)
}

func (f binary) lossRange() float64 { return f.loss.massRange() }

func (f binary) lipschitz(within float64) float64 {
	if f.loss.isLog() {
		return up(f.within(within))
	}
	return f.lip
}

func (f binary) lossAt(dst, eta, y []float64) {
	for i, e := range eta {
		logp, logq, _, _ := f.label(e, y[i])
		dst[i] = f.loss.ofMasses(logp, logq)
	}
}

// slopeAt is, for the observed label's probability p, the other one's q and the
// slopes h, k of their logarithms, ±(h·q·p^b + k·q^β): theory §1.2 for any link.
func (f binary) slopeAt(dst, eta, y []float64) {
	for i, e := range eta {
		logp, logq, h, k := f.label(e, y[i])
		slope := h
		if b := f.loss.b; b > 0 {
			slope = damp(h, logq+b*logp) + damp(k, (1+b)*logq)
		}
		dst[i] = slope
	}
	vec.Against(dst, dst, y)
}

// label orders what at returns by the observed label: its log probability, that
// of the other label, and their slopes.
func (f binary) label(eta, y float64) (logp, logq, h, k float64) {
	log1, log0, h1, h0 := f.at(eta)
	switch {
	case math.IsNaN(y - y):
		return math.NaN(), math.NaN(), math.NaN(), math.NaN()
	case y >= 0.5:
		return log1, log0, h1, h0
	default:
		return log0, log1, h0, h1
	}
}

// slopeCeiling returns an upper bound of |∂ℓ/∂η| over every η and both labels,
// within slopeSlack of the least. As both log probabilities are concave in η, P(y=1) and
// h0 grow with η while P(y=0) and h1 fall, so on an interval every factor is
// greatest at an end. Outside [lo, hi] the slopes of probit and cloglog fall
// (docs/proofs/targets-certificates.md §2), so the ends bound them too.
func (f binary) slopeCeiling(lo, hi float64) float64 {
	b := f.loss.b
	over := func(lo, hi float64) float64 {
		_, low0, high1, _ := f.at(lo) // greatest log P(y=0) and h1
		high, _, _, high0 := f.at(hi) // greatest log P(y=1) and h0
		one := damp(high1, low0+b*high) + damp(high0, (1+b)*low0)
		none := damp(high0, high+b*low0) + damp(high1, (1+b)*high)
		return max(one, none)
	}
	log1, _, h1, h0 := f.at(lo)
	below := max(damp(h1, b*log1)+h0, damp(h0, log1)+damp(h1, (1+b)*log1))
	_, log0, h1, h0 := f.at(hi)
	above := max(damp(h1, log0)+damp(h0, (1+b)*log0), damp(h0, b*log0)+h1)
	return max(up(below), up(above), ceiling(slopeSlack, lo, hi, over))
}

// damp returns h·e^x, zero when e^x is zero however large h is.
func damp(h, x float64) float64 {
	e := vec.Exp(x)
	if e == 0 {
		return 0
	}
	return h * e
}

func probitAt(eta float64) (log1, log0, h1, h0 float64) {
	log1, h1 = convex.NormalTail(-eta)
	log0, h0 = convex.NormalTail(eta)
	return
}

func clogLogAt(eta float64) (log1, log0, h1, h0 float64) {
	v := math.Exp(eta)
	log0, h0 = -v, v
	switch {
	case v < 1e-8: // to first order in v, whose square is below the rounding
		return eta - v/2, log0, 1 - v/2, h0
	case v > 700:
		return -math.Exp(-v), log0, damp(v, -v), h0
	}
	return math.Log(-math.Expm1(-v)), log0, v / math.Expm1(v), h0
}
