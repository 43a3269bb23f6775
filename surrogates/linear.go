package surrogates

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/priors"
)

// Sums are released second moments of extended rows [x, y]: all that a linear
// regression with normal errors says of its parameters. d is the number of features.
type Sums struct {
	// Moment is Σ [x, y][x, y]ᵀ, (d+1)×(d+1), row-major and symmetric, with normal
	// noise of standard deviation MomentSD on the diagonal and MomentSD/√2 off it.
	// Required; MomentSD may be 0. It need not be positive definite.
	Moment   []float64
	MomentSD float64
	// Features is d. Required, positive.
	Features int
	// Records is N, public. Required, positive.
	Records int64
	// Radius bounds the length of a row of features. Required, positive.
	Radius float64
	// Columns says what is publicly known of the features; nil for nothing.
	Columns []Column
}

// LinearConfig describes the posterior of a linear regression given released sums.
type LinearConfig struct {
	// Sums is what was released. Required.
	Sums Sums
	// Prior is the prior of the coefficients. Required.
	Prior priors.Prior
	// ZellnerSiow is r, about what features explain of the response's variance over that
	// of errors: Prior is then multiplied by a heavy-tailed one with that scale, of
	// coefficients given the features (see targets.LinearConfig). Defaults to 0: it is not.
	ZellnerSiow float64
	// MinScale is s, the least standard deviation of the errors. Required, positive.
	MinScale float64
	// ScalePrior is the prior of the excess σ − s. Required.
	ScalePrior priors.Scale
	// Seed is the public seed of the draws that the moments' posterior is taken from.
	Seed uint64

	seen *seenPrior // Prior, where the sums are of records seen through a map
}

// Linear is the posterior of (coefficients, ω), σ = s + e^ω, given released sums: the
// parameters of targets.Linear. Xᵀy and yᵀy are jointly normal given XᵀX, with the
// moments of the model (Bernstein and Sheldon 2019). XᵀX is sampled too, up to 40
// features and where noise hides more than a little of it. Otherwise what is not known of it enters
// their covariance, as in a regression with errors in variables.
type Linear struct {
	config LinearConfig
	dim    int       // d
	square []float64 // XᵀX about its posterior mean, d×d
	open   []float64 // variances of its entries about that, where they are not sampled
	hidden *hidden   // nil where it is not sampled
	broad  broad
	light  float64 // share of the records' weight that is missing, beyond what is usual
	doubt  float64 // standard deviation of an entry of Xᵀy, over the errors', for light rows and cut residuals
	lost   float64 // part of the errors' square that cutting residuals took away, and by how much it may be off
	lostSD float64
}

func (s Sums) check() error {
	p := s.Features + 1
	switch {
	case s.Features < 1:
		return fmt.Errorf("surrogates: Sums.Features is %d; at least 1 is needed", s.Features)
	case len(s.Moment) != p*p:
		return fmt.Errorf("surrogates: Sums.Moment has %d values; extended rows of %d have a matrix of %d",
			len(s.Moment), p, p*p)
	case s.Records <= int64(s.Features):
		return fmt.Errorf("surrogates: Sums.Records is %d; more than the %d features are needed", s.Records, s.Features)
	case !(s.MomentSD >= 0) || math.IsInf(s.MomentSD, 1):
		return fmt.Errorf("surrogates: Sums.MomentSD is %v; it must be at least 0 and finite", s.MomentSD)
	case !(s.Radius > 0) || math.IsInf(s.Radius, 1):
		return fmt.Errorf("surrogates: Sums.Radius is %v; it must be positive and finite", s.Radius)
	case s.Columns != nil && len(s.Columns) != s.Features:
		return fmt.Errorf("surrogates: %d Columns for %d features; give one for each, or none", len(s.Columns), s.Features)
	}
	for i, v := range s.Moment {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("surrogates: Sums.Moment[%d] is %v; releases are finite", i, v)
		}
	}
	return checkColumns(s.Columns)
}

