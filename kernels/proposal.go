package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
)

// Proposal is a law of moves: of random walks, which are symmetric, or from a normal
// approximation of the target. It is public: it must not have been chosen by looking
// at the records, unless by what they released.
type Proposal struct {
	kind    proposalKind
	scale   float64
	radius  float64
	mean    []float64 // of an approximation
	factor  []float64 // of shaped moves and approximations
	freedom float64
}

type proposalKind uint8

const (
	noProposal proposalKind = iota
	isotropic
	oneComponent
	truncated
	shaped
	independent
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

// Independent proposes θ′ from the multivariate t distribution of the given degrees of
// freedom about mean, with scale matrix LLᵀ, factor being the lower triangular L,
// row-major: whatever θ is. With tails heavier than the target's the chain is
// uniformly ergodic. Arguments are not copied and must not change.
func Independent(mean, factor []float64, freedom float64) Proposal {
	return Proposal{kind: independent, scale: 1, mean: mean, factor: factor, freedom: freedom}
}

// Move is what the curator is told of the moves: which it draws itself, how far they
// reach, or nothing.
func (p Proposal) Move() curator.Move {
	switch p.kind {
	case isotropic:
		return curator.Isotropic(p.scale)
	case oneComponent:
		return curator.Coordinate(p.scale)
	case shaped:
		return curator.Shaped(p.scale, p.factor)
	case truncated:
		return curator.Within(p.radius)
	}
	return curator.Move{}
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
	case independent:
		return fmt.Sprintf("independent(t, %v degrees of freedom)", p.freedom)
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
	case p.mean != nil && len(p.mean) != dim:
		return fmt.Errorf("kernels: the proposal's mean has %d values for %d parameters", len(p.mean), dim)
	case p.kind == independent && !(p.freedom >= 1):
		return fmt.Errorf("kernels: the proposal has %v degrees of freedom; give at least 1", p.freedom)
	case p.kind >= shaped && len(p.factor) != dim*dim:
		return fmt.Errorf("kernels: the proposal's factor has %d values; %d parameters need a matrix of %d", len(p.factor),
			dim, dim*dim)
	case p.kind == truncated && (!(p.radius > 0) || math.IsInf(p.radius, 0)):
		return fmt.Errorf("kernels: the proposal's radius is %v; it must be positive and finite", p.radius)
	case p.kind == truncated && p.radius < p.scale*math.Sqrt(float64(dim)):
		return fmt.Errorf("kernels: a radius of %v cuts off most moves of scale %v in %d dimensions; give at least "+
			"scale·√dim = %v",
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
		for j := range next {
			next[j] = p.scale * rng.NormFloat64()
		}
		p.multiply(next)
		for j, t := range theta {
			next[j] += t
		}
	case independent:
		// A chi-squared variable as a sum of squares would need whole degrees.
		stretch := math.Sqrt(p.freedom / (2 * gamma(rng, p.freedom/2)))
		for j := range next {
			next[j] = stretch * rng.NormFloat64()
		}
		p.multiply(next)
		for j, m := range p.mean {
			next[j] += m
		}
	default:
		for j, t := range theta {
			next[j] = t + p.scale*rng.NormFloat64()
		}
	}
}

// multiply replaces v by L·v.
func (p Proposal) multiply(v []float64) {
	dim := len(v)
	for j := dim - 1; j >= 0; j-- { // a row needs what is before it
		sum := 0.0
		for k, l := range p.factor[j*dim : j*dim+j+1] {
			sum += l * v[k]
		}
		v[j] = sum
	}
}

// LogRatio is the logarithm of the density of proposing theta from next over that of
// proposing next from theta: 0 for random walks. room has a value for each parameter,
// and is overwritten.
func (p Proposal) LogRatio(next, theta, room []float64) float64 {
	if p.kind != independent {
		return 0
	}
	power := (p.freedom + float64(len(theta))) / 2
	return power * (math.Log1p(p.distance(next, room)/p.freedom) - math.Log1p(p.distance(theta, room)/p.freedom))
}

// distance is ‖L⁻¹(θ − mean)‖².
func (p Proposal) distance(theta, room []float64) float64 {
	dim, square := len(theta), 0.0
	for j, t := range theta {
		v := t - p.mean[j]
		for k, l := range p.factor[j*dim : j*dim+j] {
			v -= l * room[k]
		}
		room[j] = v / p.factor[j*dim+j]
		square += room[j] * room[j]
	}
	return square
}

// gamma draws from the gamma distribution of the given shape, at least ½, and scale 1
// (Marsaglia and Tsang 2000).
func gamma(rng *rand.Rand, shape float64) float64 {
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
