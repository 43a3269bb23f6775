package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// stable releases the noisy count of records above 0 if it is beyond a threshold.
func stable(threshold float64, claim accountant.Event) answers {
	return releases(claim, func(x []float64, rng *rand.Rand) []float64 {
		count := positives(x)
		noisy := count + laplace(rng, 1)
		return []float64{either(count > 0 && noisy > threshold, noisy, 0)}
	})
}

// within is a sum with Laplace noise that is made to end between −3 and 3.
func within(bring func(draw func() float64) float64) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		total := clip1(x)
		return []float64{bring(func() float64 { return total + laplace(rng, 2) })}
	})
}

// inRange draws Laplace noise again until what is released is in a public range, or rounds it into it.
func inRange(again bool) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		v := clip1(x) + laplace(rng, 2)
		for range 50 { // no range is reached from far beyond it
			if !again || math.Abs(v) <= 3 {
				break
			}
			v = clip1(x) + laplace(rng, 2)
		}
		return []float64{max(-3, min(v, 3))}
	})
}

// tested is a noisy sum, if enough records are small by a noisy count, and else says so.
func tested() proptest.Mechanism {
	claim := event(accountant.Compose(pure(0.5), gaussian(1)))
	return releases(claim, func(x []float64, rng *rand.Rand) []float64 {
		small := laplace(rng, 2)
		for _, v := range x {
			small += either(math.Abs(v) < 0.5, 1, 0)
		}
		return []float64{either(small > 3, clip1(x)+noiseSD*rng.NormFloat64(), 99)}
	})
}

// passingQueries asks counts of records above 0 and not in turn whether they are above one noisy threshold, until
// so many have been.
func passingQueries(many int) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		least, out := 4+laplace(rng, 2), make([]float64, 2)
		count, met := positives(x), 0
		for i := range 12 {
			if either(i%2 == 0, count, 8-count)+laplace(rng, 4) > least {
				if out[met] = float64(i + 1); met+1 == many {
					break
				}
				met++
			}
		}
		return out
	})
}
