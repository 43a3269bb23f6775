package surrogates

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// explained is the prior of what features explain of a response (Zellner and Siow 1980):
// given the errors' standard deviation σ and the features' second moments about the
// constant column, C, √(C/N)·β/σ has a multivariate Cauchy law of scale √(r/k) in its k
// dimensions. So the variance explained is about r times that of errors, with heavy tails,
// and coefficients are large along directions that features hardly take, which noise hides.
type explained struct {
	of       *Linear
	ratio    float64   // r/k
	k        float64   // features but the constant one
	constant int       // its column, or −1
	centred  []float64 // β less what the constant column takes up
	along    []float64 // XᵀX·centred
	slope    float64   // of the log density in the explained variance, negated and doubled
}

// newExplained is nil where there is no such prior, or no feature that it is about.
func (l *Linear) newExplained() *explained {
	e := &explained{of: l, k: float64(l.dim), constant: ConstantOf(l.config.Sums.Columns),
		centred: make([]float64, l.dim), along: make([]float64, l.dim)}
	if e.constant >= 0 {
		e.k--
	}
	if e.ratio = l.config.ZellnerSiow / e.k; l.config.ZellnerSiow == 0 || e.k == 0 {
		return nil
	}
	return e
}

// ZellnerSiow is the prior's factor given sums without noise, for r above 0 (LinearConfig.ZellnerSiow). The
// function adds its gradient in β to grad, and returns its logarithm and the derivative of that in
// σ. It has buffers, for one goroutine.
func (s Sums) ZellnerSiow(r float64) func(grad, beta []float64, sigma float64) (log, inSigma float64) {
	l := &Linear{config: LinearConfig{Sums: s, ZellnerSiow: r}, dim: s.Features, square: s.square()}
	if e := l.newExplained(); e != nil {
		return e.log
	}
	return func(_, _ []float64, _ float64) (log, inSigma float64) { return 0, 0 }
}

// log adds the log density's gradient in β to grad, and returns it without the determinant
// of XᵀX, and its derivative in σ.
func (e *explained) log(grad, beta []float64, sigma float64) (log, inSigma float64) {
	d, n := e.of.dim, float64(e.of.config.Sums.Records)
	copy(e.centred, beta)
	if seen := e.of.config.seen; seen != nil { // of responses that are whole
		floats.Add(e.centred, seen.centre)
	}
	row := e.intercepts()
	if row != nil {
		e.centred[e.constant] -= dot(row, e.centred) / row[e.constant]
		log -= math.Log(row[e.constant]) / 2
	}
	for j := range d {
		e.along[j] = dot(e.of.square[j*d:(j+1)*d], e.centred)
	}
	variance := dot(e.centred, e.along) / n
	scale := e.ratio * sigma * sigma
	e.slope = (1 + e.k) / (scale + variance)
	for j, v := range e.along {
		grad[j] -= e.slope * v / n
	}
	log -= (1+e.k)/2*math.Log1p(variance/scale) + e.k*math.Log(sigma)
	return log, (e.slope*variance - e.k) / sigma
}

// intercepts is the row of XᵀX that belongs to the constant column, nil for none.
func (e *explained) intercepts() []float64 {
	if e.constant < 0 {
		return nil
	}
	d := e.of.dim
	return e.of.square[e.constant*d : (e.constant+1)*d]
}

// inSquare adds the derivative in XᵀX, its determinant left out, after log.
func (e *explained) inSquare(p []float64) {
	d, by := e.of.dim, e.slope/(2*float64(e.of.config.Sums.Records))
	for j, b := range e.centred {
		for k, c := range e.centred {
			p[j*d+k] -= by * b * c
		}
	}
	if row := e.intercepts(); row != nil {
		p[e.constant*(d+1)] -= 1 / (2 * row[e.constant])
	}
}
