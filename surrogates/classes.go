package surrogates

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/priors"
)

// ClassesConfig describes the noise-aware posterior of a softmax regression.
type ClassesConfig struct {
	// Statistics is what was released: Moment and Columns are of the p features, Anchor and
	// Score of the coefficients, class by class. Weighted, Spherical and Ridge are not for it.
	// Required.
	Statistics Statistics
	// Anchors are where scores were taken, if at several points: Score is their mean then.
	// Defaults to the Anchor alone.
	Anchors [][]float64
	// Prior is the prior of the coefficients. Required.
	Prior priors.Prior
	// Effect, where positive, is the prior standard deviation of what a standard deviation of a
	// number adds to the predictor of each class. Prior, a priors.Gaussian, is then that of levels
	// and of the predictor at the means of the numbers.
	Effect float64
	// Imputations is how many laws of features stand for the records', each with second moments
	// of its own. Defaults to 8, and to 4 beyond 20 parameters. Of many features there is one.
	Imputations int
	// Seed is the public seed of the draws of second moments and of rows.
	Seed uint64
}

// fewParameters is up to how many there are eight imputations.
const fewParameters = 20

// Classes is the posterior of a softmax regression given the release: prior times the score
// likelihood, N(τM(θ), τV + σ²I), averaged over imputations of the features. Scores are
// Σ x·(p_k(θ₀) − [y = k]), and M is their mean over rows of a normal law of features: over few of
// them, and at the posterior's centre over many. V, the variance that responses make, is held there.
type Classes struct {
	config       ClassesConfig
	dim, p, of   int // parameters, features, classes
	rows         []*classRows
	broad        broad
	own          []broad   // the prior on the columns of each imputation, if it is on columns
	at           []float64 // the mean of the anchors
	mean, factor []float64 // of an approximation: see Score
}

// classRows are the rows of one imputation.
type classRows struct {
	law     *normal
	x       []float64     // row-major
	known   []float64     // mean of x·p_k at the anchors
	many    *classRows    // more rows of the law
	short   []float64     // what x lacks of the score's mean at the centre
	missing *mat.SymDense // second moments, of the mean, that the rows lack
	open    *mat.SymDense // variances of that mean's entries; nil where moments are drawn
	lower   []float64     // factor of the score's covariance
	log     float64       // minus half its log determinant
	lacking *mat.SymDense // missing, in the score's slope
}

// NewClasses returns the posterior. Errors: statistics out of range; a prior that does not fit.
func NewClasses(c ClassesConfig) (*Classes, error) {
	s := c.Statistics
	p := int(math.Sqrt(float64(len(s.Moment))))
	d := len(s.Score)
	if p == 0 || d%p != 0 || d < 2*p || len(s.Anchor) != d {
		return nil, fmt.Errorf("surrogates: a score of %d values at an anchor of %d with %d second moments; give p² of them "+
			"for p features, and p values for each of 2 classes or more", d, len(s.Anchor), len(s.Moment))
	}
	each := c.ofFeatures()
	if err := each.Check(); err != nil {
		return nil, err
	}
	switch {
	case s.Weighted || s.Spherical || s.Ridge != 0 || s.ScoreSD == 0:
		return nil, errors.New("surrogates: Statistics of classes are a score with normal noise and plain second moments")
	case c.Prior == nil:
		return nil, errors.New("surrogates: ClassesConfig.Prior is not set; give the prior of the coefficients")
	case c.Imputations < 0:
		return nil, fmt.Errorf("surrogates: ClassesConfig.Imputations is %d; at least 1 is needed, or 0 for 8 or 4",
			c.Imputations)
	}
	if err := c.Prior.Check(d); err != nil {
		return nil, fmt.Errorf("surrogates: ClassesConfig.Prior: %w", err)
	}
	model, normal := c.Prior.(priors.Gaussian)
	if c.Effect != 0 && !(normal && c.Effect > 0 && !math.IsInf(c.Effect, 1)) {
		return nil, fmt.Errorf("surrogates: ClassesConfig.Effect is %v; it must be positive and finite, or 0, and needs a "+
			"priors.Gaussian", c.Effect)
	}
	if c.Anchors == nil {
		c.Anchors = [][]float64{s.Anchor}
	}
	if c.Imputations == 0 {
		if c.Imputations = 8; d > fewParameters {
			c.Imputations = 4
		}
	}
	rng := rand.New(rand.NewPCG(c.Seed, 0xc1a5))
	out := &Classes{config: c, dim: d, p: p, of: d / p, broad: broaden(c.Prior, d, rng), at: make([]float64, d)}
	for _, at := range c.Anchors {
		floats.AddScaled(out.at, 1/float64(len(c.Anchors)), at)
	}
	m := newMoments(s.Moment, s.MomentSD, float64(s.Records)*s.Radius*s.Radius, s.Columns, p)
	if (Config{Statistics: each}).averaged() {
		m.average(rng)
		c.Imputations = 1
	}
	for _, second := range m.draws(c.Imputations, rng, nil) {
		out.rows = append(out.rows, out.impute(second, m, rng))
	}
	if c.Effect > 0 {
		for _, r := range out.rows {
			out.own = append(out.own, broad{s.onColumns(c.Effect, model, s.standingOf(r.law), d, p)})
		}
		out.broad = midway(out.own)
		out.config.Prior = out.broad
	}
	return out, out.settle()
}

