package targets

// Proof: docs/proofs/curator.md.

import (
	"math"
	"slices"
)

// Ours reports whether a target is one of this package's own, which are tested to
// write their destination alone and to read each record alone. The curator shows
// them the sealed records; every other target sees copies, one record at a time
// (docs/targets.md, "What remains assumed"). A type that embeds one is not one: a
// method of its own may do anything.
func Ours(t Target) bool {
	switch t := t.(type) {
	case *Remainder: // as far as what it wraps
		return t.base.ours
	case *Tangent: // the same
		return t.base.ours
	case *Regression, *Linear, *Heteroscedastic, *Softmax, *Network, *Mixture, *GaussianMean, *DirichletCategorical:
		return true
	}
	return false
}

// wrapped is a target that another of this package asks. One that is not this package's
// own is asked as the curator asks it: on copies, and for a destination that is made for the
// call and holds NaN before. So nothing of a record stays in an anchor, or in a buffer
// that other records use.
type wrapped struct {
	Target
	grad   GradTarget   // nil when it has no gradients
	linear LinearTarget // nil when it has no linear predictor
	ours   bool
}

func wrap(t Target) wrapped {
	w := wrapped{Target: t, ours: Ours(t)}
	w.grad, _ = t.(GradTarget)
	w.linear, _ = t.(LinearTarget)
	return w
}

// Loss is the target's.
func (w wrapped) Loss(dst, theta []float64, rows Rows) {
	if w.ours {
		w.Target.Loss(dst, theta, rows)
		return
	}
	onCopies(dst, theta, func(dst, theta []float64) { w.Target.Loss(dst, theta, rows) })
}

// lossGrad is its LossGrad.
func (w wrapped) lossGrad(dst, theta []float64, rows Rows) {
	if w.ours {
		w.grad.LossGrad(dst, theta, rows)
		return
	}
	onCopies(dst, theta, func(dst, theta []float64) { w.grad.LossGrad(dst, theta, rows) })
}

// slopeAt is its SlopeAt.
func (w wrapped) slopeAt(dst, eta, y []float64) {
	if w.ours {
		w.linear.SlopeAt(dst, eta, y)
		return
	}
	onCopies(dst, eta, func(dst, eta []float64) { w.linear.SlopeAt(dst, eta, y) })
}

// onCopies asks about at, into dst, on copies that are wiped after.
func onCopies(dst, at []float64, ask func(dst, at []float64)) {
	own, copied := make([]float64, len(dst)), slices.Clone(at)
	defer clear(own)
	defer clear(copied)
	for i := range own {
		own[i] = math.NaN()
	}
	ask(own, copied)
	copy(dst, own)
}
