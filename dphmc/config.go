package dphmc

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Acceptance is how the end of a trajectory is accepted or rejected.
type Acceptance uint8

const (
	// BarkerBit releases one bit of Barker's exact test, whose price follows from
	// the longest move that is allowed.
	BarkerBit Acceptance = iota
	// PublishedPenalty releases the log-likelihood ratio with Gaussian noise in
	// proportion to the move, and corrects for the noise (Räisä et al. 2021).
	PublishedPenalty
)

// String names the acceptance.
func (a Acceptance) String() string {
	switch a {
	case BarkerBit:
		return "Barker bit"
	case PublishedPenalty:
		return "published penalty"
	}
	return fmt.Sprintf("Acceptance(%d)", uint8(a))
}

// Config describes a Hamiltonian chain. Every field is public and must be
// chosen without looking at the records.
type Config struct {
	// Target is the model. Required.
	Target targets.GradTarget
	// Iterations is the number of trajectories, all paid for by New. Required.
	Iterations int64
	// Steps is the number L of leapfrog steps in a trajectory. Required.
	Steps int
	// StepSize is the longest leapfrog step η. Required.
	StepSize float64
	// Jitter is the law of the step sizes below StepSize. Defaults to Halton.
	Jitter Jitter
	// JitterWidth w in (0, 1] spreads step sizes over ((1−w)η, η). Defaults to 1,
	// as published.
	JitterWidth float64
	// Mass is the diagonal of the mass matrix, Dim positive numbers. Defaults to
	// ones.
	Mass []float64
	// Temperature τ in (0, 1] multiplies the log-likelihood. Defaults to 1.
	Temperature float64

	// GradientNoise is the standard deviation of a gradient's noise over twice its
	// clip. Required.
	GradientNoise float64
	// GradientClip bounds ‖τ·∇ℓ(z;θ)‖₂ for every record. Zero uses the target's
	// certificate and is refused when it has none. Clipping here makes
	// trajectories less apt, not the chain biased.
	GradientClip float64
	// GradientBatch is how records are chosen for each gradient; again this does
	// not bias the chain. Defaults to the full data.
	GradientBatch curator.Batch
	// FreshStart releases the gradient at the current point in every iteration, as
	// published, instead of using the one released on arrival.
	FreshStart bool
	// Continued pays for a chain that goes on with what its kernel kept (Recall), the
	// gradient at its point included: it releases none at its start.
	Continued bool

	// Acceptance is the test. Defaults to BarkerBit.
	Acceptance Acceptance
	// MaxMove is the longest ‖θ′ − θ‖₂ that may be accepted; trajectories that end
	// further away are rejected. BarkerBit only. Required there, except for a
	// target whose loss has a finite range.
	MaxMove float64
	// RatioClip bounds |τ·(ℓ(z;θ) − ℓ(z;θ′))| for every record, for a move of
	// length 1: with PublishedPenalty it grows in proportion to the move, with
	// BarkerBit it is RatioClip·MaxMove for every move. Zero uses the target's
	// certificates, under which nothing is clipped, and is refused when none
	// applies: the range of the loss, a bound on its gradient, and, with
	// PublishedPenalty, the bound on the move at hand.
	RatioClip float64
	// RatioNoise is the standard deviation of the ratio's noise over twice its
	// clip. PublishedPenalty only. Required there.
	RatioNoise float64
	// RejectClipped rejects moves for which the target's RatioBound exceeds the
	// clip, so that no record is ever clipped in the test and the chain stays
	// exact. It needs a target with that certificate and records sealed with a
	// Radius.
	RejectClipped bool
}

func (c Config) temperature() float64 {
	if c.Temperature == 0 {
		return 1
	}
	return c.Temperature
}

// gradient is the mechanism of a force.
func (c Config) gradient() curator.NoisyGradient {
	return curator.NoisyGradient{
		Target: c.Target, Temperature: c.Temperature, Clip: c.GradientClip, NoiseMultiplier: c.GradientNoise,
		Batch: c.GradientBatch,
	}
}

// bit is the mechanism of Barker's test.
func (c Config) bit(f curator.Facts) curator.AcceptanceBit {
	m := curator.AcceptanceBit{Target: c.Target, Temperature: c.Temperature}
	if c.MaxMove > 0 {
		m.Proposal, m.Clip = curator.Proposal{Radius: c.MaxMove}, c.RatioClip*c.MaxMove
		if bound := c.certified(f).PerLength * c.MaxMove; c.RatioClip == 0 && !math.IsInf(bound, 1) {
			m.Clip = bound
		}
	}
	return m
}

// ratio is the mechanism of the penalty test. The clip is given with each move;
// the price does not depend on it.
func (c Config) ratio(f curator.Facts) (curator.NoisyRatio, error) {
	m := curator.NoisyRatio{Target: c.Target, Temperature: c.Temperature, Clip: 1, NoiseMultiplier: c.RatioNoise}
	if c.RatioClip == 0 && !c.certified(f).Any() {
		return m, errors.New("dphmc: nothing bounds a record's part of a move: give Config.RatioClip, or a target with a " +
			"certificate that applies (all but the range of the loss need records sealed with a Radius)")
	}
	return m, nil
}

