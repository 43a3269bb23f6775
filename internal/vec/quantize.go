package vec

// Quantize clips x to [−bound, bound] and returns the whole number of grid steps
// in it, rounded toward zero, where scale is the reciprocal of the grid step. NaN
// gives 0 and ±Inf is clipped. With scale a power of two the product is exact, so
// |Quantize(x)| ≤ bound·scale holds with no rounding error.
func Quantize(x, bound, scale float64) int64 {
	if x != x {
		return 0
	}
	return int64(max(-bound, min(bound, x)) * scale)
}
