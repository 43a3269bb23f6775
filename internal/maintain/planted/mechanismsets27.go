package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
)

func twentySeventhMechanisms() []Case {
	pair := []float64{0.8, 0.6, 0.5, 0, -0.3, 0.2}
	turned := []float64{0.8, -0.6, 0.5, 0, -0.3, 0.2}
	lone, otherLone := append([]float64{3}, five[1:]...), append([]float64{-3}, five[1:]...)
	return []Case{
		ofFive("looks at a count until one passes, priced as one", "ε 1.5 for 1", looks(2)),
		one("the best of a random number of answers costs one", "ε 1.9 for 1", bestOfTries(1), plus[:1], minus[:1]),
		ofEight("the last leaf of a tree shares its parent's noise", "differences", lastLeaf(true)),
		one("a histogram's threshold forgets the record itself", "δ 0.017 for 0.01", stableBins(0), lone, otherLone),
		ofFive("a spread between quartiles has the noise of a mean", "2 for 0.4", quartiles(0.4)),
		sampledNoise("noise grows with how many a sample took", "√(m/4)", true),
		ofRows("rows are clipped by a sketch of their norms", "two signs", clippedRows(sketched), 3,
			[]float64{1, 0.1, 0}, 0.3, 0.2, -0.4),
		ofRows("rows are shortened by the mean of all factors", "records", averageFactor(true), 3,
			[]float64{1, 0.1, 0}, 0.3, 0.2, -0.4, 0.1, 0.3, 0.2),
		ofFive("bins that are equal share their noise", "a cache", cachedBins(true)),
		ofFive("Skellam noise of variance 1 at the price of normal noise", "δ 0.47 for 0.38", skellam(0.5)),
		one("four bits of an answer are flipped for the whole price each", "ε 2 for 1", flippedBits(1), plus[:1], minus[:1]),
		one("a subset of answers has the odds of a larger one", "ε 2.1 for 1", subset(3), plus[:1], minus[:1]),
		mechanismCase("noise of a matrix is made even by its mean", "1/√2 off the diagonal", evenMatrix(math.Sqrt2), 2, pair,
			turned),
		one("each record adds a fifth of the noise", "three records", eachAdds(5), five[:3], otherFive[:3]),
		noise("normal noise by Tukey's lambda", "ends at 5 sd", plain,
			func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				const l = 0.1349
				u := rng.Float64()
				return noiseSD * (math.Pow(u, l) - math.Pow(1-u, l)) / 0.1975
			}),
		ofFive("squares about a noisy mean have noise for one within bounds", "beyond 1", aboutMean(math.Inf(1))),
	}
}

func twentySeventhMechanismControls() []Case {
	pair := []float64{0.8, 0.6, 0.5, 0, -0.3, 0.2}
	turned := []float64{0.8, -0.6, 0.5, 0, -0.3, 0.2}
	lone, otherLone := append([]float64{3}, five[1:]...), append([]float64{-3}, five[1:]...)
	return []Case{
		ofFive("looks at a count until one passes", "", looks(3)),
		one("the best of a random number of answers", "", bestOfTries(0.5), plus[:1], minus[:1]),
		ofEight("leaves of a tree", "", lastLeaf(false)),
		one("a histogram's threshold", "", stableBins(1), lone, otherLone),
		ofFive("a spread between quartiles", "", quartiles(2)),
		sampledNoise("noise of a sample", "", false),
		ofRows("rows are clipped by their norms", "", clippedRows(nil), 3, []float64{1, 0.1, 0}, 0.3, 0.2, -0.4),
		ofRows("rows are shortened by their factors", "", averageFactor(false), 3,
			[]float64{1, 0.1, 0}, 0.3, 0.2, -0.4, 0.1, 0.3, 0.2),
		ofFive("bins have noise each", "", cachedBins(false)),
		one("four bits of an answer", "", flippedBits(0.5), plus[:1], minus[:1]),
		one("a subset of answers", "", subset(2), plus[:1], minus[:1]),
		mechanismCase("noise of a matrix", "", evenMatrix(1), 2, pair, turned),
		one("each record adds some noise", "", eachAdds(1), five[:3], otherFive[:3]),
		ofFive("squares about a noisy mean within bounds", "", aboutMean(1)),
	}
}