// NewLinear returns the posterior. Errors: sums out of range; a prior that is missing
// or does not fit.
func NewLinear(c LinearConfig) (*Linear, error) {
	if err := c.Sums.check(); err != nil {
		return nil, err
	}
	switch {
	case c.Prior == nil:
		return nil, errors.New("surrogates: LinearConfig.Prior is not set; give the prior of the coefficients")
	case c.ScalePrior == nil:
		return nil, errors.New("surrogates: LinearConfig.ScalePrior is not set; give the prior of the errors' standard " +
			"deviation")
	case !(c.MinScale > 0) || math.IsInf(c.MinScale, 1):
		return nil, fmt.Errorf("surrogates: LinearConfig.MinScale is %v; it must be positive and finite", c.MinScale)
	case !(c.ZellnerSiow >= 0) || math.IsInf(c.ZellnerSiow, 1):
		return nil, fmt.Errorf("surrogates: LinearConfig.ZellnerSiow is %v; it must be at least 0 and finite", c.ZellnerSiow)
	}
	if err := errors.Join(c.Prior.Check(c.Sums.Features), c.ScalePrior.Check()); err != nil {
		return nil, fmt.Errorf("surrogates: LinearConfig: %w", err)
	}
	rng := rand.New(rand.NewPCG(c.Seed, 0x11ea))
	l := &Linear{config: c, dim: c.Sums.Features, broad: broaden(c.Prior, c.Sums.Features, rng)}
	if c.seen != nil {
		var missing float64
		missing, l.light = c.Sums.light(c.seen.seen.Missing)
		n, seen := float64(c.Sums.Records), c.seen.seen
		l.doubt = math.Hypot(Misfit(missing, n)+c.Sums.far(l.light, 0), CutMisfit(seen.Cut+seen.CutSD, n))
		l.lost, l.lostSD = seen.Cut/2, math.Hypot(seen.Cut/2, seen.CutSD)
		if l.config.Sums.floored(c.MinScale, l.lost, l.lostSD) {
			l.lost, l.lostSD = 0, 0
		}
		c = l.config
	}
	if c.Sums.MomentSD == 0 || l.dim > mostHidden || c.Sums.clear() {
		l.square, l.open = c.Sums.features(rng)
		return l, nil
	}
	var err error
	if l.hidden, err = newHidden(c.Sums); err != nil {
		return nil, err
	}
	l.square, l.open = l.hidden.centre(), make([]float64, l.dim*l.dim)
	return l, nil
}

// mostBelow is by how many standard deviations yᵀy may be less than errors of the least scale make it.
const mostBelow = 6

// floored raises yᵀy of residuals to about that of errors of the least scale, if it is less than these make it where
// a part of their square was cut, and reports that. No σ explains it then, and coefficients far off would, by the
// noise that they turn to.
func (s *Sums) floored(least, lost, lostSD float64) bool {
	last, n := len(s.Moment)-1, float64(s.Records)
	if constant := ConstantOf(s.Columns); constant >= 0 {
		upper := s.Columns[constant].Upper
		n = min(n, max(0, s.Moment[constant*(s.Features+2)])/(upper*upper))
	}
	below := func(lost, lostSD float64) float64 {
		return n*least*least*(1-lost) - mostBelow*math.Hypot(math.Sqrt(2*n+n*n*lostSD*lostSD)*least*least, s.MomentSD)
	}
	if s.Moment[last] >= below(lost, lostSD) {
		return false
	}
	s.Moment = slices.Clone(s.Moment)
	s.Moment[last] = below(0, 0)
	return true
}

func (l *Linear) parameters() int { return l.dim + 1 }

// features returns the posterior mean of XᵀX and the variances of its entries.
func (s Sums) features(rng *rand.Rand) (mean, variance []float64) {
	d := s.Features
	m := s.moments()
	m.average(rng)
	positive := m.positive()
	mean, variance = make([]float64, d*d), make([]float64, d*d)
	for e := range mean {
		mean[e], variance[e] = positive.At(e/d, e%d), m.open.At(e/d, e%d)
	}
	return mean, variance
}

// ConstantOf is the column of the intercept, or −1.
func ConstantOf(columns []Column) int {
	for j, c := range columns {
		if c.Kind == Constant {
			return j
		}
	}
	return -1
}

// Density returns the posterior's log density with its gradient, of the parameters and
// what else is sampled. It holds buffers: one goroutine at a time may use it.
func (l *Linear) Density() nuts.LogDensity {
	p := l.dim + 1
	e := &linearEvaluator{
		Linear: l, along: make([]float64, l.dim), residual: make([]float64, p), half: make([]float64, p),
		solved: make([]float64, p),
		cov:    make([]float64, p*p), weights: make([]float64, p*p), errors: make([]float64, l.dim*l.dim),
		turned: make([]float64, l.dim*l.dim), explained: l.newExplained(),
	}
	if l.hidden != nil {
		return l.withHidden(e)
	}
	return e
}

type linearEvaluator struct {
	*Linear
	along                  []float64 // XᵀX·β
	residual, half, solved []float64
	cov, weights           []float64 // of (Xᵀy, yᵀy); the log density's derivative in it
	errors, turned         []float64 // covariance of what is unknown of XᵀXβ; weights seen from there
	explained              *explained
}

func (e *linearEvaluator) Dim() int { return e.dim + 1 }

