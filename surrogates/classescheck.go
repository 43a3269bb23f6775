package surrogates

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// contrast adds up what records can tell of a coefficient: what it has beyond the mean of all
// classes, whose common shift changes no probability.
func (c *Classes) contrast(j int) *mat.VecDense {
	v := mat.NewVecDense(c.dim, nil)
	for k := range c.of {
		v.SetVec(k*c.p+j%c.p, -1/float64(c.of))
	}
	v.SetVec(j, 1-1/float64(c.of))
	return v
}

// contrasts are all of them at theta.
func (c *Classes) contrasts(theta []float64) []float64 {
	out := slices.Clone(theta)
	for j := range c.p {
		mean := 0.0
		for k := j; k < c.dim; k += c.p {
			mean += theta[k] / float64(c.of)
		}
		for k := j; k < c.dim; k += c.p {
			out[k] -= mean
		}
	}
	return out
}

// sdOf is the standard deviation of a contrast in the normal approximation.
func (c *Classes) sdOf(j int) float64 {
	var along mat.VecDense
	along.MulVec(mat.NewDense(c.dim, c.dim, c.factor).T(), c.contrast(j))
	return mat.Norm(&along, 2)
}

// Widening is that of a Score, for each coefficient less the mean over classes.
func (c *Classes) Widening(draws Draws) ([]float64, error) {
	with, err := c.covariance(c.mean)
	if err != nil {
		return nil, err
	}
	without, err := c.inverted(c.slope(c.mean))
	if err != nil {
		return nil, err
	}
	return widened(draws, with, without, c.contrast), nil
}

// CheckPrior is that of a Score. Hidden are coefficients by what records can tell of them.
func (c *Classes) CheckPrior(draws Draws) (PriorCheck, error) {
	check := PriorCheck{Favoured: 1, Tail: tail(c.priors().drawn(c.scale, c.averaged), draws, c.dim, c.config.Seed)}
	of := make([][]float64, 0, len(draws.Chains)*len(draws.Chains[0])) // contrasts
	for _, theta := range slices.Concat(draws.Chains...) {
		of = append(of, c.contrasts(theta))
	}
	check.Signs = signsOf(of, c.dim)
	if c.config.Effect > 0 {
		of := c.config.ofFeatures()
		check.Faint, check.Unseen = of.faint(), of.unseen()
	}
	widest := c.priors().widest()
	for j := range c.dim {
		along := c.contrast(j).RawVector().Data
		var told []float64
		for _, one := range of {
			told = append(told, one[j])
		}
		if stat.StdDev(told, nil) <= shown*c.priors().sd(along) {
			continue
		}
		check.Hidden = append(check.Hidden, j)
		// The log odds of two classes have 2K/(K−1) times the variance of one beyond the mean of all.
		if odds := math.Sqrt(float64(2*c.of) / float64(c.of-1)); odds*widest.sd(along)*c.reach(j%c.p) < LeastEffect {
			check.Narrow = append(check.Narrow, j)
		}
	}
	here, err := c.fit(1)
	if err != nil {
		return check, err
	}
	none, err := c.fit(0)
	if err != nil {
		return check, err
	}
	check.Rise, check.Bounded = here-none, math.Inf(1)
	for _, scale := range []float64{2, 4} {
		far, err := c.fit(scale)
		if err != nil {
			return check, err
		}
		check.Bounded = min(check.Bounded, here-far)
	}
	return check, c.widen(&check)
}

// reach is by how much a feature typically moves a record, at most: see Score.
func (c *Classes) reach(j int) float64 {
	if columns := c.config.Statistics.Columns; columns != nil && columns[j].Kind != Number {
		return columns[j].Upper - columns[j].Lower
	}
	all := 0.0
	for _, r := range c.rows {
		mean, variance := r.law.moments(j)
		if c.config.Statistics.Columns == nil { // it may be the intercept
			variance += mean * mean
		}
		all += variance / float64(len(c.rows))
	}
	return math.Sqrt(all)
}

// under is the posterior with a normal prior of scale times the prior's spread, and rows of its
// own, whose covariance it may set.
func (c *Classes) under(scale float64) *Classes {
	wide := *c
	wide.mean, wide.rows = slices.Clone(c.mean), nil
	for _, r := range c.rows {
		own := *r
		own.ownPrior = r.widened(scale)
		wide.rows = append(wide.rows, &own)
	}
	return &wide
}

