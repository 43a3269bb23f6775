package accept

// Proof: docs/proofs/acceptance.md.

import "math"

// Corrected is the Gaussian-mixture corrected Barker test,
//
//	a(u; v) = P(u + N(0, C−v) + V > 0),
//
// with V from [Correction] (Heikkilä et al. 2019, §3.3, with an acceptance bit for
// a release). If u = Δ + N(0, v), averaging over that noise gives P(Δ + N(0, C) +
// V > 0), which is Barker's probability up to the error of the fit.
type Corrected struct {
	domain
	mixture                 Mixture
	perLogOdds, perVariance float64
}

var _ Test = (*Corrected)(nil)

// NewCorrected returns the test with Gaussian variance c (one that Correction
// knows; 1 is the most accurate with room for batch noise), for batch variances up
// to maxVariance, at most c − ¼, and with the smaller side continued as e^−|u|
// beyond |u| = maxLogOdds in (0, 32]; 8 is a good choice. It computes the Lipschitz
// constants, which takes up to a second: make a test once and share it.
// Errors: arguments outside those ranges.
func NewCorrected(c, maxVariance, maxLogOdds float64) (*Corrected, error) {
	mixture, err := Correction(c)
	if err != nil {
		return nil, err
	}
	t := &Corrected{domain: domain{maxLogOdds, maxVariance}, mixture: mixture}
	if err := t.check(c); err != nil {
		return nil, err
	}
	t.perLogOdds, t.perVariance, err = lipschitz(t, 0) // a(−u) = 1 − a(u)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Accept implements [Test].
func (t *Corrected) Accept(u, v float64) (tail float64, upper bool) {
	u, v, decay := t.enter(u, v)
	return max(MinTail, decay*t.mixture.Tail(math.Abs(u), t.mixture.C-v)), u >= 0
}

// Lipschitz implements [Test].
func (t *Corrected) Lipschitz() (perLogOdds, perVariance float64) {
	return t.perLogOdds, t.perVariance
}

// bound encloses each term of the mixture. ∂a/∂v is −½ ∂²a/∂u², because the
// noise's density solves the heat equation.
func (t *Corrected) bound(c cell) enclosure {
	s0, s1 := math.Sqrt(t.mixture.C-c.v1), math.Sqrt(t.mixture.C-c.v0)
	var e enclosure
	var low, high float64 // of ∂²a/∂u²
	for _, a := range t.mixture.Atoms {
		for _, mean := range [2]float64{a.Mean, -a.Mean} {
			half := a.Weight / 2
			e.accept += half * leastTail(-c.u0+mean, s0, s1)
			e.reject += half * leastTail(c.u1+mean, s0, s1)
			_, density := kernelRange(1, c.u0+mean, c.u1+mean, s0, s1)
			e.slope += half * density
			l, h := curvatureRange(c.u0+mean, c.u1+mean, s0, s1)
			low += half * l
			high += half * h
		}
	}
	e.drift = max(high, -low) / 2
	return e
}

// leastTail returns the least P(N(0, s²) > x) for s in [s0, s1].
func leastTail(x, s0, s1 float64) float64 {
	if x > 0 {
		return normalTail(x / s0)
	}
	return normalTail(x / s1)
}

// curvatureRange bounds the second derivative of Φ(d/s) in d, −d·s^−3·φ(d/s), over
// d in [d0, d1] and s in [s0, s1], as a product of two intervals.
func curvatureRange(d0, d1, s0, s1 float64) (low, high float64) {
	k0, k1 := kernelRange(3, d0, d1, s0, s1)
	return -max(d1*k0, d1*k1), -min(d0*k0, d0*k1)
}
