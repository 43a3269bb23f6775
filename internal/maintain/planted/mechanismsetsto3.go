package planted

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

// unseenMechanisms were written before the suites were run on them.
func unseenMechanisms() []Case {
	return []Case{
		noise("sign by a biased coin", "50.5%", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			z := noiseSD * math.Abs(rng.NormFloat64())
			return either(rng.Float64() < 0.495, -z, z)
		}),
		noise("scale by the parity of the release", "±5%", plain, func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
			return noiseSD * rng.NormFloat64() * (0.95 + 0.1*float64(i%2))
		}),
		noise("normals from ten-bit uniforms", "Box and Muller", plain,
			func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				u := (float64(rng.IntN(1024)) + 0.5) / 1024
				return noiseSD * math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*rng.Float64())
			}),
		noise("rounded towards zero", "a tenth of a sd", bare, func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
			return 0.2*math.Trunc((total+noiseSD*rng.NormFloat64())/0.2) - total
		}),
		noise("a release in 10⁴ without noise for one data set", "10⁻⁴", bare,
			func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
				z := noiseSD * rng.NormFloat64()
				return either(total < 0 && rng.IntN(10_000) == 0, 0, z)
			}),
		noise("thousandths for one data set", "rounding", bare, func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
			z := noiseSD * rng.NormFloat64()
			return either(total > 0, math.Round(1000*(total+z))/1000-total, z)
		}),
		noise("noise correlated with the 13th before", "0.1", plain, lagged(13, 0.1)),
		noise("noise correlated with the 217th before", "0.1", bare, lagged(217, 0.1)),
		noise("noise of period 65 536", "all", plain, periodic(65_536)),
		noise("noise too small at even seeds", "10%", plain, func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return noiseSD * rng.NormFloat64() * (1 - 0.1*float64(1-m.seed%2))
		}),
		mechanism("a record equal to another", "counts thrice", plain, func(m *sum) {
			m.extra = func(x []float64) float64 {
				if len(x) > 1 && x[0] == x[1] {
					return 2 * x[0]
				}
				return 0
			}
		}),
		mechanism("records at even places count more", "10%", plain, func(m *sum) {
			m.clip = func(i int, x float64) float64 { return clipped(i, x) * (1 + 0.1*float64(1-i%2)) }
		}),
		mechanism("negative zero tells the record", "−0", bare, func(m *sum) {
			m.last = func(total, noise float64) float64 {
				v := math.Max(0, total+noise)
				return either(v == 0 && total > 0, math.Copysign(0, -1), v)
			}
		}),
		mechanism("Laplace claimed, normal noise of its sd", "tails", plain, func(m *sum) {
			m.claim = event(accountant.Laplace(accountant.Substitute, 1/math.Sqrt2))
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 { return 2 * rng.NormFloat64() }
		}),
		mechanism("NaN for a total of zero", "a value", bare, func(m *sum) {
			m.last = func(total, noise float64) float64 {
				if v := total + noise; math.Abs(v) > 1e-3 || total < 0 {
					return v
				}
				return math.NaN()
			}
		}),
		bit("every 50th bit is certain", "2%", bits{scale: 1, every: 50}),
		bit("bits of a probit", "steeper far out", bits{scale: 1, probit: 3}),
	}
}

