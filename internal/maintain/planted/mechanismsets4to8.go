package planted

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

func fourthMechanisms() []Case {
	three := func(name, effect string, m proptest.Mechanism) Case {
		return mechanismCase(name, effect, m, 3, []float64{1, 0, 0, 0.2, 0.3, 0.1}, []float64{-1, 0, 0, 0.2, 0.3, 0.1})
	}
	gone := func(name, effect string, m proptest.Mechanism) Case {
		return one(name, effect, m, []float64{1, 0.3}, []float64{0.3})
	}
	few, none := []float64{0, 1, 1, 1}, []float64{1, 1, 1, 1} // in the first bin
	return []Case{
		three("clipped by the largest coordinate", "√3", gradients(largest, each2)),
		three("one noise for all coordinates", "shared", gradients(euclidean, func(rng *rand.Rand, sum []float64) []float64 {
			z := noiseSD * rng.NormFloat64()
			return noisy(sum, func() float64 { return z })
		})),
		one("nothing to add noise to", "a sum of 0", releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
			total := clip1(x)
			return []float64{either(total == 0, 0, total+noiseSD*rng.NormFloat64())}
		}), []float64{1}, []float64{-1}),
		one("counts priced as if records came and went", "½", bins(1, 1), []float64{0, 1, 2}, []float64{1, 1, 2}),
		three("Laplace noise for the Euclidean norm", "√3", releases(pure(1),
			func(x []float64, rng *rand.Rand) []float64 {
				return noisy(rowsum(x, euclidean), func() float64 { return laplace(rng, 2) })
			})),
		gone("sample and noise from one seed", "the same stream", batches(func(x []float64, rng *rand.Rand) func() []float64 {
			return func() []float64 {
				seed := rng.Uint64()
				sampling, noise := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 1))
				total := batched(x, func(int) bool { return sampling.Float64() < 0.5 })
				size := math.Sqrt(-2 * math.Log(1-noise.Float64())) // Box and Muller
				return []float64{total + size*math.Cos(2*math.Pi*noise.Float64())}
			}
		})),
		gone("one sample a call", "fixed", batches(func(x []float64, rng *rand.Rand) func() []float64 {
			total := batched(x, func(int) bool { return rng.IntN(2) == 0 })
			return func() []float64 { return []float64{total + rng.NormFloat64()} }
		})),
		gone("the first record is in every sample", "1 for ½",
			batches(eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				return []float64{batched(x, func(i int) bool { return i == 0 || rng.IntN(2) == 0 }) + rng.NormFloat64()}
			}))),
		one("the fullest bin with half the noise", "½", noisiest(1, index), few, none),
		one("the fullest bin and its count for one price", "value", noisiest(2,
			func(best int, count float64, rng *rand.Rand) []float64 {
				return []float64{float64(best), count + laplace(rng, 2)}
			}), few, none),
		one("a lie is never the next answer", "one of three", response(func(truth int, rng *rand.Rand) int {
			return (truth + 2 + rng.IntN(2)) % 4
		}), []float64{0, 1}, []float64{1, 1}),
		mechanismCase("zero counts for both signs", "×2 at 0", geometric(func(rng *rand.Rand) float64 {
			return math.Copysign(tosses(rng), rng.Float64()-0.5)
		}), 1, []float64{1, 2}, []float64{2}),
		one("the threshold's noise is drawn once a call", "shared", answers{
			claim: pure(1),
			begin: func(x []float64, rng *rand.Rand) func() []float64 {
				threshold := laplace(rng, 4)
				return func() []float64 {
					return []float64{either(clip1(x)+laplace(rng, 4) > threshold, 1, 0)}
				}
			}}, plus, minus),
		one("the noisy sum is clipped, not the records", "records beyond 1", releases(gaussian(1),
			func(x []float64, rng *rand.Rand) []float64 {
				total := 0.0
				for _, v := range x {
					total += either(!math.IsNaN(v) && !math.IsInf(v, 0), v, 0)
				}
				return []float64{max(-9, min(total+noiseSD*rng.NormFloat64(), 9))}
			}), plus, minus),
		one("release i from seed + i", "overlap", answers{claim: gaussian(1),
			seed: func(seed uint64, i int) uint64 { return seed + uint64(i) },
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				return []float64{clip1(x) + noiseSD*rng.NormFloat64()}
			})}, plus, minus),
	}
}