// looks compares a count with 2 up to three times, each with noise, and says when it passed.
func looks(scale float64) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		for k := range 3 {
			if positives(x)+laplace(rng, scale) > 2.5 {
				return []float64{float64(k)}
			}
		}
		return []float64{3}
	})
}

// bestOfTries is the best of as many randomised answers as a coin says.
func bestOfTries(epsilon float64) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		best := 0.0
		for {
			truth := either(len(x) > 0 && x[0] > 0, 1, 0)
			best = max(best, either(rng.Float64() < 1/(1+math.Exp(-epsilon)), truth, 1-truth))
			if rng.Float64() < 0.05 {
				return []float64{best}
			}
		}
	})
}

// lastLeaf has the sums of all nodes over eight leaves. The last leaf's noise may be the node's above it.
func lastLeaf(shared bool) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		nodes := make([]float64, 16)
		for i, v := range x {
			for node := 8 + i%8; node > 0; node /= 2 {
				nodes[node] += clipped(0, v)
			}
		}
		last, above := nodes[15], nodes[7]
		noisy(nodes, func() float64 { return 2 * noiseSD * rng.NormFloat64() })
		if shared {
			nodes[15] = last + nodes[7] - above
		}
		return nodes[1:]
	})
}

// stableBins has noisy counts of the whole parts −3 to 3 that have records, if they pass a threshold.
func stableBins(own float64) answers {
	const delta = 0.01
	claim := event(accountant.Approximate(accountant.Substitute, 1, either(own > 0, 2*delta, delta)))
	threshold := own + 2*math.Log(1/(2*delta))
	return releases(claim, func(x []float64, rng *rand.Rand) []float64 {
		var counts [7]float64
		for _, v := range x {
			if math.Abs(v) < 3.5 {
				counts[int(math.Round(v))+3]++
			}
		}
		told := make([]float64, 7)
		for k, c := range counts {
			if c == 0 {
				continue
			}
			if v := c + laplace(rng, 2); v > threshold {
				told[k] = coarse(v)
			}
		}
		return told
	})
}

// quartiles is the distance of the second largest record from the second least.
func quartiles(sensitivity float64) answers {
	return onGrid(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		spread := 0.0
		if s := sortedClipped(x); len(s) > 3 {
			spread = s[len(s)-2] - s[1]
		}
		return []float64{spread + laplace(rng, sensitivity)}
	})
}

// sampledNoise is the sum of half the records, with normal noise.
func sampledNoise(name, effect string, grows bool) Case {
	claim := event(event(accountant.Gaussian(accountant.AddRemove, 1)).PoissonSampled(0.5))
	return ofSeven(name, effect, onGrid(claim, func(x []float64, rng *rand.Rand) []float64 {
		total, m := 0.0, 0.0
		for _, v := range x {
			if rng.IntN(2) == 0 {
				total, m = total+clipped(0, v), m+1
			}
		}
		return []float64{total + either(grows, math.Sqrt(m/4), 1)*rng.NormFloat64()}
	}))
}

// clippedRows adds rows up that are shortened by a norm, or by an estimate of it.
func clippedRows(estimate func(rng *rand.Rand, row []float64) float64) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		return each2(rng, rowsum(x, func(row []float64) float64 {
			if estimate == nil {
				return euclidean(row)
			}
			return estimate(rng, row)
		}))
	})
}

// sketched is the root of the mean of two squares of sums with random signs.
func sketched(rng *rand.Rand, row []float64) float64 {
	square := 0.0
	for range 2 {
		sum := 0.0
		for _, v := range row {
			sum += either(rng.IntN(2) == 0, v, -v)
		}
		square += sum * sum / 2
	}
	return math.Sqrt(square)
}

