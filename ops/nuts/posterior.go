package nuts

import (
	"math"

	"github.com/dpmcmc/dpmcmc/targets"
)

// Posterior returns the log density of a target's posterior given records, with
// the log-likelihood multiplied by a temperature in (0, 1]: what a private chain on
// the same records aims at. It holds buffers: one goroutine at a time may use it.
func Posterior(t targets.GradTarget, rows targets.Rows, temperature float64) LogDensity {
	p := &posterior{target: t, rows: rows, temperature: temperature, loss: make([]float64, block)}
	if s, ok := t.(targets.SumTarget); ok {
		p.sums, p.grads = s, make([]float64, t.Dim())
	} else {
		p.grads = make([]float64, block*t.Dim())
	}
	return p
}

// block is the number of records that are evaluated at once.
const block = 256

type posterior struct {
	target      targets.GradTarget
	sums        targets.SumTarget // nil if the target is none
	rows        targets.Rows
	temperature float64
	loss, grads []float64 // of one block of records; grads of all for sums
}

func (p *posterior) Dim() int { return p.target.Dim() }

func (p *posterior) LogDensityGrad(grad, theta []float64) float64 {
	v := p.target.LogPrior(theta)
	if math.IsInf(v, -1) || math.IsNaN(v) {
		return math.Inf(-1)
	}
	p.target.GradLogPrior(grad, theta)
	if p.sums != nil {
		v -= p.temperature * p.sums.SumLossGrad(p.grads, theta, p.rows)
		for j, g := range p.grads {
			grad[j] -= p.temperature * g
		}
		return v
	}
	for lo := 0; lo < p.rows.Len(); lo += block {
		part := p.rows.Slice(lo, min(lo+block, p.rows.Len()))
		loss := p.loss[:part.Len()]
		p.target.Loss(loss, theta, part)
		g := p.grads[:part.Len()*len(theta)]
		p.target.LossGrad(g, theta, part)
		for i, x := range g {
			grad[i%len(theta)] -= p.temperature * x
		}
		for _, l := range loss {
			v -= p.temperature * l
		}
	}
	return v
}
