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
	class := func() []float64 { return make([]float64, c.of) }
	e := &classEvaluator{Classes: c, residual: row(), solved: row(), middle: class(), here: class(), total: class(),
		logs: make([]float64, len(c.rows))}
	for _, r := range c.rows {
		e.grads = append(e.grads, row())
		var chances [][]float64
		for _, of := range r.pairs {
			chances = append(chances, make([]float64, 2*len(of.around)/c.p*c.of))
		}
		e.chances = append(e.chances, chances)
	}
	return e
}

type classEvaluator struct {
	*Classes
	residual, solved    []float64
	middle, here, total []float64     // of classes
	grads               [][]float64   // of imputations
	chances             [][][]float64 // of imputations and parts of their laws
	logs                []float64
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
func (e *classEvaluator) likelihood(grad, theta []float64, r *classRows, chances [][]float64) float64 {
	s := &e.config.Statistics
	for j, known := range r.known {
		e.residual[j] = s.Score[j] - s.size()*known + r.short[j]
	}
	for i, of := range r.pairs {
		e.forth(theta, of, chances[i])
	}
	if r.lacking != nil {
		floats.SubTo(e.solved, theta, e.at)
		for j := range e.dim {
			e.residual[j] += dot(r.lacking[j*e.dim:(j+1)*e.dim], e.solved)
		}
	}
	forward(e.solved, r.lower, e.residual)
	log := r.log - dot(e.solved, e.solved)/2
	backward(e.solved, r.lower, e.solved)
	clear(grad)
	for i, of := range r.pairs {
		e.back(grad, of, chances[i])
	}
	if r.lacking != nil {
		for j := range e.dim {
			grad[j] -= dot(r.lacking[j*e.dim:(j+1)*e.dim], e.solved)
		}
	}
	return log
}

// forth adds Σ x·p_k to the residual and sets the chances of rows and their mirror images, which share
// their products with the mean and, but for the sign, with what is around it.
func (e *classEvaluator) forth(theta []float64, rows pairs, chances []float64) {
	p, of, mean, around, each := e.p, e.of, rows.mean, rows.around, e.config.Statistics.size()*rows.each
	clear(e.total)
	for k := range of {
		e.middle[k] = dot(mean, theta[k*p:(k+1)*p])
	}
	for i := range len(around) / p {
		a, one, other := around[i*p:(i+1)*p], chances[2*i*of:(2*i+1)*of], chances[(2*i+1)*of:(2*i+2)*of]
		for k, m := range e.middle {
			v := dot(a, theta[k*p:(k+1)*p])
			one[k], other[k] = m+v, m-v
		}
		softmax(one)
		softmax(other)
		for k, v := range one {
			floats.AddScaled(e.residual[k*p:(k+1)*p], each*(v-other[k]), a)
			e.total[k] += v + other[k]
		}
	}
	for k, v := range e.total {
		floats.AddScaled(e.residual[k*p:(k+1)*p], each*v, mean)
	}
}

// back subtracts from grad the derivative of solved·Σ x·p_k.
func (e *classEvaluator) back(grad []float64, rows pairs, chances []float64) {
	p, of, mean, around, each := e.p, e.of, rows.mean, rows.around, e.config.Statistics.size()*rows.each
	clear(e.total)
	for k := range of {
		e.middle[k] = dot(mean, e.solved[k*p:(k+1)*p])
	}
	for i := range len(around) / p {
		a, one, other := around[i*p:(i+1)*p], chances[2*i*of:(2*i+1)*of], chances[(2*i+1)*of:(2*i+2)*of]
		var mean1, mean2 float64
		for k, m := range e.middle {
			e.here[k] = dot(a, e.solved[k*p:(k+1)*p])
			mean1 += one[k] * (m + e.here[k])
			mean2 += other[k] * (m - e.here[k])
		}
		for k, m := range e.middle {
			v, w := one[k]*(m+e.here[k]-mean1), other[k]*(m-e.here[k]-mean2)
			floats.AddScaled(grad[k*p:(k+1)*p], each*(w-v), a)
			e.total[k] += v + w
		}
	}
	for k, v := range e.total {
		floats.AddScaled(grad[k*p:(k+1)*p], -each*v, mean)
	}
}
