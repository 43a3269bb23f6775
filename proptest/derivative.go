package proptest

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

// ComplexTarget is an ability that a target may have for the sake of its tests:
// the loss at complex parameters. Its gradient is then held to the complex step
// Im ℓ(θ + ih·eⱼ)/h, which has no cancellation, to a relative 1e-10.
type ComplexTarget interface {
	// ComplexLoss sets dst[i] = ℓ(zᵢ; theta), the analytic continuation of Loss.
	ComplexLoss(dst, theta []complex128, rows targets.Rows)
}

// difference is a derivative from differences, with an allowance for its error.
type difference struct{ slope, allowance float64 }

// differences returns what the derivative of f along coordinate j at theta may
// be: central differences with one Richardson step, whose allowance is wide
// where f is not smooth, and quadratics on either side, one of which is right
// where f has a kink nearby.
func differences(f func(theta []float64) float64, theta []float64, j int) []difference {
	h := 1e-4 * max(1, math.Abs(theta[j]))
	scale := 0.0
	at := func(v float64) float64 {
		moved := slices.Clone(theta)
		moved[j] += v
		l := f(moved)
		scale = max(scale, math.Abs(l))
		return l
	}
	central := func(h float64) float64 { return (at(h) - at(-h)) / (2 * h) }
	side := func(h float64) float64 { return (4*at(h/2) - 3*at(0) - at(h)) / h }
	d1, d2 := central(h), central(2*h)
	all := []difference{{(4*d1 - d2) / 3, math.Abs(d1 - d2)}}
	for _, h := range []float64{h, -h} {
		s1, s2 := side(h), side(2*h)
		all = append(all, difference{s1, min(math.Abs(s1-s2), 1e-3*(1+math.Abs(s1)))})
	}
	for i := range all {
		all[i].allowance += 4e-14 * scale / h
	}
	return all
}

// checkSlope compares a derivative with differences, to a relative 1e-6.
func checkSlope(rt *rapid.T, what string, got float64, want []difference) {
	for _, d := range want {
		if math.IsNaN(d.slope) || math.IsInf(d.slope, 0) || math.IsInf(d.allowance, 1) {
			return // not differentiable there in float64
		}
		if math.Abs(got-d.slope) <= 1e-6*(1+math.Abs(d.slope))+d.allowance {
			return
		}
	}
	failf(rt, "%s is %v, differences give %v ± %.1g", what, got, want[0].slope, want[0].allowance)
}

// gradientIsADerivative compares LossGrad with differences of Loss, and with the
// complex step where there is one.
func gradientIsADerivative(rt *rapid.T, target targets.Target, o TargetOptions) {
	g, ok := target.(targets.GradTarget)
	if !ok {
		return
	}
	rng := stream(rt, "parameters and record")
	theta, rows := o.state(rng, target), o.plausible(rng, target, 1)
	grad := make([]float64, target.Dim())
	g.LossGrad(grad, theta, rows)
	loss := func(theta []float64) float64 { return lossOf(target, theta, rows)[0] }
	for j, got := range grad {
		checkSlope(rt, "∂ℓ/∂θ"+index(j)+" at θ = "+text(theta)+", "+describe(rows), got, differences(loss, theta, j))
	}
	if c, ok := target.(ComplexTarget); ok {
		checkComplexStep(rt, c, grad, theta, rows)
	}
}

func checkComplexStep(rt *rapid.T, c ComplexTarget, grad, theta []float64, rows targets.Rows) {
	const h = 1e-100
	z, dst := make([]complex128, len(theta)), make([]complex128, 1)
	for j, got := range grad {
		for k, v := range theta {
			z[k] = complex(v, 0)
		}
		z[j] += complex(0, h)
		c.ComplexLoss(dst, z, rows)
		if want := imag(dst[0]) / h; !(math.Abs(got-want) <= 1e-10*(1+math.Abs(want))) {
			failf(rt, "∂ℓ/∂θ%s at θ = %v is %v, the complex step gives %v", index(j), theta, got, want)
		}
	}
}

// priorIsADensity checks LogPrior, its gradient and its draws.
func priorIsADensity(rt *rapid.T, target targets.Target, o TargetOptions) {
	rng := stream(rt, "parameters")
	theta := o.state(rng, target)
	before := slices.Clone(theta)
	lp := target.LogPrior(theta)
	if math.IsNaN(lp) || math.IsInf(lp, 0) {
		failf(rt, "LogPrior is %v at the plausible θ = %v", lp, theta)
		return
	}
	if g, ok := target.(targets.GradTarget); ok {
		grad := make([]float64, len(theta))
		g.GradLogPrior(grad, theta)
		for j, got := range grad {
			checkSlope(rt, "∂log p₀/∂θ"+index(j)+" at θ = "+text(theta), got, differences(target.LogPrior, theta, j))
		}
	}
	if !slices.Equal(theta, before) {
		failf(rt, "the prior writes to its parameters")
	}
	if s, ok := target.(targets.PriorSampler); ok {
		s.SamplePrior(theta, rng)
		if lp := target.LogPrior(theta); math.IsNaN(lp) || math.IsInf(lp, -1) {
			failf(rt, "SamplePrior drew %v, where LogPrior is %v", theta, lp)
		}
	}
}

// linearGoesThroughThePredictor compares LossAt and SlopeAt with Loss and
// LossGrad, on records with one feature that is not zero, whose linear predictor
// has no rounding.
func linearGoesThroughThePredictor(rt *rapid.T, target targets.Target, o TargetOptions) {
	l, ok := target.(targets.LinearTarget)
	if !ok {
		return
	}
	rng := stream(rt, "parameters and record")
	theta, rows := o.state(rng, target), o.plausible(rng, target, 1)
	j := rapid.IntRange(0, l.Dim()-1).Draw(rt, "feature")
	x := rapid.Float64Range(-4, 4).Draw(rt, "its value")
	clear(rows.X)
	rows.X[j] = x
	eta := []float64{x * theta[j]}
	loss, slope := make([]float64, 1), slices.Clone(eta)
	l.LossAt(loss, eta, rows.Y)
	l.SlopeAt(slope, slope, rows.Y)
	if want := lossOf(target, theta, rows)[0]; !(math.Abs(loss[0]-want) <= 1e-12*(1+math.Abs(want))) {
		failf(rt, "LossAt is %v, Loss %v at η = %v, %s", loss[0], want, eta[0], describe(rows))
	}
	inPlace := slices.Clone(eta)
	l.LossAt(inPlace, inPlace, rows.Y)
	if !same(inPlace[0], loss[0]) {
		failf(rt, "LossAt is %v when dst is eta and %v when it is not", inPlace[0], loss[0])
	}
	at := func(eta []float64) float64 {
		l.LossAt(loss, eta, rows.Y)
		return loss[0]
	}
	checkSlope(rt, "∂ℓ/∂η at η = "+text(eta)+", "+describe(rows), slope[0], differences(at, eta, 0))
	if g, ok := target.(targets.GradTarget); ok {
		grad := make([]float64, l.Dim())
		g.LossGrad(grad, theta, rows)
		if want := slope[0] * x; !(math.Abs(grad[j]-want) <= 1e-12*(1+math.Abs(want))) {
			failf(rt, "LossGrad is %v where SlopeAt times the feature is %v, for %s", grad[j], want, describe(rows))
		}
	}
}
