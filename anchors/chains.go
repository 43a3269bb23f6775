package anchors

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Chains are anchored chains of which the releases have been asked for: what Prepare
// returns. Begin makes the first releases, after the grant.
type Chains struct {
	config    Config
	facts     curator.Facts
	model     model
	remainder *targets.Remainder
	optima    *curator.Optima
	moments   *curator.Moments
	bits      []*curator.Bits
	kernels   []*Kernel
}

// Kernels are the chains' kernels, one a chain, which Begin returns with their starts.
func (s *Chains) Kernels() []*Kernel { return s.kernels }

// Release is what was released before the first step, and what it says to first order.
type Release struct {
	// Statistics are the score and the second moments at the anchor, for aims other
	// than Sums.
	Statistics surrogates.Statistics
	// Sums are the second moments of extended rows, for Sums, with responses in units of
	// Response/Radius.
	Sums surrogates.Sums
	// Kept is the mean share of the information of the data that survived the noise of
	// the score, by the released curvature, for aims with bits; 0 for others.
	Kept float64
	// Widening is by how much privacy widened the intervals: the median over coefficients
	// of their standard deviation over that which the same records give without noise, by
	// the normal approximation. It is 1 for aims that leave the noise out, and 0 for Sums,
	// which have no such approximation.
	Widening float64
}

// Prepare checks a configuration and returns its chains with the requests that the
// records' curator must grant before Begin, all in one: anchor and bits are paid for
// together or not at all. f are the facts of those records. Errors are those of Cost.
func Prepare(c Config, f curator.Facts) (*Chains, []curator.Request, error) {
	if _, err := Cost(c, f); err != nil {
		return nil, nil, err
	}
	if c.Aim == Auto {
		return nil, nil, fmt.Errorf("anchors: Config.Aim is %v; Afford chooses it", c.Aim)
	}
	m, err := c.model()
	if err != nil {
		return nil, nil, err
	}
	s := &Chains{config: c, facts: f, model: m, bits: make([]*curator.Bits, c.chains())}
	for range s.bits {
		s.kernels = append(s.kernels, &Kernel{name: c.Name(), target: c.Target, left: c.Iterations})
	}
	requests := []curator.Request{curator.RequestMoments(&s.moments, c.moment(m, f), 1)}
	if c.Aim != Sums {
		requests = append(requests, curator.RequestOptima(&s.optima, c.optimum(m), 1))
	}
	if !c.Aim.Bits() {
		return s, requests, nil
	}
	if s.remainder, err = newRemainder(m); err != nil {
		return nil, nil, err
	}
	full, thinned := c.bit(s.remainder)
	for i := range s.bits {
		if c.Rate > 0 {
			requests = append(requests, curator.RequestThinnedBits(&s.bits[i], thinned, c.Iterations))
		} else {
			requests = append(requests, curator.RequestBits(&s.bits[i], full, c.Iterations))
		}
	}
	return s, requests, nil
}

// Begin makes the releases of the anchor and returns the chains: kernels with starts
// drawn twice as far out as their targets reach. seed starts the public randomness of
// starts, and of draws that see no record. It must be called once, after the requests
// were granted. Errors: ctx's, before anything is released; a release that leaves
// nothing to sample, which depends on released values alone.
func (s *Chains) Begin(ctx context.Context, seed uint64) ([]kernels.Chain, Release, error) {
	if err := ctx.Err(); err != nil {
		return nil, Release{}, err
	}
	r, err := s.release()
	if err != nil {
		return nil, Release{}, err
	}
	switch s.config.Aim {
	case Sums:
		l := s.model.linear
		unit := s.config.Response / s.facts.Radius
		p, err := surrogates.NewLinear(surrogates.LinearConfig{
			Sums: r.Sums, Prior: scaledPrior{l.Prior(), unit}, MinScale: l.MinScale() / unit,
			ScalePrior: scaledScale{l.ScalePrior(), unit}, Seed: seed,
		})
		if err != nil {
			return nil, r, err
		}
		chains, err := s.sampled(ctx, p, seed, func(theta []float64) { unscale(theta, unit) })
		return chains, r, err
	case Score:
		p, err := surrogates.New(surrogates.Config{Statistics: r.Statistics, Link: s.model.link,
			Prior: s.model.regression.Prior(), Seed: seed})
		if err != nil {
			return nil, r, err
		}
		widened, err := p.Widening()
		if err != nil {
			return nil, r, err
		}
		r.Widening = middle(widened)
		chains, err := s.sampled(ctx, p, seed, func([]float64) {})
		return chains, r, err
	}
	d, err := newDensity(r.Statistics, s.model.regression, s.config.Aim == Remainder)
	if err != nil {
		return nil, r, err
	}
	r.Kept, r.Widening = d.kept, d.widening
	if err := s.remainder.Anchor(r.Statistics.Anchor, d.kept, d.log); err != nil {
		return nil, r, err
	}
	return s.walks(d, seed), r, nil
}

