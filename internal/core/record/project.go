package record

// Proof: docs/proofs/curator.md.

import "math"

// Project scales a row whose Euclidean norm exceeds radius onto the ball of that
// radius, in place; a row that is not finite has no direction and becomes the
// zero row. The result depends on the row and the radius alone, and a row already
// projected is left as it is, bit for bit.
//
// The exact norm of the result is at most radius, and so is its norm computed in
// floating point as √Σx², in any order of summation and with or without fused
// multiply-adds: rows are brought inside a margin of 2(len(row)+4)·2⁻⁵³, which
// covers the errors of both computations. radius is between 1e-100 and 1e100.
func Project(row []float64, radius float64) {
	const unit = 0x1p-53
	inside := radius * (1 - 2*unit*float64(len(row)+4))
	if Norm(row) <= inside || !tame(row) {
		return
	}
	for norm := Norm(row); norm > inside; norm = Norm(row) {
		// Rounding may leave the row outside by a unit or two; the second factor
		// makes every further pass gain.
		factor := inside / norm * (1 - 2*unit)
		for i, v := range row {
			row[i] = v * factor
		}
	}
}

// tame brings a row whose squares would overflow back to the edge of the range
// where they do not, in the same direction, and reports whether the row was
// finite; it clears one that was not.
func tame(row []float64) bool {
	const edge = 1e150
	largest := 0.0
	for _, v := range row {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			clear(row)
			return false
		}
		largest = max(largest, math.Abs(v))
	}
	if largest > edge {
		for i, v := range row {
			row[i] = v / largest * edge
		}
	}
	return true
}

// Norm returns the Euclidean norm of row, summing squares in order without fused
// operations, so that it is the same on every machine.
func Norm(row []float64) float64 {
	sum := 0.0
	for _, v := range row {
		sum += float64(v * v)
	}
	return math.Sqrt(sum)
}
