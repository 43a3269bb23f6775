package targets

// Proof: docs/proofs/curator.md.

import (
	"github.com/dpmcmc/dpmcmc/internal/core/dense"
	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// SumTarget evaluates a sum of losses and its gradient in one pass over the
// records, for samplers that need no record's own part, such as ops/nuts.
type SumTarget interface {
	GradTarget
	// SumLossGrad sets grad, of length Dim, to Σ ∂ℓ(zᵢ; θ)/∂θ and returns Σ ℓ(zᵢ; θ).
	// Features must be finite. The same arguments give the same bits.
	SumLossGrad(grad, theta []float64, rows Rows) (loss float64)
}

var _ SumTarget = (*Regression)(nil)

// summer is a family that gives the sum of losses and all slopes at once.
type summer interface {
	sumAt(slope, eta, y []float64) (loss float64)
}

// SumLossGrad sets grad to the gradient of the sum of losses and returns that sum.
// Its last digits may differ from those of Loss and LossGrad.
func (r *Regression) SumLossGrad(grad, theta []float64, rows Rows) (loss float64) {
	buf := getScratch()
	defer putScratch(buf)
	clear(grad)
	together, ok := r.family.(summer)
	ok = ok && r.loss.isLog()
	for lo := 0; lo < rows.Len(); lo += block {
		part := rows.Slice(lo, min(lo+block, rows.Len()))
		eta, slope := buf.a[:part.Len()], buf.b[:part.Len()]
		dense.MulVec(eta, part.X, theta)
		if ok {
			loss += together.sumAt(slope, eta, part.Y)
		} else {
			r.family.lossAt(slope, eta, part.Y)
			for _, l := range slope {
				loss += l
			}
			r.family.slopeAt(slope, eta, part.Y)
		}
		vec.AddRows(grad, slope, part.X)
	}
	return loss
}

// sumAt is for the log loss: with the log-odds t against the observed label, −log p is
// log(1 + e^t) and the slope 1/(1 + e^−t), the sign of η restored.
func (f logistic) sumAt(slope, eta, y []float64) (loss float64) {
	vec.Against(eta, eta, y)
	loss = vec.LogisticTails(slope, eta)
	vec.Against(slope, slope, y)
	return loss
}
