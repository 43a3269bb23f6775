package priors

// Proof: docs/proofs/curator.md.

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Independent gives every parameter a prior of its own, in order: priors of
// different kinds, such as a wide StudentT for an intercept.
type Independent []Prior

var _ Prior = Independent{}

// Check refuses priors that are not dim in number, missing, or malformed.
func (p Independent) Check(dim int) error {
	if len(p) != dim {
		return fmt.Errorf("priors: Independent prior: %d priors for %d parameters; give one for each", len(p), dim)
	}
	for i, one := range p {
		if one == nil {
			return fmt.Errorf("priors: Independent prior: none is given for parameter %d", i+1)
		}
		if err := one.Check(1); err != nil {
			return fmt.Errorf("parameter %d: %w", i+1, err)
		}
	}
	return nil
}

// LogDensity returns the sum of the log densities.
func (p Independent) LogDensity(theta []float64) float64 {
	var sum float64
	for i, one := range p {
		sum += one.LogDensity(theta[i : i+1])
	}
	return sum
}

// Grad sets dst to the gradient of LogDensity.
func (p Independent) Grad(dst, theta []float64) {
	for i, one := range p {
		one.Grad(dst[i:i+1], theta[i:i+1])
	}
}

// Sample draws every parameter from its prior.
func (p Independent) Sample(theta []float64, rng *rand.Rand) {
	for i, one := range p {
		one.Sample(theta[i:i+1], rng)
	}
}

// Clone returns a prior that shares no memory with p.
func Clone(p Prior) Prior {
	switch p := p.(type) {
	case Gaussian:
		p.SDs = slices.Clone(p.SDs)
		return p
	case Independent:
		all := slices.Clone(p)
		for i, one := range all {
			all[i] = Clone(one)
		}
		return all
	}
	return p
}
