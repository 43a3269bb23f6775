package curator

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// StepSize is the Scale, and 1 for proposals with a Factor.
func (p Proposal) StepSize() float64 {
	if p.kind() == independent {
		return 1
	}
	return p.Scale
}

// LongestMove is the Radius, +Inf when there is none.
func (p Proposal) LongestMove() float64 {
	if p.kind() == bounded {
		return p.Radius
	}
	return math.Inf(1)
}

// Check reports a proposal that no move can be drawn from in dim dimensions. A
// truncation that would reject almost every draw is refused.
func (p Proposal) Check(dim int) error {
	least := p.Scale * math.Sqrt(float64(dim))
	switch {
	case p.mixed():
		return errors.New("the proposal has fields of several laws; give those of one")
	case p.kind() == anyProposal, p.kind() == bounded && p.Scale == 0:
		return errors.New("no proposal was given; give a Scale, or one of its other fields")
	case p.kind() != independent && !(p.Scale > 0) || math.IsInf(p.Scale, 0):
		return fmt.Errorf("the proposal's scale is %v; it must be positive and finite", p.Scale)
	case p.kind() == bounded && (!(p.Radius > 0) || math.IsInf(p.Radius, 0)):
		return fmt.Errorf("the proposal's radius is %v; it must be positive and finite", p.Radius)
	case p.kind() == bounded && p.Radius < least:
		return fmt.Errorf("a radius of %v cuts off most moves of scale %v in %d dimensions; give at least scale·√dim = %v",
			p.Radius, p.Scale, dim, least)
	case p.kind() == independent && len(p.Mean) != dim:
		return fmt.Errorf("the proposal's mean has %d values for %d parameters", len(p.Mean), dim)
	case p.kind() == independent && !(p.Freedom >= 1):
		return fmt.Errorf("the proposal has %v degrees of freedom; give at least 1", p.Freedom)
	case p.kind() == independent && len(p.Factor) != dim*dim:
		return fmt.Errorf("the proposal's factor has %d values; %d parameters need a matrix of %d", len(p.Factor), dim,
			dim*dim)
	}
	return nil
}

// Propose writes a draw of the proposal at theta to next.
func (p Proposal) Propose(rng *rand.Rand, next, theta []float64) {
	switch p.kind() {
	case bounded:
		for {
			sum := 0.0
			for j, t := range theta {
				next[j] = t + p.Scale*rng.NormFloat64()
				d := next[j] - t
				sum += d * d
			}
			// A hair inside, so that no rounding of the length exceeds the radius. A
			// state that is NaN ends the search; the curator refuses it.
			if !(math.Sqrt(sum) > p.Radius*(1-1e-12)) {
				return
			}
		}
	case independent:
		// A chi-squared variable as a sum of squares would need whole degrees.
		stretch := math.Sqrt(p.Freedom / (2 * gamma(rng, p.Freedom/2)))
		for j := range next {
			next[j] = stretch * rng.NormFloat64()
		}
		multiply(p.Factor, next)
		for j, m := range p.Mean {
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
	if p.kind() != independent {
		return 0
	}
	power := (p.Freedom + float64(len(theta))) / 2
	return power * (math.Log1p(p.distance(next, room)/p.Freedom) - math.Log1p(p.distance(theta, room)/p.Freedom))
}

// distance is ‖L⁻¹(θ − mean)‖².
func (p Proposal) distance(theta, room []float64) float64 {
	dim, square := len(theta), 0.0
	for j, t := range theta {
		v := t - p.Mean[j]
		for k, l := range p.Factor[j*dim : j*dim+j] {
			v -= l * room[k]
		}
		room[j] = v / p.Factor[j*dim+j]
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
