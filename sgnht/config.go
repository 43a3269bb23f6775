package sgnht

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Config describes a thermostat. Every field is public and must be chosen without
// looking at the records.
type Config struct {
	// Target is the model. Required.
	Target targets.GradTarget
	// Iterations is the number of steps, all paid for by New. Required.
	Iterations int64
	// Step is the schedule of step sizes h, in the unit of θ. Required.
	Step kernels.Schedule
	// Friction A > 0 couples the chain to its heat bath, in units of 1/h. Required.
	Friction float64
	// ThermalMass is the inertia μ > 0 of the friction. Defaults to 1/Friction², which
	// makes it adapt on the friction's own time scale; the paper has 1.
	ThermalMass float64
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
}

// mechanism is what the curator is asked to enforce and to price.
func (c Config) mechanism() curator.NoisyGradient {
	return curator.NoisyGradient{
		Target: c.Target, Temperature: c.Temperature, Clip: c.Clip, NoiseMultiplier: c.NoiseMultiplier, Batch: c.Batch,
	}
}

// thermalMass is Config's, or its default.
func (c Config) thermalMass() float64 {
	if c.ThermalMass == 0 {
		return 1 / (c.Friction * c.Friction)
	}
	return c.ThermalMass
}

// check reports settings that make no sense whatever the records.
func (c Config) check() error {
	if err := kernels.CheckTarget("sgnht", c.Target); err != nil {
		return err
	}
	if err := c.Step.Check(); err != nil {
		return fmt.Errorf("sgnht: %w", err)
	}
	if err := kernels.CheckIterations("sgnht", c.Iterations); err != nil {
		return err
	}
	if !(c.Friction > 0) || math.IsInf(c.Friction, 0) {
		return fmt.Errorf("sgnht: Config.Friction is %v; it must be positive and finite", c.Friction)
	}
	if m := c.thermalMass(); !(m > 0) || math.IsInf(m, 0) {
		return fmt.Errorf("sgnht: Config.ThermalMass is %v; it must be positive and finite", m)
	}
	return kernels.CheckScales("sgnht", "Precondition", c.Precondition, c.Target.Dim())
}

// Cost is the price of one step on records with the given public facts: that of one
// noisy gradient. It charges nothing. Errors: a setting that is missing or out of
// range, a target that does not fit, a bound that neither Clip nor a certificate
// supplies.
func Cost(c Config, f curator.Facts) (accountant.Event, error) {
	if err := c.check(); err != nil {
		return accountant.Event{}, err
	}
	return c.mechanism().Event(f)
}
