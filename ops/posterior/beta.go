package posterior

import (
	"fmt"
	"math"
)

// Bound is what is known of a model's density f(z; θ) over all records and
// parameters.
type Bound struct {
	// Max is M ≥ f. Required, positive; 1 for probability mass functions.
	Max float64
	// RecordIntegral says that ∫f^β depends on the record and that f is neither a
	// probability mass function nor of a location-scale family, for both of which
	// that makes no difference. Lemma 1 of Jewson et al. 2023 does not cover it.
	RecordIntegral bool
}

// Mass is the bound of every probability mass function.
func Mass() Bound { return Bound{Max: 1} }

// Normal is the bound of normal errors of one scale σ ≥ minScale, the lower end
// of the support of σ. The spread of a prior is no such bound.
func Normal(minScale float64) Bound { return Bound{Max: 1 / (minScale * math.Sqrt(2*math.Pi))} }

// Range returns the range of the β loss over records at any fixed parameter,
// rounded up: M^(β−1)/(β−1), or M^(β−1)·(1/(β−1) + 1/β) with RecordIntegral
// (theory §1.1).
func (b Bound) Range(beta float64) float64 {
	return math.Exp(b.logRange(beta-1)) * (1 + 2e-12)
}

func (b Bound) logRange(e float64) float64 {
	v := e*math.Log(b.Max) - math.Log(e)
	if b.RecordIntegral {
		v += math.Log1p(e / (1 + e))
	}
	return v
}

// slope is the derivative of logRange, increasing in e from −Inf to log M.
func (b Bound) slope(e float64) float64 {
	if b.RecordIntegral {
		return math.Log(b.Max) + 2/(2*e+1) - 1/e - 1/(1+e)
	}
	return math.Log(b.Max) - 1/e
}

// MinEpsilon returns the least ε = 2R_ℓ of one draw over all β, and the β that
// has it. Without RecordIntegral it is 2e·ln M at β = 1 + 1/ln M when M > 1;
// otherwise 0, at β = +Inf.
func (b Bound) MinEpsilon() (epsilon, beta float64) {
	if !(b.slope(math.MaxFloat64) > 0) {
		return 0, math.Inf(1)
	}
	e := leastTrue(func(e float64) bool { return b.slope(e) >= 0 })
	return 2 * b.Range(1+e), 1 + e
}

// leastTrue returns the least positive e, to the last bits, at which a condition
// that is false for small e and true from some point on holds.
func leastTrue(ok func(float64) bool) float64 {
	lo, hi := 0x1p-60, 0x1p1000
	for range 200 {
		mid := math.Sqrt(lo) * math.Sqrt(hi)
		if mid <= lo || mid >= hi {
			break
		}
		if ok(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// SolveBeta returns the least β > 1 with 2R_ℓ(β) ≤ epsilon, the one closest to
// the log loss: one draw of the posterior with weight 1 is then (epsilon, 0)-DP
// (Jewson et al. 2023, Thm 1). For a probability mass function β = 1 + 2/epsilon.
//
// When M > 1 no β reaches an epsilon below [Bound.MinEpsilon]; the error gives
// that number.
func SolveBeta(epsilon float64, b Bound) (float64, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return 0, fmt.Errorf("posterior: epsilon %v: must be positive and finite", epsilon)
	}
	if !(b.Max > 0) || math.IsInf(b.Max, 1) {
		return 0, fmt.Errorf("posterior: density bound M = %v: must be positive and finite (for normal errors 1/(s√2π), s "+
			"being the least scale)", b.Max)
	}
	low, turn := b.MinEpsilon()
	if epsilon < low {
		return 0, fmt.Errorf("posterior: epsilon %v is unreachable for a density bounded by M = %.4g: the least is %.4g, "+
			"at β = %.4g; rescale y or raise the least scale s, or keep such a β and let the weight shrink", epsilon,
			b.Max, low, turn)
	}
	enough := func(e float64) bool { return e >= turn-1 || 2*b.Range(1+e) <= epsilon }
	beta := 1 + leastTrue(enough)
	for range 64 { // 1 + e is rounded
		if beta > 1 && 2*b.Range(beta) <= epsilon {
			return beta, nil
		}
		beta = math.Nextafter(beta, math.Inf(1))
	}
	if beta = turn; 2*b.Range(beta) <= epsilon {
		return beta, nil
	}
	return 0, fmt.Errorf("posterior: epsilon %v needs a β that differs from 1 by less than float64 can tell: use a "+
		"smaller epsilon or the log loss", epsilon)
}
