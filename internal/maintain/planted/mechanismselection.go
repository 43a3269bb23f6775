package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/proptest"
)

// noisiest is the fullest bin, with Laplace noise of a scale.
func noisiest(scale float64, release func(best int, count float64, rng *rand.Rand) []float64) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		best, most, count := 0, math.Inf(-1), histogram(x)
		for k, c := range count {
			if v := c + laplace(rng, scale); v > most {
				best, most = k, v
			}
		}
		return release(best, count[best], rng)
	})
}

func index(best int, _ float64, _ *rand.Rand) []float64 { return []float64{float64(best)} }

// noisiestTwo are the fullest bins, of noise that pays for one answer or for both.
func noisiestTwo(scale float64) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		best, count := [2]int{}, histogram(x)
		most := [2]float64{math.Inf(-1), math.Inf(-1)}
		for k, c := range count {
			switch v := c + laplace(rng, scale); {
			case v > most[0]:
				best, most = [2]int{k, best[0]}, [2]float64{v, most[0]}
			case v > most[1]:
				best[1], most[1] = k, v
			}
		}
		return []float64{float64(best[0]), float64(best[1])}
	})
}

// chosen is a selection of a bin with probability in proportion to an exponential of its score.
func chosen(score func(count [3]float64, k int) float64) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		best, most, count := 0, math.Inf(-1), histogram(x)
		for k := range count {
			if v := score(count, k) - math.Log(rng.ExpFloat64()); v > most {
				best, most = k, v
			}
		}
		return []float64{float64(best)}
	})
}

// choosing picks one of five candidates near the sum by the exponential mechanism.
func choosing(factor float64) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		best, chosen, total := math.Inf(-1), 0, clip1(x)
		for i := range 5 {
			score := -math.Abs(float64(i-2) - total)
			if v := factor*score/2 - math.Log(rng.ExpFloat64()); v > best {
				best, chosen = v, i
			}
		}
		return []float64{float64(chosen)}
	})
}

// permuted goes through three counts, in an order of chance or in one, and takes each with a probability
// by how it compares.
func permuted(permute bool) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
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
	})
}

// firstPassing asks a count twelve times until it is above a noisy threshold, and gives its place, with
// its noisy value or not.
func firstPassing(value bool) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		least, count := 2+laplace(rng, 2), positives(x)
		for i := range 12 {
			if v := count + laplace(rng, 2); v > least {
				return []float64{float64(i), either(value, v, 0)}
			}
		}
		return []float64{12, 0}
	})
}

// bestOf is the largest of so many noisy sums, for the price of one.
func bestOf(tries int) answers {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		most, total := math.Inf(-1), clip1(x)
		for range tries {
			most = max(most, total+noiseSD*rng.NormFloat64())
		}
		return []float64{most}
	})
}

// reported says which of the first record's three numbers it reports, and its noisy value.
func reported(bySize float64) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		if len(x) < 3 {
			return []float64{0, math.Round(0x1p20*laplace(rng, 2)) / 0x1p20}
		}
		var chance [3]float64
		total := 0.0
		for j := range chance {
			chance[j] = 1 + bySize*math.Abs(clipped(0, x[j]))
			total += chance[j]
		}
		j, u := 0, rng.Float64()*total
		for ; j < 2 && u > chance[j]; j++ {
			u -= chance[j]
		}
		return []float64{float64(j), math.Round(0x1p20*(clipped(0, x[j])+laplace(rng, 2))) / 0x1p20}
	})
}
