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
type Proposal struct {
	kind    proposalKind
	scale   float64
	radius  float64   // of bounded moves
	factor  []float64 // of an approximation
	mean    []float64
	freedom float64
}

type proposalKind uint8

const (
	anyProposal proposalKind = iota
	isotropic
	oneComponent
	bounded
	independent
)

// Isotropic proposes θ′ ~ N(θ, scale²·I). Where a curator releases only the decision,
// it draws these moves itself, with fresh randomness that it publishes. Because it
// draws them after sealing, a chain pays for the average move instead of the worst one
// (theory 2.7).
func Isotropic(scale float64) Proposal { return Proposal{kind: isotropic, scale: scale} }

// OneComponent proposes to change one coordinate, chosen uniformly, by N(0, scale²).
// It is drawn like Isotropic.
func OneComponent(scale float64) Proposal { return Proposal{kind: oneComponent, scale: scale} }

// Truncated proposes θ′ ~ N(θ, scale²·I) conditioned on ‖θ′ − θ‖₂ ≤ radius. The
// sampler draws it. Its worst move is bounded, so its cost is valid whatever the source
// of its randomness, a published seed included.
func Truncated(scale, radius float64) Proposal {
	return Proposal{kind: bounded, scale: scale, radius: radius}
}

// Within allows any move of Euclidean length at most radius, drawn by the sampler from
// whatever public randomness it has: for samplers whose moves have a law of their own.
func Within(radius float64) Proposal { return Proposal{kind: bounded, radius: radius} }

// Drawn reports whether a curator that releases only decisions draws the moves.
func (p Proposal) Drawn() bool {
	return p.kind == isotropic || p.kind == oneComponent
}

// String describes the proposal.
func (p Proposal) String() string {
	switch {
	case p.kind == isotropic:
		return fmt.Sprintf("isotropic moves of scale %v", p.scale)
	case p.kind == oneComponent:
		return fmt.Sprintf("one-component moves of scale %v", p.scale)
	case p.kind == bounded && p.scale != 0:
		return fmt.Sprintf("moves of scale %v truncated at length %v", p.scale, p.radius)
	case p.kind == bounded:
		return fmt.Sprintf("moves of length at most %v", p.radius)
	case p.kind == independent:
		return fmt.Sprintf("independent draws of a t law with %v degrees of freedom", p.freedom)
	}
	return "any moves"
}

// check reports what a price could not rest on.
func (p Proposal) check() error {
	switch {
	case p.Drawn() && !(p.scale > 0 && !math.IsInf(p.scale, 0)):
		return fmt.Errorf("curator: %v: the scale must be positive and finite", p)
	case p.kind == bounded && !(p.radius > 0 && !math.IsInf(p.radius, 0)):
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
	if p.kind == oneComponent {
		clear(step)
		step[from.IntN(len(step))] = p.scale * from.NormFloat64()
	} else {
		for j := range step {
			step[j] = p.scale * from.NormFloat64()
		}
	}
	for j, t := range theta {
		next[j] = t + step[j]
	}
}

// accepts reports an error for a sampler's move that the mechanism does not
// allow. Moves are public, so the error is too.
func (p Proposal) accepts(step []float64) error {
	if p.kind != bounded {
		return nil
	}
	if length := record.Norm(step); !(length <= p.radius) {
		return fmt.Errorf("curator: a move of length %v was proposed where moves of at most %v were paid for",
			length, p.radius)
	}
	return nil
}
