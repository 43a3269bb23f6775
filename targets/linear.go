package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
	"github.com/dpmcmc/dpmcmc/internal/vec"
	"github.com/dpmcmc/dpmcmc/priors"
)

// LinearConfig describes linear regression with an unknown scale of errors.
type LinearConfig struct {
	// Features is the number of features. Required, at least 1.
	Features int
	// Loss is the loss. Defaults to the log loss.
	Loss Loss
	// Prior is the prior of the coefficients. Required.
	Prior priors.Prior
	// MinScale is s, the least scale σ of the errors that the model allows.
	// Required, positive. The density is bounded by M = g(0)/s, on which every
	// certificate rests: choose it from public knowledge of the measurement.
	MinScale float64
	// ScalePrior is the prior of the excess σ − s. Required.
	ScalePrior priors.Scale
	// ZellnerSiow, where positive, is r in a second factor of the prior, for samplers that
	// know the features' second moments, which are those of released sums; others leave it
	// out. Given σ and the second moments C about the constant column, √(C/N)·θ/σ has a
	// multivariate Cauchy law of scale √(r/k) in its k dimensions (Zellner and Siow 1980).
	// So features explain about r times the variance of errors, with heavy tails. Of more
	// than 24 features r/4 is as likely as r. Of more than 32 it is as likely that each
	// number, and each category, has such a law by itself (Som, Hans and MacEachern 2016):
	// docs/schema.md. Defaults to 0, no such factor.
	ZellnerSiow float64
	// DegreesOfFreedom makes the errors Student-t, at most 10⁶. Defaults to 0, normal
	// errors.
	DegreesOfFreedom float64
}

// Linear is linear regression y = x·θ + σε with an unknown σ ≥ s. The last
// parameter is ω = log(σ − s), so σ = s + e^ω, and the log prior includes the
// Jacobian ω of that transform.
//
// With M = g(0)/s the largest density, certificates of the β loss are
// R_ℓ = M^(β−1)/(β−1), a bound on gradients, and one on moves that adds the
// Lipschitz constants in η and ω. The log loss of normal errors has none, that
// of Student-t errors has gradients bounded by the largest score,
// (ν+1)/(2√ν·s) times the radius, but an unbounded range.
type Linear struct {
	locationScale
	features   int
	prior      priorPart
	scalePrior priors.Scale
	siow       float64
}

var (
	_ RatioTarget      = (*Linear)(nil)
	_ GradTarget       = (*Linear)(nil)
	_ RangeCertificate = (*Linear)(nil)
	_ RatioCertificate = (*Linear)(nil)
	_ GradCertificate  = (*Linear)(nil)
)

func (cfg LinearConfig) build() (*Linear, error) {
	if cfg.Features < 1 {
		return nil, fmt.Errorf("targets: linear regression: Features = %d, but it needs at least 1", cfg.Features)
	}
	if err := checkErrors("linear regression", cfg.MinScale, cfg.DegreesOfFreedom); err != nil {
		return nil, err
	}
	prior, err := newPriorPart(cfg.Prior, cfg.Features)
	if err != nil {
		return nil, err
	}
	if err := checkScalePrior("the scale of the errors", cfg.ScalePrior); err != nil {
		return nil, err
	}
	if !(cfg.ZellnerSiow >= 0) || math.IsInf(cfg.ZellnerSiow, 1) {
		return nil, fmt.Errorf("targets: linear regression: ZellnerSiow = %v, but it must be at least 0 and finite",
			cfg.ZellnerSiow)
	}
	l, err := cfg.Loss.checked()
	if err != nil {
		return nil, err
	}
	return &Linear{
		locationScale: newLocationScale(l, cfg.MinScale, cfg.DegreesOfFreedom),
		features:      cfg.Features, prior: prior, scalePrior: cfg.ScalePrior, siow: cfg.ZellnerSiow,
	}, nil
}

// Prior is the prior of the coefficients.
func (m *Linear) Prior() priors.Prior { return m.prior.prior }

// ScalePrior is the prior of the excess σ − s.
func (m *Linear) ScalePrior() priors.Scale { return m.scalePrior }

// ZellnerSiow is that of the configuration.
func (m *Linear) ZellnerSiow() float64 { return m.siow }

// MinScale is s.
func (m *Linear) MinScale() float64 { return m.minScale }

