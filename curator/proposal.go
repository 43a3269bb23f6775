package curator

// Proof: docs/proofs/curator.md.

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// Proposal is the law of a chain's moves, and what is known of those whose acceptance a
// curator decides. It is public: it must not have been chosen by looking at the
// records, unless by what they released. The zero value is any law, which leaves only
// bounds that hold for every move.
//
// With a Scale alone θ′ ~ N(θ, Scale²·I). Where a curator releases only the decision, it
// draws these moves itself, with fresh randomness that it publishes. Because it draws them
// after sealing, a chain pays for the average move instead of the worst one (theory 2.7).
type Proposal struct {
	// Scale is the standard deviation of a coordinate's move, in the units of θ.
	Scale float64
	// OneComponent changes one coordinate, chosen uniformly, by N(0, Scale²). It is drawn
	// as with a Scale alone.
	OneComponent bool
	// Radius conditions on ‖θ′ − θ‖₂ ≤ Radius. The sampler draws the move. Its worst is
	// bounded, so its cost is valid whatever the source of its randomness, a published seed
	// included. Without a Scale any move of that length is allowed, for samplers whose moves
	// have a law of their own.
	Radius float64
	// Mean, Factor and Freedom propose θ′ from the multivariate t distribution of so many
	// degrees of freedom about Mean, with scale matrix LLᵀ, Factor being the lower triangular
	// L, row-major: whatever θ is. With tails heavier than the target's the chain is uniformly
	// ergodic. They are not copied and must not change.
	Mean, Factor []float64
	Freedom      float64
}

type proposalKind uint8

const (
	anyProposal proposalKind = iota
	isotropic
	oneComponent
	bounded
	independent
)

// kind is what the fields say.
func (p Proposal) kind() proposalKind {
	switch {
	case p.Mean != nil:
		return independent
	case p.Radius != 0:
		return bounded
	case p.OneComponent:
		return oneComponent
	case p.Scale != 0:
		return isotropic
	}
	return anyProposal
}

// mixed says that the fields are of several laws.
func (p Proposal) mixed() bool {
	walk, jump := p.Scale != 0 || p.OneComponent || p.Radius != 0, p.Mean != nil || p.Factor != nil || p.Freedom != 0
	return walk && jump || p.OneComponent && p.Radius != 0
}

// Drawn reports whether a curator that releases only decisions draws the moves.
func (p Proposal) Drawn() bool { return p.kind() == isotropic || p.kind() == oneComponent }

// String describes the proposal.
func (p Proposal) String() string {
	switch {
	case p.kind() == isotropic:
		return fmt.Sprintf("isotropic moves of scale %v", p.Scale)
	case p.kind() == oneComponent:
		return fmt.Sprintf("one-component moves of scale %v", p.Scale)
	case p.kind() == bounded && p.Scale != 0:
		return fmt.Sprintf("moves of scale %v truncated at length %v", p.Scale, p.Radius)
	case p.kind() == bounded:
		return fmt.Sprintf("moves of length at most %v", p.Radius)
	case p.kind() == independent:
		return fmt.Sprintf("independent draws of a t law with %v degrees of freedom", p.Freedom)
	}
	return "any moves"
}

// check reports what a price could not rest on.
func (p Proposal) check() error {
	switch {
	case p.mixed():
		return fmt.Errorf("curator: the proposal is %+v; give fields of one law", p)
	case p.Drawn() && !(p.Scale > 0 && !math.IsInf(p.Scale, 0)):
		return fmt.Errorf("curator: %v: the scale must be positive and finite", p)
	case p.kind() == bounded && !(p.Radius > 0 && !math.IsInf(p.Radius, 0)):
		return fmt.Errorf("curator: %v: the radius must be positive and finite", p)
	}
	return nil
}

// longestMove bounds a drawn move by this many scales in any one direction.
// Longer ones are clipped like any large contribution, which only lowers what
// a record can do; their probability is below 10⁻⁵⁶.
const longestMove = 16

// stream is what moves are drawn from: a curator's, or a chain's.
type stream interface {
	NormFloat64() float64
	IntN(n int) int
}

// fresh is a curator's own stream.
type fresh struct{ *noise.Source }

func (f fresh) NormFloat64() float64 { return noise.StandardNormal(f.Source) }
func (f fresh) IntN(n int) int       { return int(noise.Uint64n(f.Source, uint64(n))) }

// draw writes a move to step and its end, from theta, to next.
func (p Proposal) draw(step, next, theta []float64, from stream) {
	if p.kind() == oneComponent {
		clear(step)
		step[from.IntN(len(step))] = p.Scale * from.NormFloat64()
	} else {
		for j := range step {
			step[j] = p.Scale * from.NormFloat64()
		}
	}
	for j, t := range theta {
		next[j] = t + step[j]
	}
}

// accepts reports an error for a sampler's move that the mechanism does not
// allow. Moves are public, so the error is too.
func (p Proposal) accepts(step []float64) error {
	if p.kind() != bounded {
		return nil
	}
	if length := record.Norm(step); !(length <= p.Radius) {
		return fmt.Errorf("curator: a move of length %v was proposed where moves of at most %v were paid for",
			length, p.Radius)
	}
	return nil
}
