package proptest

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/targets"
)

// large is what exponentials, and squares, of a few plausible numbers stay far below.
const large = 1e100

// ordinary reports whether a scene's state and record are missing, or no larger than that.
func (s scene) ordinary() bool {
	return !slices.ContainsFunc(slices.Concat(s.theta, s.z.X, s.z.Y), func(v float64) bool { return math.Abs(v) >= large })
}

// modest reports whether a record's numbers are such that their fourth powers, and some more, are finite.
func (s scene) modest() bool {
	return !slices.ContainsFunc(slices.Concat(s.z.X, s.z.Y), func(v float64) bool { return math.Abs(v) > 1e6 })
}

// gradientIsLost expects a gradient of ordinary and of missing numbers to be finite where differences
// show the loss's slope: the curator takes NaN for 0, so that such a record would not pull the chain, and
// shortens what is infinite to the clip.
func (e *evaluator) gradientIsLost(s scene) string {
	if !s.ordinary() {
		return ""
	}
	for j, got := range e.gradient {
		if finite(got) {
			continue
		}
		f := along(func(theta []float64) float64 { return e.loss(theta, s.z) }, s.theta, j)
		if slope, plain := f.plainSlope(max(e.unit[j], math.Abs(s.theta[j]))); plain {
			return fmt.Sprintf("LossGrad says that ∂ℓ/∂θ%s is %v, and differences of Loss give %.6g, at %v", index(j), got,
				slope, s.still())
		}
	}
	return ""
}

// lossIsLost expects a loss that is no finite number to have such a gradient, somewhere on the way from where
// it is one: along parameters that grow from nearly 0. What adds up from finite slopes is finite, and such
// a record decides every move. Where it is infinite all the way, the record has no ratio, and a gradient.
func (e *evaluator) lossIsLost(s scene, loss float64) string {
	if e.within(s.theta) && e.endsAtAPower(s, 0) {
		return fmt.Sprintf("Loss is %v, and ends on the way from parameters near 0 where it is, or is of another response, "+
			"the logarithm of the largest or the smallest number, at %v: write the loss so that no exponential overflows or "+
			"vanishes, as max(v, 0) + log1p(exp(−|v|)) for log(1 + exp(v)), with the largest of all exponents taken off",
			loss, s.still())
	}
	endless := func(v float64) bool { return !finite(v) }
	if e.grad == nil || slices.ContainsFunc(slices.Concat(s.theta, s.z.X, s.z.Y), endless) ||
		math.IsInf(e.target.LogPrior(s.theta), -1) {
		return ""
	}
	from := s.clone()
	copy(from.next, s.theta)
	times(from.theta, 1e-200)
	c := e.ofLoss(from)
	begin := c.value(0)
	everywhere := math.IsInf(begin, 1) && s.modest() && e.known(s.theta)
	if !finite(begin) && !everywhere || c.slope(1) == 0 { // nothing pulls at a loss that is cut off
		return ""
	}
	for k := range 80 {
		at := math.Ldexp(1, -k)
		if k > 60 {
			at = float64(k-60) / 20
		}
		if !(math.Abs(c.slope(at)) < large) {
			return ""
		}
	}
	return fmt.Sprintf("Loss is %v, and LossGrad is finite there, and on the way from parameters near 0, where Loss is "+
		"%.6g, at %v: write the loss so that it does not overflow, as max(v, 0) + log1p(exp(−|v|)) for log(1 + exp(v))",
		loss, begin, s.still())
}

// powers are between what exponents exponentials overflow or vanish, in double and in single precision, which depends
// on the machine.
var powers = []interval{{708.39, 708.41}, {709.43, 709.79}, {744.43, 745.14}, {87.33, 87.34}, {88.37, 88.73},
	{103.27, 103.98}}

