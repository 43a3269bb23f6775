package surrogates

import (
	"math"

	"github.com/dpmcmc/dpmcmc/targets"
)

// Logistic has P(y = 1) = 1/(1 + e^−η).
var Logistic Link = logistic{}

// LinkOf returns the link of a regression under its log loss. Slopes are cut at ±limits.Slope,
// as those of a targets.ConvexLoss are at its MaxSlope, and counts above limits.Count are it.
// +Inf cuts none. Logistic slopes are at most 1 and are not cut. Of two labels ½ stands for the
// slopes of a loss of the same minimum. Poisson slopes cut below 1 are those of the count's root.
func LinkOf(t *targets.Regression, limits targets.Cap) Link {
	switch t.Family() {
	case "probit":
		return binaryOf(probit, limits.Slope)
	case "cloglog":
		return binaryOf(cLogLog, limits.Slope)
	case "loglog":
		return binaryOf(logLog, limits.Slope)
	case "poisson", "negative-binomial":
		if t.Family() == "poisson" && limits.Slope < 1 {
			return roots{limits.Slope, limits.Count}
		}
		return counts{limits.Slope, limits.Count, 1 / t.Dispersion()}
	}
	if limits.Slope == 0.5 {
		return halved{}
	}
	return Logistic
}

// binaryOf is a link with slopes cut at limit, where ½ stands for those of a loss of the same
// minimum.
func binaryOf(at hazards, limit float64) Link {
	if limit == 0.5 {
		return halvedBinary{at}
	}
	return binary{at, limit}
}

// whole is the link of the log loss, without a cut of slopes.
func whole(link Link) Link {
	switch f := link.(type) {
	case halved:
		return Logistic
	case binary:
		return binary{f.at, math.Inf(1)}
	case halvedBinary:
		return binary{f.at, math.Inf(1)}
	case roots:
		return counts{math.Inf(1), f.most, 0}
	case centred:
		return whole(f.cutCount)
	case counts:
		return counts{math.Inf(1), f.most, f.w}
	}
	return link
}

// Normal is a response with mean η and a known standard deviation.
type Normal struct {
	SD float64 // Required, positive
}

// Slope is that of (y − η)²/2SD².
func (n Normal) Slope(at, eta float64) (mean, variance, dMean, dVariance float64) {
	w := 1 / (n.SD * n.SD)
	return w * (at - eta), w, -w, 0
}

// Weight is 1/SD².
func (n Normal) Weight(at, eta float64) float64 { return 1 / (n.SD * n.SD) }

type logistic struct{}

func (logistic) Slope(at, eta float64) (mean, variance, dMean, dVariance float64) {
	p, q := shares(eta)
	p0, q0 := shares(at)
	v := p * q
	if p0 > 0.5 && p > 0.5 { // both near 1: the complements differ without cancellation
		return q - q0, v, -v, v * (q - p)
	}
	return p0 - p, v, -v, v * (q - p)
}

func (logistic) Weight(at, _ float64) float64 {
	p, q := shares(at)
	return p * q
}

// halved is a logistic response with the slopes of ½·asinh(e^∓η).
type halved struct{}

func (halved) Slope(at, eta float64) (mean, variance, dMean, dVariance float64) {
	p, q := shares(eta)
	a1, a0 := halvedSlopes(at)
	jump, v := a0+a1, p*q
	return a0*q - a1*p, jump * jump * v, -jump * v, jump * jump * v * (q - p)
}

func (halved) Weight(at, eta float64) float64 {
	p, q := shares(eta)
	a1, a0 := halvedSlopes(at)
	return 4 * a1 * a0 * (p*a0 + q*a1)
}

// halvedSlopes are the sizes of the slopes of y = 1, which is negative, and of y = 0.
func halvedSlopes(at float64) (a1, a0 float64) {
	return 0.5 / math.Sqrt(1+math.Exp(2*at)), 0.5 / math.Sqrt(1+math.Exp(-2*at))
}

