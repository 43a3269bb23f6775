package proptest

import (
	"fmt"
	"math"
	"slices"
)

// gradientAgrees compares LossGrad with differences of Loss, and with the complex
// step where there is one.
func (e *evaluator) gradientAgrees(s scene) string {
	if e.grad == nil || !finite(e.loss(s.theta, s.z)) || math.IsInf(e.target.LogPrior(s.theta), -1) {
		return ""
	}
	e.grad.LossGrad(e.gradient, s.theta, s.z)
	if said := e.gradientIsLost(s); said != "" || e.overflows(s) {
		return said
	}
	largest, strange := 1.0, 1.0
	for j, x := range s.z.X {
		if !math.IsNaN(x) {
			largest, strange = max(largest, math.Abs(x)), max(strange, math.Abs(x)/e.unitX[j])
		}
	}
	loss := func(theta []float64) float64 { return e.loss(theta, s.z) }
	for j, got := range e.gradient {
		if !finite(got) {
			continue // a proper answer where isFinite does not ask for another
		}
		scale := max(e.unit[j], math.Abs(s.theta[j]))
		if strange > 1e8 { // such features make a small step a long one
			scale = max(1/largest, math.Abs(s.theta[j]))
		}
		if want, wrong := along(loss, s.theta, j).wrongSlope(scale, got, 1e-12*largest); wrong &&
			math.Abs(got-want.value) > e.shaky(s, j) {
			return fmt.Sprintf("LossGrad says that ∂ℓ/∂θ%s is %v, and differences of Loss give %v ± %.1g, at %v", index(j), got,
				want.value, want.off, s.still())
		}
	}
	if e.complex != nil && s.plausible {
		return e.complexStep(s)
	}
	return ""
}

// shaky is what a gradient owes to the rounding of theta's products: how far it moves when all
// coordinates grow or shrink by a few units of their last place.
func (e *evaluator) shaky(s scene, j int) float64 {
	var ends [2]float64
	g := make([]float64, e.d)
	for i := range ends {
		copy(e.shaken, s.theta)
		times(e.shaken, 1+float64(2*i-1)*4e-16)
		e.grad.LossGrad(g, e.shaken, s.z)
		ends[i] = g[j]
	}
	return 10 * math.Abs(ends[1]-ends[0])
}

// overflows reports whether exponentials of a scene's products may overflow,
// beyond which losses are rounded as they see fit.
func (g stage) overflows(s scene) bool {
	largest := 1.0
	for _, x := range inUnits(s.z.X, g.unitX) {
		if !math.IsNaN(x) { // a missing number is no large one
			largest = max(largest, math.Abs(x))
		}
	}
	theta := inUnits(s.theta, g.unit)
	for _, t := range theta {
		if math.Abs(t)*largest > 600 && math.Abs(t) > 20 || math.Abs(t) > 600 {
			return true
		}
	}
	sum := 0.0
	for j, t := range theta {
		if len(theta) == len(s.z.X) {
			sum += math.Abs(s.theta[j] * s.z.X[j])
		} else { // any parameter may multiply any feature
			sum += math.Abs(t) * largest
		}
	}
	return sum > 600 || largest > 600 && len(s.theta) != len(s.z.X)
}

// complexStep compares the gradient just computed with complex steps.
func (e *evaluator) complexStep(s scene) string {
	const h = 1e-100
	at := make([]complex128, len(s.theta))
	for j, got := range e.gradient {
		for k, v := range s.theta {
			at[k] = complex(v, 0)
		}
		at[j] += complex(0, h)
		e.complex.ComplexLoss(e.complexOne, at, s.z)
		if want := imag(e.complexOne[0]) / h; !(math.Abs(got-want) <= 1e-10*(1+math.Abs(want))) {
			return fmt.Sprintf("∂ℓ/∂θ%s is %v, the complex step gives %v, at %v", index(j), got, want, s.still())
		}
	}
	return ""
}

// priorAgrees checks LogPrior and its gradient.
func (e *evaluator) priorAgrees(s scene) string {
	before := slices.Clone(s.theta)
	lp := e.target.LogPrior(s.theta)
	if math.IsNaN(lp) || math.IsInf(lp, 1) || s.plausible && math.IsInf(lp, -1) {
		return fmt.Sprintf("LogPrior is %v at θ = %s%s", lp, text(s.theta), implausible)
	}
	if e.grad == nil || math.IsInf(lp, -1) {
		return ""
	}
	e.grad.GradLogPrior(e.gradient, s.theta)
	for j, got := range e.gradient {
		scale := max(e.unit[j], math.Abs(s.theta[j]))
		if want, wrong := along(e.target.LogPrior, s.theta, j).wrongSlope(scale, got, 1e-12); wrong {
			return fmt.Sprintf("GradLogPrior says that ∂log p₀/∂θ%s is %v, differences of LogPrior give %v ± %.1g, at "+
				"θ = %s", index(j), got, want.value, want.off,
				text(s.theta))
		}
	}
	if !slices.Equal(s.theta, before) {
		return "the prior writes to its parameters"
	}
	return ""
}
