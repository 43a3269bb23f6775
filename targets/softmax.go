package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"fmt"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
	"github.com/dpmcmc/dpmcmc/internal/vec"
	"github.com/dpmcmc/dpmcmc/priors"
)

// SoftmaxConfig describes multinomial regression.
type SoftmaxConfig struct {
	// Features is the number of features. Required, at least 1.
	Features int
	// Classes is the number of classes. Required, at least 2.
	Classes int
	// Loss is the loss. Defaults to the log loss.
	Loss Loss
	// Prior is the prior of the Classes·Features coefficients. Required: without
	// one the coefficients are determined only up to a common shift.
	Prior priors.Prior
	// Standardized is that of RegressionConfig, for the predictor of every class.
	Standardized float64
}

// Softmax is multinomial regression, P(y = k) ∝ exp(x·θ_k) for classes
// k = 0, …, K−1, with one row of coefficients per class, class by class. A
// response that is not one of these numbers makes the loss NaN.
//
// Certificates: R_ℓ = 1/(β−1); gradients are at most L·radius and moves L times
// radius times the length of the move, with L = √2 for the log loss and a
// computed constant for the β loss.
type Softmax struct {
	priorPart
	categorical
	features, classes int
	lip               float64
	standardized      float64
}

var (
	_ RatioTarget      = (*Softmax)(nil)
	_ SumTarget        = (*Softmax)(nil)
	_ RangeCertificate = (*Softmax)(nil)
	_ RatioCertificate = (*Softmax)(nil)
	_ GradCertificate  = (*Softmax)(nil)
)

func (cfg SoftmaxConfig) build() (*Softmax, error) {
	if cfg.Features < 1 || cfg.Classes < 2 {
		return nil, fmt.Errorf("targets: softmax regression: Features = %d, Classes = %d, but it needs at least 1 feature "+
			"and 2 classes", cfg.Features, cfg.Classes)
	}
	prior, err := newPriorPart(cfg.Prior, cfg.Features*cfg.Classes)
	if err != nil {
		return nil, err
	}
	if err := checkStandardized("softmax", cfg.Standardized, cfg.Prior); err != nil {
		return nil, err
	}
	l, err := cfg.Loss.checked()
	if err != nil {
		return nil, err
	}
	c := categorical{l}
	return &Softmax{prior, c, cfg.Features, cfg.Classes, c.lipschitz(cfg.Classes), cfg.Standardized}, nil
}

// Prior is the prior of the coefficients.
func (m *Softmax) Prior() priors.Prior { return m.prior }

// Standardized is that of the configuration.
func (m *Softmax) Standardized() float64 { return m.standardized }

// Dim returns Classes·Features.
func (m *Softmax) Dim() int { return m.features * m.classes }

// Shape returns the number of features, and true: there is a response.
func (m *Softmax) Shape() (features int, response bool) { return m.features, true }

// Loss sets dst[i] = ℓ(zᵢ; θ).
func (m *Softmax) Loss(dst, theta []float64, rows Rows) {
	logp := getRow(m.classes)
	defer putRow(logp)
	for i, y := range rows.Y {
		m.logProbs(*logp, theta, rows.Row(i))
		dst[i] = m.at(*logp, y)
	}
}

func (m *Softmax) logProbs(logp, theta, x []float64) {
	dense.MulVec(logp, theta, x)
	logProbs(logp)
}

// LossRatio sets dst[i] = ℓ(zᵢ; theta) − ℓ(zᵢ; next).
func (m *Softmax) LossRatio(dst, theta, next []float64, rows Rows) {
	lossRatio(m, dst, theta, next, rows)
}

// LossGrad sets row i of dst to the gradient of record i's loss, the outer
// product of its slopes in the logits and its features.
func (m *Softmax) LossGrad(dst, theta []float64, rows Rows) {
	slopes := getRow(m.classes)
	defer putRow(slopes)
	p, d := m.features, m.Dim()
	for i, y := range rows.Y {
		m.logProbs(*slopes, theta, rows.Row(i))
		m.slopes(*slopes, y)
		for k, s := range *slopes {
			vec.Scale(dst[i*d+k*p:i*d+(k+1)*p], s, rows.Row(i))
		}
	}
}

// SumLossGrad sets grad to the gradient of the sum of losses and returns that sum.
func (m *Softmax) SumLossGrad(grad, theta []float64, rows Rows) (loss float64) {
	slopes := getRow(m.classes)
	defer putRow(slopes)
	clear(grad)
	for i, y := range rows.Y {
		m.logProbs(*slopes, theta, rows.Row(i))
		loss += m.at(*slopes, y)
		m.slopes(*slopes, y)
		for k, s := range *slopes {
			vec.AddScaled(grad[k*m.features:(k+1)*m.features], s, rows.Row(i))
		}
	}
	return loss
}

// LossRange returns R_ℓ = 1/(β−1), rounded up; +Inf for the log loss.
func (m *Softmax) LossRange() float64 { return m.loss.massRange() }

// RatioBound returns the lesser of L·radius·‖next − theta‖₂ and the range, which
// holds over records and parameters together.
func (m *Softmax) RatioBound(theta, next []float64, radius float64) float64 {
	return pathBound(m.GradBound(radius), m.LossRange(), theta, next)
}

// GradBound returns L·radius.
func (m *Softmax) GradBound(radius float64) float64 { return up(times(m.lip, radius)) }
