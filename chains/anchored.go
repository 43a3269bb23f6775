package chains

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Anchored chains: what package anchors releases once, and then next to nothing a step.

// aims are the words of the setting aim.
var aims = map[string]anchors.Aim{
	"auto": anchors.Auto, "score": anchors.Score, "remainder": anchors.Remainder, "perturbed": anchors.Perturbed,
	"sums": anchors.Sums,
}

// laws are the words of the setting anchor-law.
var laws = map[string]anchors.Law{"auto": anchors.AnyLaw, "normal": anchors.Normal, "spherical": anchors.Spherical}

// fits are the words of the setting anchor-fit.
var fits = map[string]anchors.Fit{"auto": anchors.AnyFit, "no": anchors.Unfitted, "yes": anchors.Fitted}

// anchorConfig is what the settings and the public shape say.
func (c *choice) anchorConfig() (anchors.Config, error) {
	aim, ok := aims[c.Aim]
	if !ok {
		return anchors.Config{}, bad("aim", "%s is %q; it must be auto, score, remainder, perturbed or sums",
			name("aim"), c.Aim)
	}
	law, ok := laws[c.AnchorLaw]
	if !ok {
		return anchors.Config{}, bad("anchor-law", "%s is %q; it must be auto, normal or spherical", name("anchor-law"),
			c.AnchorLaw)
	}
	fit, ok := fits[c.AnchorFit]
	if !ok {
		return anchors.Config{}, bad("anchor-fit", "%s is %q; it must be auto, yes or no", name("anchor-fit"), c.AnchorFit)
	}
	config := anchors.Config{
		Target: c.Target, Aim: aim, Temperature: c.Temperature, Chains: int(c.Chains), Iterations: c.Iterations,
		Ridge: c.Ridge, OptimumNoise: c.AnchorNoise, MomentNoise: c.MomentNoise, Clip: c.Clip, Rate: c.Rate,
		LeastESS: c.ESS, Law: law, Fit: fit, Variance: c.Variance, Lengths: c.Lengths, Scales: c.Scales,
	}
	if c.Shape == nil {
		return config, nil
	}
	config.Columns, config.RowNorm = Columns(c.Shape, c.Weighed), c.Shape.Norm()
	if _, sums := c.Target.(*targets.Linear); fit == anchors.AnyFit && !sums && !c.Shape.Loose() { // scales are known
		config.Fit = anchors.Unfitted
	}
	if t := &c.Shape.Target; c.Shape.HasTarget() && c.Shape.Labels == nil {
		most := max(math.Abs(t.At(t.Lower)), math.Abs(t.At(t.Upper)))
		config.Response, config.Cap.Count = most, max(1, math.Floor(most))
		if !t.Refused {
			config.Cut = [2]float64{t.At(t.Lower), t.At(t.Upper)}
		}
	}
	return config, nil
}

// Columns returns what a shape says of the features. weighed says whether long rows weigh less
// (models.Model.Weigh).
func Columns(s *data.Shape, weighed bool) []surrogates.Column {
	out, groups := make([]surrogates.Column, len(s.Terms)), map[string]int{}
	for j := range s.Terms {
		t := &s.Terms[j]
		switch {
		case t.Column == "":
			out[j] = surrogates.Column{Kind: surrogates.Constant, Upper: t.At(1), Varies: s.Inside}
			if weighed {
				out[j].Missing = max(1-s.Weight(), 1/float64(s.Records))
			}
		case t.Level != "":
			if _, known := groups[t.Column]; !known {
				groups[t.Column] = len(groups)
			}
			out[j] = surrogates.Column{Kind: surrogates.Level, Lower: t.At(0), Upper: t.At(1), Group: groups[t.Column]}
		default:
			out[j] = surrogates.Column{Lower: t.At(t.Lower), Upper: t.At(t.Upper), Ends: t.Indicates()}
		}
	}
	return out
}

// chooseAnchored fills aim, ridge, the two noises, clip and rate.
func (c *choice) chooseAnchored() error {
	if err := anchors.Fits(c.Target); err != nil {
		return bad("kernel", "%s anchored: %w; use another kernel, such as barker", name("kernel"), err)
	}
	if err := c.chooseAnchoredTest(); err != nil {
		return err
	}
	config, err := c.anchorConfig()
	if err != nil {
		return err
	}
	first := anchors.Order(c.Target) == 1
	if c.pricing {
		for setting, missing := range map[name]bool{"anchor-noise": c.AnchorNoise == 0 && c.Aim != "sums",
			"moment-noise": c.MomentNoise == 0 && !first,
			"aim":          c.Aim == "auto", "ridge": c.Ridge == 0 && c.Aim != "sums" && !first,
			"clip": c.Clip == 0 && config.Aim.Bits()} {
			if missing {
				return c.required(setting)
			}
		}
		return nil
	}
	config, err = anchors.Afford(config, c.Facts, c.Epsilon, c.Delta)
	var unreachable *accountant.UnreachableError
	switch {
	case errors.As(err, &unreachable):
		return bad("anchor-noise", "no %s that can be drawn is enough for ε = %v: %w", name("anchor-noise"), c.Epsilon, err)
	case err != nil:
		return bad("kernel", "%s anchored: %w", name("kernel"), err)
	}
	c.Aim, c.Ridge, c.AnchorNoise, c.MomentNoise = config.Aim.String(), config.Ridge, config.OptimumNoise,
		config.MomentNoise
	c.Clip, c.Rate, c.AnchorLaw, c.AnchorFit = config.Clip, config.Rate, config.Law.String(), config.Fit.String()
	return nil
}

