package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// unseenMechanisms were written before the suites were run on them.
func unseenMechanisms() (all []Case) {
	add := func(name, effect string, f form, plant func(m *sum)) {
		all = append(all, mechanism(name, effect, f, plant))
	}
	noise := func(name, effect string, f form, draw func(rng *rand.Rand, i int, total float64) float64) {
		add(name, effect, f, func(m *sum) {
			m.noise = func(_ *sum, rng *rand.Rand, i int, total float64) float64 { return draw(rng, i, total) }
		})
	}
	noise("sign by a biased coin", "50.5%", plain, func(rng *rand.Rand, _ int, _ float64) float64 {
		z := noiseSD * math.Abs(rng.NormFloat64())
		return either(rng.Float64() < 0.495, -z, z)
	})
	noise("scale by the parity of the release", "±5%", plain, func(rng *rand.Rand, i int, _ float64) float64 {
		return noiseSD * rng.NormFloat64() * (0.95 + 0.1*float64(i%2))
	})
	noise("normals from ten-bit uniforms", "Box and Muller", plain, func(rng *rand.Rand, _ int, _ float64) float64 {
		u := (float64(rng.IntN(1024)) + 0.5) / 1024
		return noiseSD * math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*rng.Float64())
	})
	noise("rounded towards zero", "a tenth of a sd", bare, func(rng *rand.Rand, _ int, total float64) float64 {
		return 0.2*math.Trunc((total+noiseSD*rng.NormFloat64())/0.2) - total
	})
	noise("a release in 10⁴ without noise for one data set", "10⁻⁴", bare,
		func(rng *rand.Rand, _ int, total float64) float64 {
			z := noiseSD * rng.NormFloat64()
			return either(total < 0 && rng.IntN(10_000) == 0, 0, z)
		})
	noise("thousandths for one data set", "rounding", bare, func(rng *rand.Rand, _ int, total float64) float64 {
		z := noiseSD * rng.NormFloat64()
		return either(total > 0, math.Round(1000*(total+z))/1000-total, z)
	})
	add("noise correlated with the 13th before", "0.1", plain, func(m *sum) { m.noise = lagged(13, 0.1) })
	add("noise correlated with the 217th before", "0.1", bare, func(m *sum) { m.noise = lagged(217, 0.1) })
	add("noise of period 65 536", "all", plain, func(m *sum) { m.noise = periodic(65_536) })
	add("noise too small at even seeds", "10%", plain, func(m *sum) {
		m.noise = func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return noiseSD * rng.NormFloat64() * (1 - 0.1*float64(1-m.seed%2))
		}
	})
	add("a record equal to another", "counts thrice", plain, func(m *sum) {
		m.extra = func(x []float64) float64 {
			if len(x) > 1 && x[0] == x[1] {
				return 2 * x[0]
			}
			return 0
		}
	})
	add("records at even places count more", "10%", plain, func(m *sum) {
		m.clip = func(i int, x float64) float64 { return clipped(i, x) * (1 + 0.1*float64(1-i%2)) }
	})
	add("negative zero tells the record", "−0", bare, func(m *sum) {
		m.last = func(total, noise float64) float64 {
			v := math.Max(0, total+noise)
			return either(v == 0 && total > 0, math.Copysign(0, -1), v)
		}
	})
	add("Laplace claimed, normal noise of its sd", "tails", plain, func(m *sum) {
		m.claim = event(accountant.Laplace(accountant.Substitute, 1/math.Sqrt2))
		m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 { return 2 * rng.NormFloat64() }
	})
	add("NaN for a total of zero", "a value", bare, func(m *sum) {
		m.last = func(total, noise float64) float64 {
			if v := total + noise; math.Abs(v) > 1e-3 || total < 0 {
				return v
			}
			return math.NaN()
		}
	})
	return append(all, bit("every 50th bit is certain", "2%", bits{scale: 1, every: 50}),
		bit("bits of a probit", "steeper far out", bits{scale: 1, probit: 3}))
}
