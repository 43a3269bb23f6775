package priors

// Proof: docs/proofs/curator.md.

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Prior is a distribution of a vector of parameters. It knows nothing of data.
type Prior interface {
	// Check reports what is wrong with the prior for dim parameters.
	Check(dim int) error
	// LogDensity returns the log density at theta up to a constant, −Inf outside
	// the support.
	LogDensity(theta []float64) float64
	// Grad sets dst to the gradient of LogDensity at theta.
	Grad(dst, theta []float64)
	// Sample sets theta to a draw.
	Sample(theta []float64, rng *rand.Rand)
}

// Gaussian is a prior of independent centred normals.
type Gaussian struct {
	// SD is the standard deviation of every parameter. Required unless SDs is
	// given.
	SD float64
	// SDs are the standard deviations parameter by parameter; when given, SD must
	// be zero.
	SDs []float64
}

var _ Prior = Gaussian{}

// Check refuses standard deviations that are not positive and finite, or not dim
// in number.
func (g Gaussian) Check(dim int) error {
	if g.SDs == nil {
		return positive("Gaussian prior: SD", g.SD)
	}
	if g.SD != 0 {
		return fmt.Errorf("priors: Gaussian prior: both SD = %v and SDs are given; give one", g.SD)
	}
	if len(g.SDs) != dim {
		return fmt.Errorf("priors: Gaussian prior: %d standard deviations for %d parameters; give one for each",
			len(g.SDs), dim)
	}
	for i, sd := range g.SDs {
		if err := positive(fmt.Sprintf("Gaussian prior: SDs[%d]", i), sd); err != nil {
			return err
		}
	}
	return nil
}

func (g Gaussian) sd(i int) float64 {
	if g.SDs == nil {
		return g.SD
	}
	return g.SDs[i]
}

// LogDensity returns −½·Σ(θᵢ/sdᵢ)².
func (g Gaussian) LogDensity(theta []float64) float64 {
	var s float64
	for i, t := range theta {
		z := t / g.sd(i)
		s += z * z
	}
	return -s / 2
}

// Grad sets dst[i] = −θᵢ/sdᵢ².
func (g Gaussian) Grad(dst, theta []float64) {
	for i, t := range theta {
		sd := g.sd(i)
		dst[i] = -t / sd / sd
	}
}

// Sample sets theta to independent normal draws.
func (g Gaussian) Sample(theta []float64, rng *rand.Rand) {
	for i := range theta {
		theta[i] = g.sd(i) * rng.NormFloat64()
	}
}

// positive returns an error unless v is positive and finite.
func positive(name string, v float64) error {
	if v > 0 && !math.IsInf(v, 1) {
		return nil
	}
	return fmt.Errorf("priors: %s = %v, but it must be positive and finite", name, v)
}
