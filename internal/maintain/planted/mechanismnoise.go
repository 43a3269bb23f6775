package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

func noiseDefects() []Case {
	add := func(name, effect string, f form, noise func(m *sum, rng *rand.Rand, i int, total float64) float64) Case {
		return mechanism(name, effect, f, func(m *sum) { m.noise = noise })
	}
	scaled := func(by float64) func(m *sum, rng *rand.Rand, i int, total float64) float64 {
		return func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 { return by * noiseSD * rng.NormFloat64() }
	}
	mixed := func(p float64, other func(rng *rand.Rand, total float64) float64) func(m *sum, rng *rand.Rand, i int,
		total float64) float64 {
		return func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
			z := noiseSD * rng.NormFloat64()
			if rng.Float64() < p {
				return other(rng, total)
			}
			return z
		}
	}
	zero := func(*rand.Rand, float64) float64 { return 0 }
	return []Case{
		add("noise too small", "10%", plain, scaled(0.9)),
		add("noise too small", "3%", plain, scaled(0.97)),
		add("noise too small", "1%", grid, scaled(0.99)),
		add("noise too small", "1%", wide, scaled(0.99)),
		add("noise too small", "10%", bare, scaled(0.9)),
		add("noise too small", "5%", bare, scaled(0.95)),
		add("an atom at 0", "1%", plain, mixed(0.01, zero)),
		add("an atom at 0", "0.1%", grid, mixed(0.001, zero)),
		add("an atom at 0", "1%", bare, mixed(0.01, zero)),
		add("an atom at 0", "0.1%", bare, mixed(0.001, zero)),
		add("an atom at 1.5 sd", "0.5%", plain, mixed(0.005, func(*rand.Rand, float64) float64 { return 3 })),
		add("Laplace noise of the same sd", "shape", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return noiseSD / math.Sqrt2 * (rng.ExpFloat64() - rng.ExpFloat64())
		}),
		add("uniform noise of the same sd", "shape", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return noiseSD * math.Sqrt(12) * (rng.Float64() - 0.5)
		}),
		add("sum of twelve uniforms", "tails", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			s := -6.0
			for range 12 {
				s += rng.Float64()
			}
			return noiseSD * s
		}),
		add("tails cut off", "at 3 sd", plain, truncated(3)),
		add("tails cut off", "at 4 sd", wide, truncated(4)),
		add("one tail folded", "beyond 3 sd", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			z := rng.NormFloat64()
			if z > 3 {
				z = -z
			}
			return noiseSD * z
		}),
		add("a hole in the body", "width 0.05 sd", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			for {
				if z := rng.NormFloat64(); math.Abs(z-0.5) > 0.025 {
					return noiseSD * z
				}
			}
		}),
		add("a mixture of two sds", "0.8 and 1.17", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return []float64{0.8, 1.166}[rng.IntN(2)] * noiseSD * rng.NormFloat64()
		}),
		add("noise on a coarser grid", "×2", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return 0x1p-29 * math.Round(noiseSD*rng.NormFloat64()/0x1p-29)
		}),
		add("noise on a much coarser grid", "×4096", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return 0x1p-18 * math.Round(noiseSD*rng.NormFloat64()/0x1p-18)
		}),
		add("bit 3 of the noise stuck", "half", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			k := int64(math.Round(noiseSD * rng.NormFloat64() / 0x1p-30))
			if rng.IntN(2) == 0 {
				k &^= 8
			}
			return float64(k) * 0x1p-30
		}),
	}
}