// fit is the log likelihood of the release at so many times the centre.
func (c *Classes) fit(scale float64) (float64, error) {
	at := c.under(1)
	for j := range at.mean {
		at.mean[j] *= scale
	}
	for _, r := range at.rows {
		if err := at.freeze(r, nil); err != nil {
			return 0, err
		}
	}
	return at.Density().(*classEvaluator).averageLikelihood(at.mean), nil
}

// widen sets what a check says of wider priors.
func (c *Classes) widen(check *PriorCheck) error {
	here, evidence, err := c.evidence(1)
	if err != nil {
		return err
	}
	for _, scale := range []float64{2, 4} {
		wide, wider, err := c.evidence(scale)
		if err != nil {
			return err
		}
		if _, known := c.config.Prior.(priors.Gaussian); known {
			check.Favoured = max(check.Favoured, math.Exp(wider-evidence))
		}
		from, to := c.contrasts(here.mean), c.contrasts(wide.mean)
		for j := range c.dim {
			check.keepSign(j, to[j], wide.sdOf(j))
			if moved := math.Abs(to[j]-from[j]) / here.sdOf(j); scale == 2 && moved > check.Moved {
				check.Moved, check.Coefficient = moved, j
			}
		}
	}
	return nil
}

// evidence is the posterior under a wider prior, with Laplace's approximation of the log
// probability of the release, up to a constant.
func (c *Classes) evidence(scale float64) (*Classes, float64, error) {
	wide := c.under(scale)
	if err := wide.settle(); err != nil {
		return nil, 0, err
	}
	value := wide.Density().LogDensityGrad(make([]float64, c.dim), wide.mean)
	for j := range c.dim {
		value += math.Log(wide.factor[j*c.dim+j] / scale)
	}
	return wide, value, nil
}

// Tails is that of a Score, for coefficients less the mean over classes.
func (c *Classes) Tails() (float64, error) {
	s := c.config.Statistics
	s.Anchor = s.Anchor[:c.p]
	of, apart := &Score{config: Config{Statistics: s}, dim: c.p}, make([]float64, c.dim)
	for _, r := range c.rows {
		far, weight := of.room(r.law), s.size()/float64(len(c.rows))
		if far < shortReach/3 {
			far, weight = tailReach, shortShare*weight
		}
		far = max(1, far)
		near := math.Sqrt((1 - tailShare*far*far) / (1 - tailShare))
		for _, part := range []struct{ share, scale float64 }{{-1, 1}, {1 - tailShare, near}, {tailShare, far}} {
			rows := r.many.spreadOut(part.scale)
			c.anchored(rows)
			c.addMean(apart, rows, part.share*weight)
		}
	}
	return c.moved(apart), nil
}

// moved is that of a Score, for coefficients less the mean over classes.
func (c *Classes) moved(apart []float64) float64 {
	u, gradient := make([]float64, c.dim), mat.NewVecDense(c.dim, nil)
	forward(u, c.rows[0].lower, apart)
	backward(u, c.rows[0].lower, u)
	gradient.MulVec(c.slope(c.mean), mat.NewVecDense(c.dim, u))
	factor, most := mat.NewDense(c.dim, c.dim, c.factor), 0.0
	var whole, along mat.VecDense
	whole.MulVec(factor.T(), gradient)
	for j := range c.dim {
		along.MulVec(factor.T(), c.contrast(j))
		most = max(most, math.Abs(mat.Dot(&along, &whole))/mat.Norm(&along, 2))
	}
	return most
}

// addMean adds so many records' mean score at the centre, by rows, to dst.
func (c *Classes) addMean(dst []float64, r *classRows, records float64) {
	sum := make([]float64, c.dim)
	r.sum(sum, make([]float64, c.of), c.mean)
	floats.AddScaled(dst, records, r.known)
	floats.AddScaled(dst, -records, sum)
}

// spreadOut are rows so many times as far from their mean.
func (r *classRows) spreadOut(by float64) *classRows {
	out := &classRows{law: r.law}
	for _, of := range r.pairs {
		of.around = slices.Clone(of.around)
		floats.Scale(by, of.around)
		out.pairs = append(out.pairs, of)
	}
	return out
}
