package perfect

import (
	"context"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Rejection draws from the prior until a draw is accepted with its likelihood's
// weight. It is immutable.
type Rejection struct {
	posterior
	proposals int64 // 0 for as many as it takes
	delta     float64
}

// NewRejection returns the sampler. With delta = 0 it takes as many proposals as
// it needs and the draw is exact: (Epsilon, 0)-DP for whoever cannot observe the
// running time. With delta in (0, 1) it always makes the same public number of
// proposals, e^(nε/2)·log((1+e^ε)/delta) or so, keeps the first accepted one, and
// falls back on the prior: (Epsilon, delta)-DP, running time included. Numbers of
// proposals above 2⁴⁰ are an error.
func NewRejection(cfg Config, delta float64) (*Rejection, error) {
	if !(delta >= 0 && delta < 1) {
		return nil, fmt.Errorf("perfect: delta = %v: must be in [0, 1)", delta)
	}
	p, err := newPosterior(cfg)
	if err != nil {
		return nil, err
	}
	s := &Rejection{posterior: p, delta: delta}
	if delta == 0 {
		return s, nil
	}
	// A draw falls through with probability at most (1 − e^least)^K, which is the
	// total-variation distance to the exact law.
	needed := math.Log((1+math.Exp(cfg.Epsilon))/delta) / -math.Log1p(-math.Exp(p.least()))
	if !(needed < 0x1p40) {
		return nil, fmt.Errorf("perfect: %d records at ε = %v need %.3g proposals in the worst case: rejection is for "+
			"small problems, use a smaller ε, fewer records or a chain", cfg.Records, cfg.Epsilon, needed)
	}
	s.proposals = int64(math.Ceil(needed*(1+1e-9))) + 1
	return s, nil
}

// Proposals returns the fixed number of proposals, or 0.
func (s *Rejection) Proposals() int64 { return s.proposals }

// Cost returns the guarantee of one draw.
func (s *Rejection) Cost() (ops.Guarantee, error) {
	const theorem = "bounded range (Jewson et al. 2023, Thm 1), exact by rejection"
	if s.delta == 0 {
		return ops.Guarantee{Event: s.event, Kind: ops.Unconditional, Theorem: theorem + "; running time not covered"}, nil
	}
	return ops.Approximate(s.delta, ops.Unconditional, theorem+" up to total variation", func(float64) (float64, error) {
		return s.cfg.Epsilon, nil
	})
}

// Release draws once. It stops with the context's error when that is done, which
// happens at a time that depends on the records unless proposals are fixed.
func (s *Rejection) Release(ctx context.Context, src *ops.Source, rows targets.Rows) (Draw, error) {
	r, err := s.start(src, rows)
	if err != nil {
		return Draw{}, err
	}
	var accepted []float64
	for s.proposals == 0 || r.passes < s.proposals {
		if err := ctx.Err(); err != nil {
			return Draw{}, fmt.Errorf("perfect: stopped before a draw was accepted: %w", err)
		}
		theta := r.prior()
		if r.happens(r.logWeight(theta)) && accepted == nil {
			accepted = theta
			if s.proposals == 0 {
				break
			}
		}
	}
	if accepted == nil {
		accepted = r.prior()
	}
	return Draw{accepted, r.passes}, nil
}
