package accept

// Proof: docs/proofs/acceptance.md.

import (
	"fmt"
	"math"
)

// Penalty is the penalty test that absorbs batch noise,
//
//	a(u; v) = P(u + N(0, C−v) + E − C/2 > 0), E ~ Exp(1)
//	        = Φ(y − s) + e^x·Φ(−y),  x = u − v/2, s = √(C−v), y = x/s + s/2.
//
// If u = Δ + N(0, v), averaging over that noise gives A(Δ) = Φ(Δ/√C − √C/2) +
// e^Δ·Φ(−Δ/√C − √C/2), which satisfies detailed balance A(Δ) = e^Δ·A(−Δ) exactly,
// for every C > 0 and with no approximation of a density. At v = 0 it is the
// penalty test of Ceperley & Dewing 1999 with noise, correction and uniform all
// inside the curator (theory 2.4, 2.6). It accepts 2Φ(−√C/2) of the moves between
// equally likely states, where Barker's test accepts half.
//
// Its log-odds steepen as u grows, so the Lipschitz constant depends on the
// log-odds limit: prefer accountant.Bit on the full data, and a limit of 2
// to 4 with batches.
type Penalty struct {
	domain
	variance                float64 // C
	perLogOdds, perVariance float64
}

var _ Test = (*Penalty)(nil)

// NewPenalty returns the test with noise variance c in [¼, 16], for batch
// variances up to maxVariance, at most c − ¼, and with the smaller side continued
// as e^−|u| beyond |u| = maxLogOdds in (0, 32]. Detailed balance is exact within
// the limit at v = 0; beyond it, it holds up to a factor
// between a(maxLogOdds) and 1. Errors: arguments outside those ranges, and a limit
// so low that a(±maxLogOdds) is on the wrong side of ½.
func NewPenalty(c, maxVariance, maxLogOdds float64) (*Penalty, error) {
	if !(c >= 0.25 && c <= 16) {
		return nil, fmt.Errorf("accept: a penalty test of noise variance %v was asked for; it must be in [0.25, 16]", c)
	}
	t := &Penalty{domain: domain{maxLogOdds, maxVariance}, variance: c}
	err := t.check(c)
	if err != nil {
		return nil, err
	}
	t.perLogOdds, t.perVariance, err = lipschitz(t, -maxLogOdds)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Accept implements [Test].
func (t *Penalty) Accept(u, v float64) (tail float64, upper bool) {
	u, v, decay := t.enter(u, v)
	tail, upper = penalty(u-v/2, t.variance-v)
	return max(MinTail, decay*tail), upper
}

// Lipschitz implements [Test].
func (t *Penalty) Lipschitz() (perLogOdds, perVariance float64) {
	return t.perLogOdds, t.perVariance
}

// penalty returns the smaller side of Φ(y−s) + e^x·Φ(−y), s² = variance.
func penalty(x, variance float64) (tail float64, upper bool) {
	s := math.Sqrt(variance)
	y := (x + variance/2) / s
	second := math.Exp(x) * normalTail(y)
	if accept := normalTail(s-y) + second; accept <= 0.5 {
		return accept, false
	}
	return max(0, normalTail(y-s)-second), true
}

// bound encloses the two terms through
//
//	∂a/∂u = e^x·Φ(−y),  ∂a/∂v = −½ ∂²a/∂u² = (φ(y−s)/s − e^x·Φ(−y))/2,
//
// and through a rising in x and falling in s² at fixed x, as
// ∂a/∂(s²) = −φ(y−s)/(2s) shows.
func (t *Penalty) bound(c cell) enclosure {
	x0, x1 := c.u0-c.v1/2, c.u1-c.v0/2
	n0, n1 := t.variance-c.v1, t.variance-c.v0
	s0, s1 := math.Sqrt(n0), math.Sqrt(n1)
	accept, _ := penaltySides(x0, n1)
	_, reject := penaltySides(x1, n0)

	// y = x/s + s/2 has its least value in s at s² = 2x, its largest at an end.
	least := min(max(math.Sqrt(max(0, 2*x0)), s0), s1)
	slope := math.Exp(x1) * normalTail(x0/least+least/2)
	flattest := math.Exp(x0) * normalTail(max(x1/s0+s0/2, x1/s1+s1/2))
	k0, k1 := kernelRange(1, x0-n1/2, x1-n0/2, s0, s1)
	return enclosure{accept: accept, reject: reject, slope: slope, drift: max(k1-flattest, slope-k0) / 2}
}

// penaltySides returns a and 1−a.
func penaltySides(x, variance float64) (accept, reject float64) {
	tail, upper := penalty(x, variance)
	if upper {
		return 1 - tail, tail
	}
	return tail, 1 - tail
}
