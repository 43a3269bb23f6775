package proptest

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

// BitMechanism is the curator's acceptance bit of one move, as a Mechanism. For
// moves that the sampler draws, a release is the bit, 0 or 1. For moves that the
// curator draws, it is the move followed by the bit, since both are published.
type BitMechanism struct {
	mechanism   curator.AcceptanceBit
	facts       curator.Facts
	theta, next []float64
	public      float64
	claim       accountant.Event
}

// Bit returns the acceptance bit of the move from theta to next with the public
// log-odds public, on records with the given facts. next is ignored when the
// curator draws moves. Errors are those of the mechanism's Event.
func Bit(m curator.AcceptanceBit, f curator.Facts, theta, next []float64, public float64) (*BitMechanism, error) {
	claim, err := m.Event(f)
	return &BitMechanism{m, f, slices.Clone(theta), slices.Clone(next), public, claim}, err
}

var _ Mechanism = (*BitMechanism)(nil)

// Claim is what the curator charges.
func (b *BitMechanism) Claim() accountant.Event { return b.claim }

// Release draws bits against one grant.
func (b *BitMechanism) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	records, err := sealWith(r, b.facts.Adjacency, curator.InsecureSeed(seed))
	if err != nil {
		return nil, err
	}
	bits, err := curator.Charge(records, b.mechanism, int64(count))
	if err != nil {
		return nil, err
	}
	all := make([][]float64, count)
	flat := func([]float64) float64 { return b.public }
	for i := range all {
		var accepted bool
		if b.mechanism.Proposal.Drawn() {
			all[i] = make([]float64, len(b.theta))
			accepted, err = bits.Move(all[i], b.theta, flat)
		} else {
			accepted, err = bits.Accept(b.next, b.theta, b.public)
		}
		if err != nil {
			return nil, err
		}
		all[i] = append(all[i], 0)
		if accepted {
			all[i][len(all[i])-1] = 1
		}
	}
	return all, nil
}

// RatioMechanism is the curator's noisy log-likelihood ratio of one move.
type RatioMechanism struct {
	mechanism   curator.NoisyRatio
	facts       curator.Facts
	theta, next []float64
	claim       accountant.Event
}

// Ratio returns the noisy ratio of the move from theta to next on records with
// the given facts. Errors are those of the mechanism's Event.
func Ratio(m curator.NoisyRatio, f curator.Facts, theta, next []float64) (*RatioMechanism, error) {
	claim, err := m.Event(f)
	return &RatioMechanism{m, f, slices.Clone(theta), slices.Clone(next), claim}, err
}

var _ Additive = (*RatioMechanism)(nil)

// Claim is what the curator charges.
func (r *RatioMechanism) Claim() accountant.Event { return r.claim }

// clip is the bound on one record's part of this move, in the release's units.
func (r *RatioMechanism) clip() float64 {
	c := r.mechanism.Clip
	if r.mechanism.PerLength {
		sum := 0.0
		for j, v := range r.next {
			sum += (v - r.theta[j]) * (v - r.theta[j])
		}
		c *= math.Sqrt(sum)
	}
	return c
}

// Sensitivity is twice the clip under substitution and the clip under
// add/remove, on the full data; +Inf on batches, whose scale is not public here.
func (r *RatioMechanism) Sensitivity() float64 {
	return sensitivity(r.clip(), r.mechanism.Batch, r.facts)
}

// Step is the grid that sums are rounded to: 30 bits of the clip.
func (r *RatioMechanism) Step() float64 { return gridStep(r.clip(), r.mechanism.Batch) }

// Release draws noisy ratios against one grant.
func (r *RatioMechanism) Release(data curator.Records, seed uint64, count int) ([][]float64, error) {
	records, err := sealWith(data, r.facts.Adjacency, curator.InsecureSeed(seed))
	if err != nil {
		return nil, err
	}
	ratios, err := curator.Charge(records, r.mechanism, int64(count))
	if err != nil {
		return nil, err
	}
	all := make([][]float64, count)
	for i := range all {
		v, err := ratios.Release(r.next, r.theta)
		if err != nil {
			return nil, err
		}
		all[i] = []float64{v}
	}
	return all, nil
}

// GradientMechanism is the curator's noisy gradient at one state.
type GradientMechanism struct {
	mechanism curator.NoisyGradient
	facts     curator.Facts
	theta     []float64
	claim     accountant.Event
}

// Gradient returns the noisy gradient at theta on records with the given facts.
// The mechanism's Clip must be set. Errors are those of the mechanism's Event.
func Gradient(m curator.NoisyGradient, f curator.Facts, theta []float64) (*GradientMechanism, error) {
	if m.Clip == 0 {
		return nil, fmt.Errorf("proptest: Gradient needs NoisyGradient.Clip, the sensitivity it is to be held to")
	}
	claim, err := m.Event(f)
	return &GradientMechanism{m, f, slices.Clone(theta), claim}, err
}

var _ Additive = (*GradientMechanism)(nil)

// Claim is what the curator charges.
func (g *GradientMechanism) Claim() accountant.Event { return g.claim }

// Sensitivity is as for RatioMechanism.
func (g *GradientMechanism) Sensitivity() float64 {
	return sensitivity(g.mechanism.Clip, g.mechanism.Batch, g.facts)
}

// Step is as for RatioMechanism.
func (g *GradientMechanism) Step() float64 { return gridStep(g.mechanism.Clip, g.mechanism.Batch) }

// Release draws noisy gradients against one grant.
func (g *GradientMechanism) Release(data curator.Records, seed uint64, count int) ([][]float64, error) {
	records, err := sealWith(data, g.facts.Adjacency, curator.InsecureSeed(seed))
	if err != nil {
		return nil, err
	}
	gradients, err := curator.Charge(records, g.mechanism, int64(count))
	if err != nil {
		return nil, err
	}
	all := make([][]float64, count)
	for i := range all {
		all[i] = make([]float64, len(g.theta))
		if err := gradients.Release(all[i], g.theta); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func sensitivity(clip float64, b curator.Batch, f curator.Facts) float64 {
	switch {
	case !b.IsFull():
		return math.Inf(1)
	case f.Adjacency == accountant.Substitute:
		return 2 * clip
	}
	return clip
}

func gridStep(clip float64, b curator.Batch) float64 {
	if !b.IsFull() {
		return 0
	}
	return clip / (1 << 30)
}
