package curator

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Independent proposes θ′ from the multivariate t distribution of the given degrees of
// freedom about mean, with scale matrix LLᵀ, factor being the lower triangular L,
// row-major: whatever θ is. With tails heavier than the target's the chain is
// uniformly ergodic. Arguments are not copied and must not change.
func Independent(mean, factor []float64, freedom float64) Proposal {
	return Proposal{kind: independent, scale: 1, mean: mean, factor: factor, freedom: freedom}
}

// Scale is the standard deviation of a coordinate's move, in the units of θ.
func (p Proposal) Scale() float64 { return p.scale }

// Radius is the longest move, +Inf when there is none.
func (p Proposal) Radius() float64 {
	if p.kind == bounded {
		return p.radius
	}
	return math.Inf(1)
}

// IsOneComponent reports whether moves change one coordinate at a time.
func (p Proposal) IsOneComponent() bool { return p.kind == oneComponent }

// Check reports a proposal that no move can be drawn from in dim dimensions. A
// truncation that would reject almost every draw is refused.
func (p Proposal) Check(dim int) error {
	least := p.scale * math.Sqrt(float64(dim))
	switch {
	case p.kind == anyProposal, p.kind == bounded && p.scale == 0:
		return errors.New("no proposal was given; use Isotropic, OneComponent or Truncated")
	case !(p.scale > 0) || math.IsInf(p.scale, 0):
		return fmt.Errorf("the proposal's scale is %v; it must be positive and finite", p.scale)
	case p.kind == bounded && (!(p.radius > 0) || math.IsInf(p.radius, 0)):
		return fmt.Errorf("the proposal's radius is %v; it must be positive and finite", p.radius)
	case p.kind == bounded && p.radius < least:
		return fmt.Errorf("a radius of %v cuts off most moves of scale %v in %d dimensions; give at least scale·√dim = %v",
			p.radius, p.scale, dim, least)
	case p.kind == independent && len(p.mean) != dim:
		return fmt.Errorf("the proposal's mean has %d values for %d parameters", len(p.mean), dim)
	case p.kind == independent && !(p.freedom >= 1):
		return fmt.Errorf("the proposal has %v degrees of freedom; give at least 1", p.freedom)
	case p.kind == independent && len(p.factor) != dim*dim:
		return fmt.Errorf("the proposal's factor has %d values; %d parameters need a matrix of %d", len(p.factor), dim,
			dim*dim)
	}
	return nil
}

// Propose writes a draw of the proposal at theta to next.
func (p Proposal) Propose(rng *rand.Rand, next, theta []float64) {
	switch p.kind {
	case bounded:
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
	case independent:
		// A chi-squared variable as a sum of squares would need whole degrees.
		stretch := math.Sqrt(p.freedom / (2 * gamma(rng, p.freedom/2)))
		for j := range next {
			next[j] = stretch * rng.NormFloat64()
		}
		multiply(p.factor, next)
		for j, m := range p.mean {
			next[j] += m
		}
	default:
		p.draw(next, next, theta, rng)
	}
}

// multiply replaces v by L·v, in place: row j needs what is before it.
func multiply(factor, v []float64) {
	for j := len(v) - 1; j >= 0; j-- {
		sum := 0.0
		for k, l := range factor[j*len(v) : j*len(v)+j+1] {
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
