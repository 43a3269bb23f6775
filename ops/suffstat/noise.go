package suffstat

import (
	"fmt"

	google "github.com/google/differential-privacy/go/v3/noise"

	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/ops/internal/draw"
)

// Noise adds noise to a vector of statistics, in place, safely with respect to
// the bits of float64s.
type Noise interface {
	// Laplace makes the vector ε-DP, given its L1 sensitivity.
	Laplace(x []float64, sensitivity, epsilon float64) error
	// Gaussian adds noise of standard deviation at least multiplier times the L2
	// sensitivity of x.
	Gaussian(x []float64, sensitivity, multiplier float64) error
}

// Google returns the noise of github.com/google/differential-privacy, seeded by
// the operating system.
func Google() Noise { return googleNoise{} }

type googleNoise struct{}

// Laplace gives every coordinate the scale sensitivity/ε. The library rounds each
// to a grid of at most 2⁻³⁹ of that, of which it covers one step; the factor
// covers one for every coordinate.
func (googleNoise) Laplace(x []float64, sensitivity, epsilon float64) error {
	sensitivity *= 1 + float64(len(x))*0x1p-39/epsilon
	for i, v := range x {
		noisy, err := google.Laplace().AddNoiseFloat64(v, 1, sensitivity, epsilon, 0)
		if err != nil {
			return fmt.Errorf("suffstat: %w", err)
		}
		x[i] = noisy
	}
	return nil
}

// Gaussian asks for the σ it wants through the library's calibration, which is
// linear in the sensitivity. Rounding to the library's grid, 2⁻⁵⁶ of σ or less,
// is covered by the last factor.
func (googleNoise) Gaussian(x []float64, sensitivity, multiplier float64) error {
	const epsilon, delta = 1, 1e-5
	unit := google.SigmaForGaussian(1, 1, epsilon, delta)
	sigma := multiplier * sensitivity * (1 + 1e-9)
	for i, v := range x {
		noisy, err := google.Gaussian().AddNoiseFloat64(v, 1, sigma/unit, epsilon, delta)
		if err != nil {
			return fmt.Errorf("suffstat: %w", err)
		}
		x[i] = noisy
	}
	return nil
}

// FromSource returns noise drawn from src, as secret and as repeatable as src is:
// discrete Gaussian and discrete Laplace, each on a grid.
func FromSource(src *ops.Source) Noise { return sourceNoise{src} }

type sourceNoise struct{ src *ops.Source }

func (n sourceNoise) Laplace(x []float64, sensitivity, epsilon float64) error {
	return draw.AddLaplace(n.src, x, sensitivity, epsilon)
}

func (n sourceNoise) Gaussian(x []float64, sensitivity, multiplier float64) error {
	g, err := draw.NewGridGaussian(multiplier, sensitivity, len(x))
	if err != nil {
		return fmt.Errorf("suffstat: %w", err)
	}
	g.Add(n.src, x)
	return nil
}
