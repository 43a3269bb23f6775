package surrogates

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/ops/nuts"
)

// Density returns the posterior's log density with its gradient. It holds buffers:
// one goroutine at a time may use it.
func (p *Score) Density() nuts.LogDensity {
	d := p.dim
	e := &evaluator{Score: p, residual: make([]float64, d), solved: make([]float64, d), whole: make([]float64, d),
		cov: mat.NewSymDense(d, nil)}
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