// parts are the posteriors given each imputation of the features.
func (c *Classes) parts() ([]Posterior, error) {
	if len(c.rows) == 1 {
		return nil, nil
	}
	out := make([]Posterior, len(c.rows))
	for k := range out {
		part := *c
		own := *c.rows[k] // its covariance is that at the part's own centre
		part.rows, part.mean = []*classRows{&own}, slices.Clone(c.mean)
		if c.own != nil {
			part.broad, part.config.Prior = c.own[k], c.own[k].exact()
		}
		if err := part.settle(); err != nil {
			return nil, err
		}
		out[k] = &part
	}
	return out, nil
}

func (c *Classes) parameters() int { return c.dim }

// ofFeatures are the statistics as those of one class, whose score and anchor are not read.
func (c ClassesConfig) ofFeatures() Statistics {
	s := c.Statistics
	p := int(math.Sqrt(float64(len(s.Moment))))
	s.Anchor, s.Score = s.Anchor[:p], s.Score[:p]
	return s
}

// halfRows are drawn for an imputation, with their mirror images. Of 4·10⁴ records what these are
// off by is more than noise, so halfMany more say the mean at the centre.
const (
	halfRows = 128
	halfMany = 2048
)

// impute draws rows of one law of features. Their mean and second moments are its own.
func (c *Classes) impute(second *mat.SymDense, m *moments, rng *rand.Rand) *classRows {
	n := float64(c.config.Statistics.Records)
	r := &classRows{}
	if m.mean != nil {
		r.open, r.missing = m.open, mat.NewSymDense(c.p, nil)
		for j := range c.p {
			for k := range j + 1 {
				r.missing.SetSym(j, k, m.mean.At(j, k)-second.At(j, k))
			}
		}
	}
	each := mat.NewSymDense(c.p, nil)
	each.ScaleSym(1/n, second)
	r.law = newNormal(each, m.constant, make([]float64, c.p))
	r.x, r.many = r.law.rows(halfRows, rng), &classRows{law: r.law, x: r.law.rows(halfMany, rng)}
	c.anchored(r)
	c.anchored(r.many)
	return r
}

// anchored sets what rows say of the anchors.
func (c *Classes) anchored(r *classRows) {
	r.known = make([]float64, c.dim)
	part, probs := make([]float64, c.dim), make([]float64, c.of)
	for _, at := range c.config.Anchors {
		r.sum(part, probs, at)
		floats.AddScaled(r.known, 1/float64(len(c.config.Anchors)), part)
	}
}

