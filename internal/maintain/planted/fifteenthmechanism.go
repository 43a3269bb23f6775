package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// chosen is a selection of a bin with probability in proportion to an exponential of its score.
func chosen(score func(count [3]float64, k int) float64) answers {
	return answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			best, most, count := 0, math.Inf(-1), histogram(x)
			for k := range count {
				if v := score(count, k) - math.Log(rng.ExpFloat64()); v > most {
					best, most = k, v
				}
			}
			return []float64{float64(best)}
		})}
}

// central is a record near the middle in order, or the place of one on a grid.
func central(grid bool) answers {
	return answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			sorted := make([]float64, len(x))
			for i, v := range x {
				sorted[i] = clipped(i, v)
			}
			slices.Sort(sorted)
			places := sorted
			if grid {
				places = []float64{-1, -0.6, -0.2, 0.2, 0.6, 1}
			}
			best, most := 0.0, math.Inf(-1)
			for _, p := range places {
				below := 0.0
				for _, v := range sorted {
					below += either(v < p, 1, 0)
				}
				if v := -math.Abs(below-float64(len(x))/2)/2 - math.Log(rng.ExpFloat64()); v > most {
					best, most = p, v
				}
			}
			return []float64{best}
		})}
}

// banded adds noise of which half is taken off again at the next of four steps.
func banded(multiplier float64) answers {
	return answers{claim: gaussian(multiplier), begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		out, before := make([]float64, 4), 0.0
		for i := range out {
			z := noiseSD * rng.NormFloat64()
			if out[i] = z - before/2; i < len(x) {
				out[i] += clipped(i, x[i])
			}
			before = z
		}
		return out
	})}
}

// products is the sum of squares and products of rows of two numbers, each row at most of length 1.
func products(sensitivity float64) answers {
	return answers{claim: gaussian(noiseSD / sensitivity), begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		sum := make([]float64, 3)
		for ; len(x) > 0; x = x[2:] {
			row := shorten(x[:2], euclidean)
			sum[0], sum[1], sum[2] = sum[0]+row[0]*row[0], sum[1]+math.Sqrt2*row[0]*row[1], sum[2]+row[1]*row[1]
		}
		return each2(rng, sum)
	})}
}

// crossed is the sum of products of two numbers, the second clipped or not.
func crossed(clip func(y float64) float64) answers {
	return answers{claim: gaussian(1), begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		total := noiseSD * rng.NormFloat64()
		for ; len(x) > 0; x = x[2:] {
			if v := clipped(0, x[0]) * clip(x[1]); !math.IsNaN(v) {
				total += v
			}
		}
		return []float64{total}
	})}
}

// bestOf is the largest of so many noisy sums, for the price of one.
func bestOf(tries int) answers {
	return answers{claim: gaussian(1), begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		most, total := math.Inf(-1), clip1(x)
		for range tries {
			most = max(most, total+noiseSD*rng.NormFloat64())
		}
		return []float64{most}
	})}
}