// shares returns 1/(1 + e^−η) and 1/(1 + e^η), each to full relative accuracy.
func shares(eta float64) (p, q float64) {
	u := math.Exp(-math.Abs(eta))
	big, small := 1/(1+u), u/(1+u)
	if eta < 0 {
		return small, big
	}
	return big, small
}

// binary is a 0/1 response that need not have the canonical link.
type binary struct {
	at  hazards
	cut float64
}

// hazards returns P(y=1), P(y=0) and P(y=1)'s derivative in η, divided by either: the hazards h1
// and h0; and the derivatives of the hazards.
type hazards func(eta float64) (p, q, h1, h0, dh1, dh0 float64)

// Slope: y = 1 has slope −h1(at) with probability p(η), y = 0 slope h0(at).
func (b binary) Slope(at, eta float64) (mean, variance, dMean, dVariance float64) {
	p, q, h1, _, _, _ := b.at(eta)
	_, _, a1, a0, _, _ := b.at(at)
	a1, a0 = min(a1, b.cut), min(a0, b.cut)
	jump, dp := a0+a1, h1*p
	return a0*q - a1*p, jump * jump * p * q, -jump * dp, jump * jump * dp * (q - p)
}

func (b binary) Weight(at, eta float64) float64 {
	p, q, _, _, _, _ := b.at(eta)
	_, _, a1, a0, d1, d0 := b.at(at)
	if a1 >= b.cut {
		d1 = 0
	}
	if a0 >= b.cut {
		d0 = 0
	}
	return q*d0 - p*d1
}

// halvedBinary is such a response with slopes that have the mean 0 at its own predictor:
// ∓½q/√(p² + q²) of a response with the chance p.
type halvedBinary struct{ at hazards }

func (b halvedBinary) Slope(at, eta float64) (mean, variance, dMean, dVariance float64) {
	p, q, h1, _, _, _ := b.at(eta)
	a1, a0, _ := b.shares(at)
	jump, dp := (a0+a1)/2, h1*p
	return (a0*q - a1*p) / 2, jump * jump * p * q, -jump * dp, jump * jump * dp * (q - p)
}

func (b halvedBinary) Weight(at, eta float64) float64 {
	p, q, _, _, _, _ := b.at(eta)
	a1, a0, bent := b.shares(at)
	return bent * a1 * a0 * (p*a0 + q*a1) / 2
}

// shares are q and p over √(p² + q²), and the derivative of the log-odds.
func (b halvedBinary) shares(at float64) (a1, a0, bent float64) {
	p, q, h1, h0, _, _ := b.at(at)
	length := math.Hypot(p, q)
	return q / length, p / length, h1 + h0
}

// farthest is where binary links are cut off: beyond it a probability is 0 or 1.
const farthest = 30

func probit(eta float64) (p, q, h1, h0, dh1, dh0 float64) {
	eta = max(-farthest, min(farthest, eta))
	p, q = math.Erfc(-eta/math.Sqrt2)/2, math.Erfc(eta/math.Sqrt2)/2
	density := math.Exp(-eta*eta/2) / math.Sqrt(2*math.Pi)
	h1, h0 = density/p, density/q
	return p, q, h1, h0, -h1 * (eta + h1), h0 * (h0 - eta)
}

func cLogLog(eta float64) (p, q, h1, h0, dh1, dh0 float64) {
	eta = max(-farthest, min(3.5, eta)) // at 3.5 P(y=0) is e^−33
	v := math.Exp(eta)
	q = math.Exp(-v)
	p = -math.Expm1(-v)
	h1, h0 = v*q/p, v
	return p, q, h1, h0, h1 * (1 - v - h1), v
}

// logLog is cLogLog of the other label at −η.
func logLog(eta float64) (p, q, h1, h0, dh1, dh0 float64) {
	q, p, h0, h1, dh0, dh1 = cLogLog(-eta)
	return p, q, h1, h0, -dh1, -dh0
}
