package dpsgld

import (
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// Config describes a Langevin chain. Every field is public and must be chosen
// without looking at the records.
type Config struct {
	// Driven has the target, the steps and their noise. The unit of Step is that of θ²
	// divided by Precondition.
	kernels.Driven
	// Hot lets the privacy noise exceed the Langevin noise: the chain then samples
	// at a temperature above 1, to first order h·s²/4. Package sgnht absorbs what is
	// too much.
	Hot bool
	// AsPublished takes the whole of h as the drift's step with noise N(0, h), as
	// two published implementations do. It targets the SQUARE of the posterior,
	// half of its variance, and exists for comparison only.
	AsPublished bool
}

// drift is the fraction of h that multiplies the gradient.
func (c Config) drift() float64 {
	if c.AsPublished {
		return 1
	}
	return 0.5
}

// NoiseShare is the largest share of a step's Langevin variance that the
// privacy noise supplies, on records with the given facts, in the first and
// longest step: drift²·h·s² for the coordinate with the largest preconditioner.
// Above 1 it is, to first order, the temperature that the chain samples at. It
// charges nothing. Errors are those of Cost.
func NoiseShare(c Config, f curator.Facts) (float64, error) {
	if err := c.Check("dpsgld"); err != nil {
		return 0, err
	}
	sd, err := c.Mechanism().NoiseSD(f)
	if err != nil {
		return 0, err
	}
	return c.drift() * c.drift() * c.Step.At(0) * slices.Max(kernels.Scales(c.Precondition, c.Target.Dim())) * sd * sd, nil
}

// Cost is the price of one step on records with the given
// public facts: that of one noisy gradient, or with Allocated batches of an epoch. It charges nothing. Errors: a
// setting that is missing or out of range, a target that does not fit, a bound
// that neither Clip nor a certificate supplies.
func Cost(c Config, f curator.Facts) (accountant.Event, error) {
	if err := c.Check("dpsgld"); err != nil {
		return accountant.Event{}, err
	}
	return c.Mechanism().Event(f)
}
