package targets

// Proof: docs/proofs/optimum.md.

import (
	"fmt"

	"github.com/dpmcmc/dpmcmc/internal/convex"
)

// ConvexLoss is a loss in the library's table of those that are convex in the linear
// predictor, with slopes and curvatures bounded for every record:
// [Regression.Convex] makes one. The zero value is none. Beyond its cap a loss goes on
// as a straight line.
type ConvexLoss = convex.Loss

// Cap says where a loss is cut to bound its slope and curvature. It must come from
// public knowledge. Fields that a model does not need are ignored.
type Cap struct {
	// Slope bounds |∂ℓ/∂η|: beyond it the loss goes on as a straight line. Defaults to
	// 3 for probit, cloglog and loglog, from 1 to 8, and to Count for Poisson regression. Negative
	// binomial regression needs none: slopes are at most Count or r. Nor does logistic
	// regression. Of two labels ½ is for a loss of slopes ∓½q/√(p² + q²), p being the chance of the
	// label and q = 1 − p, which has the minimum of the log loss in expectation.
	// Poisson regression has below 1, from 0.1, the loss 2√(1 + e^η) − η√y of the count's root.
	// Its curvatures are about √Count/2 at most, where those of the log loss are Count.
	Slope float64
	// Count is the largest count; larger ones count as it. Required for Poisson and
	// negative binomial regression, a whole number. A larger one than 10⁶ is that.
	Count float64
}

// Convex returns the log loss of the regression, cut by the cap, as the library's own
// table has it: what a private optimum is taken of, and what a remainder of order 2
// is a remainder of. Errors: a β loss, which is bounded and so not convex; a cap that
// is out of range.
func (r *Regression) Convex(limits Cap) (ConvexLoss, error) {
	if !r.loss.isLog() {
		return ConvexLoss{}, fmt.Errorf("targets: the β loss is bounded, so it is not convex; use the log loss, or " +
			"remainders of order 1")
	}
	l, err := r.family.convex(limits)
	if err != nil {
		return ConvexLoss{}, fmt.Errorf("targets: %s regression: %w", r.name, err)
	}
	return l, nil
}

func (c Cap) slope(unset float64) float64 {
	if c.Slope == 0 {
		return unset
	}
	return c.Slope
}

func (logistic) convex(c Cap) (convex.Loss, error) {
	if c.Slope == convex.Halved().MaxSlope() {
		return convex.Halved(), nil
	}
	return convex.Logistic(), nil
}

func (f binary) convex(c Cap) (convex.Loss, error) {
	if f.halved.Valid() && c.Slope == f.halved.MaxSlope() {
		return f.halved, nil
	}
	return f.capped(c.slope(3))
}

func (f *counts) convex(c Cap) (convex.Loss, error) {
	c.Count = min(c.Count, convex.MostCount)
	if law, ok := f.law.(negBinomial); ok {
		return convex.NegativeBinomial(law.r, c.Count, c.slope(max(1, law.r, c.Count)))
	}
	if c.slope(1) < 1 {
		return convex.RootCount(c.Count, c.Slope)
	}
	return convex.Poisson(c.Count, c.slope(c.Count))
}
