package dpsgld

import (
	"fmt"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Config describes a Langevin chain. Every field is public and must be chosen
// without looking at the records.
type Config struct {
	// Target is the model. Required.
	Target targets.GradTarget
	// Iterations is the number of steps, all paid for by New. Required.
	Iterations int64
	// Step is the schedule of step sizes h, in the unit of θ² divided by Precondition.
	// Required.
	Step kernels.Schedule
	// NoiseMultiplier is the privacy noise's standard deviation over twice the
	// clip (curator.NoisyGradient). Required.
	NoiseMultiplier float64
	// Clip bounds ‖τ·∇ℓ(z;θ)‖₂ for every record; longer gradients are shortened,
	// which biases the chain. Zero uses the target's certificate, which shortens
	// nothing, and is refused when it has none.
	Clip float64
	// Batch is how records are chosen in each step; curator.Poisson is the cheaper
	// scheme for the same expected size. Defaults to the full data.
	Batch curator.Batch
	// Temperature τ in (0, 1] multiplies the log-likelihood. Defaults to 1.
	Temperature float64
	// Precondition multiplies the step coordinate by coordinate, Dim positive
	// numbers: the squares of the posterior's public scales. Defaults to ones.
	Precondition []float64
	// Hot lets the privacy noise exceed the Langevin noise: the chain then samples
	// at a temperature above 1, to first order h·s²/4. Package sgnht absorbs what is
	// too much.
	Hot bool
	// AsPublished takes the whole of h as the drift's step with noise N(0, h), as
	// two published implementations do. It targets the SQUARE of the posterior,
	// half of its variance, and exists for comparison only.
	AsPublished bool
}

// mechanism is what the curator is asked to enforce and to price.
func (c Config) mechanism() curator.NoisyGradient {
	return curator.NoisyGradient{
		Target: c.Target, Temperature: c.Temperature, Clip: c.Clip, NoiseMultiplier: c.NoiseMultiplier, Batch: c.Batch,
	}
}

// check reports settings that make no sense whatever the records.
func (c Config) check() error {
	if err := kernels.CheckTarget("dpsgld", c.Target); err != nil {
		return err
	}
	if err := c.Step.Check(); err != nil {
		return fmt.Errorf("dpsgld: %w", err)
	}
	if err := kernels.CheckIterations("dpsgld", c.Iterations); err != nil {
		return err
	}
	return kernels.CheckScales("dpsgld", "Precondition", c.Precondition, c.Target.Dim())
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
	if err := c.check(); err != nil {
		return 0, err
	}
	sd, err := c.mechanism().NoiseSD(f)
	if err != nil {
		return 0, err
	}
	return c.drift() * c.drift() * c.Step.At(0) * slices.Max(kernels.Scales(c.Precondition, c.Target.Dim())) * sd * sd, nil
}

// Cost is the price of one step on records with the given
// public facts: that of one noisy gradient. It charges nothing. Errors: a
// setting that is missing or out of range, a target that does not fit, a bound
// that neither Clip nor a certificate supplies.
func Cost(c Config, f curator.Facts) (accountant.Event, error) {
	if err := c.check(); err != nil {
		return accountant.Event{}, err
	}
	return c.mechanism().Event(f)
}