// rows are so many rows of the law and their mirror images, with its mean and covariance.
func (n *normal) rows(half int, rng *rand.Rand) []float64 {
	p := len(n.mean)
	half = max(half, 4*p)
	z := mat.NewDense(half, p, nil)
	for j := range p { // a Latin hypercube
		for i, at := range rng.Perm(half) {
			z.Set(i, j, quantile((float64(at)+rng.Float64())/float64(half)))
		}
	}
	gram := mat.NewSymDense(p, nil)
	gram.SymOuterK(1/float64(half), z.T())
	var chol mat.Cholesky
	var lower mat.TriDense
	if !chol.Factorize(gram) {
		panic("surrogates: rows of normal numbers are not independent")
	}
	chol.LTo(&lower)
	var root, white mat.Dense
	if err := white.Solve(&lower, z.T()); err != nil {
		panic("surrogates: rows of normal numbers are nearly dependent")
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(p, n.spread), true) {
		panic("surrogates: eigenvalues of a finite symmetric matrix did not converge")
	}
	var axes, around mat.Dense
	eigen.VectorsTo(&axes)
	values := eigen.Values(nil)
	root.Apply(func(_, k int, v float64) float64 { return v * math.Sqrt(max(0, values[k])) }, &axes)
	around.Mul(&root, &white)
	x := make([]float64, 2*half*p)
	for i := range half {
		for j, mean := range n.mean {
			x[2*i*p+j], x[(2*i+1)*p+j] = mean+around.At(j, i), mean-around.At(j, i)
		}
	}
	return x
}

// sum sets dst to the mean of x·p_k(theta), with room for probabilities.
func (r *classRows) sum(dst, probs, theta []float64) {
	clear(dst)
	p := len(dst) / len(probs)
	for i := 0; i < len(r.x); i += p {
		x := r.x[i : i+p]
		chancesOf(probs, theta, x)
		for k, v := range probs {
			floats.AddScaled(dst[k*p:(k+1)*p], v, x)
		}
	}
	floats.Scale(float64(p)/float64(len(r.x)), dst)
}

// chancesOf are the probabilities of classes at theta.
func chancesOf(probs, theta, x []float64) {
	p, top, sum := len(x), math.Inf(-1), 0.0
	for k := range probs {
		probs[k] = dot(theta[k*p:(k+1)*p], x)
		top = max(top, probs[k])
	}
	for k, v := range probs {
		probs[k] = math.Exp(v - top)
		sum += probs[k]
	}
	floats.Scale(1/sum, probs)
}

// information is the mean of (diag p − ppᵀ) ⊗ xxᵀ at theta: minus the derivative of the score's
// mean, and its variance, for one record. among is that of diag p − ppᵀ alone.
func (r *classRows) information(theta []float64, p int) (h, among *mat.SymDense) {
	of := len(theta) / p
	h, among = mat.NewSymDense(len(theta), nil), mat.NewSymDense(of, nil)
	probs, each := make([]float64, of), float64(p)/float64(len(r.x))
	for i := 0; i < len(r.x); i += p {
		x := r.x[i : i+p]
		chancesOf(probs, theta, x)
		for k, a := range probs {
			for l, b := range probs[:k+1] {
				w := -a * b * each
				if k == l {
					w = a * (1 - a) * each
				}
				among.SetSym(l, k, among.At(l, k)+w)
				for j, u := range x {
					to := x
					if k == l {
						to = x[:j+1]
					}
					for m, v := range to {
						h.SetSym(l*p+m, k*p+j, h.At(l*p+m, k*p+j)+w*u*v)
					}
				}
			}
		}
	}
	return h, among
}

