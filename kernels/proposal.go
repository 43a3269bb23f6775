package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Proposal is a symmetric law of random-walk moves. It is public: it must not
// have been chosen by looking at the records.
type Proposal struct {
	kind   proposalKind
	scale  float64
	radius float64
	factor []float64 // of shaped moves
}

type proposalKind uint8

const (
	noProposal proposalKind = iota
	isotropic
	oneComponent
	truncated
	shaped
)

// Isotropic proposes θ′ ~ N(θ, scale²·I).
func Isotropic(scale float64) Proposal { return Proposal{kind: isotropic, scale: scale} }

// OneComponent proposes to change one coordinate, chosen uniformly, by
// N(0, scale²).
func OneComponent(scale float64) Proposal { return Proposal{kind: oneComponent, scale: scale} }

// Truncated proposes θ′ ~ N(θ, scale²·I) conditioned on ‖θ′ − θ‖₂ ≤ radius.
// Its worst move is bounded, so its cost is valid whatever the source of its
// randomness, a published seed included.
func Truncated(scale, radius float64) Proposal {
	return Proposal{kind: truncated, scale: scale, radius: radius}
}

// Shaped proposes θ′ ~ N(θ, scale²·LLᵀ), where factor is the lower triangular L,
// row-major, a matrix of norm at most 1: scale is the standard deviation in the
// widest direction. It costs what Isotropic does. Package starts makes a factor from
// released second moments. factor is not copied and must not change.
func Shaped(scale float64, factor []float64) Proposal {
	return Proposal{kind: shaped, scale: scale, factor: factor}
}

// Factor is the factor of Shaped moves, and nil for others.
func (p Proposal) Factor() []float64 { return p.factor }

// Scale is the standard deviation of a coordinate's move, in the units of θ.
func (p Proposal) Scale() float64 { return p.scale }

// Radius is the longest move, +Inf when there is none.
func (p Proposal) Radius() float64 {
	if p.kind == truncated {
		return p.radius
	}
	return math.Inf(1)
}

// IsOneComponent reports whether moves change one coordinate at a time.
func (p Proposal) IsOneComponent() bool { return p.kind == oneComponent }

// String describes the proposal.
func (p Proposal) String() string {
	switch p.kind {
	case isotropic:
		return fmt.Sprintf("isotropic(%v)", p.scale)
	case oneComponent:
		return fmt.Sprintf("one-component(%v)", p.scale)
	case shaped:
		return fmt.Sprintf("shaped(%v)", p.scale)
	case truncated:
		return fmt.Sprintf("truncated(%v, radius %v)", p.scale, p.radius)
	}
	return "no proposal"
}

// Check reports a proposal that was not set or has no meaning in dim
// dimensions. A truncation that would reject almost every draw is refused.
func (p Proposal) Check(dim int) error {
	switch {
	case p.kind == noProposal:
		return fmt.Errorf("kernels: no proposal was given; use Isotropic, OneComponent or Truncated")
	case !(p.scale > 0) || math.IsInf(p.scale, 0):
		return fmt.Errorf("kernels: the proposal's scale is %v; it must be positive and finite", p.scale)
	case p.kind == shaped && len(p.factor) != dim*dim:
		return fmt.Errorf("kernels: the proposal's factor has %d values; %d parameters need a matrix of %d", len(p.factor), dim, dim*dim)
	case p.kind == truncated && (!(p.radius > 0) || math.IsInf(p.radius, 0)):
		return fmt.Errorf("kernels: the proposal's radius is %v; it must be positive and finite", p.radius)
	case p.kind == truncated && p.radius < p.scale*math.Sqrt(float64(dim)):
		return fmt.Errorf("kernels: a radius of %v cuts off most moves of scale %v in %d dimensions; give at least scale·√dim = %v",
			p.radius, p.scale, dim, p.scale*math.Sqrt(float64(dim)))
	}
	return nil
}

// Propose writes a draw of the proposal at theta to next.
func (p Proposal) Propose(rng *rand.Rand, next, theta []float64) {
	switch p.kind {
	case oneComponent:
		copy(next, theta)
		next[rng.IntN(len(next))] += p.scale * rng.NormFloat64()
	case truncated:
		for {
			sum := 0.0
			for j, t := range theta {
				next[j] = t + p.scale*rng.NormFloat64()
				d := next[j] - t
				sum += d * d
			}
			// A hair inside, so that no rounding of the length exceeds the radius. A
			// state that is NaN ends the search; the curator refuses it.
			if !(math.Sqrt(sum) > p.radius*(1-1e-12)) {
				return
			}
		}
	case shaped:
		dim := len(theta)
		for j := range next {
			next[j] = p.scale * rng.NormFloat64()
		}
		for j := dim - 1; j >= 0; j-- { // a row needs what is before it
			step := 0.0
			for k, l := range p.factor[j*dim : j*dim+j+1] {
				step += l * next[k]
			}
			next[j] = theta[j] + step
		}
	default:
		for j, t := range theta {
			next[j] = t + p.scale*rng.NormFloat64()
		}
	}
}
