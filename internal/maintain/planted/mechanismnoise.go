package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

func noiseDefects() []Case {
	mixed := func(p float64, other func(rng *rand.Rand, total float64) float64) noises {
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
		noise("noise too small", "10%", plain, sized(0.9)),
		noise("noise too small", "3%", plain, sized(0.97)),
		noise("noise too small", "1%", grid, sized(0.99)),
		noise("noise too small", "1%", wide, sized(0.99)),
		noise("noise too small", "10%", bare, sized(0.9)),
		noise("noise too small", "5%", bare, sized(0.95)),
		noise("an atom at 0", "1%", plain, mixed(0.01, zero)),
		noise("an atom at 0", "0.1%", grid, mixed(0.001, zero)),
		noise("an atom at 0", "1%", bare, mixed(0.01, zero)),
		noise("an atom at 0", "0.1%", bare, mixed(0.001, zero)),
		noise("an atom at 1.5 sd", "0.5%", plain, mixed(0.005, func(*rand.Rand, float64) float64 { return 3 })),
		noise("Laplace noise of the same sd", "shape", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return noiseSD / math.Sqrt2 * (rng.ExpFloat64() - rng.ExpFloat64())
		}),
		noise("uniform noise of the same sd", "shape", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return noiseSD * math.Sqrt(12) * (rng.Float64() - 0.5)
		}),
		noise("sum of twelve uniforms", "tails", plain, twelve),
		noise("tails cut off", "at 3 sd", plain, truncated(3)),
		noise("tails cut off", "at 4 sd", wide, truncated(4)),
		noise("one tail folded", "beyond 3 sd", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			z := rng.NormFloat64()
			if z > 3 {
				z = -z
			}
			return noiseSD * z
		}),
		noise("a hole in the body", "width 0.05 sd", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			for {
				if z := rng.NormFloat64(); math.Abs(z-0.5) > 0.025 {
					return noiseSD * z
				}
			}
		}),
		noise("a mixture of two sds", "0.8 and 1.17", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return []float64{0.8, 1.166}[rng.IntN(2)] * noiseSD * rng.NormFloat64()
		}),
		noise("noise on a coarser grid", "×2", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return 0x1p-29 * math.Round(noiseSD*rng.NormFloat64()/0x1p-29)
		}),
		noise("noise on a much coarser grid", "×4096", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return 0x1p-18 * math.Round(noiseSD*rng.NormFloat64()/0x1p-18)
		}),
		noise("bit 3 of the noise stuck", "half", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			k := int64(math.Round(noiseSD * rng.NormFloat64() / 0x1p-30))
			if rng.IntN(2) == 0 {
				k &^= 8
			}
			return float64(k) * 0x1p-30
		}),
	}
}

func dependenceDefects() []Case {
	again := func(every int) noises {
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
		noise("noise repeated every second release", "half", plain, again(2)),
		noise("noise repeated every 100th release", "1%", plain, again(100)),
		noise("noise repeated every 100th release", "1%", bare, again(100)),
		noise("noise of period 4096", "all", grid, periodic(4096)),
		noise("noise correlated with the last", "0.1", plain, lagged(1, 0.1)),
		noise("noise correlated with the last", "0.03", bare, lagged(1, 0.03)),
		noise("antithetic pairs", "−1", plain, func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
			z := noiseSD * rng.NormFloat64()
			if i%2 == 1 {
				return -m.kept[0]
			}
			m.kept = []float64{z}
			return z
		}),
		noise("antithetic pairs from the second release on", "−1", plain, func(m *sum, rng *rand.Rand, i int,
			_ float64) float64 {
			z := noiseSD * rng.NormFloat64()
			if i%2 == 0 && i > 0 {
				return -m.kept[0]
			}
			m.kept = []float64{z}
			return z
		}),
		noise("noise shrinks late", "5% in the last fifth", bare, func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
			z := noiseSD * rng.NormFloat64()
			z *= either(i > 32_000, 0.9, 1)
			return z
		}),
		noise("coordinates share noise", "correlation 0.05", wide, func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
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

// sized is noise of another size, of all numbers or of one in three, and twelve is that of uniform numbers.
func sized(by float64) noises {
	return func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 { return by * noiseSD * rng.NormFloat64() }
}

func oneInThree(which int, by float64) func(m *sum) {
	return func(m *sum) {
		at := 0
		m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			at++
			return noiseSD * either(at%3 == which, by, 1) * rng.NormFloat64()
		}
	}
}

func twelve(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
	z := -6.0
	for range 12 {
		z += rng.Float64()
	}
	return noiseSD * z
}

// truncated is noise without what lies beyond so many standard deviations, periodic comes again,
// and lagged is correlated with that so many draws before.
func truncated(at float64) noises {
	return func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		for {
			if z := rng.NormFloat64(); math.Abs(z) < at {
				return noiseSD * z
			}
		}
	}
}

func periodic(n int) noises {
	return func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
		if len(m.kept) < n {
			m.kept = append(m.kept, noiseSD*rng.NormFloat64())
		}
		return m.kept[i%n]
	}
}

func lagged(lag int, rho float64) noises {
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
	return shared{releases(event(accountant.Laplace(accountant.Substitute, 1)),
		func(x []float64, rng *rand.Rand) []float64 {
			u := uniform(rng) - 0.5
			return []float64{clip1(x) - 2*math.Copysign(math.Log1p(-2*math.Abs(u)), u)}
		}), 2}
}
