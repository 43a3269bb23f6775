package planted

import (
	"math"
	"math/rand/v2"

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
		mechanism("two releases for the price of one", "√2", pair,
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
