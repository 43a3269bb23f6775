package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

func positives(x []float64) (count float64) {
	for _, v := range x {
		count += either(v > 0, 1, 0)
	}
	return count
}

// firstPassing asks a count twelve times until it is above a noisy threshold, and gives its place, with
// its noisy value or not.
func firstPassing(value bool) proptest.Mechanism {
	return answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			least, count := 2+laplace(rng, 2), positives(x)
			for i := range 12 {
				if v := count + laplace(rng, 2); v > least {
					return []float64{float64(i), either(value, v, 0)}
				}
			}
			return []float64{12, 0}
		})}
}

// gapMedian is a median with noise for a public gap, if the gaps beside it are less.
func gapMedian() proptest.Mechanism {
	return answers{claim: event(accountant.Approximate(accountant.Substitute, 1, 1e-6)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
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
		})}
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

// permuted goes through three counts, in an order of chance or in one, and takes each with a probability
// by how it compares.
func permuted(permute bool) proptest.Mechanism {
	return answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			score := [3]float64{}
			for _, v := range x {
				score[0] += either(v > 0, 1, 0)
				score[1] += either(v < 0, 1, 0)
				score[2] += either(math.Abs(v) < 0.5, 1, 0)
			}
			best, order := slices.Max(score[:]), []int{0, 1, 2}
			if permute {
				order = rng.Perm(3)
			}
			for _, k := range order {
				if rng.Float64() < math.Exp((score[k]-best)/2) {
					return []float64{float64(k)}
				}
			}
			return []float64{float64(order[2])} // the best one has been met
		})}
}

// reporting says of the first record whether it is positive, or a lie, which is the opposite or another one's answer.
func reporting(others bool) proptest.Mechanism {
	return answers{claim: event(accountant.RandomizedResponse(accountant.Substitute, 1, 2)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			if len(x) == 0 {
				return []float64{float64(rng.IntN(2))}
			}
			answer := either(x[0] > 0, 1, 0)
			if rng.Float64() > 1/(1+math.Exp(-0.999)) {
				answer = 1 - answer
				if others && len(x) > 1 {
					answer = either(x[1+rng.IntN(len(x)-1)] > 0, 1, 0)
				}
			}
			return []float64{answer}
		})}
}

// hashPicked is the noisy sum of records that a hash picks, or a coin.
func hashPicked(pick func(v float64, rng *rand.Rand) bool) proptest.Mechanism {
	claim := event(event(accountant.Gaussian(accountant.AddRemove, 2)).PoissonSampled(0.5))
	return answers{claim: claim, begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		total := 0.0
		for _, v := range x {
			if pick(v, rng) {
				total += clipped(0, v)
			}
		}
		return []float64{total + noiseSD*rng.NormFloat64()}
	})}
}

// tested is a noisy sum, if enough records are small by a noisy count, and else says so.
func tested() proptest.Mechanism {
	claim := event(accountant.Compose(event(accountant.Pure(accountant.Substitute, 0.5)), gaussian(1)))
	return answers{claim: claim, begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		small := laplace(rng, 2)
		for _, v := range x {
			small += either(math.Abs(v) < 0.5, 1, 0)
		}
		return []float64{either(small > 3, clip1(x)+noiseSD*rng.NormFloat64(), 99)}
	})}
}

// centred takes their mean from the noises of a call.
func centred(m *sum, rng *rand.Rand, i int, _ float64) float64 {
	if i == 0 {
		mean := 0.0
		for range m.count {
			m.kept = append(m.kept, noiseSD*rng.NormFloat64())
			mean += m.kept[len(m.kept)-1] / float64(m.count)
		}
		for j := range m.kept {
			m.kept[j] -= mean
		}
	}
	return m.kept[i]
}

// ofEight are such mechanisms on eight records, and ofSeven without the first.
var seven = []float64{0.3, -0.2, 0.4, -0.6, 0.2, -0.4, 0.1}

func ofEight(name, effect string, m proptest.Mechanism) Case {
	return one(name, effect, m, append([]float64{1}, seven...), append([]float64{-1}, seven...))
}

func ofSeven(name, effect string, m proptest.Mechanism) Case {
	return one(name, effect, m, append([]float64{1}, seven...), seven)
}

func eighteenthMechanisms() []Case {
	return []Case{
		ofEight("the query that passes comes with its value", "δ of 0.01", firstPassing(true)),
		one("a stability test without noise", "a gap of ½", gapMedian(), []float64{1, 0.3, -0.2, 0.1, 0},
			[]float64{-1, 0.3, -0.2, 0.1, 0}),
		ofEight("blocks overlap at their ends", "one record", blocks(1)),
		mechanism("noises of a call are centred", "1/n", plain, func(m *sum) { m.noise = centred }),
		ofEight("permute and flip in one order", "the first", permuted(false)),
		ofEight("a lie is another record's answer", "not the opposite", reporting(true)),
		ofSeven("a sample by a hash of the record", "always or never", hashPicked(func(v float64, _ *rand.Rand) bool {
			return math.Float64bits(v)*0x9e3779b97f4a7c15>>63 == 1
		})),
	}
}

func eighteenthMechanismControls() []Case {
	return []Case{
		ofEight("the place of a query that passes", "", firstPassing(false)),
		one("a noisy test", "", tested(), []float64{1, 0.3, -0.2, 0.1, 0}, []float64{-1, 0.3, -0.2, 0.1, 0}),
		ofEight("blocks", "", blocks(0)),
		ofEight("permute and flip", "", permuted(true)),
		ofEight("a lie is the opposite", "", reporting(false)),
		ofSeven("a sample by a coin", "", hashPicked(func(_ float64, rng *rand.Rand) bool { return rng.IntN(2) == 0 })),
	}
}
