package starts

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

// curvatureShare is the curvature that the rows of one person may have over the
// ridge, in units of ε: about the most that the price hardly notices, in composition
// with a chain too.
const curvatureShare = 0.5

// Afford fills in NoiseMultiplier, and Ridge and Steps where they are not given, so
// that the start alone costs at most (epsilon, delta). The ridge is the least that
// the price hardly notices. A descent has fewer steps where more would need more
// noise than the curator can add. A Config of a free kind is returned as it is.
// Errors: those of Cost; an *accountant.UnreachableError when even one gradient, or
// the noisiest optimum, costs more.
func Afford(c Config, f curator.Facts, epsilon, delta float64) (Config, error) {
	if !c.Kind.Charged() {
		return c, nil
	}
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return c, fmt.Errorf("starts: ε = %v for a start; it must be positive and finite", epsilon)
	}
	if c.Kind == Optimum && c.Ridge == 0 {
		tau := c.Temperature
		tau = cmp.Or(tau, 1)
		c.Ridge = float64(max(1, f.RowsPerPerson)) * tau * f.Radius * f.Radius / (curvatureShare * epsilon)
	}
	solve := func() error {
		m, _, err := accountant.SolveParameter(func(x float64) (accountant.Event, error) {
			c.NoiseMultiplier = x
			return Cost(c, f)
		}, 1e-3, curator.MostNoise, epsilon, delta, false)
		c.NoiseMultiplier = m
		return err
	}
	open := c.Kind == Gradient && c.Steps == 0
	if open {
		c.Steps = DefaultSteps
	}
	err := solve()
	for open && err != nil && c.Steps > 1 {
		c.Steps /= 2
		err = solve()
	}
	return c, err
}
