package anchors

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Chains are anchored chains of which the releases have been asked for: what Prepare
// returns. Begin makes the first releases, after the grant.
type Chains struct {
	config    Config
	facts     curator.Facts
	model     model
	fit       fitted // of columns, if they are
	remainder *targets.Remainder
	first     *first                          // of order 1
	lengths   func([]float64) targets.Lengths // of gradients, for order 1
	optima    *curator.Optima
	moments   *curator.Moments
	scores    []*curator.Gradients // at nearer anchors, if there are any
	bits      []*curator.Bits
	kernels   []*Kernel
	left      []int64 // steps to go, a chain
	drawing   time.Duration
}

// Kernels are the chains' kernels, one a chain, which Begin returns with their starts.
func (s *Chains) Kernels() []*Kernel { return s.kernels }

// Prepare checks a configuration and returns its chains with the requests that the
// records' curator must grant before Begin, all in one: anchor and bits are paid for
// together or not at all. f are the facts of those records. Errors are those of Cost.
func Prepare(c Config, f curator.Facts) (*Chains, []curator.Request, error) {
	s, bits, err := PrepareRest(c, f, slices.Repeat([]int64{c.Iterations}, max(0, c.chains())))
	if err != nil {
		return nil, nil, err
	}
	if s.first != nil {
		return s, append(s.first.requests(), bits...), nil
	}
	c = s.config
	requests := []curator.Request{curator.RequestFor(&s.moments, c.moment(s.model, f), 1)}
	if s.fit != nil {
		requests = append(requests, s.fit.requests()...)
	}
	if c.Aim != Sums {
		requests = append(requests, curator.RequestFor(&s.optima, c.optimum(s.model), 1))
	}
	if c.near(s.model) {
		s.scores = make([]*curator.Gradients, nearLooks)
		for i := range s.scores {
			requests = append(requests, curator.RequestFor(&s.scores[i], c.look(s.model, f, i), 1))
		}
	}
	return s, append(requests, bits...), nil
}

// PrepareRest is Prepare for chains that go on, with so many steps each, none for a
// chain that is complete. Their anchor was released before, and Restore takes it: the
// requests are for the steps alone.
func PrepareRest(c Config, f curator.Facts, steps []int64) (*Chains, []curator.Request, error) {
	if _, err := Cost(c, f); err != nil {
		return nil, nil, err
	}
	if c.Aim == Auto {
		return nil, nil, fmt.Errorf("anchors: Config.Aim is %v; Afford chooses it", c.Aim)
	}
	if len(steps) != c.chains() || slices.Min(steps) < 0 || slices.Max(steps) > c.Iterations {
		return nil, nil, fmt.Errorf("anchors: %v steps to go for %d chains of %d", steps, c.chains(), c.Iterations)
	}
	m, err := c.model()
	if err != nil {
		return nil, nil, err
	}
	s := &Chains{config: c, facts: c.seen(f), model: m, bits: make([]*curator.Bits, c.chains()), left: slices.Clone(steps)}
	for _, n := range steps {
		s.kernels = append(s.kernels, &Kernel{name: c.Name(), target: c.Target, left: n})
	}
	if c.Fit == Fitted {
		if s.fit, err = c.kindOfFit().begin(c, m, f); err != nil {
			return nil, nil, err
		}
		s.config = s.fit.inView()
	}
	if m.first != nil {
		if s.first, err = newFirst(c, m, f); err == nil {
			s.lengths, err = c.lengths(m, f)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if !c.Aim.Bits() {
		return s, nil, nil
	}
	if s.remainder, err = newRemainder(m); err != nil {
		return nil, nil, err
	}
	thinned, parts := c.thinned(s.remainder)
	var requests []curator.Request
	for i, n := range steps {
		switch {
		case n == 0:
		case parts:
			requests = append(requests, curator.RequestFor(&s.bits[i], thinned, n))
		default:
			requests = append(requests, curator.RequestFor(&s.bits[i], c.bit(s.remainder), n))
		}
	}
	return s, requests, nil
}

// Begin calls Look, and then Restore with what it released.
func (s *Chains) Begin(ctx context.Context, seed uint64) ([]kernels.Chain, Release, error) {
	values, err := s.Look(ctx)
	if err != nil {
		return nil, Release{}, err
	}
	return s.Restore(ctx, seed, values)
}

// Restore returns the chains of an anchor from the values that Look released: kernels with
// starts drawn twice as far out as their targets reach. It sees no record. seed starts the
// public randomness of starts, and of draws that see no record, and the same seed makes the
// same ones. Errors: ctx's; a release that leaves nothing to sample.
func (s *Chains) Restore(ctx context.Context, seed uint64, values []float64) ([]kernels.Chain, Release, error) {
	r, err := s.describe(values)
	if err != nil {
		return nil, Release{}, err
	}
	var chains []kernels.Chain
	switch {
	case s.first != nil && s.config.Aim == Score:
		chains, err = s.fromClasses(ctx, seed, &r)
	case s.first != nil:
		chains, err = s.fromFirst(seed, &r)
	case s.config.Aim == Sums:
		chains, err = s.fromSums(ctx, seed, &r)
	case s.config.Aim == Score:
		chains, err = s.fromScore(ctx, seed, &r)
	default:
		chains, err = s.fromRemainder(seed, &r)
	}
	r.Drawing = s.drawing
	return chains, r, err
}

// Name is the name of the chains' kernels.
func (c Config) Name() string { return "dp_anchored_" + c.Aim.String() }

// startStream is the public stream of starts, which no chain uses.
const startStream = 1<<31 - 2

// summarised is the share of a chain that summaries are made of (chains.Settings.Warmup):
// they are to have the effective sample size that was asked for.
const summarised = 0.75
