package targets

// Proof: docs/proofs/targets-certificates.md.

import "math"

// slopeSlack is by how much, in proportion, a certified maximum of a slope may
// exceed the least upper bound.
const slopeSlack = 1e-6

// up moves a computed bound outward, past the few roundings that made it. What
// is no number bounds nothing: +Inf.
func up(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v * (1 + 1e-12)
}

// times returns a·b for bounds, zero when either is zero even if the other is
// infinite.
func times(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return a * b
}

// pathBound bounds a change of the loss by a gradient bound times the length of
// the move, and by the span of the loss over records and parameters.
func pathBound(gradient, span float64, theta, next []float64) float64 {
	var step2 float64
	for j, t := range theta {
		d := next[j] - t
		step2 += d * d
	}
	return min(span, up(times(gradient, math.Sqrt(step2))))
}
