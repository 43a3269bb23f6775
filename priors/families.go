package priors

// Proof: docs/proofs/curator.md.

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// Laplace is a prior of independent centred double exponentials.
type Laplace struct {
	Scale float64 // mean absolute value. Required, positive
}

// StudentT is a prior of independent centred Student-t variables.
type StudentT struct {
	DegreesOfFreedom float64 // Required, positive; 1 is the Cauchy distribution
	Scale            float64 // Required, positive
}

// Uniform is the flat prior on a box, Low ≤ θ ≤ High in every parameter. There
// is no flat prior on the whole line: the β loss is bounded, so its posterior
// would not be proper.
type Uniform struct {
	Low, High float64 // Required, finite, Low < High
}

var _, _, _ Prior = Laplace{}, StudentT{}, Uniform{}

// Check refuses a scale that is not positive and finite.
func (l Laplace) Check(int) error { return positive("Laplace prior: Scale", l.Scale) }

// LogDensity returns −Σ|θᵢ|/Scale.
func (l Laplace) LogDensity(theta []float64) float64 {
	var s float64
	for _, t := range theta {
		s += math.Abs(t)
	}
	return -s / l.Scale
}

// Grad sets dst[i] = −sign(θᵢ)/Scale, and 0 at the kink.
func (l Laplace) Grad(dst, theta []float64) {
	for i, t := range theta {
		dst[i] = 0
		if t != 0 {
			dst[i] = -math.Copysign(1/l.Scale, t)
		}
	}
}

// Sample sets theta to independent draws.
func (l Laplace) Sample(theta []float64, rng *rand.Rand) {
	for i := range theta {
		theta[i] = l.Scale * (rng.ExpFloat64() - rng.ExpFloat64())
	}
}

// Check refuses parameters that are not positive and finite.
func (s StudentT) Check(int) error {
	if err := positive("Student prior: DegreesOfFreedom", s.DegreesOfFreedom); err != nil {
		return err
	}
	return positive("Student prior: Scale", s.Scale)
}

// LogDensity returns −½(ν+1)·Σlog(1 + (θᵢ/Scale)²/ν).
func (s StudentT) LogDensity(theta []float64) float64 {
	var sum float64
	for _, t := range theta {
		sum += vec.StudentLog(s.DegreesOfFreedom, t/s.Scale)
	}
	return sum
}

// Grad sets dst to the gradient of LogDensity.
func (s StudentT) Grad(dst, theta []float64) {
	for i, t := range theta {
		dst[i] = -vec.StudentScore(s.DegreesOfFreedom, t/s.Scale) / s.Scale
	}
}

// Sample sets theta to independent draws.
func (s StudentT) Sample(theta []float64, rng *rand.Rand) {
	law := distuv.StudentsT{Sigma: s.Scale, Nu: s.DegreesOfFreedom, Src: rng}
	for i := range theta {
		theta[i] = law.Rand()
	}
}

// Check refuses a box that is empty or not finite.
func (u Uniform) Check(int) error {
	if u.Low < u.High && !math.IsInf(u.High-u.Low, 0) {
		return nil
	}
	return fmt.Errorf("priors: uniform prior on [%v, %v]; Low must be below High and both finite", u.Low, u.High)
}

// LogDensity returns 0 in the box and −Inf outside.
func (u Uniform) LogDensity(theta []float64) float64 {
	for _, t := range theta {
		if !(t >= u.Low && t <= u.High) {
			return math.Inf(-1)
		}
	}
	return 0
}

// Grad sets dst to zero.
func (u Uniform) Grad(dst, theta []float64) { clear(dst[:len(theta)]) }

// Sample sets theta to independent draws.
func (u Uniform) Sample(theta []float64, rng *rand.Rand) {
	for i := range theta {
		theta[i] = u.Low + (u.High-u.Low)*rng.Float64()
	}
}
