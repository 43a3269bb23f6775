package diag

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// bandwidthPairs is the number of random pairs whose median distance MMD uses
// as its bandwidth, as the published experiments do.
const bandwidthPairs = 500

// MMD returns the maximum mean discrepancy between two samples x and y, one draw a row: the root of
// the absolute value of the unbiased estimate of its square, under a Gaussian kernel with the
// bandwidth set to the median distance of 500 random pairs of a draw of x and a draw of y, taken
// from rng with replacement. This is the distance that Räisä, Koskela and Honkela (2021) report, so
// figures can be compared. Its floor for samples of one law is about 1/√(the smaller effective
// sample size), not 0.
//
// The cost grows with the square of the number of draws: thin long chains first.
// It panics if draws differ in length or rng is nil, and returns NaN if a sample
// has fewer than two draws or values that are not numbers.
func MMD(x, y [][]float64, rng *rand.Rand) float64 {
	checkDraws(x, y)
	if len(x) < 2 || len(y) < 2 {
		return math.NaN()
	}
	distances := make([]float64, bandwidthPairs)
	for i := range distances {
		distances[i] = math.Sqrt(squaredDistance(x[rng.IntN(len(x))], y[rng.IntN(len(y))]))
	}
	slices.Sort(distances)
	return math.Sqrt(math.Abs(squaredMMD(x, y, Quantile(distances, 0.5))))
}

// squaredMMD returns the unbiased estimate of the squared maximum mean
// discrepancy between the laws of x and y, one draw a row, under the kernel
// exp(−‖a − b‖²/(2·bandwidth²)) [Gretton et al. 2012, Lemma 6]. It can be
// negative. It panics if draws differ in length, and returns NaN if a sample has
// fewer than two draws, a value is not a number or bandwidth is not positive.
func squaredMMD(x, y [][]float64, bandwidth float64) float64 {
	checkDraws(x, y)
	if len(x) < 2 || len(y) < 2 || !(bandwidth > 0) {
		return math.NaN()
	}
	n, m := float64(len(x)), float64(len(y))
	scale := -0.5 / (bandwidth * bandwidth)
	var cross float64
	for _, a := range x {
		for _, b := range y {
			cross += math.Exp(scale * squaredDistance(a, b))
		}
	}
	return 2*pairs(x, scale)/(n*(n-1)) + 2*pairs(y, scale)/(m*(m-1)) - 2*cross/(n*m)
}

// pairs sums the kernel over all pairs of different draws, once each.
func pairs(x [][]float64, scale float64) float64 {
	var sum float64
	for i, a := range x {
		for _, b := range x[:i] {
			sum += math.Exp(scale * squaredDistance(a, b))
		}
	}
	return sum
}

func squaredDistance(a, b []float64) float64 {
	var sum float64
	for i, v := range a {
		d := v - b[i]
		sum += d * d
	}
	return sum
}

// checkDraws panics unless all draws have one length.
func checkDraws(x, y [][]float64) {
	var first []float64
	for _, sample := range [][][]float64{x, y} {
		for i, draw := range sample {
			if first == nil {
				first = draw
			}
			if len(draw) != len(first) {
				panic(fmt.Sprintf("diag: draw %d has %d values, the first has %d", i, len(draw), len(first)))
			}
		}
	}
}
