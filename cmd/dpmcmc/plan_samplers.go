package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/dphmc"
	"github.com/dpmcmc/dpmcmc/dpsgld"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/penalty"
	"github.com/dpmcmc/dpmcmc/targets"
	"github.com/dpmcmc/dpmcmc/tunamh"
)

// The prices in this file are those that the samplers charge: each fills in a
// Config and asks its package's Cost.

// setting reads the flags that samplers share.
func (s *planSettings) setting(target targets.Target) (f curator.Facts, b curator.Batch, err error) {
	if f, err = s.facts(); err != nil {
		return f, b, err
	}
	f.Features, f.Response = target.Shape()
	b, err = s.batchScheme(f)
	return f, b, err
}

// barkerStep is one bit of Barker's test, as sample charges it.
func barkerStep(s *planSettings) (accountant.Event, error) {
	target, err := s.planTarget()
	if err != nil {
		return accountant.Event{}, err
	}
	facts, batch, err := s.setting(target)
	if err != nil {
		return accountant.Event{}, err
	}
	config := barker.Config{Target: target, Batch: batch, Temperature: s.temperature, Clip: s.clip}
	if config.Proposal, err = s.moves(target); err != nil {
		return accountant.Event{}, err
	}
	if config.Test, err = s.buildTest(); err != nil {
		return accountant.Event{}, err
	}
	if config.Accounting, err = s.buildAccounting(); err != nil {
		return accountant.Event{}, err
	}
	return barker.Cost(config, facts)
}

// penaltyStep is one bit of the penalty test.
func penaltyStep(s *planSettings) (accountant.Event, error) {
	target, err := s.planTarget()
	if err != nil {
		return accountant.Event{}, err
	}
	facts, batch, err := s.setting(target)
	if err != nil {
		return accountant.Event{}, err
	}
	proposal, err := s.moves(target)
	if err != nil {
		return accountant.Event{}, err
	}
	return penalty.Cost(penalty.Config{
		Target: target, Proposal: proposal, Noise: penalty.Fixed(s.variance), Batch: batch, Temperature: s.temperature, Clip: s.clip,
	}, facts)
}

// thinnedStep is one bit of an exact minibatch.
func thinnedStep(s *planSettings) (accountant.Event, error) {
	target, err := s.planTarget()
	if err != nil {
		return accountant.Event{}, err
	}
	facts, _, err := s.setting(target)
	if err != nil {
		return accountant.Event{}, err
	}
	proposal, err := s.moves(target)
	if err != nil {
		return accountant.Event{}, err
	}
	return tunamh.Cost(tunamh.Config{Target: target, Proposal: proposal, Rate: s.rate, Temperature: s.temperature, Clip: s.clip}, facts)
}

// dynamicsStep is the signs of one move, and its bit if adjusted.
func dynamicsStep(s *planSettings, adjusted bool) (accountant.Event, error) {
	target, err := s.planTarget()
	if err != nil {
		return accountant.Event{}, err
	}
	gradients, ok := target.(targets.GradTarget)
	if !ok {
		return accountant.Event{}, fmt.Errorf("--model %s has no gradients, which Barker dynamics need", s.model)
	}
	facts, _, err := s.setting(target)
	if err != nil {
		return accountant.Event{}, err
	}
	return barker.DynamicsCost(barker.DynamicsConfig{
		Target: gradients, Scale: s.step, Temperature: s.temperature, Clip: s.clip, Adjusted: adjusted,
	}, facts)
}

// penaltyRatioStep is one released ratio; its price depends on the noise alone.
func penaltyRatioStep(s *planSettings) (accountant.Event, error) {
	target := anyLinear{dim: 1, slope: math.Inf(1)}
	facts, _, err := s.setting(target)
	if err != nil {
		return accountant.Event{}, err
	}
	return penalty.Cost(penalty.Config{
		Target: target, Proposal: kernels.Isotropic(1), Noise: penalty.Scaled(s.noise), Clip: 1, Accounting: curator.Published,
	}, facts)
}

// langevinStep is one noisy gradient; its price depends on the noise and the
// batch alone.
func langevinStep(s *planSettings) (accountant.Event, error) {
	target := anyLinear{dim: 1, slope: math.Inf(1)}
	facts, batch, err := s.setting(target)
	if err != nil {
		return accountant.Event{}, err
	}
	return dpsgld.Cost(dpsgld.Config{Target: target, Iterations: 1, Step: dpsgld.Constant(1), NoiseMultiplier: s.noise, Clip: 1, Batch: batch}, facts)
}

