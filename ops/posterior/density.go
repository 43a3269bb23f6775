package posterior

import (
	"cmp"
	"math"

	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/targets"
)

// LogDensity is what a sampler needs of a law on R^Dim: its log density up to a
// constant, and the gradient, which it stores in grad.
type LogDensity interface {
	Dim() int
	LogDensityGrad(grad, theta []float64) float64
}

// Density is the log density of a weighted posterior, given records. It holds
// buffers: one goroutine at a time may use it.
type Density struct {
	target targets.GradTarget
	sums   targets.SumTarget // nil if the target is none
	rows   targets.Rows
	weight float64
	ball   float64 // 0, or the radius outside which the prior is zero

	loss, grads      []float64 // for one block of records; grads of all for sums
	theta, gradTheta []float64 // parameters when ball > 0
}

var _ LogDensity = (*Density)(nil)

const block = 256

func newDensity(t targets.GradTarget, rows targets.Rows, weight, ball float64) *Density {
	d := &Density{
		target: t, rows: rows, weight: weight, ball: ball,
		loss: make([]float64, block), grads: make([]float64, block*t.Dim()),
		theta: make([]float64, t.Dim()), gradTheta: make([]float64, t.Dim()),
	}
	d.sums, _ = t.(targets.SumTarget)
	return d
}

// Dim returns the number of parameters.
func (d *Density) Dim() int { return d.target.Dim() }

// LogDensityGrad returns the log density at u and stores its gradient. With a
// truncated prior u is the unconstrained form of the parameters, see Constrain,
// and the density includes the Jacobian.
func (d *Density) LogDensityGrad(grad, u []float64) float64 {
	if d.ball == 0 {
		return d.inner(grad, u)
	}
	d.Constrain(d.theta, u)
	v := d.inner(d.gradTheta, d.theta)
	norm2, dot := 0.0, 0.0
	for i, x := range u {
		norm2 += x * x
		dot += x * d.gradTheta[i]
	}
	s2 := 1 + norm2
	s := math.Sqrt(s2)
	dim := float64(len(u))
	for i, x := range u {
		grad[i] = d.ball*(d.gradTheta[i]-x*dot/s2)/s - (dim+2)*x/s2
	}
	return v - (dim/2+1)*math.Log(s2)
}

// Constrain sets theta to the parameters that u stands for: u itself, or
// ball·u/√(1+‖u‖²), which fills the open ball. theta may be u.
func (d *Density) Constrain(theta, u []float64) {
	scale := 1.0
	if d.ball > 0 {
		norm2 := 0.0
		for _, x := range u {
			norm2 += x * x
		}
		scale = d.ball / math.Sqrt(1+norm2)
	}
	for i, x := range u {
		theta[i] = scale * x
	}
}

// inner is the log density in the parameters themselves.
func (d *Density) inner(grad, theta []float64) float64 {
	d.target.GradLogPrior(grad, theta)
	if d.sums != nil {
		sum := d.grads[:len(theta)]
		total := d.sums.SumLossGrad(sum, theta, d.rows)
		for j, g := range sum {
			grad[j] -= d.weight * g
		}
		return d.target.LogPrior(theta) - d.weight*total
	}
	total := 0.0
	for lo := 0; lo < d.rows.Len(); lo += block {
		part := d.rows.Slice(lo, min(lo+block, d.rows.Len()))
		loss := d.loss[:part.Len()]
		d.target.Loss(loss, theta, part)
		for _, l := range loss {
			total += l
		}
		g := d.grads[:part.Len()*len(theta)]
		d.target.LossGrad(g, theta, part)
		for i, v := range g {
			grad[i%len(theta)] -= d.weight * v
		}
	}
	return d.target.LogPrior(theta) - d.weight*total
}

// farthest is a norm that no product with a parameter overflows from.
const farthest = 1e100

// tame projects rows to the given norm, or to one that float64 can compute with
// when it is 0, and clips responses likewise; what is not finite becomes zero. It
// is a function of each record alone, so that no record can stop a release or
// change what another counts.
func tame(rows targets.Rows, radius float64) targets.Rows {
	radius = cmp.Or(radius, farthest)
	rows = ops.Project(rows, radius)
	if rows.Y == nil {
		return rows
	}
	y := make([]float64, len(rows.Y))
	for i, v := range rows.Y {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			y[i] = max(-farthest, min(farthest, v))
		}
	}
	rows.Y = y
	return rows
}
