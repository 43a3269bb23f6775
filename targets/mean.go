package targets

// Proof: docs/proofs/targets-certificates.md.

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/internal/vec"
	"github.com/dpmcmc/dpmcmc/priors"
)

// GaussianMeanConfig describes a Gaussian with an unknown mean.
type GaussianMeanConfig struct {
	// Features is the number of components of a record. Required, at least 1.
	Features int
	// Covariance is the known covariance of a record, positive definite. Defaults
	// to the identity.
	Covariance mat.Symmetric
	// Curvature a bends the mean: its second component is θ₂ + a·θ₁², which makes
	// the posterior a banana. Defaults to 0; any other value needs two features.
	Curvature float64
	// Loss is the loss. Defaults to the log loss.
	Loss Loss
	// Prior is the prior of the mean μ(θ). Required. The transform has Jacobian 1.
	Prior priors.Prior
}

// GaussianMean is x ~ N(μ(θ), Σ) with known Σ and μ = θ, or the banana
// μ = (θ₁, θ₂ + a·θ₁², θ₃, …) of Räisä et al. (2021). A record is the features;
// there is no response. Under the log loss and a Gaussian prior the posterior of μ
// is Gaussian, so that of θ is known exactly, bent or not.
//
// With M the largest density, certificates of the β loss are
// R_ℓ = M^(β−1)/(β−1) and, when μ = θ, L = M^(β−1)·e^−½/√(β−1) in the norm of Σ⁻¹
// for moves, and L/√λ_min(Σ) for gradients. For the log loss moves have the exact
// bound over ‖x‖ ≤ radius, and gradients none.
type GaussianMean struct {
	prior     priorPart // of μ
	dim       int
	loss      loss
	curvature float64
	whiten    []float64 // W = L⁻¹ for Σ = LLᵀ, dim×dim row-major
	logPeak   float64   // log M
	integral  float64   // (∫f^β − 1)/β
	stiffness float64   // 1/√λ_min(Σ), the spectral norm of W
}

var (
	_ RatioTarget      = (*GaussianMean)(nil)
	_ GradTarget       = (*GaussianMean)(nil)
	_ RangeCertificate = (*GaussianMean)(nil)
	_ RatioCertificate = (*GaussianMean)(nil)
	_ GradCertificate  = (*GaussianMean)(nil)
)

func (cfg GaussianMeanConfig) build() (*GaussianMean, error) {
	d := cfg.Features
	if d < 1 {
		return nil, fmt.Errorf("targets: Gaussian mean: Features = %d, but it needs at least 1", d)
	}
	if a := cfg.Curvature; a != 0 && d < 2 || math.IsNaN(a) || math.IsInf(a, 0) {
		return nil, fmt.Errorf("targets: Gaussian mean: Curvature = %v with %d features; it must be finite, and needs two "+
			"features unless it is 0", a, d)
	}
	prior, err := newPriorPart(cfg.Prior, d)
	if err != nil {
		return nil, err
	}
	l, err := cfg.Loss.checked()
	if err != nil {
		return nil, err
	}
	m := &GaussianMean{dim: d, loss: l, prior: prior, curvature: cfg.Curvature}
	cov := cfg.Covariance
	if cov == nil {
		cov = identity(d)
	}
	if err := m.setCovariance(cov); err != nil {
		return nil, err
	}
	return m, nil
}

func identity(d int) *mat.SymDense {
	s := mat.NewSymDense(d, nil)
	for i := range d {
		s.SetSym(i, i, 1)
	}
	return s
}

