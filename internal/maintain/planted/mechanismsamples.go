package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// batches is the sum of a Poisson sample of rate ½ under add/remove, with noise of sd 1.
func batches(begin func(x []float64, rng *rand.Rand) func() []float64) answers {
	return answers{begin: begin,
		claim: event(event(accountant.Gaussian(accountant.AddRemove, 1)).PoissonSampled(0.5))}
}

func batched(x []float64, inclusion func(i int) bool) float64 {
	total := 0.0
	for i, v := range x {
		total += either(inclusion(i), clipped(i, v), 0)
	}
	return total
}

// sampledBatch takes each record with probability ½, anew for a release or for a call.
func sampledBatch(once bool) proptest.Mechanism {
	some := func(x []float64, rng *rand.Rand) (total float64) {
		for _, v := range x {
			total += either(rng.IntN(2) == 0, clipped(0, v), 0)
		}
		return total
	}
	claim := event(event(accountant.Gaussian(accountant.AddRemove, 2)).PoissonSampled(0.5))
	return answers{claim: claim, begin: func(x []float64, rng *rand.Rand) func() []float64 {
		total := some(x, rng)
		return func() []float64 {
			if !once {
				total = some(x, rng)
			}
			return []float64{total + noiseSD*rng.NormFloat64()}
		}
	}}
}

// hashPicked is the noisy sum of records that a hash picks, or a coin.
func hashPicked(pick func(v float64, rng *rand.Rand) bool) proptest.Mechanism {
	claim := event(event(accountant.Gaussian(accountant.AddRemove, 2)).PoissonSampled(0.5))
	return releases(claim, func(x []float64, rng *rand.Rand) []float64 {
		total := 0.0
		for _, v := range x {
			if pick(v, rng) {
				total += clipped(0, v)
			}
		}
		return []float64{total + noiseSD*rng.NormFloat64()}
	})
}

// microbatched sums means of pairs of records, with a claimed sensitivity.
func microbatched(sensitivity float64) shared {
	return shared{releases(gaussian(noiseSD/sensitivity), func(x []float64, rng *rand.Rand) []float64 {
		total := noiseSD * rng.NormFloat64()
		for i := 0; i < len(x); i += 2 {
			pair := 0.0
			for _, v := range x[i:min(i+2, len(x))] {
				pair += either(math.IsNaN(v), 0, max(-2, min(v, 2))) / 2
			}
			total += clipped(i, pair)
		}
		return []float64{total}
	}), sensitivity}
}

// first sums at most so many records, of which each is added or removed.
func first(most int, sensitivity float64) answers {
	return releases(event(accountant.Gaussian(accountant.AddRemove, noiseSD/sensitivity)),
		func(x []float64, rng *rand.Rand) []float64 {
			return []float64{clip1(x[:min(most, len(x))]) + noiseSD*rng.NormFloat64()}
		})
}

// blocks is the noisy sum of what blocks of two records say, which have so many records in common.
func blocks(overlap int) proptest.Mechanism {
	return noisyTotal(func(x []float64) (total float64) {
		for i := 0; i < len(x); i += 2 {
			sum := 0.0
			for _, v := range x[i:min(len(x), i+2+overlap)] {
				sum += max(-9, min(v, 9)) * either(math.IsNaN(v), 0, 1)
			}
			total += clipped(0, sum)
		}
		return total
	})
}
