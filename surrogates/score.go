package surrogates

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Config describes a noise-aware posterior.
type Config struct {
	// Statistics is what was released. Required.
	Statistics Statistics
	// Link is the model of the response. Required.
	Link Link
	// Prior is the prior of the coefficients. Required.
	Prior targets.Prior
	// Imputations is how many sets of synthetic features stand for the records',
	// each with second moments of its own, drawn given the released ones. Defaults
	// to 8.
	Imputations int
	// Features are rows that stand for the records' features in place of drawn ones,
	// m×d row-major: a public sample. Optional.
	Features []float64
	// Seed is the public seed of the synthetic features.
	Seed uint64
}

// Score is the posterior of the coefficients given the release: prior times the
// score likelihood, averaged over imputations of the features.
type Score struct {
	config      Config
	imputations []imputation
	dim         int
	broad       broad
}

// imputation is one set of synthetic features, m×d, standing for all records.
type imputation struct {
	x      []float64
	at     []float64 // linear predictors at the anchor
	weight float64   // records that a row stands for
	log    float64   // of the determinant of an optimum's density
}

// New returns the posterior. Errors: statistics out of range; a missing link or
// prior, or one that does not fit.
func New(c Config) (*Score, error) {
	s := c.Statistics
	if err := s.Check(); err != nil {
		return nil, err
	}
	d := len(s.Anchor)
	switch {
	case c.Link == nil:
		return nil, errors.New("surrogates: Config.Link is not set; give the model of the response, such as Logistic")
	case c.Prior == nil:
		return nil, errors.New("surrogates: Config.Prior is not set; give the prior of the coefficients")
	case c.Imputations < 0:
		return nil, fmt.Errorf("surrogates: Config.Imputations is %d; at least 1 is needed, or 0 for 8", c.Imputations)
	}
	if err := c.Prior.Check(d); err != nil {
		return nil, fmt.Errorf("surrogates: Config.Prior: %w", err)
	}
	if c.Imputations == 0 {
		c.Imputations = 8
	}
	rng := rand.New(rand.NewPCG(c.Seed, 0x5c0e))
	p := &Score{config: c, dim: d, broad: broaden(c.Prior, d, rng)}
	for range c.Imputations {
		p.imputations = append(p.imputations, c.impute(rng))
	}
	return p, nil
}

func (c Config) impute(rng *rand.Rand) imputation {
	s := c.Statistics
	d := len(s.Anchor)
	m := moments{d: d, released: s.Moment, sd: s.MomentSD, most: float64(s.Records) * s.Radius * s.Radius, constant: constantOf(s.Columns)}
	n := rows(d)
	x := c.Features
	if x == nil {
		second := m.draw(rng)
		second.ScaleSym(1/float64(s.Records), second)
		x = features(second, m.constant, n, rng)
	} else {
		n = len(x) / d
	}
	im := imputation{x: x, at: make([]float64, n), weight: float64(s.Records) / float64(n)}
	h := mat.NewSymDense(d, nil)
	tau := s.temperature()
	for i := range n {
		x := im.x[i*d : (i+1)*d]
		im.at[i] = dot(x, s.Anchor)
		h.SymRankOne(h, tau*im.weight*c.Link.Weight(im.at[i], im.at[i]), mat.NewVecDense(d, x))
	}
	if s.Ridge > 0 {
		for j := range d {
			h.SetSym(j, j, h.At(j, j)+s.Ridge)
		}
		var chol mat.Cholesky
		if chol.Factorize(h) {
			im.log = chol.LogDet()
		}
	}
	return im
}

// Density returns the posterior's log density with its gradient. It holds buffers:
// one goroutine at a time may use it.
func (p *Score) Density() nuts.LogDensity {
	d := p.dim
	e := &evaluator{Score: p, residual: make([]float64, d), solved: make([]float64, d), whole: make([]float64, d), cov: mat.NewSymDense(d, nil)}
	for range p.imputations {
		e.grads = append(e.grads, make([]float64, d))
	}
	e.logs = make([]float64, len(p.imputations))
	n := len(p.imputations[0].at)
	e.slope, e.spread = make([]float64, n), make([]float64, n)
	e.lower = make([]float64, d*d)
	e.row = make([]float64, d)
	return e
}

type evaluator struct {
	*Score
	residual, solved, whole, row []float64
	cov                          *mat.SymDense
	lower                        []float64
	slope, spread                []float64
	grads                        [][]float64
	logs                         []float64
}

func (e *evaluator) Dim() int { return e.dim }

func (e *evaluator) LogDensityGrad(grad, theta []float64) float64 {
	v := e.config.Prior.LogDensity(theta)
	if math.IsInf(v, -1) || math.IsNaN(v) {
		return math.Inf(-1)
	}
	e.config.Prior.Grad(grad, theta)
	top := math.Inf(-1)
	for k := range e.imputations {
		e.logs[k] = e.likelihood(e.grads[k], theta, &e.imputations[k])
		top = max(top, e.logs[k])
	}
	if math.IsInf(top, -1) || math.IsNaN(top) {
		return math.Inf(-1)
	}
	sum := 0.0
	for _, l := range e.logs {
		sum += math.Exp(l - top)
	}
	for k, l := range e.logs {
		w := math.Exp(l-top) / sum
		for j, g := range e.grads[k] {
			grad[j] += w * g
		}
	}
	return v + top + math.Log(sum/float64(len(e.logs)))
}

