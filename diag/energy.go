package diag

import "math"

// Energy returns the unbiased estimate of the squared energy distance between the
// laws of two samples x and y, one draw a row,
//
//	2·E‖X − Y‖ − E‖X − X′‖ − E‖Y − Y′‖
//
// [Székely, Rizzo 2013, "Energy statistics"]. It has the units of the draws, is 0
// in expectation for samples of one law and can then be negative. Unlike [MMD] it
// needs no bandwidth.
//
// The cost grows with the square of the number of draws: thin long chains first.
// It panics if draws differ in length, and returns NaN if a sample has fewer than
// two draws or values that are not numbers.
func Energy(x, y [][]float64) float64 {
	checkDraws(x, y)
	if len(x) < 2 || len(y) < 2 {
		return math.NaN()
	}
	n, m := float64(len(x)), float64(len(y))
	var cross float64
	for _, a := range x {
		for _, b := range y {
			cross += math.Sqrt(squaredDistance(a, b))
		}
	}
	return 2*cross/(n*m) - 2*distances(x)/(n*(n-1)) - 2*distances(y)/(m*(m-1))
}

// distances sums the distance over all pairs of different draws, once each.
func distances(x [][]float64) float64 {
	var sum float64
	for i, a := range x {
		for _, b := range x[:i] {
			sum += math.Sqrt(squaredDistance(a, b))
		}
	}
	return sum
}
