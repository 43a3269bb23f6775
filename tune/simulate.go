package tune

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/targets"
)

// simulate draws the coefficients, and a table of the shape.
func (c Config) simulate(rng *rand.Rand) *data.Table {
	theta := c.coefficients(rng)
	return c.Shape.Simulate(rng, nil, func(row []float64) float64 {
		eta := 0.0
		for j, x := range row {
			eta += x * theta[j]
		}
		return c.respond(eta, rng)
	})
}

// coefficients draws those of the linear predictor.
func (c Config) coefficients(rng *rand.Rand) []float64 {
	theta := make([]float64, c.Models[0].Target.Dim())
	prior, ok := c.Models[0].Target.(targets.PriorSampler)
	if ok && c.CoefficientSD == 0 {
		prior.SamplePrior(theta, rng)
		return theta
	}
	sd := c.CoefficientSD
	if sd == 0 {
		sd = 1 // of a target whose prior cannot be drawn from
	}
	for j := range theta {
		theta[j] = sd * rng.NormFloat64()
	}
	return theta
}

// respond draws a response to a linear predictor.
func (c Config) respond(eta float64, rng *rand.Rand) float64 {
	if c.Family == Logistic {
		if rng.Float64() < 1/(1+math.Exp(-eta)) {
			return 1
		}
		return 0
	}
	y, r := eta+c.ErrorSD*rng.NormFloat64(), &c.Shape.Target
	if r.Upper > r.Lower && r.Unit > 0 {
		y = min(max(y, r.At(r.Lower)), r.At(r.Upper))
	}
	return y
}
