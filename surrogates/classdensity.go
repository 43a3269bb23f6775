package surrogates

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/ops/nuts"
)

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
