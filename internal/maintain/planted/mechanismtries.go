package planted

import (
	"math"
	population "math/bits"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
)

// Mechanisms here select among three classes by a search that ends too early, by the true counts, or by the first
// record. Others take neighbours for a sample, coins for normal noise, or one slice for many releases.

func nineVotes(first float64) []float64 { return []float64{first, 0, 1, 2, 0, 1, 2, 0, 1} }
func sixVotes(first float64) []float64  { return []float64{first, 0, 1, 2, 0, 1} }

// rejecting draws a class until one is accepted, in proportion to the exponential mechanism's weights. When tries run
// out it is the fullest one.
func rejecting(tries int) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		count := histogram(x)
		for range tries {
			if k := rng.IntN(3); rng.Float64() < math.Exp((count[k]-float64(len(x)))/2) {
				return []float64{float64(k)}
			}
		}
		return []float64{float64(fullest(count))}
	})
}

func fullest(count [3]float64) (best int) {
	for k, c := range count {
		if c > count[best] {
			best = k
		}
	}
	return best
}

// fromTheBest is a chain of so many moves under the exponential mechanism's law, from the fullest class or from the
// first.
func fromTheBest(moves int, best bool) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		count, at := histogram(x), 0
		if best {
			at = fullest(count)
		}
		for range moves {
			if k := rng.IntN(3); rng.Float64() < math.Exp((count[k]-count[at])/2) {
				at = k
			}
		}
		return []float64{float64(at)}
	})
}

// voted is the class of most noisy votes, which are whole. The first record's class may win a tie.
func voted(byFirst bool) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		count := histogram(x)
		for k := range count {
			count[k] += math.Floor(2*rng.ExpFloat64()) - math.Floor(2*rng.ExpFloat64())
		}
		best := fullest(count)
		if byFirst && len(x) > 0 {
			if k := fullest(histogram(x[:1])); count[k] == count[best] {
				best = k
			}
		}
		return []float64{float64(best)}
	})
}

// placed are noisy counts of three classes, and the place of the first among them: by true counts, or by noisy ones.
func placed(byTruth bool) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		count := histogram(x)
		place := func(of [3]float64) float64 { return either(of[1] > of[0], 1, 0) + either(of[2] > of[0], 1, 0) }
		truly := place(count)
		noisy(count[:], func() float64 { return laplace(rng, 2) })
		return append(count[:], either(byTruth, truly, place(count)))
	})
}

// inRuns is the noisy sum of four of eight records: neighbours from a random place on, or a sample.
func inRuns(runs bool) answers {
	return releases(event(gaussian(0.5).SubsetSampled(8, 4)), func(x []float64, rng *rand.Rand) []float64 {
		order, from, total := rng.Perm(len(x)), rng.IntN(max(1, len(x))), rng.NormFloat64()
		for i := range min(4, len(x)) {
			total += clipped(0, x[int(either(runs, float64((from+i)%len(x)), float64(order[i])))])
		}
		return []float64{total}
	})
}

// ofCoins is the noise of so many tosses, and rounded the normal one of the same deviation.
func ofCoins(tosses int) noises {
	return func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		return float64(population.OnesCount64(rng.Uint64()>>(64-tosses))) - float64(tosses)/2
	}
}

// wholly is a sum of whole records with noise of variance 6, which is a whole number.
func wholly(name, effect string, draw noises) Case {
	return mechanism(name, effect, form{"on whole numbers", 1, 1, false}, func(m *sum) {
		m.claim, m.noise = gaussian(math.Sqrt(1.5)), draw
		m.clip = func(i int, x float64) float64 { return math.Round(clipped(i, x)) }
	})
}

// cycling puts its releases into so many slices.
type cycling struct {
	additive
	slices int
}

func (m cycling) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	all, err := m.additive.Release(r, seed, count)
	for i := m.slices; i < len(all); i++ {
		copy(all[i%m.slices], all[i])
		all[i] = all[i%m.slices]
	}
	return all, err
}
