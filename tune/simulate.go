package tune

import (
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// simulate draws parameters, and a table that follows the model with them.
func (c Config) simulate(rng *rand.Rand) (t *data.Table, values []float64) {
	m := c.Models[0]
	values = c.parameters(m, rng)
	return m.Simulate(values, rng), values
}

// usualSD bounds the standard deviation of coefficients that are drawn under the default
// prior, whether it was stated or left out: a config that tune writes states it. That one
// widens with every column, so as to leave none out; records whose linear predictors
// spread with it would have nearly separable classes.
const usualSD = 3

// parameters draws those that tables are simulated with.
func (c Config) parameters(m *models.Model, rng *rand.Rand) []float64 {
	theta := make([]float64, m.Target.Dim())
	if prior, ok := m.Target.(targets.PriorSampler); ok && c.CoefficientSD == 0 {
		prior.SamplePrior(theta, rng)
		o := m.Options
		if sd := o.PriorSD; m.Shape != nil && sd > usualSD && sd == models.DefaultPriorSD(m.Name, o.Prior, m.Shape) {
			for j := range theta {
				theta[j] *= usualSD / sd
			}
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
	for j, p := range m.Parameters {
		if p.Scale {
			theta[j] = c.ErrorSD
		}
	}
	return theta
}
