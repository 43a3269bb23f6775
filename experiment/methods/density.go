package methods

import (
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Posterior returns the non-private log posterior density of a target given
// records, for NUTS. It holds buffers: one goroutine at a time may use it.
func Posterior(t targets.GradTarget, rows targets.Rows) nuts.LogDensity {
	d := &density{target: t, rows: rows, loss: make([]float64, blockSize)}
	if l, ok := t.(targets.LinearTarget); ok {
		d.linear, d.slope = l, make([]float64, blockSize)
	} else {
		d.grads = make([]float64, blockSize*t.Dim())
	}
	return d
}

const blockSize = 256

type density struct {
	target             targets.GradTarget
	linear             targets.LinearTarget // nil if the target is none
	rows               targets.Rows
	loss, slope, grads []float64 // of one block of records
}

func (d *density) Dim() int { return d.target.Dim() }

func (d *density) LogDensityGrad(grad, theta []float64) float64 {
	d.target.GradLogPrior(grad, theta)
	v := d.target.LogPrior(theta)
	for lo := 0; lo < d.rows.Len(); lo += blockSize {
		part := d.rows.Slice(lo, min(lo+blockSize, d.rows.Len()))
		loss := d.loss[:part.Len()]
		if d.linear != nil {
			d.alongRows(loss, grad, theta, part)
		} else {
			d.target.Loss(loss, theta, part)
			g := d.grads[:part.Len()*len(theta)]
			d.target.LossGrad(g, theta, part)
			for i, x := range g {
				grad[i%len(theta)] -= x
			}
		}
		for _, l := range loss {
			v -= l
		}
	}
	return v
}

// alongRows sets the losses of a block and takes their gradient off grad, with
// one product of the features for both.
func (d *density) alongRows(loss, grad, theta []float64, part targets.Rows) {
	slope := d.slope[:part.Len()]
	for i := range slope {
		eta := 0.0
		for j, x := range part.Row(i) {
			eta += x * theta[j]
		}
		slope[i] = eta
	}
	d.linear.LossAt(loss, slope, part.Y)
	d.linear.SlopeAt(slope, slope, part.Y)
	for i, s := range slope {
		for j, x := range part.Row(i) {
			grad[j] -= s * x
		}
	}
}