func (m *GaussianMean) setCovariance(cov mat.Symmetric) error {
	d, b := m.dim, m.loss.b
	var chol mat.Cholesky
	if n := cov.SymmetricDim(); n != d {
		return fmt.Errorf("targets: Gaussian mean: the covariance is %d×%d, but there are %d features", n, n, d)
	}
	if !chol.Factorize(cov) {
		return fmt.Errorf("targets: Gaussian mean: the covariance is not positive definite")
	}
	var lower, inverse mat.TriDense
	chol.LTo(&lower)
	if err := inverse.InverseTri(&lower); err != nil {
		return fmt.Errorf("targets: Gaussian mean: the covariance is too nearly singular: %w", err)
	}
	m.whiten = make([]float64, d*d)
	for i := range d {
		for j := range i + 1 {
			m.whiten[i*d+j] = inverse.At(i, j)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(d, d, m.whiten), mat.SVDNone) {
		return fmt.Errorf("targets: Gaussian mean: the covariance has no finite spectrum")
	}
	m.stiffness = svd.Values(nil)[0]
	n := float64(d)
	m.logPeak = -n*math.Log(2*math.Pi)/2 - chol.LogDet()/2
	m.integral = vec.Expm1(b*m.logPeak-n*math.Log1p(b)/2) / (1 + b)
	return nil
}

// Dim returns the number of features.
func (m *GaussianMean) Dim() int { return m.dim }

// Shape returns the number of features, and false: there is no response.
func (m *GaussianMean) Shape() (features int, response bool) { return m.dim, false }

// LogPrior returns the log prior density up to a constant.
func (m *GaussianMean) LogPrior(theta []float64) float64 {
	mean := getRow(m.dim)
	defer putRow(mean)
	m.mean(*mean, theta)
	return m.prior.LogPrior(*mean)
}

// GradLogPrior sets dst to the gradient of the log prior density.
func (m *GaussianMean) GradLogPrior(dst, theta []float64) {
	mean := getRow(m.dim)
	defer putRow(mean)
	m.mean(*mean, theta)
	m.prior.GradLogPrior(dst, *mean)
	m.chain(dst, theta)
}

// SamplePrior sets theta to a draw from the prior.
func (m *GaussianMean) SamplePrior(theta []float64, rng *rand.Rand) {
	m.prior.SamplePrior(theta, rng)
	if m.curvature != 0 {
		theta[1] -= m.bend(theta)
	}
}

// mean sets mu to μ(θ).
func (m *GaussianMean) mean(mu, theta []float64) {
	copy(mu, theta)
	if m.curvature != 0 {
		mu[1] += m.bend(theta)
	}
}

// chain turns a gradient with respect to μ into one with respect to θ.
func (m *GaussianMean) chain(grad, theta []float64) {
	if m.curvature != 0 {
		grad[0] += grad[1] * 2 * m.curvature * theta[0]
	}
}

// bend returns what the curvature adds to the second component of the mean.
func (m *GaussianMean) bend(theta []float64) float64 { return m.curvature * theta[0] * theta[0] }

// centred sets row to W(x − μ) and returns its squared length.
func (m *GaussianMean) centred(row, x, theta []float64) float64 {
	d := m.dim
	var square float64
	bend := m.bend(theta)
	for i := range d {
		var s float64
		for j, w := range m.whiten[i*d : i*d+i+1] {
			r := x[j] - theta[j]
			if j == 1 {
				r -= bend
			}
			s += w * r
		}
		row[i] = s
		square += s * s
	}
	return square
}

// Loss sets dst[i] = ℓ(xᵢ; θ).
func (m *GaussianMean) Loss(dst, theta []float64, rows Rows) {
	row := getRow(m.dim)
	defer putRow(row)
	for i := range dst {
		logf := m.logPeak - m.centred(*row, rows.Row(i), theta)/2
		dst[i] = m.loss.score(logf) + m.integral
	}
}

// LossRatio sets dst[i] = ℓ(xᵢ; theta) − ℓ(xᵢ; next).
func (m *GaussianMean) LossRatio(dst, theta, next []float64, rows Rows) {
	lossRatio(m, dst, theta, next, rows)
}

// LossGrad sets row i of dst to −f^b·Jᵀ·Wᵀ·W(x − μ), J being the Jacobian of μ.
func (m *GaussianMean) LossGrad(dst, theta []float64, rows Rows) {
	d := m.dim
	row := getRow(d)
	defer putRow(row)
	for i := range rows.Len() {
		square := m.centred(*row, rows.Row(i), theta)
		weight := -vec.Exp(m.loss.b * (m.logPeak - square/2))
		grad := dst[i*d : (i+1)*d]
		clear(grad)
		for k, v := range *row {
			vec.AddScaled(grad[:k+1], weight*v, m.whiten[k*d:k*d+k+1])
		}
		m.chain(grad, theta)
	}
}

// peak returns M^b.
func (m *GaussianMean) peak() float64 { return math.Exp(m.loss.b * m.logPeak) }

// lipschitz returns the largest slope of the loss in the length of W·μ.
func (m *GaussianMean) lipschitz() float64 {
	return m.peak() * math.Exp(-0.5) / math.Sqrt(m.loss.b)
}

// LossRange returns R_ℓ = M^(β−1)/(β−1), rounded up; +Inf for the log loss.
func (m *GaussianMean) LossRange() float64 {
	if m.loss.isLog() {
		return math.Inf(1)
	}
	return up(m.peak() / m.loss.b)
}

// RatioBound returns, for the log loss, the exact maximum over ‖x‖ ≤ radius of
// |(μ′−μ)ᵀΣ⁻¹(x − (μ+μ′)/2)|. For the β loss it returns the least of M^(β−1) times
// that, L times the length of W(μ′−μ), and the range.
func (m *GaussianMean) RatioBound(theta, next []float64, radius float64) float64 {
	d := m.dim
	nowRow, thenRow, moveRow := getRow(d), getRow(d), getRow(d)
	defer putRow(nowRow)
	defer putRow(thenRow)
	defer putRow(moveRow)
	now, then, move := *nowRow, *thenRow, *moveRow // move is W(μ′−μ)
	m.mean(now, theta)
	m.mean(then, next)
	var length, pullLength, centre float64
	for i := range d {
		move[i] = 0
		for j, w := range m.whiten[i*d : i*d+i+1] {
			move[i] += w * (then[j] - now[j])
		}
		length += move[i] * move[i]
	}
	for j := range d {
		var pull float64 // of Σ⁻¹(μ′−μ)
		for i := j; i < d; i++ {
			pull += m.whiten[i*d+j] * move[i]
		}
		pullLength += pull * pull
		centre += pull * (now[j] + then[j]) / 2
	}
	direct := times(math.Sqrt(pullLength), radius) + math.Abs(centre)
	if m.loss.isLog() {
		return up(direct)
	}
	return up(min(m.peak()*direct, m.lipschitz()*math.Sqrt(length), m.LossRange()))
}

// GradBound returns L/√λ_min(Σ), whatever the radius; +Inf for the log loss and
// for the banana, whose mean moves ever faster with θ₁.
func (m *GaussianMean) GradBound(radius float64) float64 {
	if m.loss.isLog() || m.curvature != 0 {
		return math.Inf(1)
	}
	return up(m.lipschitz() * m.stiffness)
}
