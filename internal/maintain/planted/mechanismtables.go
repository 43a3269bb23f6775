package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// Mechanisms here cost more on some tables: of missing records, of low numbers, of records that are at one end.
// Others have noise that follows a release, or the sum.

// roundedAtRandom rounds clipped records at random to steps, and keeps their means.
func roundedAtRandom(step float64) proptest.Mechanism {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		total := noiseSD * rng.NormFloat64()
		for _, v := range x {
			k := clipped(0, v) / step
			low := math.Floor(k)
			total += step * (low + either(rng.Float64() < k-low, 1, 0))
		}
		return []float64{total}
	})
}

// secondBy releases a sum twice, the second time with noise by the first.
func secondBy(high, low float64) proptest.Mechanism {
	return releases(gaussian(1/math.Sqrt2), func(x []float64, rng *rand.Rand) []float64 {
		first := clip1(x) + noiseSD*rng.NormFloat64()
		return []float64{first, clip1(x) + either(first > 0.3, high, low)*rng.NormFloat64()}
	})
}

// imputedMean is a sum in which missing records count as the mean of the others, or as 0.
func imputedMean(mean bool) proptest.Mechanism {
	return noisyTotal(func(x []float64) float64 {
		missing, known := 0.0, 0.0
		for _, v := range x {
			missing += either(math.IsNaN(v), 1, 0)
			known += either(math.IsNaN(v), 0, 1)
		}
		if mean && known > 0 {
			return clip1(x) * (1 + missing/known)
		}
		return clip1(x)
	})
}

// classical claims (12, 0.001) for normal noise.
func classical(multiplier float64) proptest.Mechanism {
	claim := event(accountant.Approximate(accountant.Substitute, 12, 0.001))
	return releases(claim, func(x []float64, rng *rand.Rand) []float64 {
		return []float64{clip1(x) + 2*multiplier*rng.NormFloat64()}
	})
}

// fourBits sums sevenths, clipped at some least one.
func fourBits(least float64) proptest.Mechanism {
	return noisyTotal(func(x []float64) (total float64) {
		for _, v := range x {
			total += either(math.IsNaN(v), 0, max(least, min(math.Round(7*v), 7))/7)
		}
		return total
	})
}

// ellipse is the sum of rows with noise along it and across.
func ellipse(across, along float64) proptest.Mechanism {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		sum := make([]float64, 2)
		for i := 0; i+1 < len(x); i += 2 {
			for j, v := range shorten(x[i:i+2], euclidean) {
				sum[j] += v
			}
		}
		sin, cos := math.Sincos(math.Atan2(sum[1], sum[0]))
		u, v := along*rng.NormFloat64(), across*rng.NormFloat64()
		return []float64{sum[0] + u*cos - v*sin, sum[1] + u*sin + v*cos}
	})
}

// winsorised is a sum whose largest record is clipped at the second, or left out.
func winsorised(clips bool) proptest.Mechanism {
	return noisyTotal(func(x []float64) (total float64) {
		sorted := sortedClipped(x)
		n := len(sorted)
		for _, v := range sorted[:max(0, n-1)] {
			total += v
		}
		if clips && n > 1 {
			total += sorted[n-2]
		}
		return total
	})
}
