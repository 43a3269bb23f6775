package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
	"github.com/dpmcmc/dpmcmc/internal/vec"
	"github.com/dpmcmc/dpmcmc/priors"
)

// HeteroscedasticConfig describes linear regression whose scale of errors
// depends on the features.
type HeteroscedasticConfig struct {
	// Features is the number of features. Required, at least 1.
	Features int
	// Loss is the loss. Defaults to the log loss.
	Loss Loss
	// Prior is the prior of the 2·Features coefficients. Required.
	Prior priors.Prior
	// MinScale is s, the least scale of the errors. Required, positive.
	MinScale float64
	// DegreesOfFreedom makes the errors Student-t, at most 10⁶. Defaults to 0, normal
	// errors.
	DegreesOfFreedom float64
}

// Heteroscedastic is linear regression y = x·θ + σ(x)ε with
// σ(x) = s + exp(x·γ). The parameters are θ, then γ.
//
// The integral term of the β loss differs from record to record, so Lemma 1 of
// Jewson et al. does not apply as printed, and theory §1.1 allows the range
// M^(β−1)(1/(β−1) + 1/β) for any density. For a location-scale family the
// integral is a fixed share of the peak, and the range is M^(β−1)/(β−1) after
// all (docs/proofs/targets-certificates.md).
type Heteroscedastic struct {
	priorPart
	locationScale
	features int
	gradient float64 // sup of the gradient's norm in (η, ω)
}

var (
	_ RatioTarget      = (*Heteroscedastic)(nil)
	_ GradTarget       = (*Heteroscedastic)(nil)
	_ RangeCertificate = (*Heteroscedastic)(nil)
	_ RatioCertificate = (*Heteroscedastic)(nil)
	_ GradCertificate  = (*Heteroscedastic)(nil)
)

func (cfg HeteroscedasticConfig) build() (*Heteroscedastic, error) {
	if cfg.Features < 1 {
		return nil, fmt.Errorf("targets: heteroscedastic regression: Features = %d, but it needs at least 1", cfg.Features)
	}
	if err := checkErrors("heteroscedastic regression", cfg.MinScale, cfg.DegreesOfFreedom); err != nil {
		return nil, err
	}
	prior, err := newPriorPart(cfg.Prior, 2*cfg.Features)
	if err != nil {
		return nil, err
	}
	l, err := cfg.Loss.checked()
	if err != nil {
		return nil, err
	}
	law := newLocationScale(l, cfg.MinScale, cfg.DegreesOfFreedom)
	return &Heteroscedastic{prior, law, cfg.Features, law.gradSup(1, 1)}, nil
}

// Dim returns twice the number of features.
func (m *Heteroscedastic) Dim() int { return 2 * m.features }

// Shape returns the number of features, and true: there is a response.
func (m *Heteroscedastic) Shape() (features int, response bool) { return m.features, true }

// Loss sets dst[i] = ℓ(zᵢ; θ).
func (m *Heteroscedastic) Loss(dst, theta []float64, rows Rows) {
	for i, y := range rows.Y {
		x := rows.Row(i)
		eta, omega := dense.Dot(theta[:m.features], x), dense.Dot(theta[m.features:], x)
		sigma := m.minScale + excess(omega)
		logSigma := math.Log(sigma)
		logf := m.errors.logDensity((y-eta)/sigma) - logSigma
		dst[i] = m.loss.score(logf) + m.integral(logSigma)
	}
}

// LossRatio sets dst[i] = ℓ(zᵢ; theta) − ℓ(zᵢ; next).
func (m *Heteroscedastic) LossRatio(dst, theta, next []float64, rows Rows) {
	lossRatio(m, dst, theta, next, rows)
}

// LossGrad sets row i of dst to the gradient of record i's loss.
func (m *Heteroscedastic) LossGrad(dst, theta []float64, rows Rows) {
	p := m.features
	for i, y := range rows.Y {
		x, row := rows.Row(i), dst[2*i*p:2*(i+1)*p]
		omega := dense.Dot(theta[p:], x)
		sigma := m.minScale + excess(omega)
		slope, pull := m.slopes((y-dense.Dot(theta[:p], x))/sigma, math.Log(sigma))
		vec.Scale(row[:p], slope, x)
		vec.Scale(row[p:], pull*growth(omega)/sigma, x)
	}
}

// LossRange returns R_ℓ = M^(β−1)/(β−1), rounded up; +Inf for the log loss.
func (m *Heteroscedastic) LossRange() float64 { return m.lossRange() }

// RatioBound returns the lesser of GradBound times the length of the move and
// the range, which holds over records and parameters together.
func (m *Heteroscedastic) RatioBound(theta, next []float64, radius float64) float64 {
	return pathBound(m.GradBound(radius), m.LossRange(), theta, next)
}

// GradBound returns radius times the maximum over the residual and the scale of
// the gradient's norm in (η, ω), found numerically.
func (m *Heteroscedastic) GradBound(radius float64) float64 { return up(times(m.gradient, radius)) }
