package planted

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

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
		noise("the second number without noise now and then", "1 in 1000", pair,
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
