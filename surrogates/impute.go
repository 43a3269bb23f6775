package surrogates

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// imputation is one set of synthetic features, m×d, standing for all records.
type imputation struct {
	features features
	weight   float64       // records that each of them stands for
	log      float64       // of the determinant of an optimum's density
	missing  *mat.SymDense // curvature that the features lack of the mean, where they share it
	open     []float64     // variances of that mean's entries, where the variance follows θ
	frozen   []float64     // factor of the score's covariance where that does not follow θ
}

// mostImputed is the number of features up to which imputations have second moments
// drawn each for itself. Beyond it all have their posterior mean, and what is not known of them
// is in the score's variance, which is that at the posterior's centre.
const mostImputed = 24

// mostDrawn is mostImputed where features are a normal law: of more, drawn ones fit a release
// so differently that a sampler does not pass from one to the next. Up to mostImputed the
// score's variance follows θ all the same.
const mostDrawn = 12

// averaged reports whether imputations share the mean of the second moments.
func (c Config) averaged() bool {
	d := len(c.Statistics.Anchor)
	return c.Features == nil && (d > mostImputed || d > mostDrawn && c.Link == Logistic && !c.categories())
}

// frozen reports whether the score's variance does not follow θ.
func (c Config) frozen() bool { return c.averaged() && len(c.Statistics.Anchor) > mostImputed }

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
	var second *mat.SymDense
	im := imputation{}
	switch {
	case c.Features != nil:
		im.features = newRows(c.Link, c.Features, c.predictors(c.Features), s.Anchor)
	case m.mean == nil:
		second = m.draw(rng)
	default:
		second = m.positive()
	}
	if second != nil {
		scaled := mat.NewSymDense(d, nil)
		scaled.ScaleSym(1/float64(s.Records), second)
		im.features = c.drawn(scaled, m, rng)
	}
	im.weight = float64(s.Records) / im.features.size()
	if s.Ridge > 0 {
		h := mat.NewSymDense(d, nil)
		if s.Weighted && second != nil {
			h.ScaleSym(s.temperature(), second)
		} else {
			h.ScaleSym(s.temperature()*im.weight, im.features.information(s.Anchor))
		}
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

// drawn are features with second moments, or with a curvature at the anchor: a normal law
// for the logistic link, and rows of it for others.
func (c Config) drawn(second *mat.SymDense, m *moments, rng *rand.Rand) features {
	s := c.Statistics
	if c.Link == Logistic {
		if s.Weighted {
			return c.weightedNormal(second, m)
		}
		return newNormal(second, m.constant, s.Anchor)
	}
	z := whitened(len(s.Anchor), m.constant, synthetic(len(s.Anchor)), rng)
	if s.Weighted {
		x, at := c.weightedFeatures(second, m, z)
		return newRows(c.Link, x, at, s.Anchor)
	}
	x := coloured(second, m.constant, z, s.Anchor)
	return newRows(c.Link, x, c.predictors(x), s.Anchor)
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

// weightedNormal is a law of features whose curvature at the anchor is that released, and
// of the linear predictors there. Both are those of normal features with the curvature's
// shape; then, with the predictors held, the features are turned and stretched until the
// curvature is exact. They are no longer than the radius in the mean, which keeps weights from
// falling without end at a far anchor; where they vanish all the same, the features say
// nothing and stay as they are.
func (c Config) weightedNormal(curvature *mat.SymDense, m *moments) *normal {
	var n *normal
	c.shaped(curvature, func(second *mat.SymDense) *mat.SymDense {
		n = newNormal(second, m.constant, c.Statistics.Anchor)
		return n.curvature()
	})
	if turn, ok := between(n.curvature(), curvature); ok {
		return n.turned(turn)
	}
	return n
}

// weightedFeatures is weightedNormal of rows.
func (c Config) weightedFeatures(curvature *mat.SymDense, m *moments, z []float64) (x, at []float64) {
	c.shaped(curvature, func(second *mat.SymDense) *mat.SymDense {
		x = coloured(second, m.constant, z, c.Statistics.Anchor)
		return c.curvature(x)
	})
	at = c.predictors(x)
	if turn, ok := between(c.curvature(x), curvature); ok {
		d := curvature.SymmetricDim()
		turned := mat.NewDense(len(at), d, nil)
		turned.Mul(mat.NewDense(len(at), d, x), turn.T())
		x = turned.RawMatrix().Data
	}
	return x, at
}

// shaped makes features of second moments with a curvature's shape. See makes them, and says
// what their curvature is.
func (c Config) shaped(curvature *mat.SymDense, see func(second *mat.SymDense) *mat.SymDense) {
	second := mat.NewSymDense(curvature.SymmetricDim(), nil)
	weight := c.Link.Weight(0, 0)
	radius := c.Statistics.Radius
	floor := mat.Trace(curvature) / (radius * radius)
	for range 20 { // of the mean weight and the features that it belongs to
		second.ScaleSym(1/weight, curvature)
		next := mat.Trace(see(second)) / mat.Trace(second)
		weight = max(floor, math.Sqrt(weight*max(next, weight/16)))
	}
}

// between is the lower triangular T with T·have·Tᵀ = wanted, where have is positive definite.
func between(have, wanted *mat.SymDense) (*mat.Dense, bool) {
	var from, to mat.Cholesky
	if !to.Factorize(wanted) {
		panic("surrogates: a drawn curvature is not positive definite")
	}
	if !from.Factorize(have) {
		return nil, false
	}
	var lower, inverse mat.TriDense
	from.LTo(&lower)
	if err := inverse.InverseTri(&lower); err != nil {
		return nil, false
	}
	to.LTo(&lower)
	out := new(mat.Dense)
	out.Mul(&lower, &inverse)
	return out, true
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
