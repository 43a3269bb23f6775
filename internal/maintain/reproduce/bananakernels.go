package main

import (
	"fmt"
	"math"
	"math/rand/v2"

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

func sqrt(x float64) float64 { return math.Sqrt(x) }

// bananaContender is a chain in public coordinates.
type bananaContender struct {
	name, settings string
	target         banana
	chain          chainOf
	gradientClip   float64 // of a record's gradient; 0 for none
	ratioClip      float64 // of a record's ratio, for a move of ratioScale; 0 for none
	ratioScale     float64
}

// clippedShare is the share of records whose gradient, or whose ratio for a random
// move, is shortened, at ten of the chain's states. A chain cannot know it.
func (c bananaContender) clippedShare(r curator.Records, states [][]float64, rng *rand.Rand) float64 {
	const most, places = 2000, 10
	rows := targets.Rows{X: r.X[:2*most], P: 2}
	gradient, here, there := make([]float64, 2*most), make([]float64, most), make([]float64, most)
	clipped := 0.0
	for range places {
		phi := states[rng.IntN(len(states))]
		if c.gradientClip > 0 {
			c.target.LossGrad(gradient, phi, rows)
			for i := range most {
				if math.Hypot(gradient[2*i], gradient[2*i+1]) > c.gradientClip {
					clipped++
				}
			}
			continue
		}
		next := []float64{phi[0] + c.ratioScale*rng.NormFloat64(), phi[1] + c.ratioScale*rng.NormFloat64()}
		c.target.Loss(here, phi, rows)
		c.target.Loss(there, next, rows)
		for i := range most {
			if math.Abs(here[i]-there[i]) > c.ratioClip {
				clipped++
			}
		}
	}
	return clipped / (most * places)
}

// bananaRow is a line of the table at every ε.
type bananaRow struct {
	name   string
	public bool   // start
	short  string // name in the figure; none where it is not drawn
	at     func(eps float64) bananaContender
}

// The coordinates that most chains use: about one posterior standard deviation of
// θ₁ and of θ₂, from n, τ₁, τ₂ and the bend, all public.
var (
	bananaScaled   = banana{scale: [2]float64{0.14, 0.6}}
	bananaPlain    = banana{scale: [2]float64{1, 1}}
	bananaStraight = banana{scale: [2]float64{0.14, 0.16}, straight: true}
)

// pick is a setting for ε = 2, 6 and 15.
func pick(eps float64, values ...float64) float64 {
	switch {
	case eps < 4:
		return values[0]
	case eps < 10:
		return values[1]
	}
	return values[2]
}

// walkClip is the clip of a walk of scale h: so many times h.
func bananaWalk(eps, h, perScale float64, build func(p curator.Proposal, clip float64) (string,
	chainOf)) bananaContender {
	clip := h * perScale
	extra, chain := build(curator.Proposal{Scale: h}, clip)
	return bananaContender{
		settings: fmt.Sprintf("h = %.3g, clip %.3g%s", h, clip, extra), target: bananaScaled, chain: chain, ratioClip: clip,
		ratioScale: h,
	}
}

func bananaRows() []bananaRow {
	rows := []bananaRow{
		{name: "barker", short: "barker", at: bananaBarker},
		{name: "barker, minibatches", at: bananaMinibatch(curator.Test{})},
		{name: "barker, corrected minibatches", at: bananaMinibatch(curator.Test{Corrected: 1})},
		{name: "penalty, bit", short: "penalty, bit", at: bananaPenaltyBit},
		{name: "penalty, ratio as published", short: "published ratio", at: bananaPenaltyPublished},
		{name: "tunamh", at: bananaTuna},
		{name: "barker dynamics", short: "dynamics", at: bananaDynamics(bananaScaled)},
		{name: "barker dynamics, adjusted", at: bananaAdjusted},
		{name: "dpsgld", short: "dpsgld", at: bananaLangevin},
		{name: "sgnht", at: bananaThermostat},
		{name: "dphmc", at: bananaHMC},
	}
	rows = append(rows,
		bananaRow{name: "barker", public: true, at: bananaBarker},
		bananaRow{name: "barker dynamics, mean coordinates", public: true, short: "mean coordinates",
			at: bananaDynamics(bananaStraight)},
	)
	for i, r := range rows {
		inner := r.at
		rows[i].at = func(eps float64) bananaContender {
			c := inner(eps)
			c.name = r.name
			return c
		}
	}
	return rows
}

func bananaBarker(eps float64) bananaContender {
	return bananaWalk(eps, pick(eps, 0.4, 0.4, 0.5), pick(eps, 0.03, 0.04, 0.06),
		func(p curator.Proposal, clip float64) (string, chainOf) {
			return "", barkerChain(barker.Config{Target: bananaScaled, Proposal: p, Clip: clip})
		})
}

// bananaMinibatch needs small moves, so that a batch's noise stays below the test's.
func bananaMinibatch(test curator.Test) func(eps float64) bananaContender {
	return func(eps float64) bananaContender {
		const rate = 0.3
		return bananaWalk(eps, 0.1, pick(eps, 0.12, 0.3, 0.8), func(p curator.Proposal, clip float64) (string, chainOf) {
			return fmt.Sprintf(", rate %v", rate), barkerChain(barker.Config{Target: bananaScaled, Proposal: p, Clip: clip,
				Test: test, Batch: curator.Batch{Rate: rate}})
		})
	}
}

func bananaPenaltyBit(eps float64) bananaContender {
	return bananaWalk(eps, pick(eps, 0.4, 0.6, 0.8), pick(eps, 0.03, 0.05, 0.08),
		func(p curator.Proposal, clip float64) (string, chainOf) {
			return ", σ² = 1", penaltyChain(penalty.Config{Target: bananaScaled, Proposal: p, Clip: clip,
				Noise: penalty.Fixed(1)})
		})
}

// bananaPenaltyPublished has the repository's parameters: τ = 0.17, r_clip = 0.15.
func bananaPenaltyPublished(eps float64) bananaContender {
	const scale, clip = 0.06, 0.15
	noise := 0.17 * sqrt(bananaN)
	return bananaContender{
		settings: fmt.Sprintf("as published: h = %v, clip %v a unit, τ√n = %.1f", scale, clip, noise), target: bananaPlain,
		ratioClip: clip * scale * sqrt(2), ratioScale: scale,
		chain: penaltyChain(penalty.Config{
			Target: bananaPlain, Proposal: curator.Proposal{Scale: scale}, Clip: clip, Noise: penalty.Scaled(noise),
			Accounting: "published",
		}),
	}
}

func bananaTuna(eps float64) bananaContender {
	const rate = 0.3
	return bananaWalk(eps, pick(eps, 0.4, 0.6, 0.8), pick(eps, 0.03, 0.05, 0.08),
		func(p curator.Proposal, clip float64) (string, chainOf) {
			return fmt.Sprintf(", rate %v", rate), tunamhChain(tunamh.Config{Target: bananaScaled, Proposal: p, Clip: clip,
				Rate: rate})
		})
}

func bananaDynamics(target banana) func(eps float64) bananaContender {
	return func(eps float64) bananaContender {
		h, clip := 0.2, pick(eps, 0.04, 0.06, 0.12)
		if target.straight {
			h, clip = 0.4, pick(eps, 0.03, 0.06, 0.1)
		}
		return bananaContender{
			settings: fmt.Sprintf("h = %v, clip %v", h, clip), target: target, gradientClip: clip,
			chain: dynamicsChain(barkerdynamics.Config{Target: target, Scale: h, Clip: clip}),
		}
	}
}

func bananaAdjusted(eps float64) bananaContender {
	h, clip := 0.3, pick(eps, 0.03, 0.04, 0.06)
	return bananaContender{
		settings: fmt.Sprintf("h = %v, clip %v", h, clip), target: bananaScaled, gradientClip: clip,
		chain: dynamicsChain(barkerdynamics.Config{Target: bananaScaled, Scale: h, Clip: clip, Adjusted: true}),
	}
}

// bananaLangevin spends half of the Langevin noise as privacy noise; the batch's own
// comes on top.
func bananaLangevin(eps float64) bananaContender {
	const share, rate = 0.5, 0.03
	h, clip := pick(eps, 0.1, 0.07, 0.06), pick(eps, 0.03, 0.05, 0.1)
	noise := sqrt(share) / h * rate / clip
	return bananaContender{
		settings: fmt.Sprintf("√h = %v, clip %v, rate %v, m = %.3g", h, clip, rate, noise), target: bananaScaled,
		gradientClip: clip,
		chain: sgldChain(dpsgld.Config{Driven: kernels.Driven{Target: bananaScaled, Step: kernels.Constant(h * h),
			NoiseMultiplier: noise, Clip: clip, Batch: curator.Batch{Rate: rate}}}),
	}
}

// bananaThermostat supplies 0.8 of its friction's noise by privacy noise.
func bananaThermostat(eps float64) bananaContender {
	const share, friction, rate = 0.8, 5.0, 0.03
	h, clip := 0.05, pick(eps, 0.03, 0.06, 0.12)
	noise := sqrt(2*friction*share/h) * rate / (2 * clip)
	return bananaContender{
		settings: fmt.Sprintf("h = %v, A = %v, clip %v, rate %v, m = %.3g", h, friction, clip, rate, noise),
		target:   bananaScaled, gradientClip: clip,
		chain: thermostatChain(sgnht.Config{Driven: kernels.Driven{Target: bananaScaled, Step: kernels.Constant(h),
			NoiseMultiplier: noise, Clip: clip, Batch: curator.Batch{Rate: rate}}, Friction: friction}),
	}
}

func bananaHMC(eps float64) bananaContender {
	const steps, size, clip, noise, longest = 5, 0.2, 0.03, 40.0, 1.5
	return bananaContender{
		settings: fmt.Sprintf("L = %v, η = %v, clip %v, m = %v, longest move %v", steps, size, clip, noise, longest),
		target:   bananaScaled, gradientClip: clip,
		chain: hmcChain(dphmc.Config{
			Target: bananaScaled, Steps: steps, StepSize: size, GradientClip: clip, GradientNoise: noise, RatioClip: clip,
			MaxMove: longest,
		}),
	}
}