func fourthMechanismControls() []Case {
	one := func(name string, m proptest.Mechanism, a, b []float64) Case {
		return mechanismCase(name, "", m, 1, a, b)
	}
	return []Case{
		mechanismCase("clipped rows", "", gradients(euclidean, each2), 3, []float64{1, 0, 0, 0.2, 0.3, 0.1},
			[]float64{-1, 0, 0, 0.2, 0.3, 0.1}),
		one("counts", bins(1, 2), []float64{0, 1, 2}, []float64{1, 1, 2}),
		one("a sample", batches(eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			return []float64{batched(x, func(int) bool { return rng.IntN(2) == 0 }) + rng.NormFloat64()}
		})), []float64{1, 0.3}, []float64{0.3}),
		one("the fullest bin", noisiest(2, index), []float64{0, 1, 1, 1}, []float64{1, 1, 1, 1}),
		one("randomised response", response(func(truth int, rng *rand.Rand) int {
			return (truth + 1 + rng.IntN(3)) % 4
		}), []float64{0, 1}, []float64{1, 1}),
		one("geometric noise", geometric(func(rng *rand.Rand) float64 { return tosses(rng) - tosses(rng) }),
			[]float64{1, 2}, []float64{2}),
		mechanismCase("ten numbers", "", vectors(func([]float64) {}), 10, ten(1), ten(-1)),
	}
}

func fifthMechanisms() []Case {
	removed := func(epsilon float64) accountant.Event { return event(accountant.Pure(accountant.AddRemove, epsilon)) }
	return []Case{
		ofTen("half the noise in the eighth of ten numbers", "½", func(z []float64) { z[7] /= 2 }),
		ofTen("two of ten numbers share their noise", "opposite signs", func(z []float64) { z[9] = -z[3] }),
		one("whole noise of a rounded sd", "2 for 2.4", shared{releases(gaussian(1.2),
			func(x []float64, rng *rand.Rand) []float64 {
				return []float64{math.Round(clip1(x)) + math.Round(2*rng.NormFloat64())}
			}), 2}, []float64{1, 0}, []float64{-1, 0}),
		one("the mean by the number of records", "exact count", releases(event(accountant.Gaussian(accountant.AddRemove, 1)),
			func(x []float64, rng *rand.Rand) []float64 {
				return []float64{(clip1(x) + rng.NormFloat64()) / float64(len(x))}
			}), []float64{0.2, 0.3, 0.5, 0.1}, []float64{0.3, 0.5, 0.1}),
		one("no noise in empty bins", "0", releases(removed(1), func(x []float64, rng *rand.Rand) []float64 {
			count := histogram(x)
			for j, c := range count {
				if c > 0 {
					count[j] += laplace(rng, 1)
				}
			}
			return count[:]
		}), []float64{0, 1, 1}, []float64{1, 1}),
		one("a median by its rank without the half", "ε for ε/2", releases(pure(1),
			func(x []float64, rng *rand.Rand) []float64 {
				best, most := 0, math.Inf(-1)
				for k := range 11 { // the exponential mechanism, by Gumbel noise
					below := 0.0
					for _, v := range x {
						if v < float64(k) {
							below++
						}
					}
					if v := -math.Abs(below-float64(len(x))/2) - math.Log(rng.ExpFloat64()); v > most {
						best, most = k, v
					}
				}
				return []float64{float64(best)}
			}), []float64{0, 5, 5, 5, 5}, []float64{10, 5, 5, 5, 5}),
		mechanismCase("the whole price for each of five answers", "5ε",
			releases(event(accountant.RandomizedResponse(accountant.Substitute, 1.0987, 2)),
				func(x []float64, rng *rand.Rand) []float64 {
					out := make([]float64, 5)
					for j := range out {
						if (x[j] > 0.5) != (rng.Float64() < 0.25) {
							out[j] = 1
						}
					}
					return out
				}), 5, []float64{1, 0, 0, 0, 0}, []float64{0, 0, 0, 0, 0}),
		one("a clip of twice the median", "data", releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
			sizes := make([]float64, 0, len(x))
			for _, v := range x {
				if !math.IsNaN(v) && !math.IsInf(v, 0) {
					sizes = append(sizes, math.Abs(v))
				}
			}
			slices.Sort(sizes)
			clip, total := 1.0, noiseSD*rng.NormFloat64()
			if len(sizes) > 0 {
				clip = 2 * sizes[len(sizes)/2]
			}
			for _, v := range x {
				total += either(!math.IsNaN(v), max(-clip, min(v, clip)), 0)
			}
			return []float64{total}
		}), []float64{1, 0.3, 0.5}, []float64{-1, 0.3, 0.5}),
		one("what is missing does not count", "NaN", releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
			n := 0.0
			for _, v := range x {
				if !math.IsNaN(v) {
					n++
				}
			}
			return []float64{(clip1(x) + noiseSD*rng.NormFloat64()) / max(1, n)}
		}), plus, minus),
		one("the answer for a sum that came before", "kept in a call", answers{claim: gaussian(1),
			begin: func(x []float64, rng *rand.Rand) func() []float64 {
				calls, kept := 0, 0.0
				return func() []float64 {
					if calls++; calls%500 != 0 {
						kept = clip1(x) + noiseSD*rng.NormFloat64()
					}
					return []float64{kept}
				}
			}}, plus, minus),
	}
}

