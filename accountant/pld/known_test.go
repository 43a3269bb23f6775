package pld

import (
	"fmt"
	"math"
)

// DiscreteGaussian is discrete Gaussian noise of parameter sigma in [1e-3, 1e4] on
// the integers, added to an integer query that adjacent data sets move by at
// most 1 (Canonne, Kamath, Steinke 2020): the noise multiplier of a query whose
// sensitivity is one step of its grid.
func DiscreteGaussian(sigma float64) (Mechanism, error) {
	if !(sigma >= 1e-3 && sigma <= 1e4) {
		return Mechanism{}, fmt.Errorf("pld: DiscreteGaussian: sigma %v: must be in [1e-3, 1e4], on a unit grid", sigma)
	}
	s := 1 / (2 * sigma * sigma)
	total := 1.0
	for x := 1.0; x*x*s < 50; x++ {
		total += 2 * math.Exp(-x*x*s)
	}
	m := symmetric(fmt.Sprintf("DiscreteGaussian(%g)", sigma), func(eps float64) float64 {
		// The loss at x is (2x−1)s. Terms p(x−1)(1 − e^{ε−loss}) beyond the
		// bulk and the threshold fall at least geometrically.
		x := max(math.Ceil((eps/s+1)/2), 1)
		sum := 0.0
		for {
			term := math.Exp(-(x-1)*(x-1)*s) * -math.Expm1(min(0, eps-(2*x-1)*s))
			sum += term
			x++
			if x*x*s > 1 && math.Exp(-(x-1)*(x-1)*s) <= 1e-17*sum*s*x {
				return sum / total
			}
			if (x-1)*(x-1)*s > 740 {
				return sum / total
			}
		}
	})
	m.lattice = s
	return m, nil
}

// Binary is a released bit whose probability of being 1 is p or p′ on the two
// adjacent data sets, both in [0, 1]: one attained pair, in both directions.
func Binary(p, other float64) (Mechanism, error) {
	for _, v := range []float64{p, other} {
		if !(v >= 0 && v <= 1) {
			return Mechanism{}, fmt.Errorf("pld: Binary: probability %v: must be in [0, 1]", v)
		}
	}
	name := fmt.Sprintf("Binary(%g, %g)", p, other)
	if p == other {
		return nothing(name), nil
	}
	return bit(name, p, 1-p, other, 1-other), nil
}