func fifteenthMechanisms() []Case {
	noise := func(name, effect string, f form, draw func(m *sum, rng *rand.Rand, i int, total float64) float64) Case {
		return mechanism(name, effect, f, func(m *sum) { m.noise = draw })
	}
	five, other := []float64{1, 0.3, -0.2, 0.5, -1}, []float64{-1, 0.3, -0.2, 0.5, -1}
	eight := []float64{1, -1, -1, -1, 0.5, 0.2, -0.3, -1}
	before, size, end := 0.0, 0.0, 0.0
	return []Case{
		noise("noise is stretched between 1 and 1.1 sd", "5%", bare, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			z := rng.NormFloat64()
			return noiseSD * z * either(math.Abs(z) > 1 && math.Abs(z) < 1.1, 1.05, 1)
		}),
		one("only bins that are not empty are released", "length", answers{
			claim: event(accountant.Pure(accountant.Substitute, 1)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				var out []float64
				for _, c := range histogram(x) {
					if v := c + laplace(rng, 2); c > 0 {
						out = append(out, v)
					}
				}
				return out
			})}, []float64{0, 1, 1, 2, 2}, []float64{1, 1, 1, 2, 2}),
		mechanismCase("a norm without the last number", "the third", gradients(func(row []float64) float64 {
			return euclidean(row[:2])
		}, each2), 3, []float64{0.6, 0.6, 0.5}, []float64{-0.6, -0.6, -0.5}),
		one("a sample's rate by the number of records", "4 of n", batches(eachRelease(func(x []float64,
			rng *rand.Rand) []float64 {
			return []float64{batched(x, func(int) bool { return rng.Float64() < 4/float64(len(x)) }) + rng.NormFloat64()}
		})), eight, eight[1:]),
		noise("noise is larger after large noise", "±5%", bare, func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
			z := rng.NormFloat64() * either(i > 0, either(math.Abs(before) > 0.6745, 1.05, 0.95), 1)
			before = z
			return noiseSD * z
		}),
		ofTen("two of ten noises have one size now and then", "1 in 20", func(z []float64) {
			if int(1e6*math.Abs(z[0]))%20 == 0 {
				z[8] = math.Copysign(z[3], z[8])
			}
		}),
		noise("noise in stairs", "a fifth of its sd", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return noiseSD * 0.2 * (math.Round(rng.NormFloat64()/0.2) + rng.Float64() - 0.5)
		}),
		one("a median among the records themselves", "values", central(false), five, other),
		one("scores divided by the best one", "for all", chosen(func(count [3]float64, k int) float64 {
			return 3 * count[k] / max(1, count[0], count[1], count[2])
		}), []float64{0, 1, 2, 0}, []float64{1, 1, 2, 0}),
		mechanism("records from the 256th on are clipped later", "at 1.2", plain, func(m *sum) {
			m.clip = func(i int, x float64) float64 {
				most := either(i >= 256, 1.2, 1)
				return either(math.IsNaN(x), 0, max(-most, min(x, most)))
			}
		}),
		noise("noise by the largest clipped record", "½ to 1", bare, func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
			most := 0.5
			for _, x := range m.x {
				most = max(most, math.Abs(clipped(0, x)))
			}
			return noiseSD * most * rng.NormFloat64()
		}),
		one("noise that is taken off again, priced as independent", "13%", banded(1), five[:4], other[:4]),
		one("the best of three noisy sums for the price of one", "3 for 1", bestOf(3), plus, minus),
		noise("each size of noise comes twice, with a new sign", "pairs", bare,
			func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
				if z := rng.NormFloat64(); i%2 == 0 {
					size = z
				} else {
					return noiseSD * math.Copysign(size, z)
				}
				return noiseSD * size
			}),
		noise("Student's noise of the same sd", "50 degrees", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			chi := 0.0
			for range 25 {
				chi += 2 * rng.ExpFloat64()
			}
			return noiseSD * math.Sqrt(0.96) * rng.NormFloat64() / math.Sqrt(chi/50)
		}),
		noise("noise a little skew", "0.02", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			z := rng.NormFloat64()
			return noiseSD * (z + 0.02*(z*z-1)) / math.Sqrt(1.0008)
		}),
		mechanismCase("products of a number that is not clipped", "the second", crossed(func(y float64) float64 {
			return either(math.IsInf(y, 0), 0, y)
		}), 2, []float64{1, 1, 0.3, 0.2}, []float64{-1, 1, 0.3, 0.2}),
		mechanismCase("squares and products priced as if they came and went", "√2", products(1), 2,
			[]float64{1, 0, 0.3, 0.2}, []float64{0, 1, 0.3, 0.2}),
		noise("a call begins with some of the last one's noise", "0.3", bare,
			func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
				z := rng.NormFloat64()
				if i == 0 {
					z = 0.3*end + math.Sqrt(0.91)*z
				}
				if i == m.count-1 {
					end = z
				}
				return noiseSD * z
			}),
	}
}

func fifteenthMechanismControls() []Case {
	five, other := []float64{1, 0.3, -0.2, 0.5, -1}, []float64{-1, 0.3, -0.2, 0.5, -1}
	length := 0
	return []Case{
		one("a median's place on a grid", "", central(true), five, other),
		one("scores of counts", "", chosen(func(count [3]float64, k int) float64 { return count[k] / 2 }),
			[]float64{0, 1, 2, 0}, []float64{1, 1, 2, 0}),
		one("noise that is taken off again", "", banded(1/math.Sqrt(1+0.25+0.0625+0.015625)), five[:4], other[:4]),
		mechanismCase("squares and products", "", products(math.Sqrt2), 2, []float64{1, 0, 0.3, 0.2},
			[]float64{0, 1, 0.3, 0.2}),
		mechanismCase("products of clipped numbers", "", crossed(func(y float64) float64 { return clipped(0, y) }), 2,
			[]float64{1, 1, 0.3, 0.2}, []float64{-1, 1, 0.3, 0.2}),
		mechanism("releases are cut off", "", bare, func(m *sum) {
			m.last = func(total, noise float64) float64 { return max(-5, min(total+noise, 5)) }
		}),
		mechanism("a stream for each length of a call", "", bare, func(m *sum) {
			m.noise = func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
				for length = m.count % 3; i == 0 && length > 0; length-- {
					rng.NormFloat64()
				}
				return noiseSD * rng.NormFloat64()
			}
		}),
	}
}