// freeze sets what rows lack of the score's mean at the centre, and its covariance to that there:
// what responses make of it, noise, and where imputations share the mean of the second moments what
// is not known of them. An error E of those moves the score of class k by E·Σ_l W_kl(θ_l − θ₀_l),
// W the mean of diag p − ppᵀ.
func (c *Classes) freeze(r *classRows, spread *mat.SymDense) error {
	s, p := c.config.Statistics, c.p
	r.short = make([]float64, c.dim)
	c.addMean(r.short, r.many, -s.size())
	c.addMean(r.short, r, s.size())
	cov, among := r.many.information(c.mean, p)
	cov.ScaleSym(s.size(), cov)
	for j := range c.dim {
		cov.SetSym(j, j, cov.At(j, j)+s.ScoreSD*s.ScoreSD)
	}
	if r.open != nil {
		c.doubtMoments(cov, among, r, spread)
	}
	lower, ok := choleskyOf(cov)
	if !ok {
		return errors.New("surrogates: the score's covariance is not positive definite")
	}
	r.lower, r.log = lower, 0
	for j := range c.dim {
		r.log -= math.Log(lower[j*c.dim+j])
	}
	return nil
}

// doubtMoments adds to the score's covariance what is not known of the second moments, and sets
// what rows lack of them.
func (c *Classes) doubtMoments(cov, among *mat.SymDense, r *classRows, spread *mat.SymDense) {
	p, tau := c.p, c.config.Statistics.temperature()
	across := mat.NewDense(c.dim, c.dim, nil) // W ⊗ I
	for k := range c.of {
		for l := range c.of {
			for j := range p {
				across.Set(k*p+j, l*p+j, tau*among.At(k, l))
			}
		}
	}
	move := mat.NewVecDense(c.dim, nil)
	for j := range c.dim {
		move.SetVec(j, c.mean[j]-c.at[j])
	}
	square := mat.NewDense(c.dim, c.dim, nil)
	square.Outer(1, move, move)
	if spread != nil {
		square.Add(square, spread)
	}
	var v mat.Dense
	v.Product(across, square, across.T())
	r.lacking = mat.NewSymDense(c.dim, nil)
	for k := range c.of {
		for l := range k + 1 {
			for j := range p {
				for m := range p {
					e := r.open.At(j, m) * v.At(k*p+m, l*p+j)
					if j == m {
						e = 0
						for i := range p {
							e += r.open.At(j, i) * v.At(k*p+i, l*p+i)
						}
					}
					if k > l || m <= j {
						cov.SetSym(l*p+m, k*p+j, cov.At(l*p+m, k*p+j)+e)
						r.lacking.SetSym(l*p+m, k*p+j, tau*among.At(k, l)*r.missing.At(j, m))
					}
				}
			}
		}
	}
}

// settle finds the posterior's centre, on which the score's variance depends, and it on that.
func (c *Classes) settle() error {
	if c.mean == nil {
		c.mean = append([]float64(nil), c.config.Statistics.Anchor...)
	}
	smooth := *c
	smooth.config.Prior = c.broad
	var cov *mat.SymDense
	for range 4 {
		for _, r := range c.rows {
			if err := c.freeze(r, cov); err != nil {
				return err
			}
		}
		var err error
		if cov, err = climb(smooth.Density(), c.mean, smooth.covariance); err != nil {
			return err
		}
	}
	var err error
	c.factor, err = lowerOf(cov)
	return err
}

func (c *Classes) centre() (mean, factor []float64, err error) { return c.mean, c.factor, nil }

// slope is minus the derivative of the score's mean, averaged over imputations.
func (c *Classes) slope(theta []float64) *mat.SymDense {
	out, share := mat.NewSymDense(c.dim, nil), 1/float64(len(c.rows))
	for _, r := range c.rows {
		h, _ := r.information(theta, c.p)
		h.ScaleSym(share*c.config.Statistics.size(), h)
		out.AddSym(out, h)
		if r.lacking != nil {
			out.AddSym(out, r.lacking)
		}
	}
	return out
}

