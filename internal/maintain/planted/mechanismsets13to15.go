package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
)

func thirteenthMechanisms() []Case {
	return []Case{
		ofFive("three counts that cost ε 0.5 each", "ε 1.5 for 1", searched(2)),
		one("a sample is drawn once for all releases of a call", "one sample", batches(func(x []float64,
			rng *rand.Rand) func() []float64 {
			in := make([]bool, len(x))
			for i := range in {
				in[i] = rng.IntN(2) == 0
			}
			return func() []float64 {
				return []float64{batched(x, func(i int) bool { return in[i] }) + rng.NormFloat64()}
			}
		}), []float64{1, -1, -1, -1}, []float64{-1, -1, -1}),
		one("a threshold as if it cost nothing", "δ 0.003 at 6", stable(6, event(accountant.Pure(accountant.AddRemove, 1))),
			[]float64{1, -1}, []float64{-1}),
		ofFive("noise drawn again until the release is plausible", "ε 1.17 for 1", within(func(draw func() float64) float64 {
			v := draw()
			for tries := 0; math.Abs(v) > 3 && tries < 20; tries++ {
				v = draw()
			}
			return v
		})),
		mechanism("negative records are clipped later", "at −1.06", bare, func(m *sum) {
			m.clip = func(_ int, x float64) float64 { return either(math.IsNaN(x), 0, max(-1.06, min(x, 1))) }
		}),
		noise("each call has a scale of its own", "±6%", plain, func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
			if i == 0 {
				m.kept = []float64{0.94 + 0.12*rng.Float64()}
			}
			return m.kept[0] * noiseSD * rng.NormFloat64()
		}),
		mechanism("a buffer of the noise ends one too early", "1 in 64", wide, func(m *sum) {
			n := 0
			m.noise = func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				if m.kept == nil {
					m.kept, n = []float64{0}, 0
				}
				if n++; n%64 == 0 {
					return m.kept[0]
				}
				m.kept[0] = noiseSD * rng.NormFloat64()
				return m.kept[0]
			}
		}),
	}
}

func thirteenthMechanismControls() []Case {
	return []Case{
		ofFive("three counts", "", searched(3)),
		one("a stable count", "", stable(15, event(accountant.Approximate(accountant.AddRemove, 1, 1e-6))),
			[]float64{1, -1}, []float64{-1}),
		ofFive("a release cut off at what is plausible", "", within(func(draw func() float64) float64 {
			return max(-3, min(draw(), 3))
		})),
	}
}

func fourteenthMechanisms() []Case {
	lies := func(p float64) answers {
		return releases(pure(math.Log(3)),
			func(x []float64, rng *rand.Rand) []float64 {
				out := make([]float64, len(x))
				for i, v := range x {
					out[i] = either(v > 0 != (rng.Float64() < p), 1, 0)
				}
				return out
			})
	}
	return []Case{
		noise("noise of twelve uniform numbers", "kurtosis 2.9", plain, twelve),
		noise("noise smaller for totals below 0", "3%", bare, func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
			return either(total < 0, 0.97, 1) * noiseSD * rng.NormFloat64()
		}),
		ofFive("answers lie too seldom", "23.5% for 25%", lies(0.235)),
		one("a mean is divided by the number of records", "n", releases(event(accountant.Pure(accountant.AddRemove, 1)),
			func(x []float64, rng *rand.Rand) []float64 {
				return []float64{(clip1(x) + laplace(rng, 1)) / float64(max(1, len(x)))}
			}), five, five[1:]),
	}
}

func fifteenthMechanisms() []Case {
	eight := []float64{1, -1, -1, -1, 0.5, 0.2, -0.3, -1}
	before, size, end := 0.0, 0.0, 0.0
	return []Case{
		noise("noise is stretched between 1 and 1.1 sd", "5%", bare, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			z := rng.NormFloat64()
			return noiseSD * z * either(math.Abs(z) > 1 && math.Abs(z) < 1.1, 1.05, 1)
		}),
		one("only bins that are not empty are released", "length", releases(pure(1),
			func(x []float64, rng *rand.Rand) []float64 {
				var out []float64
				for _, c := range histogram(x) {
					if v := c + laplace(rng, 2); c > 0 {
						out = append(out, v)
					}
				}
				return out
			}), []float64{0, 1, 1, 2, 2}, []float64{1, 1, 1, 2, 2}),
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
		ofFive("a median among the records themselves", "values", central(false)),
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
		one("noise that is taken off again, priced as independent", "13%", banded(1), five[:4], otherFive[:4]),
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
	length := 0
	return []Case{
		ofFive("a median's place on a grid", "", central(true)),
		one("scores of counts", "", chosen(func(count [3]float64, k int) float64 { return count[k] / 2 }),
			[]float64{0, 1, 2, 0}, []float64{1, 1, 2, 0}),
		one("noise that is taken off again", "", banded(1/math.Sqrt(1+0.25+0.0625+0.015625)), five[:4], otherFive[:4]),
		mechanismCase("squares and products", "", products(math.Sqrt2), 2, []float64{1, 0, 0.3, 0.2},
			[]float64{0, 1, 0.3, 0.2}),
		mechanismCase("products of clipped numbers", "", crossed(func(y float64) float64 { return clipped(0, y) }), 2,
			[]float64{1, 1, 0.3, 0.2}, []float64{-1, 1, 0.3, 0.2}),
		mechanism("releases are cut off", "", bare, func(m *sum) {
			m.last = func(total, noise float64) float64 { return max(-5, min(total+noise, 5)) }
		}),
		noise("a stream for each length of a call", "", bare, func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
			for length = m.count % 3; i == 0 && length > 0; length-- {
				rng.NormFloat64()
			}
			return noiseSD * rng.NormFloat64()
		}),
	}
}
