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

// irregular offsets are multiples of no step, so that roundings at them are not alike.
var irregular = [...]float64{-3, -2.236, -1.414, -0.577, 0, 0.318, 1.202, 1.732, 2.646}

// noise estimates the rounding of f near a point: how far values lie from the chord of those beside
// them, at offsets too small for anything else to show (after Moré and Wild 2011). Where f is said to
// change, and takes the same value at several of them, it is a staircase: the coordinate is added to
// a larger number. So offsets grow until all values differ, and the staircase's steps are noise, too.
func (f line) noise(scale, slope float64) float64 {
	worst, largest, stairs := 0.0, 1.0, false
	for spacing := 3e-13 * scale; spacing < 1e-2*scale; spacing *= 29.3 {
		var v [len(irregular)]float64
		step, differ := math.Inf(1), true
		for k, o := range irregular {
			v[k] = f(o * spacing)
			largest = max(largest, math.Abs(v[k]))
			if k == 0 {
				continue
			}
			if d := math.Abs(v[k] - v[k-1]); d > 0 {
				step = min(step, d)
			} else {
				differ = false
			}
		}
		for k := 1; k < len(v)-1; k++ {
			share := (irregular[k] - irregular[k-1]) / (irregular[k+1] - irregular[k-1])
			worst = max(worst, 8*math.Abs(v[k]-v[k-1]-share*(v[k+1]-v[k-1])))
		}
		if stairs && !math.IsInf(step, 1) {
			worst = max(worst, 4*step)
		}
		if differ || slope == 0 {
			break
		}
		stairs = true
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
func wrongSlope(f line, at, got, floor float64) (slope, bool) {
	return f.wrongSlope(max(1, math.Abs(at)), got, floor)
}

// wrongSlope says so by steps of a scale.
func (f line) wrongSlope(scale, got, floor float64) (slope, bool) {
	noise := f.noise(scale, got)
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

// plainSlope is the derivative at 0 where differences of two widths show one that is not 0.
func (f line) plainSlope(scale float64) (value float64, plain bool) {
	h := 1e-3 * scale
	fine, coarse := (f(h/2)-f(-h/2))/h, (f(h)-f(-h))/(2*h)
	return fine, fine != 0 && math.Abs(fine) < 1e100 && math.Abs(fine-coarse) <= 1e-3*math.Abs(fine)
}