// averageFactor shortens rows of three numbers each by its factor, or all by the mean of the factors.
func averageFactor(mean bool) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		if !mean {
			return each2(rng, rowsum(x, euclidean))
		}
		total, factors := make([]float64, 3), 0.0
		for row := range slices.Chunk(x, 3) {
			norm := euclidean(row)
			if !(norm <= 1e6) {
				continue
			}
			factors += 1 / max(1, norm)
			for j, v := range row {
				total[j] += v
			}
		}
		for j := range total {
			total[j] *= factors / max(1, float64(len(x)/3))
		}
		return each2(rng, total)
	})
}

// cachedBins are noisy counts of four bins.
func cachedBins(cached bool) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		counts := make([]float64, 4)
		for _, v := range x {
			counts[min(3, int(2*(clipped(0, v)+1)))]++
		}
		told := make([]float64, 4)
		for k, c := range counts {
			told[k] = c + coarse(laplace(rng, 2))
			if first := slices.Index(counts, c); cached && first < k {
				told[k] = told[first]
			}
		}
		return told
	})
}

// skellam is a count with the difference of two Poisson numbers.
func skellam(mean float64) answers {
	poisson := func(rng *rand.Rand) (k float64) {
		for t := rng.ExpFloat64(); t < mean; t += rng.ExpFloat64() {
			k++
		}
		return k
	}
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		return []float64{positives(x) + poisson(rng) - poisson(rng)}
	})
}

// category is one of four, of the first record.
func category(x []float64) int {
	if len(x) == 0 {
		return 0
	}
	return min(3, int(2*(clipped(0, x[0])+1)))
}

// flippedBits is a bit for each category, each flipped by a coin of some ε.
func flippedBits(epsilon float64) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		bits := make([]float64, 4)
		bits[category(x)] = 1
		for k, b := range bits {
			if rng.Float64() > 1/(1+math.Exp(-epsilon)) {
				bits[k] = 1 - b
			}
		}
		return bits
	})
}

// subset is two of four categories, which have the record's with the odds of a subset of so many.
func subset(of float64) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		told, c := make([]float64, 4), category(x)
		others := rng.Perm(3)
		pick := others[:2]
		if rng.Float64() < of*math.E/(of*math.E+4-of) {
			told[c] = 1
			pick = others[:1]
		}
		for _, k := range pick {
			told[(c+1+k)%4] = 1
		}
		return told
	})
}

// evenMatrix is the sum of squares and products of two numbers. The product's noise may be a mean of two.
func evenMatrix(by float64) answers {
	return onGrid(gaussian(noiseSD/math.Sqrt2), func(x []float64, rng *rand.Rand) []float64 {
		sum := make([]float64, 3)
		for ; len(x) > 0; x = x[2:] {
			row := shorten(x[:2], euclidean)
			sum[0], sum[1], sum[2] = sum[0]+row[0]*row[0], sum[1]+math.Sqrt2*row[0]*row[1], sum[2]+row[1]*row[1]
		}
		for j := range sum {
			sum[j] += noiseSD * rng.NormFloat64() / either(j == 1, by, 1)
		}
		return sum
	})
}

// eachAdds is a sum to which each record adds a share of the variance of its noise.
func eachAdds(shares float64) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		sd := noiseSD * math.Sqrt(max(1, float64(len(x)))/shares)
		return []float64{clip1(x) + sd*rng.NormFloat64()}
	})
}

// aboutMean is a noisy mean, kept within bounds, and the sum of squares about it.
func aboutMean(bound float64) answers {
	return onGrid(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		mean := coarse(clip1(x)/5 + laplace(rng, 2))
		about, squares := max(-bound, min(mean, bound)), 0.0
		for _, v := range x {
			squares += (clipped(0, v) - about) * (clipped(0, v) - about)
		}
		return []float64{mean, squares + laplace(rng, 5)}
	})
}
