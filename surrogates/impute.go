package surrogates

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// imputation is one law of the features.
type imputation struct {
	ownPrior
	features *features
	plain    *normal       // the law before it was turned to a curvature, nil where none is
	shape    *mat.SymDense // that curvature, of one record
	score    []float64     // as at the anchor
	log      float64       // of the determinant of an optimum's density
	missing  *mat.SymDense // curvature that the features lack of the mean, where they share it
	doubt    []float64     // covariance of the score that doubt in the law makes, its lower triangle
	frozen   []float64     // factor of the score's covariance where that does not follow θ
}

// mostImputed is the number of features up to which imputations have second moments drawn each for itself, and
// mostNumbers that of labels without levels of categories. Beyond it all have their posterior mean, and what is not
// known of them is in the score's variance, which is that at the posterior's centre.
const (
	mostImputed = 24
	mostNumbers = 64
)

// averaged reports whether imputations share the mean of the second moments.
func (c Config) averaged() bool {
	most := mostNumbers
	if _, centred := c.Link.(Centred); centred || hasCategories(c.Statistics.Columns) {
		most = mostImputed
	}
	return len(c.Statistics.Anchor) > most
}

// hasCategories reports whether a column is a level's indicator.
func hasCategories(columns []Column) bool {
	return slices.ContainsFunc(columns, func(c Column) bool { return c.Kind == Level && c.Lower == 0 })
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
	m := newMoments(s.Moment, s.MomentSD, top, s.Columns, len(s.Anchor))
	if s.Weighted { // weights are small where chances are far from even, whatever columns do
		m.typical = nil
	}
	return m
}

// impute makes one law of the features, with these second moments, beside the score.
func (c Config) impute(second *mat.SymDense, score []float64, m *moments) imputation {
	s := c.Statistics
	im := imputation{score: score}
	if s.Weighted {
		each, h := c.each(second), mat.NewSymDense(len(s.Anchor), nil)
		im.features = newFeatures(c.weighted(each, m), c.Link)
		if m.plain != nil {
			im.plain, im.shape = newNormal(m.plain, m.constant, s.Anchor), each
		}
		h.ScaleSym(s.temperature(), second)
		im.log = s.determinant(h)
	} else {
		c.imputeLaw(&im, c.law(second, m.constant))
	}
	return im
}

// law is the normal law of features with these second moments, of all records.
func (c Config) law(second *mat.SymDense, constant int) *normal {
	return newNormal(c.each(second), constant, c.Statistics.Anchor)
}

// each is a mean over records.
func (c Config) each(sum *mat.SymDense) *mat.SymDense {
	out := mat.NewSymDense(sum.SymmetricDim(), nil)
	out.ScaleSym(1/float64(c.Statistics.Records), sum)
	return out
}

// imputeLaw sets a law of the features, and what follows from it.
func (c Config) imputeLaw(im *imputation, law *normal) {
	im.features = newFeatures(law, c.Link)
	if s := c.Statistics; s.Ridge > 0 {
		h := im.features.information(s.Anchor)
		h.ScaleSym(s.size(), h)
		im.log = s.determinant(h)
	}
}

// determinant is the logarithm of what an optimum's density has of the information at the anchor.
func (s Statistics) determinant(information *mat.SymDense) float64 {
	if s.Ridge == 0 {
		return 0
	}
	for j := range s.Anchor {
		information.SetSym(j, j, information.At(j, j)+s.Ridge)
	}
	var chol mat.Cholesky
	if !chol.Factorize(information) {
		return 0
	}
	return chol.LogDet()
}

// size is how many records' worth of information there is.
func (s Statistics) size() float64 { return s.temperature() * float64(s.Records) }

// weighted is a law of features whose curvature at the anchor is that released, and
// of the linear predictors there. Both are those of normal features with the curvature's
// shape; then, with the predictors held, the features are turned and stretched until the
// curvature is exact. They are no longer than the radius in the mean, which keeps weights from
// falling without end at a far anchor; where they vanish all the same, the features say
// nothing and stay as they are.
func (c Config) weighted(curvature *mat.SymDense, m *moments) *normal {
	var n *normal
	var have *mat.SymDense
	second := mat.NewSymDense(curvature.SymmetricDim(), nil)
	weight := c.Link.Weight(0, 0)
	radius := c.Statistics.Radius
	floor := mat.Trace(curvature) / (radius * radius)
	for range 20 { // of the mean weight and the features that it belongs to
		second.ScaleSym(1/weight, curvature)
		n = newNormal(second, m.constant, c.Statistics.Anchor)
		have = n.curvature(c.Link)
		next := mat.Trace(have) / mat.Trace(second)
		weight = max(floor, math.Sqrt(weight*max(next, weight/16)))
	}
	if turn, ok := between(have, curvature); ok {
		return n.turned(turn)
	}
	return n
}

// unturned is the law of features with their second moments.
func (im *imputation) unturned() *normal {
	if im.plain != nil {
		return im.plain
	}
	return im.features.normal
}

// turned is such a law turned to the curvature, where there is one.
func (im *imputation) turned(law *normal, link Link) *normal {
	if im.plain != nil {
		if turn, ok := between(law.curvature(link), im.shape); ok {
			return law.turned(turn)
		}
	}
	return law
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