// hamiltonianStep is one trajectory: its gradients and its bit.
func hamiltonianStep(s *planSettings) (accountant.Event, error) {
	if s.leapfrog < 1 {
		return accountant.Event{}, fmt.Errorf("--leapfrog is %d; at least 1 is needed", s.leapfrog)
	}
	target, err := s.planTarget()
	if err != nil {
		return accountant.Event{}, err
	}
	gradients, ok := target.(targets.GradTarget)
	if !ok {
		return accountant.Event{}, fmt.Errorf("--model %s has no gradients, which --kernel dphmc needs", s.model)
	}
	facts, batch, err := s.setting(target)
	if err != nil {
		return accountant.Event{}, err
	}
	return dphmc.Cost(dphmc.Config{
		Target: gradients, Iterations: 1, Steps: s.leapfrog, StepSize: 1, Temperature: s.temperature,
		GradientNoise: s.noise, GradientClip: 1, GradientBatch: batch, MaxMove: s.maxMove, RatioClip: s.clip,
	}, facts)
}

// moves are the proposals of --step and --proposal. Without --step they are of
// any length, for which only a clip or a range sets the price.
func (s *planSettings) moves(target targets.Target) (kernels.Proposal, error) {
	if s.step != 0 {
		return s.buildProposal(s.step)
	}
	if linear, ok := target.(targets.LinearTarget); ok && s.radius > 0 && !math.IsInf(linear.PredictorLipschitz(), 1) {
		return kernels.Proposal{}, errors.New("--step is required: with --radius, and a slope that is bounded, the price depends on it")
	}
	return s.buildProposal(1)
}

// planTarget is a target with the certificates that the flags state.
func (s *planSettings) planTarget() (targets.Target, error) {
	switch {
	case s.dimension < 1:
		return nil, fmt.Errorf("--dimension is %d; at least 1 is needed", s.dimension)
	case !(s.lipschitz >= 0) || math.IsInf(s.lipschitz, 1):
		return nil, fmt.Errorf("--lipschitz is %v; it must be positive and finite", s.lipschitz)
	case s.model != "" && s.lipschitz != 0:
		return nil, fmt.Errorf("--model %s certifies its own slope; leave --lipschitz out", s.model)
	case s.lipschitz != 0 && s.radius == 0:
		return nil, fmt.Errorf("--lipschitz bounds a record's part of a move only with --radius, the bound on its features")
	case s.model == "" && s.lipschitz == 0:
		return anyLinear{dim: s.dimension, slope: math.Inf(1)}, nil
	case s.model == "":
		return anyLinear{dim: s.dimension, slope: s.lipschitz}, nil
	}
	settings := s.modelSettings
	settings.priorSD = 1 // prices do not depend on the prior
	shape := &data.Shape{Terms: make([]data.Term, s.dimension)}
	switch s.model {
	case "logistic", "probit", "cloglog":
		shape.Target = data.Term{Name: "y", Level: "1", Unit: 1}
	case "linear", "poisson", "negative-binomial":
		shape.Target = data.Term{Name: "y", Unit: 1}
	}
	m, err := buildModel(settings, shape)
	if err != nil {
		return nil, err
	}
	return m.target, nil
}

// anyLinear stands for any target whose loss has a bounded slope along the
// linear predictor. Pricing reads its shape and its slope alone; it is the
// target of a flat loss.
type anyLinear struct {
	dim   int
	slope float64
}

var (
	_ targets.LinearTarget = anyLinear{}
	_ targets.GradTarget   = anyLinear{}
)

func (t anyLinear) Dim() int                                  { return t.dim }
func (t anyLinear) Shape() (features int, response bool)      { return t.dim, true }
func (t anyLinear) LogPrior([]float64) float64                { return 0 }
func (t anyLinear) Loss(dst, _ []float64, _ targets.Rows)     { clear(dst) }
func (t anyLinear) LossAt(dst, _, _ []float64)                { clear(dst) }
func (t anyLinear) SlopeAt(dst, _, _ []float64)               { clear(dst) }
func (t anyLinear) LossGrad(dst, _ []float64, _ targets.Rows) { clear(dst) }
func (t anyLinear) GradLogPrior(dst, _ []float64)             { clear(dst) }
func (t anyLinear) PredictorLipschitz() float64               { return t.slope }

// GradBound is the slope times the radius.
func (t anyLinear) GradBound(radius float64) float64 { return t.slope * radius }
