package surrogates

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// imputation is one set of synthetic features, m×d, standing for all records.
type imputation struct {
	x       []float64
	columns []float64     // x by columns, d×m
	at      []float64     // linear predictors at the anchor
	offset  []float64     // of the linear predictors
	weight  float64       // records that a row stands for
	log     float64       // of the determinant of an optimum's density
	missing *mat.SymDense // curvature that the features lack, where the variance is frozen
	frozen  []float64     // factor of the score's covariance where that does not follow θ
}

// column is that of a feature.
func (im *imputation) column(j int) []float64 {
	m := len(im.at)
	return im.columns[j*m : (j+1)*m]
}

// byColumn are rows of d values, column by column.
func byColumn(x []float64, d int) []float64 {
	m := len(x) / d
	out := make([]float64, len(x))
	for i := range m {
		for j := range d {
			out[j*m+i] = x[i*d+j]
		}
	}
	return out
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
	var second *mat.SymDense
	if x == nil {
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
	im := imputation{x: x, columns: byColumn(x, d), at: at, offset: make([]float64, len(at)),
		weight: float64(s.Records) / float64(len(at))}
	for i, o := range c.predictors(x) {
		im.offset[i] = at[i] - o
	}
	if s.Ridge > 0 {
		h := mat.NewSymDense(d, nil)
		if s.Weighted && second != nil {
			h.ScaleSym(s.temperature(), second)
		} else {
			h.ScaleSym(s.temperature()*float64(s.Records), c.curvature(x))
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
// stretched until the curvature is exact. Rows are no longer than the radius in the
// mean, which keeps weights from falling without end at a far anchor; where they
// vanish all the same, the rows say nothing and stay as they are.
func (c Config) weightedFeatures(curvature *mat.SymDense, m *moments, z []float64) (x, at []float64) {
	d := curvature.SymmetricDim()
	second := mat.NewSymDense(d, nil)
	weight := c.Link.Weight(0, 0)
	radius := c.Statistics.Radius
	floor := mat.Trace(curvature) / (radius * radius)
	for range 20 { // of the mean weight and the features that it belongs to
		second.ScaleSym(1/weight, curvature)
		x = features(second, m.constant, z)
		next := mat.Trace(c.curvature(x)) / mat.Trace(second)
		weight = max(floor, math.Sqrt(weight*max(next, weight/16)))
	}
	at = c.predictors(x)
	wanted, ok := choleskyOf(curvature)
	have, fine := choleskyOf(c.curvature(x))
	if !ok {
		panic("surrogates: a drawn curvature is not positive definite")
	}
	if !fine {
		return x, at
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
