package kernels

import (
	"fmt"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Driven is what the Configs of samplers have in common whose every step follows one
// noisy gradient. Every field is public and must be chosen without looking at the
// records.
type Driven struct {
	// Target is the model. Required.
	Target targets.GradTarget
	// Iterations is the number of steps, all paid for by New. Required.
	Iterations int64
	// Step is the schedule of step sizes h, in the unit that the sampler says. Required.
	Step Schedule
	// NoiseMultiplier is the privacy noise's standard deviation over twice the
	// clip (curator.NoisyGradient). Required.
	NoiseMultiplier float64
	// Clip bounds ‖τ·∇ℓ(z;θ)‖₂ for every record; longer gradients are shortened,
	// which biases the chain. Zero uses the target's certificate, which shortens
	// nothing, and is refused when it has none.
	Clip float64
	// Batch is how records are chosen in each step; a Rate is the cheaper
	// scheme for the same expected size. With Steps, Iterations are whole epochs
	// and Cost is that of an epoch. Defaults to the full data.
	Batch curator.Batch
	// Temperature τ in (0, 1] multiplies the log-likelihood. Defaults to 1.
	Temperature float64
	// Precondition multiplies the step coordinate by coordinate, Dim positive
	// numbers: the squares of the posterior's public scales. Defaults to ones.
	Precondition []float64
}

// Mechanism is what the curator is asked to enforce and to price in each step.
func (d Driven) Mechanism() curator.NoisyGradient {
	return curator.NoisyGradient{
		Target: d.Target, Temperature: d.Temperature, Clip: d.Clip, NoiseMultiplier: d.NoiseMultiplier, Batch: d.Batch,
	}
}

// Check reports settings that are wrong whatever the records are.
func (d Driven) Check(sampler string) error {
	if err := CheckTarget(sampler, d.Target); err != nil {
		return err
	}
	if err := d.Step.Check(); err != nil {
		return fmt.Errorf("%s: %w", sampler, err)
	}
	if err := CheckIterations(sampler, d.Iterations); err != nil {
		return err
	}
	return CheckScales(sampler, "Precondition", d.Precondition, d.Target.Dim())
}

// Drift is the frame of kernels that follow noisy gradients of the log posterior.
type Drift struct {
	Frame
	// Gradients are those of the loss, which a grant sets before the first step.
	Gradients *curator.Gradients

	target   targets.GradTarget
	released []float64
}

// NewDrift returns the frame of a sampler's chains.
func NewDrift(sampler string, target targets.GradTarget) Drift {
	return Drift{Frame: NewFrame(sampler, target), target: target, released: make([]float64, target.Dim())}
}

// Release sets gradient to a noisy gradient of the log posterior at theta.
func (d *Drift) Release(gradient, theta []float64) error {
	if err := d.Gradients.Release(d.released, theta); err != nil {
		return err
	}
	d.leaned(d.released, d.Gradients.NoiseSD())
	d.target.GradLogPrior(gradient, theta)
	for j, v := range d.released {
		gradient[j] -= v
	}
	return nil
}