// likelihood is log N(score; τM(θ), τH(θ) + σ²I) for one imputation, and its gradient.
func (e *evaluator) likelihood(grad, theta []float64, im *imputation) float64 {
	s := &e.config.Statistics
	d, tau := e.dim, s.temperature()
	copy(e.residual, s.Score)
	cov := e.lower
	clear(cov)
	for i, at := range im.at {
		x := im.x[i*d : (i+1)*d]
		mean, variance, dMean, dVariance := e.config.Link.Slope(at, dot(x, theta))
		w := tau * im.weight
		e.slope[i], e.spread[i] = w*dMean, w*dVariance
		mean, variance = w*mean, w*variance
		for j, v := range x {
			e.residual[j] -= mean * v
			c := variance * v
			for k := range j + 1 {
				cov[j*d+k] += c * x[k]
			}
		}
	}
	for j := range d {
		cov[j*d+j] += s.ScoreSD * s.ScoreSD
	}
	if !cholesky(cov, d) {
		return math.Inf(-1)
	}
	log := im.log
	for j := range d {
		log -= math.Log(cov[j*d+j])
	}
	forward(e.whole, cov, e.residual)
	log -= dot(e.whole, e.whole) / 2
	backward(e.solved, cov, e.whole)
	clear(grad)
	for i := range im.at {
		x := im.x[i*d : (i+1)*d]
		u := dot(x, e.solved)
		forward(e.row, cov, x)
		g := e.slope[i]*u + e.spread[i]/2*(u*u-dot(e.row, e.row))
		for j, v := range x {
			grad[j] += g * v
		}
	}
	return log
}

// cholesky overwrites the lower triangle of a with its Cholesky factor.
func cholesky(a []float64, d int) bool {
	for j := range d {
		row := a[j*d : j*d+j+1]
		for k := range j {
			row[k] = (row[k] - dot(row[:k], a[k*d:k*d+k])) / a[k*d+k]
		}
		v := row[j] - dot(row[:j], row[:j])
		if !(v > 0) || math.IsInf(v, 1) {
			return false
		}
		row[j] = math.Sqrt(v)
	}
	return true
}

// forward solves L·dst = b.
func forward(dst, lower, b []float64) {
	d := len(b)
	for j := range d {
		dst[j] = (b[j] - dot(lower[j*d:j*d+j], dst[:j])) / lower[j*d+j]
	}
}

// backward solves Lᵀ·dst = b.
func backward(dst, lower, b []float64) {
	d := len(b)
	copy(dst, b)
	for j := d - 1; j >= 0; j-- {
		dst[j] /= lower[j*d+j]
		for k := range j {
			dst[k] -= lower[j*d+k] * dst[j]
		}
	}
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// centre is the mode, and the covariance of the first-order approximation there.
func (p *Score) centre() (mean, factor []float64, err error) {
	mean = append([]float64(nil), p.config.Statistics.Anchor...)
	smooth := *p
	smooth.config.Prior = p.broad
	cov, err := climb(smooth.Density(), mean, smooth.covariance)
	if err != nil {
		return nil, nil, err
	}
	factor, err = lowerOf(cov)
	return mean, factor, err
}

// covariance approximates the posterior's at theta: the inverse of
// H(H + σ²I)⁻¹H plus the prior's precision, H averaged over imputations.
func (p *Score) covariance(theta []float64) (*mat.SymDense, error) {
	s := p.config.Statistics
	h := p.information(theta)
	noisy := mat.NewSymDense(p.dim, nil)
	noisy.CopySym(h)
	for j := range p.dim {
		noisy.SetSym(j, j, noisy.At(j, j)+s.ScoreSD*s.ScoreSD)
	}
	var chol mat.Cholesky
	if !chol.Factorize(noisy) {
		return nil, errors.New("surrogates: the information of the release is not positive definite")
	}
	var kept, product mat.Dense
	if err := chol.SolveTo(&kept, h); err != nil {
		return nil, fmt.Errorf("surrogates: the information of the release: %w", err)
	}
	product.Mul(h, &kept)
	precision := mat.NewSymDense(p.dim, nil)
	for j := range p.dim {
		for k := j; k < p.dim; k++ {
			precision.SetSym(j, k, (product.At(j, k)+product.At(k, j))/2)
		}
	}
	p.broad.precision(precision)
	if !chol.Factorize(precision) {
		return nil, errors.New("surrogates: the posterior's precision is not positive definite")
	}
	cov := mat.NewSymDense(p.dim, nil)
	return cov, chol.InverseTo(cov)
}

// information is τH(θ), averaged over imputations.
func (p *Score) information(theta []float64) *mat.SymDense {
	d, tau := p.dim, p.config.Statistics.temperature()
	h := mat.NewSymDense(d, nil)
	for _, im := range p.imputations {
		for i, at := range im.at {
			x := im.x[i*d : (i+1)*d]
			_, _, dMean, _ := p.config.Link.Slope(at, dot(x, theta))
			h.SymRankOne(h, -dMean*tau*im.weight/float64(len(p.imputations)), mat.NewVecDense(d, x))
		}
	}
	return h
}