// release makes the releases of the anchor.
func (s *Chains) release() (r Release, err error) {
	c, f := s.config, s.facts
	mechanism := c.moment(s.model, f)
	size := mechanism.Size(f)
	moment := make([]float64, size*size)
	sd, err := mechanism.NoiseSD(f)
	if err != nil {
		return r, err
	}
	if c.Aim == Sums {
		r.Sums = surrogates.Sums{Moment: moment, MomentSD: sd, Features: f.Features, Records: f.Records,
			Radius: math.Sqrt2 * f.Radius, Columns: c.Columns}
		return r, s.moments.Release(moment, nil)
	}
	optimum := c.optimum(s.model)
	scoreSD, err := optimum.ScoreSD(f)
	if err != nil {
		return r, err
	}
	anchor := make([]float64, f.Features)
	if err := s.optima.Release(anchor); err != nil {
		return r, err
	}
	var at []float64
	weighted := c.weighted(s.model, f)
	if weighted {
		at = anchor
	}
	if err := s.moments.Release(moment, at); err != nil {
		return r, err
	}
	outputSD, err := optimum.OutputSD(f)
	if err != nil {
		return r, err
	}
	score := make([]float64, len(anchor))
	for j, v := range anchor {
		score[j] = -c.Ridge * v
	}
	r.Statistics = surrogates.Statistics{
		Anchor: anchor, Score: score, ScoreSD: math.Hypot(scoreSD, c.curvature(s.model, moment, weighted)*outputSD),
		Ridge: c.Ridge, Moment: moment, MomentSD: sd, Weighted: weighted,
		Records: f.Records, Temperature: c.temperature(), Radius: f.Radius, Columns: c.Columns,
	}
	return r, nil
}

// curvature is about that of the optimum's objective in a typical direction, by the
// released moments: what noise on the optimum itself is seen through in the score.
func (c Config) curvature(m model, moment []float64, weighted bool) float64 {
	d := int(math.Sqrt(float64(len(moment))))
	mean := 0.0
	for j := range d {
		mean += moment[j*d+j] / float64(d)
	}
	if !weighted {
		mean *= m.loss.MaxCurvature()
	}
	return c.temperature()*max(0, mean) + c.Ridge
}

// Name is the name of the chains' kernels.
func (c Config) Name() string { return "dp_anchored_" + c.Aim.String() }

// walks are the chains with bits.
func (s *Chains) walks(d *density, seed uint64) []kernels.Chain {
	rng := kernels.Stream(seed, startStream)
	chains := make([]kernels.Chain, len(s.bits))
	for i, bits := range s.bits {
		w := kernels.NewWalk(s.config.Name(), "anchors", s.remainder, kernels.Independent(d.mean, d.factor, tail))
		w.Bits = bits
		s.kernels[i].chain = w
		chains[i] = kernels.Chain{Kernel: s.kernels[i], Start: d.start(rng)}
	}
	return chains
}

// startStream is the public stream of starts, which no chain uses.
const startStream = 1<<31 - 2

// sampled are chains of draws from a density that sees no record, in its own units.
func (s *Chains) sampled(ctx context.Context, p surrogates.Posterior, seed uint64,
	units func(theta []float64)) ([]kernels.Chain, error) {
	c := s.config
	draws, err := surrogates.Sample(ctx, p, surrogates.SampleConfig{
		Chains: max(2, c.chains()), Draws: int(max(20, c.Iterations)), Seed: seed,
	})
	if err != nil {
		return nil, err
	}
	chains := make([]kernels.Chain, c.chains())
	for i := range chains {
		for _, theta := range draws.Chains[i] {
			units(theta)
		}
		s.kernels[i].chain = &replay{draws: draws.Chains[i], left: c.Iterations}
		chains[i] = kernels.Chain{Kernel: s.kernels[i], Start: draws.Chains[i][0]}
	}
	return chains, nil
}

// middle is the median.
func middle(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return (sorted[len(sorted)/2] + sorted[(len(sorted)-1)/2]) / 2
}
