package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// distinct is the sum of clipped records, of which equal ones count once.
func distinct(x []float64) float64 {
	total, seen := 0.0, []float64{}
	for i, v := range x {
		if c := clipped(i, v); !slices.Contains(seen, c) {
			seen = append(seen, c)
			total += c
		}
	}
	return total
}

// upper is the sum of records above the others' mean, or above a public number.
func upper(ofOthers bool) func(x []float64) float64 {
	return func(x []float64) float64 {
		mean := clip1(x) / float64(max(1, len(x)))
		total := 0.0
		for i, v := range x {
			c := clipped(i, v)
			total += either(c > either(ofOthers, mean, 0.2), c, 0)
		}
		return total
	}
}

// spreadClip is a sum clipped at three deviations of the records themselves, of one at most.
func spreadClip(x []float64) (total float64) {
	mean, square := 0.0, 0.0
	for _, v := range x {
		c := clipped(0, v)
		mean, square = mean+c/float64(len(x)), square+c*c/float64(len(x))
	}
	most := min(1, 2*math.Sqrt(max(0, square-mean*mean)))
	for _, v := range x {
		total += max(-most, min(clipped(0, v), most))
	}
	return total
}

// averaged is a mean by the number of records, with noise by that number or by a public one.
func averaged(public bool) proptest.Mechanism {
	return releases(event(accountant.Gaussian(accountant.AddRemove, 2)), func(x []float64, rng *rand.Rand) []float64 {
		n := either(public, 10, float64(max(1, len(x))))
		return []float64{(clip1(x) + noiseSD*rng.NormFloat64()) / n}
	})
}

// alongside releases a second number beside a noisy sum.
func alongside(second func(x []float64, rng *rand.Rand) float64, claim accountant.Event) proptest.Mechanism {
	return releases(claim, func(x []float64, rng *rand.Rand) []float64 {
		return []float64{clip1(x) + noiseSD*rng.NormFloat64(), second(x, rng)}
	})
}

// both is a sum and a count of the positive, whose noises have a correlation.
func both(correlation float64) proptest.Mechanism {
	claim := event(accountant.Compose(gaussian(1), gaussian(2)))
	return releases(claim, func(x []float64, rng *rand.Rand) []float64 {
		count, a, b := positives(x), rng.NormFloat64(), rng.NormFloat64()
		b = correlation*a + math.Sqrt(1-correlation*correlation)*b
		return []float64{clip1(x) + noiseSD*a, count + noiseSD*b}
	})
}

// prefixes are the running totals of four records, each with noise of its own, as if they were one sum.
func prefixes(sensitivity float64) shared {
	return shared{releases(gaussian(noiseSD/sensitivity), func(x []float64, rng *rand.Rand) []float64 {
		out, total := make([]float64, 4), 0.0
		for i := range out {
			if i < len(x) {
				total += clipped(i, x[i])
			}
			out[i] = total + noiseSD*rng.NormFloat64()
		}
		return out
	}), sensitivity}
}

// tree releases two records and their sum, from noise of the leaves and of the root.
func tree(reuses bool) answers {
	return releases(gaussian(1/math.Sqrt2), func(x []float64, rng *rand.Rand) []float64 {
		var half [2]float64
		for i, v := range x {
			half[i%2] += clipped(i, v)
		}
		z, w, root := noiseSD*rng.NormFloat64(), noiseSD*rng.NormFloat64(), noiseSD*rng.NormFloat64()
		if reuses {
			root = z
		}
		return []float64{half[0] + z, half[1] + w, half[0] + half[1] + root}
	})
}

// banded adds noise of which half is taken off again at the next of four steps.
func banded(multiplier float64) answers {
	return releases(gaussian(multiplier), func(x []float64, rng *rand.Rand) []float64 {
		out, before := make([]float64, 4), 0.0
		for i := range out {
			z := noiseSD * rng.NormFloat64()
			if out[i] = z - before/2; i < len(x) {
				out[i] += clipped(i, x[i])
			}
			before = z
		}
		return out
	})
}

// lagProducts is a sum of products of neighbours in time.
func lagProducts(sensitivity float64) shared {
	return shared{releases(gaussian(2*noiseSD/sensitivity), func(x []float64, rng *rand.Rand) []float64 {
		total := 0.0
		for i := 1; i < len(x); i++ {
			total += clipped(0, x[i]) * clipped(0, x[i-1])
		}
		return []float64{total + 2*noiseSD*rng.NormFloat64()}
	}), sensitivity}
}
