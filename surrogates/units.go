package surrogates

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/priors"
)

// In restates a regression whose Sums are of responses in a unit of their own, in which
// coefficients and scales are smaller by it: its priors and MinScale were those of the
// response itself. Unscale turns draws back.
func (c LinearConfig) In(unit float64) LinearConfig {
	c.Prior, c.ScalePrior = scaledPrior{c.Prior, unit}, scaledScale{c.ScalePrior, unit}
	c.MinScale /= unit
	return c
}

// scaledPrior is the prior of β/unit.
type scaledPrior struct {
	priors.Prior
	unit float64
}

func (p scaledPrior) in(theta []float64) []float64 {
	out := make([]float64, len(theta))
	for j, v := range theta {
		out[j] = v * p.unit
	}
	return out
}

func (p scaledPrior) LogDensity(theta []float64) float64 { return p.Prior.LogDensity(p.in(theta)) }

func (p scaledPrior) Grad(dst, theta []float64) {
	p.Prior.Grad(dst, p.in(theta))
	for j := range dst {
		dst[j] *= p.unit
	}
}

func (p scaledPrior) Sample(theta []float64, rng *rand.Rand) {
	p.Prior.Sample(theta, rng)
	for j := range theta {
		theta[j] /= p.unit
	}
}

// scaledScale is the prior of (σ − s)/unit.
type scaledScale struct {
	priors.Scale
	unit float64
}

func (p scaledScale) LogDensity(x float64) float64  { return p.Scale.LogDensity(x * p.unit) }
func (p scaledScale) Elasticity(x float64) float64  { return p.Scale.Elasticity(x * p.unit) }
func (p scaledScale) Sample(rng *rand.Rand) float64 { return p.Scale.Sample(rng) / p.unit }

// Unscale turns a draw of (β/unit, log((σ−s)/unit)) into one of the target's parameters.
func Unscale(theta []float64, unit float64) {
	last := len(theta) - 1
	for j := range last {
		theta[j] *= unit
	}
	theta[last] += math.Log(unit)
}
