package proptest

import (
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/targets"
)

// ComplexTarget is an ability that a target may have for the sake of its tests:
// the loss at complex parameters. Its gradient is then held to the complex step
// Im ℓ(θ + ih·eⱼ)/h, which has no cancellation, to a relative 1e-10.
type ComplexTarget interface {
	// ComplexLoss sets dst[i] = ℓ(zᵢ; theta), the analytic continuation of Loss.
	ComplexLoss(dst, theta []complex128, rows targets.Rows)
}

// slope is a derivative from differences, and how far off it may be.
type slope struct{ value, off float64 }

// line is a function along one coordinate, at offsets from a point.
type line func(offset float64) float64

// along is f along coordinate j at theta.
func along(f func(theta []float64) float64, theta []float64, j int) line {
	at := slices.Clone(theta)
	return func(offset float64) float64 {
		at[j] = theta[j] + offset
		return f(at)
	}
}

// noise estimates the rounding of f near a point, from fourth differences at
// offsets too small for anything else to show (Moré and Wild 2011).
func (f line) noise(scale float64) float64 {
	var v [7]float64
	largest := 1.0
	for k := range v {
		v[k] = f(float64(k-3) * 3e-13 * scale)
		largest = max(largest, math.Abs(v[k]))
	}
	worst := 0.0
	for k := range 3 {
		worst = max(worst, math.Abs(v[k]-4*v[k+1]+6*v[k+2]-4*v[k+3]+v[k+4]))
	}
	return worst + 4e-16*largest
}

// steadiest is the derivative by a rule that takes a step, at the largest step
// that still agrees with all smaller ones: a large step alone may see a plain
// where there is a valley.
func steadiest(steps []float64, noise float64, rule func(h float64) float64) slope {
	best := slope{math.NaN(), math.Inf(1)}
	for _, h := range steps {
		coarse, fine := rule(h), rule(h/2)
		now := slope{fine, math.Abs(coarse-fine) + noise/math.Abs(h)}
		if math.IsNaN(now.off) || math.Abs(now.value-best.value) > 3*(now.off+best.off) {
			break
		}
		if now.off < best.off {
			best = now
		}
	}
	return best
}

// differences are steps at which derivatives are looked for.
var differences = [...]float64{1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 3e-2}

// central is the derivative by differences of fourth order.
func (f line) central(scale, noise float64) slope {
	steps := differences
	times(steps[:], scale)
	return steadiest(steps[:], 4*noise, func(h float64) float64 {
		return (8*(f(h)-f(-h)) - (f(2*h) - f(-2*h))) / (12 * h)
	})
}

// kinked reports whether got is the derivative on one side of a kink: at some
// step the two sides' derivatives differ, and got is one of them.
func (f line) kinked(got, floor, scale, noise float64) bool {
	side := func(h float64) slope {
		two := func(h float64) float64 { return (4*f(h/2) - 3*f(0) - f(h)) / h }
		coarse, fine := two(h), two(h/2)
		return slope{fine, math.Abs(coarse-fine) + 16*noise/math.Abs(h)}
	}
	for _, step := range differences[3:] { // to the widest, for a kink that no other shows
		h := step * scale
		left, right := side(-h), side(h)
		if math.IsNaN(left.off) || math.IsNaN(right.off) {
			return true
		}
		if gap := math.Abs(left.value - right.value); gap > 10*(left.off+right.off) &&
			(left.agrees(got, floor) || right.agrees(got, floor)) {
			return true
		}
	}
	return false
}

// agrees reports whether got may be the derivative: the differences' own error
// and a relative 1e-7 are allowed, and floor in absolute terms.
func (s slope) agrees(got, floor float64) bool {
	return math.Abs(got-s.value) <= 10*s.off+1e-7*(math.Abs(got)+math.Abs(s.value))+floor
}

// wrongSlope reports whether got is not the derivative of f at 0, and what
// differences give. Beside a kink either side's derivative is right. Where f is
// not finite, or too rough for differences, nothing is. What no step below 10⁻³ can
// show passes too: wider ones may lie across a kink.
//
// size is that of the largest number which f adds the coordinate to, such as a response: f is rounded
// to its last places, in steps that offsets of the coordinate's own size may not show.
func wrongSlope(f line, at, got, floor, size float64) (slope, bool) {
	scale := max(1, math.Abs(at))
	noise := f.noise(scale)
	if size > scale { // two spacings, since one may be a multiple of the places
		noise = max(noise, f.noise(size), f.noise(1.37*size), 2e-16*size*math.Abs(got))
	}
	floor += 1e5 * noise / scale
	s := f.central(scale, noise)
	switch {
	case math.IsNaN(s.value) || math.IsInf(s.off, 1):
		return s, false
	case s.agrees(got, floor):
		return s, false
	}
	return s, !f.kinked(got, floor, scale, noise)
}
