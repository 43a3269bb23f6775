package main

import (
	"context"
	"fmt"

	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/barkerdynamics"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/dphmc"
	"github.com/dpmcmc/dpmcmc/dpsgld"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/penalty"
	"github.com/dpmcmc/dpmcmc/sgnht"
	"github.com/dpmcmc/dpmcmc/targets"
	"github.com/dpmcmc/dpmcmc/tunamh"
)

func init() {
	figures["throughput"] = figure{"iterations a second of processor time: logistic regression, d = 10 (set GOMAXPROCS=1)",
		throughput}
}

// timed is a chain to be timed on the full data or on batches.
type timed struct {
	name  string
	full  bool
	chain chainOf
}

func timedChains() ([]timed, error) {
	model, err := targets.NewLogistic(targets.RegressionConfig{Features: 10, Prior: targets.Gaussian{SD: 3}})
	if err != nil {
		return nil, err
	}
	const rate, scale = 0.001, 1e-3
	walk := curator.Isotropic(scale)
	batch := curator.Poisson(rate)
	bit := func(test curator.Test, b curator.Batch) chainOf {
		return barkerChain(barker.Config{Target: model, Proposal: walk, Test: test, Batch: b})
	}
	langevin := dpsgld.Config{Driven: kernels.Driven{Target: model, Step: kernels.Constant(1e-8), NoiseMultiplier: 2,
		Batch: batch}}
	thermostat := sgnht.Config{Driven: kernels.Driven{Target: model, Step: kernels.Constant(1e-4), NoiseMultiplier: 2,
		Batch: batch}, Friction: 1}
	fullLangevin := langevin
	fullLangevin.Batch = curator.FullData()
	return []timed{
		{"barker, logistic test", false, bit(curator.Logistic(), batch)},
		{"barker, corrected test C = 1", false, bit(curator.Corrected(1), batch)},
		{"penalty, bit", false, penaltyChain(penalty.Config{Target: model, Proposal: walk, Noise: penalty.Fixed(2),
			Batch: batch})},
		{"tunamh, rate 0.02", false, tunamhChain(tunamh.Config{Target: model, Proposal: walk, Rate: 0.02})},
		{"dpsgld", false, sgldChain(langevin)},
		{"sgnht", false, thermostatChain(thermostat)},
		{"barker, logistic test", true, bit(curator.Logistic(), curator.FullData())},
		{"penalty, bit", true, penaltyChain(penalty.Config{Target: model, Proposal: walk, Noise: penalty.Fixed(2)})},
		{"penalty, ratio as published", true, penaltyChain(penalty.Config{Target: model, Proposal: walk,
			Noise: penalty.Scaled(50), Accounting: curator.Published})},
		{"barker dynamics", true, dynamicsChain(barkerdynamics.Config{Target: model, Scale: scale})},
		{"barker dynamics, adjusted", true, dynamicsChain(barkerdynamics.Config{Target: model, Scale: scale,
			Adjusted: true})},
		{"dpsgld", true, sgldChain(fullLangevin)},
		{"dphmc, 5 leapfrog steps", true, hmcChain(dphmc.Config{Target: model, Steps: 5, StepSize: 1e-4, GradientNoise: 50,
			MaxMove: 1})},
	}, nil
}

func throughput(ctx context.Context, s settings) error {
	chains, err := timedChains()
	if err != nil {
		return err
	}
	tab := newTable("kernel", "records", "read in a step", "iterations a second")
	for _, full := range []bool{false, true} {
		n := 1_000_000
		if full {
			n = 100_000
		}
		rng := s.stream("throughput", n)
		r := curator.Records{X: make([]float64, 10*n), Features: 10, Y: make([]float64, n), Radius: 1}
		for i := range r.X {
			r.X[i] = rng.NormFloat64()
		}
		for i := range r.Y {
			r.Y[i] = float64(rng.IntN(2))
		}
		for _, c := range chains {
			if c.full != full {
				continue
			}
			rate, err := c.rate(ctx, r)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			read := "1000"
			if full {
				read = "all"
			} else if c.name == "tunamh, rate 0.02" {
				read = "20000"
			}
			tab.add(c.name, n, read, fmt.Sprintf("%.0f", rate))
		}
	}
	return s.save("throughput", tab, 1)
}

// rate is how many steps a second of the processor makes, over half a second.
func (c timed) rate(ctx context.Context, r curator.Records) (float64, error) {
	// Speed is the question, with the operating system's randomness, as in earnest.
	sealed, err := seal(r, 1e300, 1e-6)
	if err != nil {
		return 0, err
	}
	k, err := c.chain.build(1<<24, sealed)
	if err != nil {
		return 0, err
	}
	state, err := k.Init(make([]float64, k.Dim()))
	if err != nil {
		return 0, err
	}
	rng := kernels.Stream(1, 0)
	if _, err := k.Step(rng, state); err != nil { // fills caches
		return 0, err
	}
	began, steps := processorSeconds(), 0
	for spent := 0.0; spent < 0.5; spent = processorSeconds() - began {
		for range 10 {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			if _, err := k.Step(rng, state); err != nil {
				return 0, err
			}
			steps++
		}
	}
	return float64(steps) / (processorSeconds() - began), nil
}
