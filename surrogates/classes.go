package surrogates

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

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
	// Effect is that of a Config, for the predictor of each class. Levels have effects of unknown scale too.
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
	dim, p, of   int  // parameters, features, classes
	averaged     bool // over second moments
	rows         []*classRows
	at           []float64 // the mean of the anchors
	mean, factor []float64 // of an approximation: see Score
}

// mostClassNumbers is mostImputed of classes whose features have no levels of categories.
const mostClassNumbers = 12

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
	_, normal := c.Prior.(priors.Gaussian)
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
	out := &Classes{config: c, dim: d, p: p, of: d / p, at: make([]float64, d)}
	for _, at := range c.Anchors {
		floats.AddScaled(out.at, 1/float64(len(c.Anchors)), at)
	}
	m := newMoments(s.Moment, s.MomentSD, float64(s.Records)*s.Radius*s.Radius, s.Columns, p)
	if out.averaged = p > mostImputed || p > mostClassNumbers && !hasCategories(s.Columns); out.averaged {
		m.average(rng) // the score's variance is held fixed
	}
	given := each.priorGiven(c.Effect, c.Prior, d, out.scale, rng)
	if out.averaged {
		r := out.impute(m.positive(), m, rng)
		given(&r.ownPrior, nil, 1) // effects have none
		out.rows = []*classRows{r}
	} else {
		out.rows = out.imputed(m, given, rng)
	}
	if err := out.settle(); err != nil {
		return nil, err
	}
	return out, out.split(rng)
}

// split is that of a Score.
func (c *Classes) split(rng *rand.Rand) error {
	return splitAll(Config{Statistics: c.config.ofFeatures()}.twoValued(), c.movedBySplits, func(by []TwoValued) error {
		for _, r := range c.rows {
			c.draw(r, r.law.splitBy(by), rng)
		}
		return c.settle()
	})
}

// movedBySplits is that of a Score, for coefficients less the mean over classes.
func (c *Classes) movedBySplits(by []TwoValued) ([]float64, error) {
	rng, moved := rand.New(rand.NewPCG(c.config.Seed, 0x5b17)), make([]float64, len(by))
	for i, v := range by {
		apart, weight := make([]float64, c.dim), c.config.Statistics.size()/float64(len(c.rows))
		for _, r := range c.rows {
			if split := r.law.split(v); split != r.law {
				c.addMean(apart, c.manyRows(split, rng), weight)
				c.addMean(apart, r.many, -weight)
			}
		}
		moved[i] = c.moved(apart)
	}
	return moved, nil
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
		if err := part.settle(); err != nil {
			return nil, err
		}
		out[k] = &part
	}
	return out, nil
}

func (c *Classes) parameters() int { return c.dim }

// scale is that of numbers and levels, and known where laws share the mean of the second moments.
func (c *Classes) scale(j int) float64 {
	if c.averaged || j == ConstantOf(c.config.Statistics.Columns) {
		return 0
	}
	return 1
}

// priors are those of the laws.
func (c *Classes) priors() (all ownPriors) {
	for _, r := range c.rows {
		all = append(all, &r.ownPrior)
	}
	return all
}

// imputed are rows of laws that are chosen by about how likely the score is.
func (c *Classes) imputed(m *moments, given priorOf, rng *rand.Rand) (all []*classRows) {
	likely := func(second *mat.SymDense) ([]float64, float64) { return c.likely(c.law(second, m), given, rng), 0 }
	for _, l := range m.choose(c.config.Imputations, c.shares(), rng, likely) {
		r := c.impute(l.second, m, rng)
		given(&r.ownPrior, r.law, l.share)
		r.chosen = l.chosen
		all = append(all, r)
	}
	return all
}

// shares are the scales of effects.
func (c *Classes) shares() []float64 { return c.config.ofFeatures().shares(c.config.Effect, c.scale) }

// likely is that of a Config, by rows of the law and about the anchors.
func (c *Classes) likely(law *normal, given priorOf, rng *rand.Rand) []float64 {
	s, r := c.config.Statistics, &classRows{law: law, pairs: law.rows(halfRows, rng)}
	c.anchored(r)
	information, _ := r.information(c.at, c.p)
	information.ScaleSym(s.size(), information)
	variance, off := mat.NewSymDense(c.dim, nil), mat.NewVecDense(c.dim, nil)
	r.sum(off.RawVector().Data, make([]float64, c.of), c.at)
	for j := range c.dim {
		off.SetVec(j, s.Score[j]-s.size()*(r.known[j]-off.AtVec(j)))
		for k := range j + 1 {
			variance.SetSym(j, k, information.At(j, k))
		}
		variance.SetSym(j, j, variance.At(j, j)+s.ScoreSD*s.ScoreSD)
	}
	var moved mat.VecDense
	moved.MulVec(information, mat.NewVecDense(c.dim, c.at))
	off.SubVec(off, &moved)
	return given.likely(law, off, information, variance, func(*mat.SymDense) float64 { return 0 }, c.shares())
}

// ofFeatures are the statistics as those of one class, whose score and anchor are not read.
func (c ClassesConfig) ofFeatures() Statistics {
	s := c.Statistics
	p := int(math.Sqrt(float64(len(s.Moment))))
	s.Anchor, s.Score = s.Anchor[:p], s.Score[:p]
	return s
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
	lacking := mat.NewSymDense(c.dim, nil)
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
						lacking.SetSym(l*p+m, k*p+j, tau*among.At(k, l)*r.missing.At(j, m))
					}
				}
			}
		}
	}
	r.lacking = mat.DenseCopyOf(lacking).RawMatrix().Data
}

// settle finds the posterior's centre, on which the score's variance depends, and it on that.
func (c *Classes) settle() error {
	if c.mean == nil {
		c.mean = append([]float64(nil), c.config.Statistics.Anchor...)
	}
	var cov *mat.SymDense
	for range 4 {
		for _, r := range c.rows {
			r.settle(c.mean, cov)
			if err := c.freeze(r, cov); err != nil {
				return err
			}
		}
		var err error
		smooth := c.under(1)
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
			out.AddSym(out, mat.NewSymDense(c.dim, r.lacking))
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
	c.priors().precision(precision)
	var chol mat.Cholesky
	cov := mat.NewSymDense(c.dim, nil)
	if !chol.Factorize(precision) || chol.InverseTo(cov) != nil {
		return nil, errors.New("surrogates: the posterior's precision is not positive definite")
	}
	return cov, nil
}