// gradientsPerStep is the number of gradients that every iteration releases.
func (c Config) gradientsPerStep() int64 {
	if c.FreshStart {
		return int64(c.Steps) + 1
	}
	return int64(c.Steps)
}

// gradients is the number of gradients that the whole chain releases.
func (c Config) gradients() int64 {
	if c.FreshStart || c.Continued {
		return c.Iterations * c.gradientsPerStep()
	}
	return c.Iterations*c.gradientsPerStep() + 1
}

// check reports settings that make no sense on records with these facts.
func (c Config) check(f curator.Facts) error {
	if err := kernels.CheckTarget("dphmc", c.Target); err != nil {
		return err
	}
	switch {
	case c.Iterations < 1 || c.Iterations > 1<<40:
		return fmt.Errorf("dphmc: Config.Iterations is %d; it must be between 1 and 2^40", c.Iterations)
	case c.Steps < 1 || c.Steps > 1<<20:
		return fmt.Errorf("dphmc: Config.Steps is %d; it must be between 1 and 2^20 leapfrog steps", c.Steps)
	case !positive(c.StepSize):
		return fmt.Errorf("dphmc: Config.StepSize is %v; it must be positive and finite", c.StepSize)
	case c.Jitter > NoJitter:
		return fmt.Errorf("dphmc: Config.Jitter is %v; it must be Halton, Uniform or NoJitter", c.Jitter)
	case !(c.JitterWidth >= 0 && c.JitterWidth <= 1):
		return fmt.Errorf("dphmc: Config.JitterWidth is %v; it must be in (0, 1]", c.JitterWidth)
	case !(c.RatioClip >= 0) || math.IsInf(c.RatioClip, 0):
		return fmt.Errorf("dphmc: Config.RatioClip is %v; it must be positive, or 0 to use the target's certificate",
			c.RatioClip)
	}
	return errors.Join(kernels.CheckScales("dphmc", "Mass", c.Mass, c.Target.Dim()), c.checkAcceptance(),
		c.checkRejectClipped(f))
}

func (c Config) checkAcceptance() error {
	switch c.Acceptance {
	case BarkerBit:
		switch {
		case !(c.MaxMove >= 0) || math.IsInf(c.MaxMove, 0):
			return fmt.Errorf("dphmc: Config.MaxMove is %v; it must be positive and finite", c.MaxMove)
		case c.MaxMove == 0 && c.RatioClip > 0:
			return errors.New("dphmc: Config.RatioClip is for a move of length 1; give MaxMove too")
		case c.RatioNoise != 0:
			return errors.New("dphmc: Config.RatioNoise belongs to PublishedPenalty; a bit brings its own noise")
		}
	case PublishedPenalty:
		if c.MaxMove != 0 {
			return errors.New("dphmc: Config.MaxMove belongs to BarkerBit; the penalty's noise grows with the move")
		}
	default:
		return fmt.Errorf("dphmc: Config.Acceptance is %v; it must be BarkerBit or PublishedPenalty", c.Acceptance)
	}
	return nil
}

func (c Config) checkRejectClipped(f curator.Facts) error {
	if _, ok := c.Target.(targets.RatioCertificate); c.RejectClipped && (!ok || f.Radius == 0 || c.RatioClip == 0) {
		return errors.New("dphmc: Config.RejectClipped needs a RatioClip, a target with a RatioBound and records sealed " +
			"with a Radius")
	}
	return nil
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

// Cost is the price of one iteration on records with the given public facts:
// its gradients and its test. Without FreshStart a chain pays for one more
// gradient, at its start: see ChainCost. It charges nothing. Errors: a setting
// that is missing or out of range, a target that does not fit, a bound that
// neither a clip nor a certificate supplies.
func Cost(c Config, f curator.Facts) (accountant.Event, error) {
	force, test, err := c.prices(f)
	if err != nil {
		return accountant.Event{}, err
	}
	if force, err = force.Times(c.gradientsPerStep()); err != nil {
		return accountant.Event{}, err
	}
	return accountant.Compose(force, test)
}

// ChainCost is the price of all of c.Iterations iterations: what New charges.
func ChainCost(c Config, f curator.Facts) (accountant.Event, error) {
	force, test, err := c.prices(f)
	if err != nil {
		return accountant.Event{}, err
	}
	if force, err = force.Times(c.gradients()); err != nil {
		return accountant.Event{}, err
	}
	if test, err = test.Times(c.Iterations); err != nil {
		return accountant.Event{}, err
	}
	return accountant.Compose(force, test)
}

// prices returns the cost of one gradient and of one test.
func (c Config) prices(f curator.Facts) (force, test accountant.Event, err error) {
	if err := c.check(f); err != nil {
		return force, test, err
	}
	if force, err = c.gradient().Event(f); err != nil {
		return force, test, err
	}
	if c.Acceptance != PublishedPenalty {
		test, err = c.bit(f).Event(f)
		return force, test, err
	}
	ratio, err := c.ratio(f)
	if err != nil {
		return force, test, err
	}
	test, err = ratio.Event(f)
	return force, test, err
}
