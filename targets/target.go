package targets

// Proof: docs/proofs/curator.md.

import (
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// Rows is a read-only batch of n records, row-major: X holds n×P features, P at
// least 0, and Y n responses, or is nil when the model has none. A target must
// neither change nor keep it. Len returns n; Row(i) the features of record i; and
// Slice(lo, hi) records lo to hi−1. The latter two share memory.
//
// Numeric quantities are in X; the outcome a model predicts, when it has one, is
// in Y. A model of the records themselves (a mean, a mixture) reads X alone and
// Y is nil; a model of outcomes without features has P = 0 and reads Y alone.
type Rows = record.Rows

// Target is a prior and a per-record loss.
//
// Loss may be called from several goroutines at once, on disjoint batches. It
// must depend on each record alone (dst[i] on record i), so that a batch may be
// cut anywhere, and must not panic on any record: NaN and ±Inf are proper
// answers.
type Target interface {
	// Dim returns the number of parameters, at least 1.
	Dim() int
	// Shape returns what a record must hold: the number of features (Rows.P) and
	// whether there is a response (Rows.Y). Data of another shape are refused
	// when they are sealed.
	Shape() (features int, response bool)
	// LogPrior returns log p₀(θ) up to a constant, −Inf outside the support. It
	// must not depend on data.
	LogPrior(theta []float64) float64
	// Loss sets dst[i] = ℓ(zᵢ; θ). len(dst) = rows.Len().
	Loss(dst, theta []float64, rows Rows)
}

// RatioTarget computes differences of losses in one pass over the records.
type RatioTarget interface {
	Target
	// LossRatio sets dst[i] = ℓ(zᵢ; theta) − ℓ(zᵢ; next), record i's part of the
	// log-likelihood ratio of next over theta.
	LossRatio(dst, theta, next []float64, rows Rows)
}

// GradTarget has gradients with respect to the parameters.
type GradTarget interface {
	Target
	// LossGrad sets row i of dst, n×Dim row-major, to ∂ℓ(zᵢ; θ)/∂θ.
	LossGrad(dst, theta []float64, rows Rows)
	// GradLogPrior sets dst, of length Dim, to ∂log p₀(θ)/∂θ.
	GradLogPrior(dst, theta []float64)
}

// LinearTarget is a target whose loss depends on the features only through the
// linear predictor η = x·θ, so Dim equals the number of features and the
// gradient of record i is SlopeAt times xᵢ: a per-record clip never
// materialises an n×Dim matrix.
type LinearTarget interface {
	Target
	// LossAt sets dst[i] to the loss at linear predictor eta[i] and response
	// y[i]. dst may be eta.
	LossAt(dst, eta, y []float64)
	// SlopeAt sets dst[i] = ∂ℓ/∂η at eta[i] and y[i]. dst may be eta.
	SlopeAt(dst, eta, y []float64)
	// PredictorLipschitz returns L with |∂ℓ/∂η| ≤ L for every η and response,
	// +Inf when there is none (theory §1.2).
	PredictorLipschitz() float64
}

// RangeCertificate bounds the range of the loss over records.
type RangeCertificate interface {
	// LossRange returns R_ℓ ≥ sup_z ℓ(z; θ) − inf_z ℓ(z; θ) for every θ, +Inf when
	// there is none (theory §1.1).
	LossRange() float64
}

// RatioCertificate bounds what one record can contribute to a move.
type RatioCertificate interface {
	// RatioBound returns a bound on |ℓ(z; theta) − ℓ(z; next)| over all records
	// with ‖x‖₂ ≤ radius, +Inf when there is none (theory §1.2). It is the same for the move
	// back: noise in proportion to it breaks detailed balance otherwise.
	RatioBound(theta, next []float64, radius float64) float64
}

// GradCertificate bounds the gradient of the loss.
type GradCertificate interface {
	// GradBound returns a bound on ‖∂ℓ(z; θ)/∂θ‖₂ over every θ and all records
	// with ‖x‖₂ ≤ radius, +Inf when there is none.
	GradBound(radius float64) float64
}

// PriorSampler draws parameters from the prior: a start, or a parameter to
// simulate records from, that owes nothing to data.
type PriorSampler interface {
	// SamplePrior sets theta to a draw from the prior.
	SamplePrior(theta []float64, rng *rand.Rand)
}
