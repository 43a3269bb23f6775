package draw

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/internal/core/noise"
)

// GridGaussian adds discrete Gaussian noise on a power-of-two grid: the released
// numbers are exactly on the grid, and so are the values they come from, so no
// bit of a float64 tells more than the mechanism does.
type GridGaussian struct {
	step  float64
	sigma float64
	law   *noise.DiscreteGaussian
}

// GridSteps is how many grid steps σ has, at least.
const GridSteps = 1 << gridBits

const gridBits = 30

// NewGridGaussian returns noise for a query of dim numbers with the given L2
// sensitivity before rounding, whose standard deviation is multiplier times the
// sensitivity after it. Rounding to the nearest multiple of the step moves each
// of two data sets' answers by half a step per coordinate.
func NewGridGaussian(multiplier, sensitivity float64, dim int) (*GridGaussian, error) {
	inflate := 1 - multiplier*math.Sqrt(float64(dim))*math.Ldexp(1, -gridBits)
	if !(multiplier > 0 && sensitivity > 0 && inflate > 0.5) || math.IsInf(multiplier*sensitivity, 1) {
		return nil, fmt.Errorf("draw: Gaussian noise of %v times a sensitivity of %v in %d dimensions: both must be "+
			"positive and finite, the first below 2^28/√dim", multiplier, sensitivity, dim)
	}
	g := &GridGaussian{sigma: multiplier * sensitivity / inflate * (1 + 0x1p-40)}
	_, e := math.Frexp(g.sigma)
	g.step = math.Ldexp(1, e-1-gridBits)
	law, err := noise.NewDiscreteGaussian(g.sigma / g.step)
	if err != nil {
		return nil, err
	}
	g.law = law
	return g, nil
}

// Sigma returns the standard deviation.
func (g *GridGaussian) Sigma() float64 { return g.sigma }

// Add replaces every element of x by its rounded value plus noise. Elements must
// be below 2⁵² steps in size.
func (g *GridGaussian) Add(src *noise.Source, x []float64) {
	for i, v := range x {
		x[i] = (math.RoundToEven(v/g.step) + float64(g.law.Sample(src))) * g.step
	}
}
