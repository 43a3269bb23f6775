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
	if l, ok := t.(targets.LinearTarget); ok {
		p.linear, p.slope = l, make([]float64, block)
	} else {
		p.grads = make([]float64, block*t.Dim())
	}
	return p
}

// block is the number of records that are evaluated at once.
const block = 256

type posterior struct {
	target             targets.GradTarget
	linear             targets.LinearTarget // nil if the target is none
	rows               targets.Rows
	temperature        float64
	loss, slope, grads []float64 // of one block of records
}

func (p *posterior) Dim() int { return p.target.Dim() }

func (p *posterior) LogDensityGrad(grad, theta []float64) float64 {
	v := p.target.LogPrior(theta)
	if math.IsInf(v, -1) || math.IsNaN(v) {
		return math.Inf(-1)
	}
	p.target.GradLogPrior(grad, theta)
	for lo := 0; lo < p.rows.Len(); lo += block {
		part := p.rows.Slice(lo, min(lo+block, p.rows.Len()))
		loss := p.loss[:part.Len()]
		if p.linear != nil {
			p.alongRows(loss, grad, theta, part)
		} else {
			p.target.Loss(loss, theta, part)
			g := p.grads[:part.Len()*len(theta)]
			p.target.LossGrad(g, theta, part)
			for i, x := range g {
				grad[i%len(theta)] -= p.temperature * x
			}
		}
		for _, l := range loss {
			v -= p.temperature * l
		}
	}
	return v
}

// alongRows sets the losses of a block and takes their gradient off grad, with
// one product of the features for both.
func (p *posterior) alongRows(loss, grad, theta []float64, part targets.Rows) {
	slope := p.slope[:part.Len()]
	for i := range slope {
		eta := 0.0
		for j, x := range part.Row(i) {
			eta += x * theta[j]
		}
		slope[i] = eta
	}
	p.linear.LossAt(loss, slope, part.Y)
	p.linear.SlopeAt(slope, slope, part.Y)
	for i, s := range slope {
		for j, x := range part.Row(i) {
			grad[j] -= p.temperature * s * x
		}
	}
}
