package tune

import (
	"context"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/models"
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
func refer(ctx context.Context, m *models.Model, t *data.Table, temperature float64, seed uint64) (reference, error) {
	chains, err := nuts.Sample(ctx, func() nuts.LogDensity {
		return nuts.Posterior(m.Target.(targets.GradTarget), targets.Rows{X: t.X, P: t.Features(), Y: t.Y}, temperature)
	}, nuts.Config{
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
			return r, fmt.Errorf("tune: the reference of model %q at temperature %v has an ESS of %.3g for parameter %d; the "+
				"simulated posterior is too hard: state CoefficientSD, or a narrower prior", m.Options.LossName(),
				temperature, ess, j+1)
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