// endsAtAPower reports whether the loss of an ordinary record becomes no finite number, as parameters grow from
// nearly 0, where it, or the loss of another response, is such an exponent, and is the same one near by. A loss that
// ends where a support does is any number there, and another one near by.
func (e *evaluator) endsAtAPower(s scene, power float64) bool {
	theta := make([]float64, e.d)
	loss := func(at float64, z targets.Rows) float64 {
		for j, t := range s.theta {
			theta[j] = at * t
		}
		return e.loss(theta, z)
	}
	inside, beyond := 1e-200, 1.0
	if !s.ordinary() || !s.modest() || math.IsInf(e.target.LogPrior(s.theta), -1) || !finite(loss(inside, s.z)) ||
		finite(loss(beyond, s.z)) {
		return false
	}
	for range 60 {
		if m := (inside + beyond) / 2; finite(loss(m, s.z)) {
			inside = m
		} else {
			beyond = m
		}
	}
	ends := func(z targets.Rows) bool {
		l := loss(inside, z)
		if power > 0 {
			return math.Abs(l-power) < 0.01
		}
		return slices.ContainsFunc(powers, func(p interval) bool { return p.has(l) }) && e.endsAtAPower(e.elsewhere(s), l) &&
			e.endsAtAPower(e.elsewhere(s), l)
	}
	if ends(s.z) {
		return true
	}
	if !e.response {
		return false
	}
	z := cloneRows(s.z)
	return slices.ContainsFunc(replies[:6], func(y float64) bool {
		z.Y[0] = e.o.Response(y)
		return ends(z)
	})
}

// elsewhere is a scene near by, whose parameters are larger.
func (e *evaluator) elsewhere(s scene) scene {
	s = s.clone()
	for _, v := range [][]float64{s.theta, s.z.X} {
		for j := range v {
			v[j] *= 1.2 + 0.2*e.rng.Float64()
		}
	}
	return s
}

// ratioCounts expects a record whose losses are no numbers, which counts for nothing, to have no ratio; and a
// move from or to where an ordinary record's loss is infinite to have one of that sign, since one that is
// no number would let the move pass.
func (e *evaluator) ratioCounts(s scene) string {
	if e.ratio == nil || !s.ordinary() || !e.known(s.theta) || !e.known(s.next) {
		return ""
	}
	now, then := e.loss(s.theta, s.z), e.loss(s.next, s.z)
	if finite(now) && finite(then) {
		return ""
	}
	e.ratio.LossRatio(e.onto, s.theta, s.next, s.z)
	got := e.onto[0]
	switch {
	case math.IsNaN(now) && math.IsNaN(then) && finite(got) && got != 0:
		return fmt.Sprintf("LossRatio is %v, and the losses are no numbers: the record counts in one and not in the "+
			"other, at %v", got, s)
	case math.IsInf(now, 1) && finite(then) && !(got > 0), math.IsInf(then, 1) && finite(now) && !(got < 0):
		return fmt.Sprintf("LossRatio is %v, and the losses are %v and %v: it must be infinite, or large, with the sign of "+
			"their difference, at %v", got, now, then, s)
	}
	return ""
}

// gradientCounts expects a record of numbers whose loss is none to have no gradient: it would pull a chain of
// gradients, and none of bits.
func (e *evaluator) gradientCounts(s scene) string {
	if e.grad == nil || !s.ordinary() || slices.ContainsFunc(slices.Concat(s.z.X, s.z.Y), math.IsNaN) ||
		!math.IsNaN(e.loss(s.theta, s.z)) || !e.known(s.theta) {
		return ""
	}
	e.grad.LossGrad(e.gradient, s.theta, s.z)
	for j, got := range e.gradient {
		if finite(got) && got != 0 {
			return fmt.Sprintf("LossGrad says that ∂ℓ/∂θ%s is %v, and Loss is no number: the record counts in one and "+
				"not in the other, at %v", index(j), got, s.still())
		}
	}
	return ""
}

// known reports whether parameters are such that the prior and the loss of a plausible record are finite.
func (e *evaluator) known(theta []float64) bool {
	return e.within(theta) && finite(e.target.LogPrior(theta)) && finite(e.loss(theta, e.usual))
}