func (e *linearEvaluator) LogDensityGrad(grad, theta []float64) float64 {
	d := e.dim
	beta, omega := theta[:d], theta[d]
	if omega > mostPredictor {
		return math.Inf(-1)
	}
	excess := math.Exp(omega)
	sigma := e.config.MinScale + excess
	prior := e.config.Prior.LogDensity(beta) + e.config.ScalePrior.LogDensity(excess) + omega
	if math.IsInf(prior, 0) || math.IsNaN(prior) {
		return math.Inf(-1)
	}
	e.fill(beta, sigma)
	if !cholesky(e.cov, d+1) {
		return math.Inf(-1)
	}
	log := prior
	for j := range d + 1 {
		log -= math.Log(e.cov[j*(d+1)+j])
	}
	forward(e.half, e.cov, e.residual)
	log -= dot(e.half, e.half) / 2
	backward(e.solved, e.cov, e.half)
	e.config.Prior.Grad(grad[:d], beta)
	inSigma := e.slopes(grad[:d], beta, sigma)
	if e.explained != nil {
		more, slope := e.explained.log(grad[:d], beta, sigma)
		log, inSigma = log+more, inSigma+slope
	}
	grad[d] = (e.config.ScalePrior.Elasticity(excess) + 1) + excess*inSigma
	return log
}

// records is N, or how many records count.
func (l *Linear) records() float64 {
	s := &l.config.Sums
	return counted(s.Columns, s.Records, func(j int) float64 { return l.square[j*(l.dim+1)] })
}

// fill sets residual and cov: the law of the released (Xᵀy, yᵀy).
func (e *linearEvaluator) fill(beta []float64, sigma float64) {
	d, p := e.dim, e.dim+1
	s2, n, more := sigma*sigma, e.records(), e.doubt*e.doubt
	noise := e.config.Sums.MomentSD * e.config.Sums.MomentSD
	for j := range d {
		e.along[j] = dot(e.square[j*d:(j+1)*d], beta)
		for k := range d {
			if j != k {
				e.errors[j*d+k] = e.open[j*d+k] * beta[j] * beta[k]
			}
		}
		v := 0.0
		for k, b := range beta {
			v += e.open[j*d+k] * b * b
		}
		e.errors[j*d+j] = v
	}
	length, whole := dot(beta, e.along), 0.0
	for j := range d {
		along := dot(e.errors[j*d:(j+1)*d], beta)
		whole += along * beta[j]
		for k := range j + 1 {
			e.cov[j*p+k] = s2*e.square[j*d+k] + e.errors[j*d+k]
		}
		e.cov[j*p+j] += noise/2 + s2*more
		e.cov[d*p+j] = 2*s2*(e.along[j]+more*beta[j]) + along
		e.residual[j] = e.config.Sums.Moment[j*p+d] - e.along[j]
	}
	e.cov[d*p+d] = 4*s2*(length+more*dot(beta, beta)) + n*(2+n*e.lostSD*e.lostSD)*s2*s2 + whole + noise
	e.residual[d] = e.config.Sums.Moment[d*p+d] - length - n*s2*(1-e.lost)
}

// slopes adds the log likelihood's gradient in β to grad and returns its derivative
// in σ. With u = C⁻¹r and G = (uuᵀ − C⁻¹)/2 it is ⟨G, dC⟩ + u·dµ.
func (e *linearEvaluator) slopes(grad, beta []float64, sigma float64) float64 {
	d, p := e.dim, e.dim+1
	s2, n, more := sigma*sigma, e.records(), e.doubt*e.doubt
	g := e.weights
	for j := range p { // column j of C⁻¹
		clear(e.half)
		e.half[j] = 1
		forward(e.residual, e.cov, e.half)
		backward(e.half, e.cov, e.residual)
		for k := range p {
			g[k*p+j] = (e.solved[j]*e.solved[k] - e.half[k]) / 2
		}
	}
	last, corner, u, v := g[d*p:d*p+d], g[d*p+d], e.solved[:d], e.solved[d]
	for j := range d { // G as seen by the errors, whose effect on yᵀy is β times that on Xᵀy
		for k := range d {
			e.turned[j*d+k] = g[j*p+k] + last[j]*beta[k] + beta[j]*last[k] + corner*beta[j]*beta[k]
		}
	}
	trace := 0.0
	for k := range d {
		row, unknown := e.square[k*d:(k+1)*d], e.errors[k*d:(k+1)*d]
		grad[k] += dot(row, u) + 2*v*e.along[k] + 4*s2*dot(row, last) + 8*s2*corner*e.along[k]
		grad[k] += 2*dot(unknown, last) + 2*corner*dot(unknown, beta) + more*(4*s2*last[k]+8*s2*corner*beta[k])
		for j := range d {
			grad[k] += 2 * e.open[j*d+k] * e.turned[j*d+j] * beta[k]
			if j != k {
				grad[k] += 2 * e.open[j*d+k] * e.turned[k*d+j] * beta[j]
			}
			trace += g[k*p+j] * row[j]
		}
		trace += more * (g[k*p+k] + 4*last[k]*beta[k] + 4*corner*beta[k]*beta[k])
	}
	length := dot(beta, e.along)
	return 2*sigma*(trace+4*dot(last, e.along)+4*corner*length) + 4*n*(2+n*e.lostSD*e.lostSD)*corner*s2*sigma +
		2*n*sigma*(1-e.lost)*v
}

