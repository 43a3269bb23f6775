package priors

// Proof: docs/proofs/hyperparameters.md.

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// Scale is a distribution of one positive number, such as a standard
// deviation. A target that samples its logarithm adds the Jacobian itself.
type Scale interface {
	// Check reports what is wrong with the parameters.
	Check() error
	// LogDensity returns the log density at x > 0 up to a constant.
	LogDensity(x float64) float64
	// Elasticity returns x·d/dx LogDensity(x), the derivative with respect to
	// log x, finite even where the density is not.
	Elasticity(x float64) float64
	// Sample returns a draw.
	Sample(rng *rand.Rand) float64
}

// HalfNormal is the distribution of the absolute value of a centred normal.
type HalfNormal struct {
	SD float64 // standard deviation of the normal. Required, positive
}

// HalfCauchy is the distribution of the absolute value of a centred Cauchy
// variable (Gelman 2006).
type HalfCauchy struct {
	Scale float64 // the median. Required, positive
}

// InverseGamma has density proportional to x^(−Shape−1)·e^(−Scale/x).
type InverseGamma struct {
	Shape float64 // Required, positive
	Scale float64 // Required, positive
}

var _, _, _ Scale = HalfNormal{}, HalfCauchy{}, InverseGamma{}

// Check refuses a standard deviation that is not positive and finite.
func (h HalfNormal) Check() error { return positive("half-normal prior: SD", h.SD) }

// LogDensity returns −½(x/SD)².
func (h HalfNormal) LogDensity(x float64) float64 { z := x / h.SD; return -z * z / 2 }

// Elasticity returns −(x/SD)².
func (h HalfNormal) Elasticity(x float64) float64 { z := x / h.SD; return -z * z }

// Sample returns the absolute value of a normal draw.
func (h HalfNormal) Sample(rng *rand.Rand) float64 { return h.SD * math.Abs(rng.NormFloat64()) }

// Check refuses a scale that is not positive and finite.
func (h HalfCauchy) Check() error { return positive("half-Cauchy prior: Scale", h.Scale) }

// LogDensity returns −log(1 + (x/Scale)²).
func (h HalfCauchy) LogDensity(x float64) float64 {
	z := x / h.Scale
	if z > 1e8 {
		return -2 * math.Log(z) // z² could overflow, and 1 is below its rounding
	}
	return -math.Log1p(z * z)
}

// Elasticity returns −2z²/(1+z²) with z = x/Scale.
func (h HalfCauchy) Elasticity(x float64) float64 {
	w := h.Scale / x
	return -2 / (1 + w*w)
}

// Sample returns a draw by inversion.
func (h HalfCauchy) Sample(rng *rand.Rand) float64 {
	return h.Scale * math.Tan(math.Pi/2*rng.Float64())
}

// Check refuses parameters that are not positive and finite.
func (g InverseGamma) Check() error {
	if err := positive("inverse-gamma prior: Shape", g.Shape); err != nil {
		return err
	}
	return positive("inverse-gamma prior: Scale", g.Scale)
}

// LogDensity returns −(Shape+1)·log x − Scale/x.
func (g InverseGamma) LogDensity(x float64) float64 {
	return -(g.Shape+1)*math.Log(x) - g.Scale/x
}

// Elasticity returns Scale/x − Shape − 1.
func (g InverseGamma) Elasticity(x float64) float64 { return g.Scale/x - g.Shape - 1 }

// Sample returns the reciprocal of a gamma draw.
func (g InverseGamma) Sample(rng *rand.Rand) float64 {
	return 1 / distuv.Gamma{Alpha: g.Shape, Beta: g.Scale, Src: rng}.Rand()
}

// HalfStudentT is the distribution of the absolute value of a centred Student-t
// variable.
type HalfStudentT struct {
	DegreesOfFreedom float64 // Required, positive; 1 is the half-Cauchy distribution
	Scale            float64 // Required, positive
}

var _ Scale = HalfStudentT{}

// Check refuses parameters that are not positive and finite.
func (h HalfStudentT) Check() error {
	if err := positive("half-Student prior: DegreesOfFreedom", h.DegreesOfFreedom); err != nil {
		return err
	}
	return positive("half-Student prior: Scale", h.Scale)
}

// LogDensity returns −½(ν+1)·log(1 + (x/Scale)²/ν).
func (h HalfStudentT) LogDensity(x float64) float64 {
	return vec.StudentLog(h.DegreesOfFreedom, x/h.Scale)
}

// Elasticity returns −(ν+1)·z²/(ν+z²) with z = x/Scale.
func (h HalfStudentT) Elasticity(x float64) float64 {
	w := h.Scale / x
	return -(h.DegreesOfFreedom + 1) / (1 + h.DegreesOfFreedom*w*w)
}

// Sample returns the absolute value of a Student-t draw.
func (h HalfStudentT) Sample(rng *rand.Rand) float64 {
	return math.Abs(distuv.StudentsT{Sigma: h.Scale, Nu: h.DegreesOfFreedom, Src: rng}.Rand())
}