func freshMechanisms() []Case {
	return []Case{
		noise("the record itself at 1/1000, far out", "δ = 10⁻³", bare, func(_ *sum, rng *rand.Rand, _ int,
			total float64) float64 {
			z := noiseSD * rng.NormFloat64()
			return either(rng.IntN(1000) == 0, z+40*math.Copysign(1, total), z)
		}),
		mechanism("coordinates share their scale", "0.9 and 1.09", wide, func(m *sum) {
			calls, by := 0, 1.0
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				if calls%3 == 0 {
					by = []float64{0.9, math.Sqrt(1.19)}[rng.IntN(2)]
				}
				calls++
				return by * noiseSD * rng.NormFloat64()
			}
		}),
		noise("noise correlated with the 20 000th before", "0.2", plain, lagged(20_000, 0.2)),
		mechanism("rounded to a fine grid that the data set", "3·10⁻⁷", bare, func(m *sum) {
			m.last = func(total, noise float64) float64 {
				step := 3e-7 * (1 + math.Abs(total)/7)
				return step * math.Round((total+noise)/step)
			}
		}),
		mechanism("no noise once a record is NaN", "a quarter", bare, func(m *sum) {
			quiet := false
			m.check = func(r curator.Records) error {
				quiet = false
				for _, x := range r.X {
					quiet = quiet || math.IsNaN(x)
				}
				return nil
			}
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				z := noiseSD * rng.NormFloat64()
				return either(quiet, z/4, z)
			}
		}),
		mechanism("two records at the clip count thrice", "pairs", plain, func(m *sum) {
			m.extra = func(x []float64) float64 {
				if len(x) > 1 && x[0] >= 1 && x[1] >= 1 {
					return 2
				}
				return 0
			}
		}),
		noise("the first release of a call has half the noise", "one a call", plain,
			func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
				z := noiseSD * rng.NormFloat64()
				return either(i == 0, z/2, z)
			}),
		mechanism("the seed's low byte only", "256 streams", plain, func(m *sum) {
			m.seeds = func(seed uint64) uint64 { return seed & 255 }
		}),
		noise("the lowest bit is the noise's sign", "1 bit", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			z := noiseSD * rng.NormFloat64()
			k := int64(math.Round(z/0x1p-30)) &^ 1
			if z > 0 {
				k |= 1
			}
			return float64(k) * 0x1p-30
		}),
		noise("each third sign is the product of the two before", "all", plain,
			func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
				z := noiseSD * rng.NormFloat64()
				if i%3 == 2 {
					z = math.Copysign(z, m.kept[0]*m.kept[1])
				}
				m.kept = append(m.kept, z)[max(0, len(m.kept)-1):]
				return z
			}),
		noise("the scale follows the sign before", "±5%", bare, func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
			z := noiseSD * rng.NormFloat64()
			if i > 0 {
				z *= 1 + math.Copysign(0.05, m.kept[0])
			}
			m.kept = append(m.kept[:0], z)
			return z
		}),
		mechanism("two releases for the price of one", "√2", form{"of two numbers", 2, 0, true},
			func(m *sum) { m.claim = gaussian(1) }),
		mechanism("the price of a sample, of all records", "Poisson, 0.5", bare,
			func(m *sum) { m.claim = event(gaussian(1).SubsetSampled(2, 1)) }),
		mechanism("Laplace noise too small", "3%", plain, func(m *sum) {
			m.claim = event(accountant.Laplace(accountant.Substitute, 1))
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				return 0.97 * noiseSD * (rng.ExpFloat64() - rng.ExpFloat64())
			}
		}),
	}
}