func sixthMechanisms() []Case {
	return []Case{
		mechanism("no noise is drawn again", "0, grid 0.02", form{"on a grid", 1, 0.02, false}, func(m *sum) {
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				for {
					if z := noiseSD * rng.NormFloat64(); math.Abs(z) > 0.01 {
						return z
					}
				}
			}
		}),
		ofTen("the seventh of ten noises is small", "3%", func(z []float64) { z[6] *= 0.97 }),
		ofTen("noise is small along one direction", "20%", func(z []float64) {
			along := 0.0
			for j, v := range z {
				along += v * float64(1-j%2*2) / 10
			}
			for j := range z {
				z[j] -= 0.2 * along * float64(1-j%2*2)
			}
		}),
		one("the last of five records counts more", "20%", shared{releases(gaussian(1),
			func(x []float64, rng *rand.Rand) []float64 {
				return []float64{clip1(x) + 0.2*clipped(0, x[len(x)-1]) + noiseSD*rng.NormFloat64()}
			}), 2}, []float64{1, 0.3, 0.2, -0.1, 0.5}, []float64{-1, 0.3, 0.2, -0.1, 0.5}),
		{Name: "less noise from the tenth call on", Effect: "10%",
			Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
				var calls atomic.Int64
				one("", "", answers{claim: gaussian(1), begin: func(x []float64, rng *rand.Rand) func() []float64 {
					sd := noiseSD
					sd *= either(calls.Add(1) > 10, 0.9, 1)
					return func() []float64 { return []float64{clip1(x) + sd*rng.NormFloat64()} }
				}}, plus, minus).Check(t, seed, effort)
			}},
		noise("tails cut off", "at 3.5 sd", bare, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return noiseSD * max(-3.5, min(3.5, rng.NormFloat64()))
		}),
		noise("the third release repeats the second in calls of three", "count 3", plain,
			func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
				if m.count != 3 || i != 2 {
					m.kept = []float64{noiseSD * rng.NormFloat64()}
				}
				return m.kept[0]
			}),
		mechanism("a subnormal record counts for five", "below 10⁻³⁰⁸", plain, func(m *sum) {
			m.clip = func(_ int, x float64) float64 {
				return either(x != 0 && math.Abs(x) < 2e-308, 5, clipped(0, x))
			}
		}),
		one("one side of Laplace noise is small", "3%", shared{releases(event(accountant.Laplace(accountant.Substitute, 1)),
			func(x []float64, rng *rand.Rand) []float64 {
				return []float64{clip1(x) + 2*(rng.ExpFloat64()-0.97*rng.ExpFloat64())}
			}), 2}, plus, minus),
		one("lies prefer the first answer", "40% for a third", response(func(truth int, rng *rand.Rand) int {
			if lie := rng.IntN(5); truth > 0 && lie > 2 {
				return 0
			}
			return (truth + 1 + rng.IntN(3)) % 4
		}), []float64{0, 1}, []float64{1, 1}),
		one("neighbours share the coin of a sample", "pairs", batches(func(x []float64, rng *rand.Rand) func() []float64 {
			return func() []float64 {
				in := false
				return []float64{batched(x, func(i int) bool {
					if i%2 == 0 {
						in = rng.IntN(2) == 0
					}
					return in
				}) + rng.NormFloat64()}
			}
		}), []float64{1, 1, 1, 1}, []float64{1, 1, 1}),
		one("one number more for a huge record", "length", releases(gaussian(1),
			func(x []float64, rng *rand.Rand) []float64 {
				out := []float64{clip1(x) + noiseSD*rng.NormFloat64()}
				for _, v := range x {
					if math.Abs(v) > 1e6 {
						return append(out, 0)
					}
				}
				return out
			}), plus, minus),
	}
}

