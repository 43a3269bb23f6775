package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// tree releases two records and their sum, from noise of the leaves and of the root.
func tree(reuses bool) answers {
	return answers{claim: gaussian(1 / math.Sqrt2),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			var half [2]float64
			for i, v := range x {
				half[i%2] += clipped(i, v)
			}
			z, w, root := noiseSD*rng.NormFloat64(), noiseSD*rng.NormFloat64(), noiseSD*rng.NormFloat64()
			if reuses {
				root = z
			}
			return []float64{half[0] + z, half[1] + w, half[0] + half[1] + root}
		})}
}

// noisiestTwo are the fullest bins, of noise that pays for one answer or for both.
func noisiestTwo(scale float64) answers {
	return answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			best, count := [2]int{}, histogram(x)
			most := [2]float64{math.Inf(-1), math.Inf(-1)}
			for k, c := range count {
				switch v := c + laplace(rng, scale); {
				case v > most[0]:
					best, most = [2]int{k, best[0]}, [2]float64{v, most[0]}
				case v > most[1]:
					best[1], most[1] = k, v
				}
			}
			return []float64{float64(best[0]), float64(best[1])}
		})}
}

func ninthMechanisms() []Case {
	noise := func(name, effect string, f form, draw func(m *sum, rng *rand.Rand, i int, total float64) float64) Case {
		return mechanism(name, effect, f, func(m *sum) { m.noise = draw })
	}
	return []Case{
		noise("Box and Muller's radius from twelve bits", "4096 values", plain,
			func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				u := (float64(rng.IntN(4096)) + 0.5) / 4096
				return noiseSD * math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*rng.Float64())
			}),
		mechanism("the sum is rounded before the noise", "to 0.3", plain, func(m *sum) {
			m.extra = func(x []float64) float64 {
				total := clip1(x)
				return 0.3*math.Round(total/0.3) - total
			}
		}),
		one("the two fullest bins for the price of one", "ε 1.67", noisiestTwo(1.2), []float64{0, 1, 1, 1},
			[]float64{1, 1, 1, 1}),
		mechanismCase("noise of a leaf is that of the root", "shared", tree(true), 1, []float64{1, 0.3},
			[]float64{-1, 0.3}),
		one("tries until the noisy sum is positive", "up to three, priced as one", answers{claim: gaussian(1),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				tries, total := 0, clip1(x)
				for tries < 3 && total+noiseSD*rng.NormFloat64() < 0 {
					tries++
				}
				return []float64{float64(tries)}
			})}, plus, minus),
		mechanism("clip by the records' mean size", "5% wider beyond 0.6", bare, func(m *sum) {
			m.extra = func(x []float64) float64 {
				size, extra := 0.0, 0.0
				for i, v := range x {
					size += math.Abs(clipped(i, v)) / float64(len(x))
					extra += max(-1.05, min(either(math.IsNaN(v), 0, v), 1.05)) - clipped(i, v)
				}
				return either(size > 0.6, extra, 0)
			}
		}),
		noise("a quarter of the noise now and then", "1 in 200", bare,
			func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				return noiseSD * either(rng.IntN(200) == 0, 0.25, 1) * rng.NormFloat64()
			}),
		mechanism("the second noise is too small", "4%", form{"of three numbers, not additive", 3, 0, true},
			func(m *sum) {
				at := 0
				m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
					at++
					return noiseSD * either(at%3 == 2, 0.96, 1) * rng.NormFloat64()
				}
			}),
		mechanism("records beyond 50 are clipped later", "at 1.04", bare, func(m *sum) {
			m.clip = func(i int, x float64) float64 { return clipped(i, x) * either(math.Abs(x) > 50, 1.04, 1) }
		}),
		mechanism("the sum overflows sixteen bits", "at 128", plain, func(m *sum) {
			m.extra = func(x []float64) float64 {
				total := clip1(x)
				return float64(int16(int64(math.Round(256*total))))/256 - total
			}
		}),
		noise("less noise by the share of positive records", "up to 6%", bare,
			func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				positive := 0.0
				for _, v := range m.x {
					positive += either(v > 0, 1, 0)
				}
				return noiseSD * (1 - 0.06*positive/float64(len(m.x))) * rng.NormFloat64()
			}),
		one("noise drawn again until a count is not negative", "ε 1.07 to 1.2", answers{
			claim: event(accountant.Pure(accountant.AddRemove, 1)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				for {
					if v := float64(len(x)) + tosses(rng) - tosses(rng); v >= 0 {
						return []float64{v}
					}
				}
			})}, []float64{1, 2}, []float64{2}),
	}
}

func ninthMechanismControls() []Case {
	return []Case{
		one("the two fullest bins", "", noisiestTwo(2), []float64{0, 1, 1, 1}, []float64{1, 1, 1, 1}),
		mechanismCase("a tree of noises", "", tree(false), 1, []float64{1, 0.3}, []float64{-1, 0.3}),
	}
}
