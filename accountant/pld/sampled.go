package pld

import (
	"fmt"
	"math"
)

// PoissonAddRemove is base run on a batch that holds each record with
// probability q, under addition or removal of one record. With (P, Q) the pair
// of base, P holding the record, it is the pair ((1−q)Q + qP, Q); its two
// directions are composed separately (Zhu, Dong, Wang 2022, Theorem 11). base
// must be stated under add/remove.
func PoissonAddRemove(q float64, base Mechanism) (Mechanism, error) {
	if err := checkSampled("PoissonAddRemove", q, base); err != nil {
		return Mechanism{}, err
	}
	name := fmt.Sprintf("PoissonAddRemove(%g, %s)", q, base)
	switch {
	case q == 0 || base.trivial:
		return nothing(name), nil
	case q == 1:
		return base, nil
	}
	m := Mechanism{name: name, failures: [2]float64{q * base.failures[0], 0},
		forward:  func(eps float64) float64 { return q * base.forward(amplified(q, eps)) },
		backward: func(eps float64) float64 { return diluted(q, eps, base.backward) },
	}
	if base.worst != nil {
		worst, err := PoissonAddRemove(q, *base.worst)
		if err != nil {
			return Mechanism{}, err
		}
		m.worst = &worst
	}
	return m, nil
}

// WithoutReplacementSubstitution is base run on a uniform batch of the fraction
// q of all records, under substitution of one record; base must be stated under
// substitution too. The profile qδ(log(1 + (e^ε−1)/q)), in both directions, is
// that of no single pair but dominates (Balle, Barthe, Gaboardi 2018, Theorem 9,
// and docs/proofs/pld.md, section 4); with (P, Q) the pair of base, lower bounds
// use ((1−q)Q + qP, Q), which occurs.
func WithoutReplacementSubstitution(q float64, base Mechanism) (Mechanism, error) {
	const what = "WithoutReplacementSubstitution"
	if err := checkSampled(what, q, base); err != nil {
		return Mechanism{}, err
	}
	if !base.symmetric {
		return Mechanism{}, fmt.Errorf("pld: %s: base %s has two different directions, so it is one pair, not a bound on "+
			"all: use a family such as Gaussian or BoundedRange", what, base)
	}
	name := fmt.Sprintf("%s(%g, %s)", what, q, base)
	switch {
	case q == 0 || base.trivial:
		return nothing(name), nil
	case q == 1:
		return base, nil
	}
	m := symmetric(name, func(eps float64) float64 { return q * base.forward(amplified(q, eps)) })
	m.failures = [2]float64{q * base.failures[0], q * base.failures[0]}
	worst, err := PoissonAddRemove(q, base.inner())
	if err != nil {
		return Mechanism{}, err
	}
	m.worst = &worst
	return m, nil
}

func checkSampled(what string, q float64, base Mechanism) error {
	if err := checkRate(what, q); err != nil {
		return err
	}
	if base.forward == nil {
		return fmt.Errorf("pld: %s: the base is the zero Mechanism; build one with Gaussian, Laplace, …", what)
	}
	return nil
}

// amplified is log(1 + (e^ε − 1)/q), the loss of the base at which a release
// sampled at rate q loses ε.
func amplified(q, eps float64) float64 {
	if eps > 500 {
		return eps - math.Log(q) + math.Log1p(-(1-q)*math.Exp(-eps))
	}
	return math.Log1p(math.Expm1(eps) / q)
}

// diluted is the profile of Q from (1−q)Q + qP: with b = 1 − (1−q)e^ε it is
// b·δ(log(qe^ε/b)) for b > 0 and zero beyond.
func diluted(q, eps float64, profile func(float64) float64) float64 {
	rise := (1 - q) * math.Expm1(eps) / q
	if rise >= 1 {
		return 0
	}
	return q * (1 - rise) * profile(eps-math.Log1p(-rise))
}

// PoissonGaussianSubstitution is Gaussian noise on a sum over a batch that
// holds each record with probability q, under substitution of one record. Here
// sigma is the noise's standard deviation over one record's norm bound C (not
// over the sensitivity 2C of the sum), as in a gradient clipped at C. The pair
// (1−q)N(0) + qN(+1), (1−q)N(0) + qN(−1) with variance σ² is the worst one under
// composition. Multipliers as in Gaussian.
func PoissonGaussianSubstitution(q, sigma float64) (Mechanism, error) {
	const what = "PoissonGaussianSubstitution"
	if err := checkRate(what, q); err != nil {
		return Mechanism{}, err
	}
	if err := checkNoise(what, sigma); err != nil {
		return Mechanism{}, err
	}
	name := fmt.Sprintf("%s(%g, %g)", what, q, sigma)
	switch {
	case q == 0 || math.IsInf(sigma, 1):
		return nothing(name), nil
	case q == 1:
		return Gaussian(sigma / 2)
	case sigma < leastNoise:
		return everything(name, sigma == 0), nil
	}
	mu := 1 / min(sigma, mostNoise)
	return symmetric(name, func(eps float64) float64 { return oppositeDelta(q, mu, eps) }), nil
}

// oppositeDelta is the profile of (1−q)N(0,1) + qN(µ,1) from (1−q)N(0,1) +
// qN(−µ,1). The threshold τ solves e^{µτ} = e^{ε/2}(r + √(r²+1)) with
// r = (1−q)sinh(ε/2)e^{µ²/2}/q; there the profile is a sum of two positive terms.
func oppositeDelta(q, mu, eps float64) float64 {
	h := eps / 2
	logR := math.Log1p(-q) - math.Log(q) + mu*mu/2 // of r without the sinh
	var a float64
	switch {
	case h == 0:
	case h > 300 || logR > 300:
		logR += h + math.Log(-math.Expm1(-eps)/2)
		if logR > 300 {
			a = logR + math.Ln2
		} else {
			a = math.Asinh(math.Exp(logR))
		}
	default:
		a = math.Asinh(math.Sinh(h) * math.Exp(logR))
	}
	t := (h + a) / mu
	return q * (tailLess(t-mu, mu) + tailMore(t+mu, mu, eps))
}