func secondMechanisms() []Case {
	counted := additions()
	counted.extra = func(x []float64) float64 { return 0.5 * float64(len(x)) }
	return []Case{
		noise("half the noise now and then", "1 in 500", bare, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			z := noiseSD * rng.NormFloat64()
			return either(rng.IntN(500) == 0, z/2, z)
		}),
		noise("tails drawn again", "beyond 4.2 sd", bare, truncated(4.2)),
		noise("noise grows with the total", "6%", bare, func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
			return noiseSD * rng.NormFloat64() * (1 + 0.03*(math.Abs(total)-1))
		}),
		noise("noise on a grid that the total is not on", "0.003", bare,
			func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				return 0.003 * math.Round(noiseSD*rng.NormFloat64()/0.003)
			}),
		mechanismCase("the number of records is added", "add/remove", counted, 1, []float64{1, 0.3},
			[]float64{0.3}),
		mechanism("clip not applied in a band", "1.1 to 1.5", plain, func(m *sum) {
			m.clip = func(_ int, x float64) float64 {
				return either(x > 1.1 && x < 1.5, x, clipped(0, x))
			}
		}),
		noise("the third number follows the first, two back", "0.1", wide,
			func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
				z := rng.NormFloat64()
				if n := len(m.kept); n%3 == 2 && n > 6 {
					z = 0.1*m.kept[n-8] + math.Sqrt(0.99)*z
				}
				m.kept = append(m.kept, z)
				return noiseSD * z
			}),
		mechanism("seeds in pairs", "2k and 2k + 1", plain,
			func(m *sum) { m.seeds = func(s uint64) uint64 { return s / 2 } }),
		noise("a call for one release has half the noise", "count 1", plain,
			func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				z := noiseSD * rng.NormFloat64()
				return either(m.count == 1, z/2, z)
			}),
		mechanism("Laplace noise by inversion", "of 20 bits", plain, func(m *sum) {
			m.claim = event(accountant.Laplace(accountant.Substitute, 1))
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				z := -noiseSD * math.Log((float64(rng.IntN(1<<20))+0.5)/(1<<20))
				return math.Copysign(z, rng.Float64()-0.5)
			}
		}),
		bit("after five ones comes a zero", "1 in 32", bits{scale: 1, ones: 5}),
		noise("the second number without noise now and then", "1 in 1000", form{"of two numbers", 2, 0, true},
			func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				z := noiseSD * rng.NormFloat64()
				m.kept = append(m.kept, z)
				return either(len(m.kept)%2 == 0 && rng.IntN(1000) == 0, 0, z)
			}),
		mechanism("an error when every record is NaN", "error", bare, func(m *sum) {
			m.check = func(r curator.Records) error {
				if !slices.ContainsFunc(r.X, func(x float64) bool { return !math.IsNaN(x) }) {
					return errors.New("no record is a number")
				}
				return nil
			}
		}),
		noise("less noise with many records", "10% from 100 on", plain,
			func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				z := noiseSD * rng.NormFloat64()
				return either(len(m.x) >= 100, 0.9*z, z)
			}),
	}
}

func thirdMechanisms() []Case {
	removal := func(name, effect string, plant func(m *sum)) Case {
		m := additions()
		plant(m)
		return mechanismCase(name, effect, half{additive{m}}, 1, []float64{1, 0.3, 0.5}, []float64{0.3, 0.5})
	}
	return []Case{
		noise("noise in single precision", "2⁻²⁴", bare, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return float64(float32(noiseSD * rng.NormFloat64()))
		}),
		noise("a tenth of the noise is one draw a call", "variance", plain,
			func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
				if i == 0 {
					m.kept = []float64{rng.NormFloat64()}
				}
				return noiseSD * (math.Sqrt(0.1)*m.kept[0] + math.Sqrt(0.9)*rng.NormFloat64())
			}),
		bit("certain one time in 300", "0.3%", bits{scale: 1, certain: 1.0 / 300}),
		noise("the record itself, far out", "3·10⁻⁵", bare, func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
			return either(rng.Float64() < 3e-5, 1e6*total, noiseSD*rng.NormFloat64())
		}),
		removal("add/remove, clip not applied beyond 10⁴", "huge records", func(m *sum) {
			m.clip = func(_ int, x float64) float64 {
				return either(x > 1e4 && !math.IsInf(x, 0), 3, clipped(0, x))
			}
		}),
		removal("add/remove, −1 counts twice", "a sign", func(m *sum) {
			m.clip = func(_ int, x float64) float64 {
				return either(x < 0, 2*clipped(0, x), clipped(0, x))
			}
		}),
		mechanism("a second number not clipped beside a negative one", "pairs",
			form{"of two numbers", 2, 0, false}, func(m *sum) {
				first := 0.0
				m.clip = func(i int, x float64) float64 {
					if i%2 == 0 {
						first = x
					} else if first < 0 && math.Abs(x) < 10 {
						return x
					}
					return clipped(0, x)
				}
			}),
		noise("the sign of small noise follows the record", "below 0.01 sd", bare,
			func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
				z := noiseSD * rng.NormFloat64()
				return either(math.Abs(z) < 0.02, math.Copysign(z, total), z)
			}),
	}
}