// leastVariance is the penalty test's that accepts most often.
const leastVariance = 0.25

// chooseAnchoredTest fills variance: 0 for Barker's test.
func (c *choice) chooseAnchoredTest() error {
	byPenalty, err := c.penaltyAccepts()
	switch {
	case err != nil:
		return err
	case !byPenalty && c.Variance != 0:
		return bad("variance", "%s is for %s penalty", name("variance"), name("acceptance"))
	case byPenalty && c.Variance == 0:
		c.Variance = leastVariance
	}
	return nil
}

// anchoredChain is anchored chains: all of them and their anchor.
func (c *choice) anchoredChain() (*parts, error) {
	config, err := c.anchorConfig()
	if err != nil {
		return nil, err
	}
	shared, err := anchors.AnchorCost(config, c.Facts)
	if err != nil {
		return nil, err
	}
	step, err := anchors.StepCost(config, c.Facts)
	if err != nil {
		return nil, err
	}
	p := &parts{
		Released: "nothing: a draw from what the anchor's release says", Batch: curator.Batch{}, Clip: config.Clip,
		step: step, shared: shared, open: openAnchored, again: againFromAnchor,
	}
	if config.Aim.Bits() {
		remainders := fmt.Sprintf("on remainders of order %d", anchors.Order(c.Target))
		p.Test = "Barker's " + remainders
		p.Released = "one accept/reject bit (on the remainder at the anchor)"
		batches := "exact minibatches"
		if config.Variance > 0 {
			p.Test, batches = fmt.Sprintf("penalty, variance %v, %s", config.Variance, remainders), "Poisson batches"
		}
		if config.Rate > 0 {
			p.Batch, p.Released = curator.Batch{Rate: config.Rate},
				fmt.Sprintf("one accept/reject bit (on the remainder at the anchor; %s; rate %.4g)", batches, config.Rate)
		}
	}
	switch config.Aim {
	case anchors.Perturbed:
		p.Target = "perturbed"
		p.Caveat = "The released gradient and curvature are taken for true, so intervals leave out the noise in them."
	case anchors.Remainder:
		p.Target, p.Sampled = "noise-aware", "the posterior given the released gradient, whose noise its intervals contain "+
			"to first order"
	case anchors.Score:
		p.Target, p.Sampled = "noise-aware", "the posterior given what was released, whose noise its intervals contain"
		if config.Fit == anchors.Fitted {
			p.Sampled += ", rows far from most others left out"
		}
	case anchors.Sums:
		p.Target, p.Sampled = "noise-aware", "the posterior given released sums, whose noise its intervals contain"
		if config.Fit == anchors.Fitted {
			p.Sampled += ", of residuals cut at four of their standard deviations or more, rows far from most others " +
				"weighing less"
		}
		if config.Cut[0] < config.Cut[1] {
			p.Sampled += ", a response beyond its bounds counting as the bound"
		}
	}
	return p, nil
}

// openAnchored asks for anchor and bits together.
func openAnchored(r *Plan, f curator.Facts, seed uint64) (opening, error) {
	c := &choice{Settings: r.Settings, Problem: r.Problem}
	config, err := c.anchorConfig()
	if err != nil {
		return opening{}, err
	}
	prepared, requests, err := anchors.Prepare(config, f)
	if err != nil {
		return opening{}, err
	}
	o := r.anchored(prepared, requests, seed)
	o.release = func(ctx context.Context) (Beginning, error) {
		values, err := prepared.Look(ctx)
		return Beginning{Values: values}, err
	}
	return o, nil
}

// againFromAnchor asks for the bits that are left, beside an anchor that was released.
func againFromAnchor(r *Plan, f curator.Facts, seed uint64, b Beginning, at []Position) (opening, error) {
	c := &choice{Settings: r.Settings, Problem: r.Problem}
	config, err := c.anchorConfig()
	if err != nil {
		return opening{}, err
	}
	var steps []int64
	for _, p := range at {
		steps = append(steps, p.Left)
	}
	prepared, requests, err := anchors.PrepareRest(config, f, steps)
	if err != nil {
		return opening{}, err
	}
	o := r.anchored(prepared, requests, seed)
	o.release = released(b)
	return o, nil
}

// anchored is the opening of chains with an anchor, but for its release.
func (r *Plan) anchored(prepared *anchors.Chains, requests []curator.Request, seed uint64) opening {
	o := opening{requests: requests}
	for _, k := range prepared.Kernels() {
		o.kernels = append(o.kernels, k)
	}
	o.begin = func(ctx context.Context, from Beginning) (begun, error) {
		chains, released, err := prepared.Restore(ctx, seed, from.Values)
		b := begun{widening: released.Widening, doubts: r.doubts(released), drawing: released.Drawing}
		for _, chain := range chains {
			b.starts = append(b.starts, chain.Start)
		}
		return b, err
	}
	return o
}
