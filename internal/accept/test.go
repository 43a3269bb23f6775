package accept

// Proof: docs/proofs/acceptance.md.

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/internal/core/noise"
)

const (
	// MinTail is the least probability a test gives to either outcome: log-odds
	// are clamped to ±44.4. A float64 of at least MinTail is a whole multiple of
	// 2⁻¹¹⁶, so 116 random bits draw a bit of exactly that probability.
	MinTail = 0x1p-64

	// RelErr bounds the relative rounding error of every tail that a test
	// returns.
	RelErr = 0x1p-40

	// maxLimit is the largest |u| up to which a test may keep its own shape.
	maxLimit = 32
)

// Test is the acceptance function a(u; v) of a reversible test. The set of tests
// is closed, because each comes with a proof.
type Test interface {
	// Accept returns a(u; v) by its smaller side: tail is 1−a if upper, otherwise
	// a, and lies in [MinTail, ½] up to rounding, with relative error at most
	// RelErr. u is the estimated log-odds of the move, v ≥ 0 its batch variance (0
	// on the full data); v is clamped to [0, VarianceLimit()], u is any number,
	// and a NaN counts as −∞. It allocates nothing.
	Accept(u, v float64) (tail float64, upper bool)

	// Lipschitz returns certified bounds on |∂ logit a/∂u| and |∂ logit a/∂v| over
	// every u and v.
	Lipschitz() (perLogOdds, perVariance float64)

	// VarianceLimit returns the largest batch variance the test can absorb;
	// estimates above it are clamped.
	VarianceLimit() float64

	// limit returns the |u| beyond which the smaller side decays as e^−|u|.
	limit() float64

	// bound encloses the test on a cell of |u| ≤ limit, 0 ≤ v ≤ VarianceLimit.
	bound(cell) enclosure
}

// enclosure bounds a test on a cell.
type enclosure struct {
	accept, reject float64 // lower bounds of a and 1−a
	slope          float64 // upper bound of ∂a/∂u
	drift          float64 // upper bound of |∂a/∂v| = ½|∂²a/∂u²|
}

// logit converts an upper bound of a derivative of a into one of logit a: it
// divides by the least a(1−a), which is at an end because a(1−a) is concave.
func (e enclosure) logit(derivative float64) float64 {
	// Where the clamp at MinTail holds a flat there is no slope at all.
	a, r := max(e.accept, MinTail), max(e.reject, MinTail)
	return derivative / min(a*max(1-a, r), r*max(1-r, a))
}

// domain is the part of a test's arguments on which it has its own shape.
type domain struct {
	maxLogOdds  float64 // U
	maxVariance float64
}

// check reports a domain that a test of noise variance c cannot have: some
// Gaussian noise must be left at the largest batch variance, or the log-odds of
// the test are arbitrarily steep.
func (d domain) check(c float64) error {
	const least = 0.25
	if !(d.maxVariance >= 0 && d.maxVariance <= c-least) {
		return fmt.Errorf("accept: a variance limit of %v was given for a test of noise variance %v; it must be in [0, %v]",
			d.maxVariance, c, c-least)
	}
	if !(d.maxLogOdds > 0 && d.maxLogOdds <= maxLimit) {
		return fmt.Errorf("accept: a log-odds limit of %v was given; it must be in (0, %v], and 8 is a good choice",
			d.maxLogOdds, maxLimit)
	}
	return nil
}

// enter clamps the arguments to the domain. Beyond |u| = U a test continues with
// the smaller side multiplied by decay = e^−(|u|−U): a test that was merely
// clamped would accept hopeless moves at the rate a(−U).
func (d domain) enter(u, v float64) (inside, variance, decay float64) {
	if math.IsNaN(u) {
		u = math.Inf(-1)
	}
	if v > 0 {
		variance = min(v, d.maxVariance)
	}
	if excess := math.Abs(u) - d.maxLogOdds; excess > 0 {
		return math.Copysign(d.maxLogOdds, u), variance, math.Exp(-excess)
	}
	return u, variance, 1
}

func (d domain) limit() float64 { return d.maxLogOdds }

// VarianceLimit implements [Test].
func (d domain) VarianceLimit() float64 { return d.maxVariance }

// lipschitz returns the certified Lipschitz constants of a test whose log-odds
// have all their slopes on lowest ≤ u ≤ limit, and beyond the limit
// (docs/proofs/acceptance.md, §2 and §3).
func lipschitz(t Test, lowest float64) (perLogOdds, perVariance float64, err error) {
	limit, most := t.limit(), t.VarianceLimit()
	high, low := t.bound(cell{limit, limit, 0, most}), t.bound(cell{-limit, -limit, 0, most})
	if high.accept < 0.5 || low.reject < 0.5 {
		return 0, 0, fmt.Errorf("accept: at a log-odds limit of %v the test does not yet favour the likelier state; raise "+
			"the limit", limit)
	}
	whole := cell{lowest, limit, 0, most}
	perLogOdds = supremum(whole, slopeGap, func(c cell) float64 { e := t.bound(c); return e.logit(e.slope) })
	if most > 0 {
		perVariance = supremum(whole, driftGap, func(c cell) float64 { e := t.bound(c); return e.logit(e.drift) })
	}
	return max(perLogOdds, outward/high.accept, outward/low.reject), perVariance, nil
}

// Logistic is Barker's test, a(u) = 1/(1+e^−u), the same for every v: the exact
// test on the full data. Its Lipschitz constants are 1 and 0, and its tail has a
// relative error of at most 2⁻⁴⁹.
type Logistic struct{}

var _ Test = Logistic{}

// Accept implements [Test].
func (Logistic) Accept(u, _ float64) (tail float64, upper bool) {
	if math.IsNaN(u) {
		return MinTail, false
	}
	tail, upper = noise.Logistic(u)
	return max(MinTail, tail), upper
}

// Lipschitz implements [Test].
func (Logistic) Lipschitz() (perLogOdds, perVariance float64) { return 1, 0 }

// VarianceLimit implements [Test]: Logistic absorbs no batch noise.
func (Logistic) VarianceLimit() float64 { return 0 }

func (Logistic) limit() float64 { return maxLimit }

func (Logistic) bound(c cell) enclosure {
	accept, reject := 1/(1+math.Exp(-c.u0)), 1/(1+math.Exp(c.u1))
	// a′ = a(1−a) is largest where |u| is least.
	nearest := max(c.u0, -c.u1, 0)
	top := 1 / (1 + math.Exp(nearest))
	slope := top * (1 - top)
	return enclosure{accept: accept, reject: reject, slope: slope, drift: slope / 2}
}
