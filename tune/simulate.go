package tune

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// simulate draws parameters, and a table that follows the model with them.
func (c Config) simulate(rng *rand.Rand) (t *data.Table, values []float64) {
	m := uneven(c.Models[0], rng)
	values = c.parameters(m, rng)
	return m.Simulate(values, rng), values
}

// uneven is the model of tables whose columns are spread as those of tables are.
func uneven(m *models.Model, rng *rand.Rand) *models.Model {
	out := *m
	out.Shape = m.Shape.Uneven(rng)
	return &out
}

// usualSD bounds the standard deviation of coefficients that are drawn under the default
// prior, whether it was stated or left out: a config that tune writes states it. That one
// widens with every column, so as to leave none out; records whose linear predictors
// spread with it would have nearly separable classes.
const usualSD = 3

// parameters draws those that tables are simulated with.
func (c Config) parameters(m *models.Model, rng *rand.Rand) []float64 {
	theta, usual := make([]float64, m.Target.Dim()), false
	if prior, ok := m.Target.(targets.PriorSampler); ok && c.CoefficientSD == 0 {
		prior.SamplePrior(theta, rng)
		o := m.Options
		usual = m.Shape != nil && o.PriorSD == models.DefaultPriorSD(m.Name, o.Prior, m.Shape)
		if usual && o.PriorSD > usualSD {
			floats.Scale(usualSD/o.PriorSD, theta)
		}
	} else {
		sd := c.CoefficientSD
		if sd == 0 {
			sd = 1 // of a target whose prior cannot be drawn from
		}
		for j := range theta {
			theta[j] = sd * rng.NormFloat64()
		}
	}
	m.Output(theta, theta)
	half := halfWidth(&m.Shape.Target)
	for j, p := range m.Parameters {
		if p.Scale {
			theta[j] = cmp.Or(c.ErrorSD, min(usualErrorSD, half/10*math.Pow(3, rng.Float64())))
		}
	}
	if c.CoefficientSD == 0 {
		keepWithin(m, theta, half/3, rng)
		expectCounts(m, theta, half, rng)
	}
	if usual {
		expectLabels(m, theta, rng)
	}
	return theta
}

// usualErrorSD is that of errors where the schema states the response's scale. Where it states
// bounds alone, errors are .05 to .15 of their distance, as in nine public tables.
const usualErrorSD = 0.5

// halfWidth is half the distance of the response's bounds, in units of the model.
func halfWidth(t *data.Term) float64 {
	if t.Level == "" && t.Upper > t.Lower {
		return (t.At(t.Upper) - t.At(t.Lower)) / 2
	}
	return math.Inf(1)
}

// keepWithin shrinks the coefficients of a linear model until mean responses have at most so
// large a root mean square. Bounds that most responses lie beyond are not what a schema states.
func keepWithin(m *models.Model, theta []float64, most float64, rng *rand.Rand) {
	if m.Shape.Features() != m.Target.Dim()-1 || !m.Parameters[m.Target.Dim()-1].Scale || math.IsInf(most, 1) {
		return
	}
	if rms := math.Sqrt(few(m, theta, rng, func(mean float64) float64 { return mean * mean })); rms > most {
		floats.Scale(most/rms, theta[:m.Shape.Features()])
	}
}

// expectCounts moves the intercept of a model of counts until a mean count is a 60th to a 6th of the
// largest. A bound that no count comes near, or that half of them are at, is not what a schema states.
func expectCounts(m *models.Model, theta []float64, half float64, rng *rand.Rand) {
	counts := slices.Contains([]string{"poisson", "negative-binomial"}, m.Name)
	if !counts || math.IsInf(half, 1) || m.Shape.Terms[0].Name != data.Intercept { // a regression has a term
		return
	}
	usual := 2 * half / 60 * math.Pow(10, rng.Float64())
	for range 3 { // means end at the largest count
		theta[0] += math.Log(usual/few(m, theta, rng, func(mean float64) float64 { return mean })) / m.Shape.Terms[0].At(1)
	}
}

// expectLabels makes predictors of two labels spread, and one label as rare, as in public tables. The log odds have a
// standard deviation of half to 2, which tells labels apart with an AUC of .64 to .9. The rarer label is in a twentieth
// to a half of the records. With coefficients of the default prior nearly all labels can be told apart.
func expectLabels(m *models.Model, theta []float64, rng *rand.Rand) {
	labels := slices.Contains([]string{"logistic", "probit", "cloglog", "loglog"}, m.Name)
	if !labels || len(theta) != m.Shape.Features() || m.Shape.Terms[0].Name != data.Intercept {
		return
	}
	const effect = 1.5 // of log odds, in the prior standardized
	spread := math.Pow(4, rng.Float64()) / 2
	if t, ok := m.Target.(interface{ Standardized() float64 }); ok && t.Standardized() > 0 {
		spread *= t.Standardized() / effect
	}
	share := math.Pow(10, -rng.Float64()) / 2
	if rng.IntN(2) == 0 {
		share = 1 - share
	}
	shape := *m.Shape
	shape.Records = 400
	rows, predictors := shape.Simulate(rng, nil, nil), make([]float64, shape.Records)
	predict := func() {
		for i := range predictors {
			predictors[i] = floats.Dot(theta, rows.Row(i))
		}
	}
	predict()
	if sd := stat.StdDev(predictors, nil); sd > 0 {
		floats.Scale(spread/sd, theta)
	}
	predict()
	low := theta[0] - (floats.Max(predictors)+mostPredictor)/shape.Terms[0].At(1)
	high := theta[0] - (floats.Min(predictors)-mostPredictor)/shape.Terms[0].At(1)
	for mean := []float64{0}; high-low > 1e-3*(1+math.Abs(low)); {
		have := 0.0
		theta[0] = (low + high) / 2
		for i := range predictors {
			m.Mean(mean, theta, rows.Row(i))
			have += mean[0] / float64(len(predictors))
		}
		if have > share {
			high = theta[0]
		} else {
			low = theta[0]
		}
	}
}

// mostPredictor is beyond where a rarer label is in a twentieth of the records, whatever the link.
const mostPredictor = 4

// few is the mean, over a few simulated rows, of a function of the response's mean.
func few(m *models.Model, theta []float64, rng *rand.Rand, f func(mean float64) float64) (average float64) {
	shape := *m.Shape
	shape.Records = 200
	rows, mean := shape.Simulate(rng, nil, nil), []float64{0}
	for i := range shape.Records {
		m.Mean(mean, theta, rows.Row(i))
		average += f(mean[0]) / float64(shape.Records)
	}
	return average
}