func dependenceDefects() []Case {
	add := func(name, effect string, f form, noise func(m *sum, rng *rand.Rand, i int, total float64) float64) Case {
		return mechanism(name, effect, f, func(m *sum) { m.noise = noise })
	}
	again := func(every int) func(m *sum, rng *rand.Rand, i int, total float64) float64 {
		return func(m *sum, rng *rand.Rand, i int, total float64) float64 {
			z := noiseSD * rng.NormFloat64()
			if len(m.kept) == 0 {
				m.kept = []float64{z}
			}
			if i%every == every-1 {
				z = m.kept[0]
			}
			m.kept[0] = z
			return z
		}
	}
	return []Case{
		add("noise repeated every second release", "half", plain, again(2)),
		add("noise repeated every 100th release", "1%", plain, again(100)),
		add("noise repeated every 100th release", "1%", bare, again(100)),
		add("noise of period 4096", "all", grid, periodic(4096)),
		add("noise correlated with the last", "0.1", plain, lagged(1, 0.1)),
		add("noise correlated with the last", "0.03", bare, lagged(1, 0.03)),
		add("antithetic pairs", "−1", plain, func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
			z := noiseSD * rng.NormFloat64()
			if i%2 == 1 {
				return -m.kept[0]
			}
			m.kept = []float64{z}
			return z
		}),
		add("antithetic pairs from the second release on", "−1", plain, func(m *sum, rng *rand.Rand, i int,
			_ float64) float64 {
			z := noiseSD * rng.NormFloat64()
			if i%2 == 0 && i > 0 {
				return -m.kept[0]
			}
			m.kept = []float64{z}
			return z
		}),
		add("noise shrinks late", "5% in the last fifth", bare, func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
			z := noiseSD * rng.NormFloat64()
			z *= either(i > 32_000, 0.9, 1)
			return z
		}),
		add("coordinates share noise", "correlation 0.05", wide, func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
			z := rng.NormFloat64()
			if len(m.kept) == 0 {
				m.kept = []float64{z}
			}
			v := math.Sqrt(1-0.0025)*z + 0.05*m.kept[0]
			m.kept[0] = z
			return noiseSD * v
		}),
		mechanism("the seed is ignored", "all", plain, func(m *sum) {
			m.seeds = func(uint64) uint64 { return 1 }
		}),
		mechanism("randomness of its own", "10⁻⁹", plain, func(m *sum) {
			m.last = func(total, noise float64) float64 { return total + noise + 1e-9*rand.Float64() }
		}),
	}
}

// truncated is noise without what lies beyond so many standard deviations, periodic comes again,
// and lagged is correlated with that so many draws before.
func truncated(at float64) func(m *sum, rng *rand.Rand, i int, total float64) float64 {
	return func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		for {
			if z := rng.NormFloat64(); math.Abs(z) < at {
				return noiseSD * z
			}
		}
	}
}

func periodic(n int) func(m *sum, rng *rand.Rand, i int, total float64) float64 {
	return func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
		if len(m.kept) < n {
			m.kept = append(m.kept, noiseSD*rng.NormFloat64())
		}
		return m.kept[i%n]
	}
}

func lagged(lag int, rho float64) func(m *sum, rng *rand.Rand, i int, total float64) float64 {
	return func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
		z := rng.NormFloat64()
		if n := len(m.kept); n >= lag {
			z = rho*m.kept[n-lag] + math.Sqrt(1-rho*rho)*z
		}
		m.kept = append(m.kept, z)
		return noiseSD * z
	}
}

// centred takes their mean from the noises of a call.
func centred(m *sum, rng *rand.Rand, i int, _ float64) float64 {
	if i == 0 {
		mean := 0.0
		for range m.count {
			m.kept = append(m.kept, noiseSD*rng.NormFloat64())
			mean += m.kept[len(m.kept)-1] / float64(m.count)
		}
		for j := range m.kept {
			m.kept[j] -= mean
		}
	}
	return m.kept[i]
}

// inverted is Laplace noise by the inverse of its distribution function, of a uniform number.
func inverted(uniform func(rng *rand.Rand) float64) proptest.Mechanism {
	return shared{answers{claim: event(accountant.Laplace(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			u := uniform(rng) - 0.5
			return []float64{clip1(x) - 2*math.Copysign(math.Log1p(-2*math.Abs(u)), u)}
		})}, 2}
}
