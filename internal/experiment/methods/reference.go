package methods

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// SamplePosterior runs NUTS on the non-private posterior, the one that anchored chains sample but
// for the noise: priors that depend on second moments have those of the rows, fit being that of chains
// whose columns are fitted. Rows are those that methods learn from, which the model has weighed
// (models.Model.Weigh).
func SamplePosterior(ctx context.Context, m *models.Model, rows targets.Rows, fit bool,
	cfg nuts.Config) ([]nuts.Chain, error) {
	density, err := posteriorOf(m, rows, fit)
	if err != nil {
		return nil, err
	}
	if concave(m) {
		f, err := frameOf(density())
		if err != nil {
			return nil, err
		}
		return f.sample(ctx, density, cfg)
	}
	return nuts.Sample(ctx, density, cfg)
}

// posteriorOf makes the density, one for each goroutine.
func posteriorOf(m *models.Model, rows targets.Rows, fit bool) (func() nuts.LogDensity, error) {
	switch t := m.Target.(type) {
	case *targets.Linear:
		if t.Normal() {
			sums := sumsOf(m, rows)
			return func() nuts.LogDensity { return newSumsPosterior(t, sums, counted(m, rows)) }, nil
		}
	case *targets.Regression:
		if t.Standardized() > 0 {
			var prior priors.Prior = standardized(m, t, rows)
			if fit {
				prior = fitted(m, t, rows)
			}
			known, err := targets.New(targets.RegressionConfig{Features: rows.P, Family: t.Family(),
				Dispersion: m.Options.Dispersion, Prior: prior})
			return func() nuts.LogDensity { return nuts.Posterior(known, rows, 1) }, err
		}
	case *targets.Softmax:
		if t.Standardized() > 0 {
			prior, classes := apart(standardized(m, t, rows)), t.Dim()/rows.P
			prior.SDs = slices.Repeat(prior.SDs, classes)
			known, err := targets.New(targets.SoftmaxConfig{Features: rows.P, Classes: classes, Prior: prior})
			return func() nuts.LogDensity { return nuts.Posterior(known, rows, 1) }, err
		}
	}
	return func() nuts.LogDensity { return nuts.Posterior(m.Target.(targets.GradTarget), rows, 1) }, nil
}

// apart has the same variances and no covariances.
func apart(c surrogates.CentredGaussian) priors.Gaussian {
	out := priors.Gaussian{SDs: slices.Clone(c.SDs)}
	for j, mean := range c.Means {
		out.SDs[c.Intercept] = math.Hypot(out.SDs[c.Intercept], mean*c.SDs[j])
	}
	return out
}

// standardizes is a target whose prior can be on standardized columns.
type standardizes interface {
	Standardized() float64
	Prior() priors.Prior
}

// standardized is the prior on standardized columns, whose spread the rows say.
func standardized(m *models.Model, t standardizes, rows targets.Rows) surrogates.CentredGaussian {
	return momentsOf(m, rows).Standardized(t.Standardized(), t.Prior().(priors.Gaussian))
}

// momentsOf are the exact second moments of rows.
func momentsOf(m *models.Model, rows targets.Rows) surrogates.Statistics {
	d := rows.P
	s := surrogates.Statistics{Anchor: make([]float64, d), Moment: make([]float64, d*d), Records: int64(rows.Len()),
		Radius: m.Shape.Radius, Columns: chains.Columns(m.Shape, false)}
	for i := range rows.Len() {
		for j, u := range rows.Row(i) {
			floats.AddScaled(s.Moment[j*d:(j+1)*d], u, rows.Row(i))
		}
	}
	return s
}

// sumsOf are the exact second moments of rows and responses.
func sumsOf(m *models.Model, rows targets.Rows) surrogates.Sums {
	d, p := rows.P, rows.P+1
	s := surrogates.Sums{Moment: make([]float64, p*p), Features: d, Records: int64(rows.Len()), Radius: m.Shape.Radius,
		Columns: chains.Columns(m.Shape, m.Weighs())}
	z := make([]float64, p)
	for i := range rows.Len() {
		copy(z, rows.Row(i))
		z[d] = rows.Y[i]
		for j, u := range z {
			floats.AddScaled(s.Moment[j*p:(j+1)*p], u, z)
		}
	}
	return s
}

// counted is how many records count: one that weighs less counts by its weight.
func counted(m *models.Model, rows targets.Rows) float64 {
	if !m.Weighs() {
		return float64(rows.Len())
	}
	count := 0.0
	for i := range rows.Len() {
		share := min(1, rows.Row(i)[0]/m.Shape.Whole())
		count += share * share
	}
	return count
}

// sumsPosterior is the posterior of a linear regression with normal errors given exact sums.
type sumsPosterior struct {
	*targets.Linear
	moment    []float64 // of [x, y]
	records   float64
	explained func(grad, beta []float64, sigma float64) (log, inSigma float64) // nil for a normal prior
	out, more []float64
}

func newSumsPosterior(t *targets.Linear, s surrogates.Sums, records float64) *sumsPosterior {
	p := &sumsPosterior{Linear: t, moment: s.Moment, records: records, out: make([]float64, s.Features+1),
		more: make([]float64, s.Features+1)}
	if r := t.ZellnerSiow(); r > 0 {
		p.explained = s.ZellnerSiow(r)
	}
	return p
}

func (p *sumsPosterior) LogDensityGrad(grad, theta []float64) float64 {
	d := len(theta) - 1
	log := p.LogPrior(theta)
	if math.IsInf(log, -1) || math.IsNaN(log) {
		return math.Inf(-1)
	}
	p.GradLogPrior(grad, theta)
	sigma := p.Scale(theta)
	precision := 1 / (sigma * sigma)
	copy(p.out, theta[:d])
	p.out[d] = -1 // residuals are −[x, y]·out
	rest := 0.0
	for j := range p.out {
		v := floats.Dot(p.moment[j*(d+1):(j+1)*(d+1)], p.out)
		rest += p.out[j] * v
		if j < d {
			grad[j] -= v * precision
		}
	}
	log -= p.records*math.Log(sigma) + rest*precision/2
	inSigma := -p.records/sigma + rest*precision/sigma
	if p.explained != nil {
		clear(p.more)
		v, slope := p.explained(p.more[:d], theta[:d], sigma)
		log += v
		inSigma += slope
		floats.Add(grad[:d], p.more[:d])
	}
	grad[d] += inSigma * math.Exp(theta[d]) // σ is the least one and this
	return log
}