// inSquare adds the log likelihood's derivative in XᵀX to p, after slopes.
func (e *linearEvaluator) inSquare(p, beta []float64, sigma float64) {
	d, s2, g := e.dim, sigma*sigma, e.weights
	last, corner, u, v := g[d*(d+1):d*(d+1)+d], g[d*(d+1)+d], e.solved[:d], e.solved[d]
	for j, b := range beta {
		for k, c := range beta {
			p[j*d+k] += s2*g[j*(d+1)+k] + (2*s2*last[j]+u[j]/2)*c + (2*s2*last[k]+u[k]/2)*b + (4*s2*corner+v)*b*c
		}
	}
	if c := e.config.Sums.Columns; ConstantOf(c) >= 0 && c[ConstantOf(c)].Missing > 0 {
		j := ConstantOf(c)
		p[j*(d+1)] += (2*corner*s2*(1+e.records()*e.lostSD*e.lostSD) + (1-e.lost)*v) * s2 / (c[j].Upper * c[j].Upper)
	}
	if e.explained != nil {
		e.explained.inSquare(p)
	}
}

// centre is the ridge estimate with its covariance, and the scale that goes with it.
func (l *Linear) centre() (mean, factor []float64, err error) {
	d, p := l.dim, l.dim+1
	s := l.config.Sums
	n := float64(s.Records)
	beta := mat.NewVecDense(d, nil)
	variance := max(s.Moment[d*p+d], n*l.config.MinScale*l.config.MinScale) / n
	cov := mat.NewSymDense(d, nil)
	for range 3 { // β given σ, then σ given β
		precision := mat.NewSymDense(d, nil)
		right := mat.NewVecDense(d, nil)
		noise := s.MomentSD*s.MomentSD/2 + variance*l.doubt*l.doubt
		if l.hidden == nil {
			noise += s.MomentSD * s.MomentSD / 2 * mat.Dot(beta, beta)
		}
		// (S β − Xᵀy) has covariance near σ²S + noise: S(σ²S + noise)⁻¹S by eigenvalues.
		var eigen mat.EigenSym
		square := mat.NewSymDense(d, append([]float64(nil), l.square...))
		if !eigen.Factorize(square, true) {
			return nil, nil, errors.New("surrogates: second moments have no eigenvalues")
		}
		var vectors mat.Dense
		eigen.VectorsTo(&vectors)
		for i, h := range eigen.Values(nil) {
			e := vectors.ColView(i)
			along := 0.0
			for j := range d {
				along += e.AtVec(j) * s.Moment[j*p+d]
			}
			precision.SymRankOne(precision, h*h/(variance*h+noise+1e-300), e)
			right.AddScaledVec(right, h*along/(variance*h+noise+1e-300), e)
		}
		l.broad.precision(precision, 1)
		var chol mat.Cholesky
		if !chol.Factorize(precision) || chol.SolveVecTo(beta, right) != nil || chol.InverseTo(cov) != nil {
			return nil, nil, errors.New("surrogates: the posterior's precision is not positive definite")
		}
		left := s.Moment[d*p+d]
		for j := range d {
			left -= beta.AtVec(j) * s.Moment[j*p+d]
		}
		variance = max(left/n, 2*l.config.MinScale*l.config.MinScale)
	}
	mean = append(append([]float64(nil), beta.RawVector().Data...), math.Log(math.Sqrt(variance)-l.config.MinScale))
	lower, err := lowerOf(cov)
	if err != nil {
		return nil, nil, err
	}
	var more []float64
	values := 0
	if l.hidden != nil {
		more, values = l.hidden.factor, l.hidden.values()
	}
	all := p + values
	mean, factor = append(mean, make([]float64, values)...), make([]float64, all*all)
	for j := range d {
		copy(factor[j*all:j*all+d], lower[j*d:(j+1)*d])
	}
	factor[d*all+d] = min(1, 1/math.Sqrt(2*n)+s.MomentSD/(2*n*variance))
	for j := range values {
		copy(factor[(p+j)*all+p:], more[j*values:(j+1)*values])
	}
	return mean, factor, nil
}
