package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

func histogram(x []float64) (count [3]float64) {
	for _, v := range x {
		switch {
		case v < 0.5:
			count[0]++
		case v < 1.5:
			count[1]++
		default:
			count[2]++
		}
	}
	return count
}

// bins counts records of 0, 1 and 2 with Laplace noise of a scale.
func bins(epsilon, scale float64) answers {
	return releases(pure(epsilon), func(x []float64, rng *rand.Rand) []float64 {
		count := histogram(x)
		return noisy(count[:], func() float64 { return laplace(rng, scale) })
	})
}

// binned is a histogram of three bins with normal noise for one bin that changes, or for two.
func binned(sensitivity float64) answers {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		count := histogram(x)
		return noisy(count[:], func() float64 { return sensitivity * rng.NormFloat64() })
	})
}

// equiwidth counts records in three bins between two edges, with Laplace noise.
func equiwidth(edges func(x []float64) (low, high float64)) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		bounded := make([]float64, len(x))
		for i, v := range x {
			bounded[i] = clipped(i, v)
		}
		low, high := edges(bounded)
		count := make([]float64, 3)
		for _, v := range bounded {
			if high > low {
				v = (v - low) / (high - low)
			}
			count[int(max(0, min(3*v, 2)))]++
		}
		return noisy(count, func() float64 { return laplace(rng, 2) })
	})
}

func positives(x []float64) (count float64) {
	for _, v := range x {
		count += either(v > 0, 1, 0)
	}
	return count
}

// counted is a noisy count of positive records and the noisy sum of all, priced as one or both.
func counted(sensitivity float64) answers {
	return releases(gaussian(noiseSD/sensitivity), func(x []float64, rng *rand.Rand) []float64 {
		count := positives(x)
		return []float64{count + noiseSD*rng.NormFloat64(), clip1(x) + noiseSD*rng.NormFloat64()}
	})
}

// geometric is a count under add/remove with two-sided geometric noise of ε = 1.
func geometric(draw func(rng *rand.Rand) float64) answers {
	return releases(event(accountant.Pure(accountant.AddRemove, 1)), func(x []float64, rng *rand.Rand) []float64 {
		return []float64{float64(len(x)) + draw(rng)}
	})
}

func tosses(rng *rand.Rand) float64 { return math.Floor(rng.ExpFloat64()) } // P(k) ∝ e⁻ᵏ

// capped is a noisy count of records, at most so many above the true count.
func capped(above float64) answers {
	return releases(event(accountant.Pure(accountant.AddRemove, 1)), func(x []float64, rng *rand.Rand) []float64 {
		return []float64{float64(len(x)) + min(above, tosses(rng)-tosses(rng))}
	})
}

// wholeNoise is a count of positive records with two-sided geometric noise, of a sign for zeros too.
func wholeNoise(ratio float64, signed bool) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		count := positives(x)
		size := func() float64 { return math.Floor(rng.ExpFloat64() / ratio) }
		if signed {
			return []float64{count + either(rng.IntN(2) == 0, 1, -1)*size()}
		}
		return []float64{count + size() - size()}
	})
}

// failures is a count with the difference of two numbers of failures, of so many at most.
func failures(most float64) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		count := positives(x)
		size := func() float64 { return min(most, math.Floor(rng.ExpFloat64())) }
		return []float64{count + size() - size()}
	})
}

// overflowing is a histogram whose counts are what a function makes of them.
func overflowing(count func(n int) float64) proptest.Mechanism {
	return shared{releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		var n [2]int
		for _, v := range x {
			if v > 0 {
				n[1]++
			} else {
				n[0]++
			}
		}
		return noisy([]float64{count(n[0]), count(n[1])}, func() float64 { return math.Sqrt2 * rng.NormFloat64() })
	}), math.Sqrt2}
}