func seventhMechanisms() []Case {
	odd := additions()
	odd.noise = func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
		return noiseSD * either(len(m.x)%2 == 1, 0.9, 1) * rng.NormFloat64()
	}
	return []Case{
		noise("less noise when records are equal", "10%", bare, func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return noiseSD * either(m.x[0] == m.x[1], 0.9, 1) * rng.NormFloat64()
		}),
		noise("noise in waves of 100 releases", "±5%", plain, func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
			return noiseSD * (1 + 0.05*math.Sin(2*math.Pi*float64(i)/100)) * rng.NormFloat64()
		}),
		noise("odd steps of the grid are rarer", "10%", grid, func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
			for {
				z := math.Round(noiseSD * rng.NormFloat64() / m.grid)
				if math.Mod(z, 2) == 0 || rng.IntN(10) > 0 {
					return z * m.grid
				}
			}
		}),
		noise("the second noise is the first's, one later", "1 in 50", wide,
			func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				z, n := noiseSD*rng.NormFloat64(), len(m.kept)
				if n > 3 && n%3 == 1 && rng.IntN(50) == 0 {
					z = m.kept[n-4]
				}
				m.kept = append(m.kept, z)
				return z
			}),
		noise("less noise in calls for some numbers", "20%, 64 to 127", plain,
			func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				return noiseSD * either(m.count > 63 && m.count < 128, 0.8, 1) * rng.NormFloat64()
			}),
		one("less noise for an odd number of records", "10%", odd, []float64{1, 0.3}, []float64{0.3}),
		one("thresholds without noise of the queries", "two", releases(pure(1),
			func(x []float64, rng *rand.Rand) []float64 {
				total, threshold := clip1(x), laplace(rng, 2)
				return []float64{either(total > threshold, 1, 0), either(-total > threshold, 1, 0)}
			}), plus, minus),
		one("records divided by the largest", "for all", releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
			most, total := 1.0, noiseSD*rng.NormFloat64()
			for _, v := range x {
				most = max(most, math.Abs(clipped(0, v/1e9)*1e9))
			}
			for i, v := range x {
				total += clipped(i, v/most)
			}
			return []float64{total}
		}), []float64{1, 0.3, 0.6, 0.5}, []float64{-1, 0.3, 0.6, 0.5}),
		one("samples more than it says", "0.55 for 0.5", batches(eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			return []float64{batched(x, func(int) bool { return rng.Float64() < 0.55 }) + rng.NormFloat64()}
		})), []float64{1, 0.3}, []float64{0.3}),
		mechanismCase("noise of one length", "ten numbers", vectors(func(z []float64) {
			by := noiseSD * math.Sqrt(float64(len(z))) / euclidean(z)
			for j := range z {
				z[j] *= by
			}
		}), 10, ten(1), ten(-1)),
		one("a lie repeats the last one", "1 in 20", answers{
			claim: event(accountant.RandomizedResponse(accountant.Substitute, 1.0001, 4)),
			begin: func(x []float64, rng *rand.Rand) func() []float64 {
				truth, lie := int(max(0, min(3, clipped(0, x[0]/3)*3))), 1
				return func() []float64 {
					if rng.Float64() >= 3/(3+math.E) {
						return []float64{float64(truth)}
					}
					if rng.IntN(20) > 0 {
						lie = 1 + rng.IntN(3)
					}
					return []float64{float64((truth + lie) % 4)}
				}
			}}, []float64{0, 1}, []float64{1, 1}),
		mechanismCase("a count beside the clipped sum", "√2", releases(event(accountant.Gaussian(accountant.AddRemove, 1)),
			func(x []float64, rng *rand.Rand) []float64 {
				out := []float64{float64(len(x) / 2), 0, 0}
				for ; len(x) > 0; x = x[2:] {
					for j, v := range shorten(x[:2], euclidean) {
						out[j+1] += v
					}
				}
				return noisy(out, rng.NormFloat64)
			}), 2, []float64{1, 0, 0.2, 0.3}, []float64{0.2, 0.3}),
	}
}

func eighthMechanisms() []Case {
	return []Case{
		noise("noise too small", "3%", bare, sized(0.97)),
		mechanism("the third noise is too small", "5%", triple,
			oneInThree(0, 0.95)),
		mechanismCase("the truth more often", "2%", response(func(truth int, rng *rand.Rand) int {
			if rng.IntN(50) == 0 {
				return truth
			}
			return (truth + 1 + rng.IntN(3)) % 4
		}), 1, []float64{0, 1}, []float64{1, 1}),
		mechanismCase("noise follows the clipped first record", "±3%", releases(gaussian(1),
			func(x []float64, rng *rand.Rand) []float64 {
				return []float64{clip1(x) + noiseSD*(1+0.03*clipped(0, x[0]))*rng.NormFloat64()}
			}), 1, plus, minus),
	}
}
