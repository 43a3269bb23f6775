package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
)

func twentyEighthMechanisms() []Case {
	return []Case{
		ofFive("the classical normal noise by another logarithm", "δ 3.6·10⁻⁴ for 10⁻⁴", decimal(math.Log10)),
		ofFive("a shuffled count of answers costs half of an answer", "ε 1 for ½", shuffled(1)),
		noise("a ratio of uniforms has too low a box", "0.84 for 0.8578", plain, ratioOfUniforms(0.84)),
		ofRows("noise of a total's parts is made to add up to 0", "their sum", addingUp(true), 3,
			[]float64{1, 0.1, 0}, 0.3, 0.2, -0.4),
		noise("noise is a sum of two from a pool of two thousand", "2048", plain, twoOfPool(2048)),
		ofEight("records beyond one and a half spreads are left out", "several leave", trimmed(1.5)),
		ofSeven("records age by those after them", "1.5 for 1", ageing(true)),
		one("permute and flip takes whole scores", "ε 2 for 1", permuteAndFlip(1), plus[:1], minus[:1]),
		ofSeven("a record's own number says whether it is sampled", "1 for ½", hashedSample(true)),
		ofEight("moving sums of three are priced as one", "√3", windows(1)),
		one("a negative count is drawn again once", "ε 1.24 for 1", redrawnCount(1), plus[:1], minus[:1]),
		ofFive("noise of a mean is for one record more than there are", "n + 1", meanNoise(1)),
	}
}

func twentyEighthMechanismControls() []Case {
	return []Case{
		ofFive("the classical normal noise", "", decimal(math.Log)),
		ofFive("a shuffled count of answers", "", shuffled(0.5)),
		noise("a ratio of uniforms", "", plain, ratioOfUniforms(math.Sqrt(2/math.E))),
		ofRows("noise of a total's parts", "", addingUp(false), 3, []float64{1, 0.1, 0}, 0.3, 0.2, -0.4),
		ofEight("no records are left out", "", trimmed(math.Inf(1))),
		ofSeven("records do not age", "", ageing(false)),
		one("permute and flip", "", permuteAndFlip(0.5), plus[:1], minus[:1]),
		ofSeven("a coin says whether a record is sampled", "", hashedSample(false)),
		ofEight("moving sums of three", "", windows(math.Sqrt(3))),
		one("a negative count is drawn once", "", redrawnCount(0), plus[:1], minus[:1]),
		ofFive("noise of a mean", "", meanNoise(0)),
	}
}

// decimal is a sum with noise by the classical formula.
func decimal(log func(float64) float64) answers {
	const delta = 1e-4
	scale := 2 * math.Sqrt(2*log(1.25/delta))
	return onGrid(event(accountant.Approximate(accountant.Substitute, 1, delta)), func(x []float64,
		rng *rand.Rand) []float64 {
		return []float64{clip1(x) + scale*rng.NormFloat64()}
	})
}

// shuffled is how many of the records' randomised answers are yes.
func shuffled(epsilon float64) answers {
	return releases(pure(0.5), func(x []float64, rng *rand.Rand) []float64 {
		count := 0.0
		for _, v := range x {
			count += either((v > 0) == (rng.Float64() < 1/(1+math.Exp(-epsilon))), 1, 0)
		}
		return []float64{count}
	})
}

// ratioOfUniforms draws a point of a box until its ratio lies below the density's root.
func ratioOfUniforms(half float64) noises {
	return func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		for {
			u := 1 - rng.Float64()
			if x := half * (2*rng.Float64() - 1) / u; x*x <= -4*math.Log(u) {
				return noiseSD * x
			}
		}
	}
}

// addingUp is the sum of rows of three numbers, whose noise may add up to 0.
func addingUp(none bool) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		z := make([]float64, 3)
		each2(rng, z)
		if none {
			mean := (z[0] + z[1] + z[2]) / 3
			for j := range z {
				z[j] -= mean
			}
		}
		for j, v := range rowsum(x, euclidean) {
			z[j] += v
		}
		return z
	})
}

// twoOfPool has the sum of two numbers of a pool that a call draws.
func twoOfPool(n int) noises {
	var pool []float64
	return func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
		if i == 0 {
			pool = make([]float64, n)
			for k := range pool {
				pool[k] = rng.NormFloat64()
			}
		}
		return noiseSD * (pool[rng.IntN(n)] + pool[rng.IntN(n)]) / math.Sqrt2
	}
}

// trimmed is the sum of records within so many spreads of their mean.
func trimmed(spreads float64) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		n := max(1, float64(len(x)))
		mean, square, total := clip1(x)/n, 0.0, 0.0
		for _, v := range x {
			square += (clipped(0, v) - mean) * (clipped(0, v) - mean) / n
		}
		for _, v := range x {
			if c := clipped(0, v); !(math.Abs(c-mean) > spreads*math.Sqrt(square)) {
				total += c
			}
		}
		return []float64{total + noiseSD*rng.NormFloat64()}
	})
}

// ageing is a sum whose records may count less the more came after them.
func ageing(after bool) answers {
	return onGrid(event(accountant.Gaussian(accountant.AddRemove, 1)), func(x []float64, rng *rand.Rand) []float64 {
		total := 0.0
		for _, v := range x {
			total = either(after, 0.9, 1)*total + clipped(0, v)
		}
		return []float64{total + rng.NormFloat64()}
	})
}

// permuteAndFlip picks the likeliest of four bins by coins in a random order.
func permuteAndFlip(factor float64) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		var counts [4]float64
		for _, v := range x {
			counts[category([]float64{v})]++
		}
		best := max(counts[0], counts[1], counts[2], counts[3])
		for _, k := range rng.Perm(4) {
			if rng.Float64() < math.Exp(factor*(counts[k]-best)) {
				return []float64{float64(k)}
			}
		}
		return []float64{4}
	})
}

// hashedSample is the sum of half the records, by coins or by their own numbers.
func hashedSample(own bool) answers {
	claim := event(event(accountant.Gaussian(accountant.AddRemove, 1)).PoissonSampled(0.5))
	return onGrid(claim, func(x []float64, rng *rand.Rand) []float64 {
		total := 0.0
		for _, v := range x {
			in := rng.IntN(2) == 0
			if own {
				in = math.Float64bits(v)*0x9e3779b97f4a7c15>>63 == 0
			}
			total += either(in, clipped(0, v), 0)
		}
		return []float64{total + rng.NormFloat64()}
	})
}

// windows are sums of three records in a row.
func windows(scale float64) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		sums := make([]float64, 6)
		for i, v := range x[:min(len(x), 8)] {
			for k := max(0, i-2); k <= min(i, 5); k++ {
				sums[k] += clipped(0, v)
			}
		}
		return noisy(sums, func() float64 { return scale * noiseSD * rng.NormFloat64() })
	})
}

// redrawnCount is a count with noise, which is drawn again so often if it is negative.
func redrawnCount(times int) answers {
	return onGrid(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		count := positives(x)
		told := count + laplace(rng, 1)
		for k := 0; k < times && told < 0; k++ {
			told = count + laplace(rng, 1)
		}
		return []float64{told}
	})
}

// meanNoise is a mean with noise for the number of records, or more.
func meanNoise(more float64) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		n := max(1, float64(len(x)))
		return []float64{clip1(x)/n + noiseSD/(n+more)*rng.NormFloat64()}
	})
}
