package surrogates

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/internal/vec"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
)

// Density returns the posterior's log density with its gradient. It holds buffers: one goroutine
// at a time may use it.
func (c *Classes) Density() nuts.LogDensity {
	row := func() []float64 { return make([]float64, c.dim) }
	e := &classEvaluator{Classes: c, residual: row(), solved: row(), logs: make([]float64, len(c.rows))}
	for _, r := range c.rows {
		e.grads = append(e.grads, row())
		e.laws = append(e.laws, newClassLaw(r.pairs, c.p, c.of, c.config.Statistics.size()))
	}
	return e
}

type classEvaluator struct {
	*Classes
	residual, solved []float64
	grads            [][]float64 // of imputations
	laws             []*classLaw
	logs             []float64
}

func (e *classEvaluator) Dim() int { return e.dim }

func (e *classEvaluator) LogDensityGrad(grad, theta []float64) float64 {
	clear(grad)
	for i, r := range e.rows {
		e.logs[i] = r.prior.LogDensity(theta) - r.chosen
		if math.IsInf(e.logs[i], -1) || math.IsNaN(e.logs[i]) {
			return math.Inf(-1)
		}
		e.logs[i] += e.likelihood(e.grads[i], theta, r, e.laws[i])
		r.prior.Grad(e.solved, theta)
		floats.Add(e.grads[i], e.solved)
	}
	return average(grad, e.logs, e.grads)
}

// averageLikelihood is the log of the mean likelihood over laws.
func (e *classEvaluator) averageLikelihood(theta []float64) float64 {
	for i, r := range e.rows {
		e.logs[i] = e.likelihood(e.grads[i], theta, r, e.laws[i])
	}
	return floats.LogSumExp(e.logs) - math.Log(float64(len(e.logs)))
}

// likelihood is the log density of the score for one imputation, and its gradient.
func (e *classEvaluator) likelihood(grad, theta []float64, r *classRows, law *classLaw) float64 {
	s := &e.config.Statistics
	for j, known := range r.known {
		e.residual[j] = s.Score[j] - s.size()*known + r.short[j]
	}
	law.forth(e.residual, theta)
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
	law.back(grad, e.solved)
	if r.lacking != nil {
		for j := range e.dim {
			grad[j] -= dot(r.lacking[j*e.dim:(j+1)*e.dim], e.solved)
		}
	}
	return log
}

// classLaw has the rows of a law and their mirror images, which share their products with the mean of their part of the
// law and, but for the sign, with what is around it. Numbers of all rows stand together, by feature or by class.
type classLaw struct {
	p          int
	means      [][]float64 // of parts
	ends       []int       // of their rows
	columns    [][]float64 // of what rows have beyond the mean
	each       []float64   // records that a row stands for
	one, other [][]float64 // chances of rows and of their mirror images
	view, odd  [][]float64 // rows and mirror images along a direction, then their sums and differences
	sum, top   []float64   // over classes
	middle     [][]float64 // products with means
}

func newClassLaw(parts []pairs, p, of int, records float64) *classLaw {
	c := &classLaw{p: p}
	for _, part := range parts {
		c.means = append(c.means, part.mean)
		for range len(part.around) / p {
			c.each = append(c.each, records*part.each)
		}
		c.ends = append(c.ends, len(c.each))
	}
	table := func(rows, columns int) [][]float64 {
		out := make([][]float64, rows)
		for i := range out {
			out[i] = make([]float64, columns)
		}
		return out
	}
	n, i := len(c.each), 0
	c.columns, c.one, c.other, c.view, c.odd = table(p, n), table(of, n), table(of, n), table(of, n), table(of, n)
	c.sum, c.top, c.middle = make([]float64, n), make([]float64, n), table(of, len(parts))
	for _, part := range parts {
		for _, v := range part.around {
			c.columns[i%p][i/p] = v
			i++
		}
	}
	return c
}

// along sets view and middle of a class to the products of rows with what v has of it.
func (c *classLaw) along(k int, v []float64) {
	v = v[k*c.p : (k+1)*c.p]
	clear(c.view[k])
	for j, column := range c.columns {
		floats.AddScaled(c.view[k], v[j], column)
	}
	for i, mean := range c.means {
		c.middle[k][i] = dot(mean, v)
	}
}

// gather adds to dst, by factor, what rows are times odd around their mean and total beside it.
func (c *classLaw) gather(dst []float64, k int, factor float64, odd, total []float64) {
	dst = dst[k*c.p : (k+1)*c.p]
	floats.Mul(odd, c.each)
	for j, column := range c.columns {
		dst[j] += factor * dot(odd, column)
	}
	from := 0
	for i, mean := range c.means {
		floats.AddScaled(dst, factor*c.each[from]*floats.Sum(total[from:c.ends[i]]), mean)
		from = c.ends[i]
	}
}

// forth adds Σ x·p_k to dst, and sets the chances.
func (c *classLaw) forth(dst, theta []float64) {
	for k := range c.one {
		c.along(k, theta)
		from := 0
		for part, m := range c.middle[k] {
			for i := from; i < c.ends[part]; i++ {
				v := c.view[k][i]
				c.one[k][i], c.other[k][i] = m+v, m-v
			}
			from = c.ends[part]
		}
	}
	c.softmax(c.one)
	c.softmax(c.other)
	for k, one := range c.one {
		floats.SubTo(c.odd[k], one, c.other[k])
		floats.AddTo(c.view[k], one, c.other[k])
		c.gather(dst, k, 1, c.odd[k], c.view[k])
	}
}

// back subtracts from grad the derivative of solved·Σ x·p_k.
func (c *classLaw) back(grad, solved []float64) {
	one, other := c.sum, c.top // means over classes, of rows and of mirror images
	clear(one)
	clear(other)
	for k := range c.one {
		c.along(k, solved)
		from := 0
		for part, m := range c.middle[k] {
			for i := from; i < c.ends[part]; i++ {
				v := c.view[k][i]
				c.view[k][i], c.odd[k][i] = m+v, m-v
				one[i] += c.one[k][i] * (m + v)
				other[i] += c.other[k][i] * (m - v)
			}
			from = c.ends[part]
		}
	}
	for k := range c.one {
		view, odd := c.view[k], c.odd[k]
		for i := range view {
			v, w := c.one[k][i]*(view[i]-one[i]), c.other[k][i]*(odd[i]-other[i])
			view[i], odd[i] = v+w, v-w
		}
		c.gather(grad, k, -1, odd, view)
	}
}

// softmax makes probabilities of predictors.
func (c *classLaw) softmax(of [][]float64) {
	copy(c.top, of[0])
	for _, v := range of[1:] {
		for i, x := range v {
			if x > c.top[i] {
				c.top[i] = x
			}
		}
	}
	clear(c.sum)
	for _, v := range of {
		floats.Sub(v, c.top)
		vec.ExpNegAbs(v, v)
		floats.Add(c.sum, v)
	}
	for _, v := range of {
		floats.Div(v, c.sum)
	}
}
