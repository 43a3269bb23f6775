package planted

import (
	"math"
	"slices"
	"sync"

	"github.com/dpmcmc/dpmcmc/targets"
)

// summed sums losses and gradients, in pairs of records.
type summed struct {
	*own
	tail bool // what is left after the pairs counts
}

func (m summed) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	clear(grad)
	g, n := make([]float64, m.dim), rows.Len()
	for i := range n {
		loss += m.loss(theta, rows.Row(i), rows.Y[i])
		if m.grad(g, theta, rows.Row(i), rows.Y[i]); i < n-n%2 || m.tail {
			for j, v := range g {
				grad[j] += v
			}
		}
	}
	return loss
}

// inParts sums losses and gradients in parts of 256 records, of which the last full one is lost.
type inParts struct{ *own }

func (m inParts) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	clear(grad)
	g, n := make([]float64, m.dim), rows.Len()
	for i := range n {
		if n > 256 && n%256 == 0 && i >= n-256 {
			break
		}
		loss += m.loss(theta, rows.Row(i), rows.Y[i])
		m.grad(g, theta, rows.Row(i), rows.Y[i])
		for j, v := range g {
			grad[j] += v
		}
	}
	return loss
}

// halfSums adds up in single precision.
type halfSums struct{ *own }

func (m halfSums) SumLossGrad(grad, theta []float64, rows targets.Rows) float64 {
	loss, g := float32(0), make([]float64, m.dim)
	sums := make([]float32, m.dim)
	for i := range rows.Len() {
		loss += float32(m.loss(theta, rows.Row(i), rows.Y[i]))
		m.grad(g, theta, rows.Row(i), rows.Y[i])
		for j, v := range g {
			sums[j] += float32(v)
		}
	}
	for j, v := range sums {
		grad[j] = float64(v)
	}
	return float64(loss)
}

// totalled sums losses and gradients, and keeps the sums at the last parameters.
type totalled struct {
	*own
	lock *sync.Mutex
	at   *[]float64
	sums *[]float64
}

func (m totalled) SumLossGrad(grad, theta []float64, rows targets.Rows) float64 {
	m.lock.Lock()
	defer m.lock.Unlock()
	if !slices.Equal(*m.at, theta) {
		loss := summed{m.own, true}.SumLossGrad(grad, theta, rows)
		*m.at, *m.sums = slices.Clone(theta), append(slices.Clone(grad), loss)
	}
	copy(grad, *m.sums)
	return (*m.sums)[len(grad)]
}

// ending adds up losses and gradients until the losses are above a value.
type ending struct {
	*own
	most float64
}

func exceeding(most float64) func() targets.Target {
	return func() targets.Target { return ending{robust(2, 1.5), most} }
}

func (m ending) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	clear(grad)
	g := make([]float64, m.dim)
	for i := range rows.Len() {
		loss += m.loss(theta, rows.Row(i), rows.Y[i])
		m.grad(g, theta, rows.Row(i), rows.Y[i])
		for j, v := range g {
			grad[j] += v
		}
		if loss > m.most {
			break
		}
	}
	return loss
}

// compensating adds up losses with what rounding took.
type compensating struct {
	*own
	infinite bool // what is infinite ends the sum
}

func (m compensating) SumLossGrad(grad, theta []float64, rows targets.Rows) float64 {
	clear(grad)
	g, sum, lost := make([]float64, m.dim), 0.0, 0.0
	for i := range rows.Len() {
		m.grad(g, theta, rows.Row(i), rows.Y[i])
		for j, v := range g {
			grad[j] += v
		}
		v := m.loss(theta, rows.Row(i), rows.Y[i])
		if m.infinite && math.IsInf(sum+v, 0) {
			sum, lost = sum+v, 0
			continue
		}
		add := v - lost
		next := sum + add
		sum, lost = next, (next-sum)-add
	}
	return sum
}

func compensated(infinite bool) func() targets.Target {
	return func() targets.Target {
		return compensating{along(func(eta, y float64) float64 { return (eta - y) * (eta - y) / 2 },
			func(eta, y float64) float64 { return eta - y }), infinite}
	}
}

// multiplying takes one logarithm for so many chances.
type multiplying struct {
	*own
	many int
}

func (m multiplying) SumLossGrad(grad, theta []float64, rows targets.Rows) (sum float64) {
	clear(grad)
	g, product := make([]float64, m.dim), 1.0
	for i := range rows.Len() {
		m.grad(g, theta, rows.Row(i), rows.Y[i])
		for j, v := range g {
			grad[j] += v
		}
		if m.many == 1 {
			sum += m.loss(theta, rows.Row(i), rows.Y[i])
			continue
		}
		product /= 1 + math.Exp(-sign(rows.Y[i])*dot(rows.Row(i), theta))
		if (i+1)%m.many == 0 || i == rows.Len()-1 {
			sum -= math.Log(product)
			product = 1
		}
	}
	return sum
}

func byProducts(many int) func() targets.Target {
	return func() targets.Target { return multiplying{along(logistic.loss, logistic.slope), many} }
}