// covariance approximates the posterior's at theta: the inverse of HC⁻¹H and the prior's
// precision, C the score's covariance.
func (c *Classes) covariance(theta []float64) (*mat.SymDense, error) {
	h := c.slope(theta)
	lower := mat.NewTriDense(c.dim, mat.Lower, append([]float64(nil), c.rows[0].lower...))
	var half mat.Dense
	if err := half.Solve(lower, h); err != nil {
		return nil, fmt.Errorf("surrogates: the information of the release: %w", err)
	}
	precision := mat.NewSymDense(c.dim, nil)
	precision.SymOuterK(1, half.T())
	return c.inverted(precision)
}

// inverted is the inverse of a precision and the prior's.
func (c *Classes) inverted(precision *mat.SymDense) (*mat.SymDense, error) {
	c.broad.precision(precision, 1)
	var chol mat.Cholesky
	cov := mat.NewSymDense(c.dim, nil)
	if !chol.Factorize(precision) || chol.InverseTo(cov) != nil {
		return nil, errors.New("surrogates: the posterior's precision is not positive definite")
	}
	return cov, nil
}

// Density returns the posterior's log density with its gradient. It holds buffers: one goroutine
// at a time may use it.
func (c *Classes) Density() nuts.LogDensity {
	row := func() []float64 { return make([]float64, c.dim) }
	e := &classEvaluator{Classes: c, residual: row(), solved: row(), probs: make([]float64, c.of),
		along: make([]float64, c.of), logs: make([]float64, len(c.rows))}
	for _, r := range c.rows {
		e.grads = append(e.grads, row())
		e.chances = append(e.chances, make([]float64, len(r.x)/c.p*c.of))
	}
	return e
}

type classEvaluator struct {
	*Classes
	residual, solved []float64
	probs, along     []float64
	grads, chances   [][]float64
	logs             []float64
}

func (e *classEvaluator) Dim() int { return e.dim }

func (e *classEvaluator) LogDensityGrad(grad, theta []float64) float64 {
	v := e.config.Prior.LogDensity(theta)
	if math.IsInf(v, -1) || math.IsNaN(v) {
		return math.Inf(-1)
	}
	e.config.Prior.Grad(grad, theta)
	for i, r := range e.rows {
		e.logs[i] = e.likelihood(e.grads[i], theta, r, e.chances[i])
	}
	return v + average(grad, e.logs, e.grads)
}

// likelihood is the log density of the score for one imputation, and its gradient.
func (e *classEvaluator) likelihood(grad, theta []float64, r *classRows, chances []float64) float64 {
	s, p, of := &e.config.Statistics, e.p, e.of
	each := s.size() * float64(p) / float64(len(r.x))
	for j, known := range r.known {
		e.residual[j] = s.Score[j] - s.size()*known + r.short[j]
	}
	for i := 0; i < len(r.x)/p; i++ {
		x, probs := r.x[i*p:(i+1)*p], chances[i*of:(i+1)*of]
		chancesOf(probs, theta, x)
		for k, v := range probs {
			floats.AddScaled(e.residual[k*p:(k+1)*p], each*v, x)
		}
	}
	if r.lacking != nil {
		for j := range e.dim {
			for k, t := range theta {
				e.residual[j] += r.lacking.At(j, k) * (t - e.at[k])
			}
		}
	}
	forward(e.solved, r.lower, e.residual)
	log := r.log - dot(e.solved, e.solved)/2
	backward(e.solved, r.lower, e.solved)
	clear(grad)
	for i := 0; i < len(r.x)/p; i++ {
		x, probs, mean := r.x[i*p:(i+1)*p], chances[i*of:(i+1)*of], 0.0
		for k, v := range probs {
			e.along[k] = dot(x, e.solved[k*p:(k+1)*p])
			mean += v * e.along[k]
		}
		for k, v := range probs {
			floats.AddScaled(grad[k*p:(k+1)*p], -each*v*(e.along[k]-mean), x)
		}
	}
	if r.lacking != nil {
		for j := range e.dim {
			for k, u := range e.solved {
				grad[j] -= r.lacking.At(j, k) * u
			}
		}
	}
	return log
}
