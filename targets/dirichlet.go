package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpmcmc/dpmcmc/internal/vec"
	"github.com/dpmcmc/dpmcmc/priors"
)

// DirichletCategorical is a categorical variable y in 0, …, K−1 with unknown
// class probabilities and no features. The parameters are the log-odds of
// classes 1, …, K−1 against class 0, so for K = 2 the one parameter is the logit
// of P(y = 1). The log prior is that of a [priors.Dirichlet] with the Jacobian of the
// transform, ∏p_k.
//
// Under the log loss the posterior is known: see Posterior. Certificates are
// those of [Softmax] on records without features; with two classes, where one
// logit is fixed, those of logistic regression, √2 less.
type DirichletCategorical struct {
	categorical
	prior priors.Dirichlet
	lip   float64
}

var (
	_ RatioTarget      = (*DirichletCategorical)(nil)
	_ GradTarget       = (*DirichletCategorical)(nil)
	_ RangeCertificate = (*DirichletCategorical)(nil)
	_ RatioCertificate = (*DirichletCategorical)(nil)
	_ GradCertificate  = (*DirichletCategorical)(nil)
)

// DirichletCategoricalConfig describes a [DirichletCategorical].
type DirichletCategoricalConfig struct {
	// Loss is the loss. Defaults to the log loss.
	Loss Loss
	// Prior is that of the class probabilities. There are as many classes as it has
	// concentrations. Required.
	Prior priors.Dirichlet
}

func (cfg DirichletCategoricalConfig) build() (*DirichletCategorical, error) {
	prior := cfg.Prior
	if err := prior.Check(); err != nil {
		return nil, err
	}
	l, err := cfg.Loss.checked()
	if err != nil {
		return nil, err
	}
	m := &DirichletCategorical{categorical: categorical{l}, prior: priors.Dirichlet{Alpha: slices.Clone(prior.Alpha)}}
	if classes := len(prior.Alpha); classes == 2 {
		m.lip = up(m.slopeSums(classes))
	} else {
		m.lip = m.lipschitz(classes)
	}
	return m, nil
}

// Dim returns the number of classes minus one.
func (m *DirichletCategorical) Dim() int { return len(m.prior.Alpha) - 1 }

// Shape returns no features, and true: the record is the response.
func (m *DirichletCategorical) Shape() (features int, response bool) { return 0, true }

// Posterior returns the exact distribution of the class probabilities under the
// log loss at temperature tau, given how often each class occurred:
// concentrations α_k + τ·n_k. It panics when the number of counts is not that of
// the classes.
func (m *DirichletCategorical) Posterior(counts []float64, tau float64) priors.Dirichlet {
	if len(counts) != len(m.prior.Alpha) {
		panic(fmt.Sprintf("targets: %d counts for %d classes", len(counts), len(m.prior.Alpha)))
	}
	alpha := slices.Clone(m.prior.Alpha)
	for k, n := range counts {
		alpha[k] += tau * n
	}
	return priors.Dirichlet{Alpha: alpha}
}

// SamplePrior sets theta to a draw from the prior.
func (m *DirichletCategorical) SamplePrior(theta []float64, rng *rand.Rand) {
	draw := func(a float64) float64 { return distuv.Gamma{Alpha: a, Beta: 1, Src: rng}.Rand() }
	base := math.Log(draw(m.prior.Alpha[0]))
	for k := range theta {
		theta[k] = math.Log(draw(m.prior.Alpha[k+1])) - base
	}
}

// logProbs sets logp to the log probabilities of all classes.
func (m *DirichletCategorical) logProbs(logp, theta []float64) {
	logp[0] = 0
	copy(logp[1:], theta)
	logProbs(logp)
}

// LogPrior returns Σα_k·log p_k.
func (m *DirichletCategorical) LogPrior(theta []float64) float64 {
	logp := getRow(len(m.prior.Alpha))
	defer putRow(logp)
	m.logProbs(*logp, theta)
	var sum float64
	for k, l := range *logp {
		sum += m.prior.Alpha[k] * l
	}
	return sum
}

// GradLogPrior sets dst to α_k − p_k·Σα, class 0 left out.
func (m *DirichletCategorical) GradLogPrior(dst, theta []float64) {
	logp := getRow(len(m.prior.Alpha))
	defer putRow(logp)
	m.logProbs(*logp, theta)
	var total float64
	for _, a := range m.prior.Alpha {
		total += a
	}
	for k := range dst {
		dst[k] = m.prior.Alpha[k+1] - vec.Exp((*logp)[k+1])*total
	}
}

// Loss sets dst[i] = ℓ(yᵢ; θ).
func (m *DirichletCategorical) Loss(dst, theta []float64, rows Rows) {
	logp := getRow(len(m.prior.Alpha))
	defer putRow(logp)
	m.logProbs(*logp, theta)
	for i, y := range rows.Y {
		dst[i] = m.at(*logp, y)
	}
}

// LossRatio sets dst[i] = ℓ(yᵢ; theta) − ℓ(yᵢ; next).
func (m *DirichletCategorical) LossRatio(dst, theta, next []float64, rows Rows) {
	lossRatio(m, dst, theta, next, rows)
}

// LossGrad sets row i of dst to the gradient of record i's loss.
func (m *DirichletCategorical) LossGrad(dst, theta []float64, rows Rows) {
	slopes := getRow(len(m.prior.Alpha))
	defer putRow(slopes)
	d := m.Dim()
	for i, y := range rows.Y {
		m.logProbs(*slopes, theta)
		m.slopes(*slopes, y)
		copy(dst[i*d:(i+1)*d], (*slopes)[1:])
	}
}

// LossRange returns R_ℓ = 1/(β−1), rounded up; +Inf for the log loss.
func (m *DirichletCategorical) LossRange() float64 { return m.loss.massRange() }

// RatioBound returns the lesser of L·‖next − theta‖₂ and the range, which holds
// over records and parameters together.
func (m *DirichletCategorical) RatioBound(theta, next []float64, radius float64) float64 {
	return pathBound(m.GradBound(radius), m.LossRange(), theta, next)
}

// GradBound returns L, whatever the radius: there are no features.
func (m *DirichletCategorical) GradBound(radius float64) float64 { return m.lip }