// Normal reports whether the loss is the log loss of normal errors, of which sums over
// the records say all.
func (m *Linear) Normal() bool { return m.loss.isLog() && m.errors.nu == 0 }

// Dim returns the number of features plus one.
func (m *Linear) Dim() int { return m.features + 1 }

// Shape returns the number of features, and true: there is a response.
func (m *Linear) Shape() (features int, response bool) { return m.features, true }

// Scale returns σ = s + e^ω.
func (m *Linear) Scale(theta []float64) float64 {
	return m.minScale + excess(theta[m.features])
}

// LogPrior returns the log prior density of (coefficients, ω) up to a constant.
func (m *Linear) LogPrior(theta []float64) float64 {
	omega := theta[m.features]
	return m.prior.LogPrior(theta[:m.features]) + m.scalePrior.LogDensity(math.Exp(omega)) + omega
}

// GradLogPrior sets dst to the gradient of the log prior density.
func (m *Linear) GradLogPrior(dst, theta []float64) {
	m.prior.GradLogPrior(dst[:m.features], theta[:m.features])
	dst[m.features] = m.scalePrior.Elasticity(math.Exp(theta[m.features])) + 1
}

// SamplePrior sets theta to a draw from the prior.
func (m *Linear) SamplePrior(theta []float64, rng *rand.Rand) {
	m.prior.SamplePrior(theta[:m.features], rng)
	theta[m.features] = math.Log(m.scalePrior.Sample(rng))
}

// Loss sets dst[i] = ℓ(zᵢ; θ).
func (m *Linear) Loss(dst, theta []float64, rows Rows) {
	dense.MulVec(dst, rows.X, theta[:m.features])
	sigma := m.Scale(theta)
	logSigma, inv := math.Log(sigma), 1/sigma
	for i, y := range rows.Y {
		dst[i] = m.errors.logDensity((y-dst[i])*inv) - logSigma
	}
	m.loss.scores(dst, m.integral(logSigma))
}

// LossRatio sets dst[i] = ℓ(zᵢ; theta) − ℓ(zᵢ; next).
func (m *Linear) LossRatio(dst, theta, next []float64, rows Rows) {
	lossRatio(m, dst, theta, next, rows)
}

// LossGrad sets row i of dst to the gradient of record i's loss.
func (m *Linear) LossGrad(dst, theta []float64, rows Rows) {
	d, sigma := m.Dim(), m.Scale(theta)
	logSigma := math.Log(sigma)
	ds := growth(theta[m.features]) / sigma // ∂log σ/∂ω
	for i, y := range rows.Y {
		row, x := dst[i*d:(i+1)*d], rows.Row(i)
		z := (y - dense.Dot(theta[:m.features], x)) / sigma
		slope, pull := m.slopes(z, logSigma)
		vec.Scale(row[:m.features], slope, x)
		row[m.features] = pull * ds
	}
}

// LossRange returns R_ℓ = M^(β−1)/(β−1), rounded up; +Inf for the log loss.
func (m *Linear) LossRange() float64 { return m.lossRange() }

// RatioBound returns the lesser of two bounds: the Lipschitz constants in η and
// in ω times the two parts of the move, at the smaller of the two scales; and,
// for the β loss, the range at that scale plus the change of the integral term.
func (m *Linear) RatioBound(theta, next []float64, radius float64) float64 {
	var step2 float64
	for j := range m.features {
		d := next[j] - theta[j]
		step2 += d * d
	}
	low, high := m.Scale(theta), m.Scale(next)
	domega := math.Abs(next[m.features] - theta[m.features])
	if low > high {
		low, high = high, low
	}
	path := times(m.errors.maxSlope*math.Pow(low, -1-m.loss.b), times(radius, math.Sqrt(step2))) +
		times(m.errors.maxPull*math.Pow(low, -m.loss.b)*(1-m.minScale/high), domega)
	if m.loss.isLog() {
		return up(path)
	}
	jump := m.peak(low)/m.loss.b + math.Abs(m.integral(math.Log(low))-m.integral(math.Log(high)))
	return up(min(path, jump))
}

// GradBound returns the maximum over the residual and σ ≥ s of the gradient's
// norm at the longest row, found numerically.
func (m *Linear) GradBound(radius float64) float64 { return m.gradSup(radius, 1) }
