package tune

import (
	"context"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Of the non-private reference.
const (
	referenceWarmup = 300
	referenceDraws  = 500
	referenceESS    = 100 // of every parameter, or its figures are too rough
)

// reference is what a non-private sampler says of a simulated posterior.
type reference struct {
	mean, sd []float64
	draws    [][]float64
}

// refer samples the tempered posterior of a simulated table.
func refer(ctx context.Context, m Model, t table, temperature float64, seed uint64) (reference, error) {
	chains, err := nuts.Sample(ctx, func() nuts.LogDensity { return newDensity(m.Target, t.rows, temperature) }, nuts.Config{
		Chains: 1, Workers: 1, Warmup: referenceWarmup, Draws: referenceDraws, Seed: seed,
	})
	if err != nil {
		return reference{}, err
	}
	draws := chains[0].Draws
	r := reference{draws: draws}
	for j := range m.Target.Dim() {
		column := make([]float64, len(draws))
		for i, d := range draws {
			column[i] = d[j]
		}
		mean, sd := moments(column)
		if ess := diag.ESSBulk([][]float64{column}); !(ess >= referenceESS) || !(sd > 0) {
			return r, fmt.Errorf("tune: the reference of model %q at temperature %v has an ESS of %.3g for parameter %d; the simulated posterior is too hard: state CoefficientSD, or a narrower prior", m.Name, temperature, ess, j+1)
		}
		r.mean, r.sd = append(r.mean, mean), append(r.sd, sd)
	}
	return r, nil
}

// moments are the mean and the standard deviation.
func moments(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / float64(len(x)-1))
}

// density is the log density of a simulated, tempered posterior.
type density struct {
	target      targets.GradTarget
	linear      targets.LinearTarget // nil if the target is none
	rows        targets.Rows
	temperature float64
	loss, slope []float64
	grads       []float64
}

// block is the number of records that are evaluated at once.
const block = 256

func newDensity(target targets.GradTarget, rows targets.Rows, temperature float64) *density {
	d := &density{target: target, rows: rows, temperature: temperature, loss: make([]float64, block), slope: make([]float64, block)}
	if linear, ok := target.(targets.LinearTarget); ok {
		d.linear = linear
	} else {
		d.grads = make([]float64, block*target.Dim())
	}
	return d
}

func (d *density) Dim() int { return d.target.Dim() }

// LogDensityGrad implements nuts.LogDensity.
func (d *density) LogDensityGrad(grad, theta []float64) float64 {
	value := d.target.LogPrior(theta)
	if math.IsInf(value, -1) || math.IsNaN(value) {
		return math.Inf(-1)
	}
	d.target.GradLogPrior(grad, theta)
	for from := 0; from < d.rows.Len(); from += block {
		to := min(from+block, d.rows.Len())
		part := targets.Rows{X: d.rows.X[from*d.rows.P : to*d.rows.P], P: d.rows.P, Y: d.rows.Y[from:to]}
		value -= d.temperature * d.add(grad, theta, part)
	}
	return value
}

// add subtracts a block's tempered gradient and returns its loss.
func (d *density) add(grad, theta []float64, part targets.Rows) (sum float64) {
	loss := d.loss[:part.Len()]
	if d.linear != nil {
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
			sum += loss[i]
			for j, x := range part.Row(i) {
				grad[j] -= d.temperature * s * x
			}
		}
		return sum
	}
	d.target.Loss(loss, theta, part)
	grads := d.grads[:part.Len()*len(theta)]
	d.target.LossGrad(grads, theta, part)
	for i, l := range loss {
		sum += l
		for j := range theta {
			grad[j] -= d.temperature * grads[i*len(theta)+j]
		}
	}
	return sum
}
