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
	// to 4.
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
	mean        []float64 // of an approximation, with the factor of its covariance
	factor      []float64
}

// imputation is one set of synthetic features, m×d, standing for all records.
type imputation struct {
	x       []float64
	at      []float64     // linear predictors at the anchor
	offset  []float64     // of the linear predictors
	weight  float64       // records that a row stands for
	log     float64       // of the determinant of an optimum's density
	missing *mat.SymDense // curvature that the features lack, where the variance is frozen
	frozen  []float64     // factor of the score's covariance where that does not follow θ
}

// New returns the posterior. Errors: statistics out of range; a missing link or
// prior, or one that does not fit.
func New(c Config) (*Score, error) {
	p, m, err := assemble(c)
	if err != nil {
		return nil, err
	}
	return p, p.settle(m)
}

// assemble checks a configuration and makes its imputations.
func assemble(c Config) (*Score, *moments, error) {
	s := c.Statistics
	if err := s.Check(); err != nil {
		return nil, nil, err
	}
	d := len(s.Anchor)
	switch {
	case c.Link == nil:
		return nil, nil, errors.New("surrogates: Config.Link is not set; give the model of the response, such as Logistic")
	case c.Prior == nil:
		return nil, nil, errors.New("surrogates: Config.Prior is not set; give the prior of the coefficients")
	case c.Imputations < 0:
		return nil, nil, fmt.Errorf("surrogates: Config.Imputations is %d; at least 1 is needed, or 0 for 4", c.Imputations)
	}
	if err := c.Prior.Check(d); err != nil {
		return nil, nil, fmt.Errorf("surrogates: Config.Prior: %w", err)
	}
	if c.Imputations == 0 {
		c.Imputations = 4
	}
	rng := rand.New(rand.NewPCG(c.Seed, 0x5c0e))
	p := &Score{config: c, dim: d, broad: broaden(c.Prior, d, rng)}
	m := s.moments(c.Link)
	if c.averaged() {
		m.average(rng)
		if !s.Weighted && c.categories() {
			c.byCategory(m, whitened(d, m.constant, rows(d), rng))
			s.Weighted, c.Statistics.Weighted, p.config.Statistics.Weighted = true, true, true
		}
	}
	for range c.Imputations {
		p.imputations = append(p.imputations, c.impute(m, rng))
	}
	return p, m, nil
}

// mostImputed is the number of features up to which imputations have second moments
// drawn each for itself, and the score's variance follows θ. Beyond it all have their
// posterior mean, and what is not known of them is in the score's variance, which is
// that at the posterior's centre.
const mostImputed = 24

// averaged reports whether imputations share the mean of the second moments.
func (c Config) averaged() bool {
	return c.Features == nil && len(c.Statistics.Anchor) > mostImputed
}

// categories reports whether a column is a level's indicator.
func (c Config) categories() bool {
	for _, col := range c.Statistics.Columns {
		if col.Kind == Level && col.Lower == 0 {
			return true
		}
	}
	return false
}

// moments is the posterior of the second moments.
func (s Statistics) moments(link Link) *moments {
	top := float64(s.Records) * s.Radius * s.Radius
	if s.Weighted {
		most := 0.0
		for eta := -4.0; eta <= 4; eta += 0.25 {
			most = max(most, link.Weight(eta, eta))
		}
		top *= most
	}
	return newMoments(s.Moment, s.MomentSD, top, s.Columns, len(s.Anchor))
}

