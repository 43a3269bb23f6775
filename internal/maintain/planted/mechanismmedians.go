package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// central is a record near the middle in order, or the place of one on a grid.
func central(grid bool) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		sorted := sortedClipped(x)
		places := sorted
		if grid {
			places = []float64{-1, -0.6, -0.2, 0.2, 0.6, 1}
		}
		best, most := 0.0, math.Inf(-1)
		for _, p := range places {
			below := 0.0
			for _, v := range sorted {
				below += either(v < p, 1, 0)
			}
			if v := -math.Abs(below-float64(len(x))/2)/2 - math.Log(rng.ExpFloat64()); v > most {
				best, most = p, v
			}
		}
		return []float64{best}
	})
}

// middle is a median with Laplace noise of the scale that its neighbours in order suggest.
func middle(scale func(sorted []float64) float64) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		sorted := sortedClipped(x)
		return []float64{sorted[len(sorted)/2] + laplace(rng, scale(sorted))}
	})
}

// median is the median of clipped records, with noise for a sensitivity of one's choice.
func median(sensitivity func(sorted []float64) float64) proptest.Mechanism {
	return onGrid(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		sorted := []float64{0}
		for i, v := range x {
			sorted = append(sorted, clipped(i, v))
		}
		slices.Sort(sorted[1:])
		sorted = sorted[min(1, len(x)):]
		return []float64{sorted[len(sorted)/2] + laplace(rng, sensitivity(sorted))}
	})
}

// gapMedian is a median with noise for a public gap, if the gaps beside it are less.
func gapMedian() proptest.Mechanism {
	return releases(event(accountant.Approximate(accountant.Substitute, 1, 1e-6)),
		func(x []float64, rng *rand.Rand) []float64 {
			sorted := []float64{-1, -1}
			for i, v := range x {
				sorted = append(sorted, clipped(i, v))
			}
			sorted = append(sorted, 1, 1)
			slices.Sort(sorted)
			mid := len(sorted) / 2
			if sorted[mid+1]-sorted[mid-1] > 0.5 {
				return []float64{9}
			}
			return []float64{sorted[mid] + laplace(rng, 0.5)}
		})
}

// searched looks for a median by three noisy counts, each of which chooses the next.
func searched(scale float64) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		low, high := -1.0, 1.0
		for range 3 {
			middle, below := (low+high)/2, 0.0
			for i, v := range x {
				below += either(clipped(i, v) < middle, 1, 0)
			}
			if below+laplace(rng, scale) > float64(len(x))/2 {
				high = middle
			} else {
				low = middle
			}
		}
		return []float64{(low + high) / 2}
	})
}