// impute makes one set of synthetic features.
func (c Config) impute(m *moments, rng *rand.Rand) imputation {
	s := c.Statistics
	d := len(s.Anchor)
	n := rows(d)
	x := c.Features
	var at []float64
	if x == nil {
		var second *mat.SymDense
		if m.mean == nil {
			second = m.draw(rng)
		} else {
			second = m.positive()
		}
		scaled := mat.NewSymDense(d, nil)
		scaled.ScaleSym(1/float64(s.Records), second)
		z := whitened(d, m.constant, n, rng)
		if s.Weighted {
			x, at = c.weightedFeatures(scaled, m, z)
		} else {
			x = features(scaled, m.constant, z)
		}
	}
	if at == nil {
		at = c.predictors(x)
	}
	im := imputation{x: x, at: at, offset: make([]float64, len(at)), weight: float64(s.Records) / float64(len(at))}
	for i, o := range c.predictors(x) {
		im.offset[i] = at[i] - o
	}
	if s.Ridge > 0 && !s.Weighted {
		h := c.curvature(x)
		h.ScaleSym(s.temperature()*float64(s.Records), h)
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

// curvature is the mean over rows x of w·xxᵀ, w the loss's second derivative at the
// anchor.
func (c Config) curvature(x []float64) *mat.SymDense {
	d := len(c.Statistics.Anchor)
	h := mat.NewSymDense(d, nil)
	n := len(x) / d
	for i := range n {
		row := x[i*d : (i+1)*d]
		at := dot(row, c.Statistics.Anchor)
		h.SymRankOne(h, c.Link.Weight(at, at)/float64(n), mat.NewVecDense(d, row))
	}
	return h
}

// weightedFeatures are rows whose curvature at the anchor is that released, and the
// linear predictors there. Rows and predictors are those of normal features with the
// curvature's shape; then, with the predictors held, the rows are turned and
// stretched until the curvature is exact.
func (c Config) weightedFeatures(curvature *mat.SymDense, m *moments, z []float64) (x, at []float64) {
	d := curvature.SymmetricDim()
	second := mat.NewSymDense(d, nil)
	weight := c.Link.Weight(0, 0)
	for range 20 { // of the mean weight and the features that it belongs to
		second.ScaleSym(1/weight, curvature)
		x = features(second, m.constant, z)
		next := mat.Trace(c.curvature(x)) / mat.Trace(second)
		weight = math.Sqrt(weight * max(next, weight/16))
	}
	at = c.predictors(x)
	wanted, ok := choleskyOf(curvature)
	have, fine := choleskyOf(c.curvature(x))
	if !ok || !fine {
		panic("surrogates: a drawn curvature is not positive definite")
	}
	solved := make([]float64, d)
	for i := range at {
		row := x[i*d : (i+1)*d]
		forward(solved, have, row)
		for j := range d {
			row[j] = dot(wanted[j*d:j*d+j+1], solved[:j+1])
		}
	}
	return x, at
}

// predictors are those of rows at the anchor.
func (c Config) predictors(x []float64) []float64 {
	d := len(c.Statistics.Anchor)
	at := make([]float64, len(x)/d)
	for i := range at {
		at[i] = dot(x[i*d:(i+1)*d], c.Statistics.Anchor)
	}
	return at
}

func choleskyOf(s *mat.SymDense) ([]float64, bool) {
	d := s.SymmetricDim()
	out := make([]float64, d*d)
	for j := range d {
		for k := range j + 1 {
			out[j*d+k] = s.At(j, k)
		}
	}
	return out, cholesky(out, d)
}

// settle finds the posterior's centre, and freezes the score's variance there where
// there are many features.
func (p *Score) settle(m *moments) error {
	p.mean = append([]float64(nil), p.config.Statistics.Anchor...)
	smooth := *p
	smooth.config.Prior = p.broad
	var cov *mat.SymDense
	rounds := 1
	if p.config.averaged() {
		rounds = 4 // the variance depends on the centre, and the centre on it
	}
	for range rounds {
		if p.config.averaged() {
			for k := range p.imputations {
				if err := p.freeze(&p.imputations[k], m, cov); err != nil {
					return err
				}
			}
		}
		var err error
		if cov, err = climb(smooth.Density(), p.mean, smooth.covariance); err != nil {
			return err
		}
	}
	var err error
	p.factor, err = lowerOf(cov)
	return err
}

// freeze sets an imputation's covariance of the score at the centre, with what is not
// known of the second moments in it: the score's mean is about −w·S(θ − θ₀), so an
// error E of S moves it by w·E(θ − θ₀).
func (p *Score) freeze(im *imputation, m *moments, spread *mat.SymDense) error {
	d, s := p.dim, p.config.Statistics
	e := p.Density().(*evaluator)
	im.frozen, im.missing = nil, nil
	move := make([]float64, d)
	for j := range d {
		move[j] = p.mean[j] - s.Anchor[j]
	}
	// The factors were overwritten by their Cholesky factor: multiply it out.
	if !e.moments(p.mean, im) {
		return errors.New("surrogates: the score's covariance is not positive definite")
	}
	cov := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range j + 1 {
			cov.SetSym(j, k, dot(e.lower[j*d:j*d+k+1], e.lower[k*d:k*d+k+1]))
		}
	}
	w := s.temperature()
	if !s.Weighted {
		w *= p.slopeAlong(im, move)
	}
	im.missing = mat.NewSymDense(d, nil)
	positive := m.positive()
	for j := range d {
		for k := range d {
			square, product := move[k]*move[k], move[j]*move[k]
			if spread != nil {
				square, product = square+spread.At(k, k), product+spread.At(j, k)
			}
			cov.SetSym(j, j, cov.At(j, j)+w*w*m.open.At(j, k)*square)
			if k < j {
				cov.SetSym(j, k, cov.At(j, k)+w*w*m.open.At(j, k)*product)
			}
			im.missing.SetSym(j, k, w*(m.mean.At(j, k)-positive.At(j, k)))
		}
	}
	factor, ok := choleskyOf(cov)
	if !ok {
		return errors.New("surrogates: the score's covariance is not positive definite")
	}
	im.frozen = factor
	return nil
}

// slopeAlong is the factor between a move's linear predictors and the mean slopes.
func (p *Score) slopeAlong(im *imputation, move []float64) float64 {
	d := p.dim
	num, den := 0.0, 1e-300
	for i, at := range im.at {
		x := im.x[i*d : (i+1)*d]
		mean, _, _, _ := p.config.Link.Slope(at, dot(x, p.mean)+im.offset[i])
		along := dot(x, move)
		num -= mean * along
		den += along * along
	}
	if den < 1e-200 {
		return p.config.Link.Weight(0, 0)
	}
	return num / den
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
	d := e.dim
	if !e.moments(theta, im) {
		return math.Inf(-1)
	}
	cov, log := e.lower, im.log
	if im.frozen != nil {
		cov = im.frozen
	}
	for j := range d {
		log -= math.Log(cov[j*d+j])
	}
	forward(e.whole, cov, e.residual)
	log -= dot(e.whole, e.whole) / 2
	backward(e.solved, cov, e.whole)
	clear(grad)
	if im.frozen != nil {
		for j := range d {
			for k, u := range e.solved {
				grad[j] -= im.missing.At(j, k) * u
			}
		}
	}
	for i := range im.at {
		x := im.x[i*d : (i+1)*d]
		u := dot(x, e.solved)
		g := e.slope[i] * u
		if im.frozen == nil {
			forward(e.row, cov, x)
			g += e.spread[i] / 2 * (u*u - dot(e.row, e.row))
		}
		for j, v := range x {
			grad[j] += g * v
		}
	}
	return log
}

// moments sets residual to the score less its mean, slope and spread to the
// derivatives of each row's mean and variance, and, unless the variance is frozen,
// lower to the Cholesky factor of the score's covariance.
func (e *evaluator) moments(theta []float64, im *imputation) bool {
	s := &e.config.Statistics
	d, w := e.dim, s.temperature()*im.weight
	copy(e.residual, s.Score)
	clear(e.lower)
	for i, at := range im.at {
		x := im.x[i*d : (i+1)*d]
		mean, variance, dMean, dVariance := e.config.Link.Slope(at, dot(x, theta)+im.offset[i])
		e.slope[i], e.spread[i] = w*dMean, w*dVariance
		mean, variance = w*mean, w*variance
		for j, v := range x {
			e.residual[j] -= mean * v
			if im.frozen != nil {
				continue
			}
			c, row := variance*v, e.lower[j*d:j*d+j+1]
			for k := range row {
				row[k] += c * x[k]
			}
		}
	}
	if im.frozen != nil {
		for j := range d {
			for k, t := range theta {
				e.residual[j] += im.missing.At(j, k) * (t - s.Anchor[k])
			}
		}
		return true
	}
	for j := range d {
		e.lower[j*d+j] += s.ScoreSD * s.ScoreSD
	}
	return cholesky(e.lower, d)
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
func (p *Score) centre() (mean, factor []float64, err error) { return p.mean, p.factor, nil }

// covariance approximates the posterior's at theta: the inverse of
// H(H + σ²I)⁻¹H plus the prior's precision, H averaged over imputations.
func (p *Score) covariance(theta []float64) (*mat.SymDense, error) {
	s := p.config.Statistics
	h := p.information(theta)
	noisy := mat.NewSymDense(p.dim, nil)
	if frozen := p.imputations[0].frozen; frozen != nil {
		for j := range p.dim {
			for k := range j + 1 {
				noisy.SetSym(j, k, dot(frozen[j*p.dim:j*p.dim+k+1], frozen[k*p.dim:k*p.dim+k+1]))
			}
		}
	} else {
		noisy.CopySym(h)
		for j := range p.dim {
			noisy.SetSym(j, j, noisy.At(j, j)+s.ScoreSD*s.ScoreSD)
		}
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
		if im.missing != nil {
			missing := mat.NewSymDense(d, nil)
			missing.ScaleSym(1/float64(len(p.imputations)), im.missing)
			h.AddSym(h, missing)
		}
		for i, at := range im.at {
			x := im.x[i*d : (i+1)*d]
			_, _, dMean, _ := p.config.Link.Slope(at, dot(x, theta)+im.offset[i])
			h.SymRankOne(h, -dMean*tau*im.weight/float64(len(p.imputations)), mat.NewVecDense(d, x))
		}
	}
	return h
}
