package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// prefixes are the running totals of four records, each with noise of its own, as if they were one sum.
func prefixes(sensitivity float64) shared {
	return shared{answers{claim: gaussian(noiseSD / sensitivity),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			out, total := make([]float64, 4), 0.0
			for i := range out {
				if i < len(x) {
					total += clipped(i, x[i])
				}
				out[i] = total + noiseSD*rng.NormFloat64()
			}
			return out
		})}, sensitivity}
}

// equiwidth counts records in three bins between two edges, with Laplace noise.
func equiwidth(edges func(x []float64) (low, high float64)) answers {
	return answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			bounded := make([]float64, len(x))
			for i, v := range x {
				bounded[i] = clipped(i, v)
			}
			low, high := edges(bounded)
			count := make([]float64, 3)
			for _, v := range bounded {
				if high > low {
					v = (v - low) / (high - low)
				}
				count[int(max(0, min(3*v, 2)))]++
			}
			return noisy(count, func() float64 { return laplace(rng, 2) })
		})}
}

// microbatched sums means of pairs of records, with a claimed sensitivity.
func microbatched(sensitivity float64) shared {
	return shared{answers{claim: gaussian(noiseSD / sensitivity),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			total := noiseSD * rng.NormFloat64()
			for i := 0; i < len(x); i += 2 {
				pair := 0.0
				for _, v := range x[i:min(i+2, len(x))] {
					pair += either(math.IsNaN(v), 0, max(-2, min(v, 2))) / 2
				}
				total += clipped(i, pair)
			}
			return []float64{total}
		})}, sensitivity}
}

// reports are all records' own answers, in order or shuffled: a bit each that lies one time in four.
func reports(epsilon float64) answers {
	return answers{claim: event(accountant.Pure(accountant.Substitute, epsilon)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			out := make([]float64, len(x))
			for i, v := range x {
				truth := v > 0
				if rng.IntN(4) == 0 {
					truth = !truth
				}
				out[i] = either(truth, 1, 0)
			}
			return out
		})}
}

// middle is a median with Laplace noise of the scale that its neighbours in order suggest.
func middle(scale func(sorted []float64) float64) answers {
	return answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			sorted := make([]float64, len(x))
			for i, v := range x {
				sorted[i] = clipped(i, v)
			}
			slices.Sort(sorted)
			return []float64{sorted[len(sorted)/2] + laplace(rng, scale(sorted))}
		})}
}

func twelfthMechanisms() []Case {
	noise := func(name, effect string, f form, draw func(m *sum, rng *rand.Rand, i int, total float64) float64) Case {
		return mechanism(name, effect, f, func(m *sum) { m.noise = draw })
	}
	five := []float64{1, 0.3, -0.2, 0.5, -1}
	other := []float64{-1, 0.3, -0.2, 0.5, -1}
	return []Case{
		one("running totals for the price of one", "4 for 1", prefixes(2), five[:4], other[:4]),
		one("bins between the smallest and the largest record", "edges",
			equiwidth(func(x []float64) (low, high float64) { return slices.Min(x), slices.Max(x) }), five, other),
		one("pairs priced as if their mean halved a record", "½", microbatched(1), five, other),
		one("reports priced as if they were shuffled", "ε 0.8", reports(0.8), five, other),
		one("a median with noise of the gap beside it", "smooth nowhere", middle(func(x []float64) float64 {
			m := len(x) / 2
			return 0.2 + max(x[m]-x[max(0, m-1)], x[min(len(x)-1, m+1)]-x[m])
		}), five, other),
		one("an empty sample is drawn again", "two records", batches(eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			total, n := rng.NormFloat64(), 0
			for n == 0 && len(x) > 0 {
				for _, v := range x {
					if rng.IntN(2) == 0 {
						total += clipped(0, v)
						n++
					}
				}
			}
			return []float64{total}
		})), []float64{1, -1}, []float64{-1}),
		one("every second batch is what the first left", "a permutation", batches(func(x []float64,
			rng *rand.Rand) func() []float64 {
			in, second := make([]bool, len(x)), false
			return func() []float64 {
				for i := range in {
					in[i] = second && !in[i] || !second && rng.IntN(2) == 0
				}
				second = !second
				return []float64{batched(x, func(i int) bool { return in[i] }) + rng.NormFloat64()}
			}
		}), []float64{1, -1, -1, -1}, []float64{-1, -1, -1}),
		one("the mean of none is not a number", "an empty table", answers{
			claim: event(accountant.Gaussian(accountant.AddRemove, 2)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				return []float64{clip1(x)/float64(len(x))*float64(len(x)) + noiseSD*rng.NormFloat64()}
			})}, []float64{1, 0.2}, []float64{0.2}),
		one("a sum and a count share their noise", "one draw", answers{claim: gaussian(noiseSD / math.Sqrt(5)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				z, count := noiseSD*rng.NormFloat64(), 0.0
				for _, v := range x {
					count += either(v > 0, 1, 0)
				}
				return []float64{count + z, clip1(x) + z}
			})}, []float64{1, 0.3}, []float64{-0.4, 0.3}),
		mechanism("what follows a NaN does not count", "a loop that ends", plain, func(m *sum) {
			over := false
			m.clip = func(i int, x float64) float64 {
				over = over && i > 0 || math.IsNaN(x)
				return either(over, 0, clipped(i, x))
			}
		}),
		mechanism("standardised by the records' own spread", "beyond 1", bare, func(m *sum) {
			m.extra = func(x []float64) float64 {
				mean, square, total := 0.0, 0.0, clip1(x)
				for _, v := range x {
					v = either(math.IsNaN(v), 0, max(-100, min(v, 100)))
					mean, square = mean+v/float64(len(x)), square+v*v/float64(len(x))
				}
				spread, scaled := math.Sqrt(max(0, square-mean*mean)), 0.0
				for _, v := range x {
					scaled += clipped(0, v/max(1, spread))
				}
				return scaled - total
			}
		}),
		noise("two workers with one stream", "from release 50 000 of a call on", plain,
			func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
				if m.count < 100_000 {
					return noiseSD * rng.NormFloat64()
				}
				if i < 50_000 {
					m.kept = append(m.kept, noiseSD*rng.NormFloat64())
					return m.kept[i]
				}
				if i < 100_000 {
					return m.kept[i-50_000]
				}
				return noiseSD * rng.NormFloat64()
			}),
		noise("the last release of a call has half the noise", "one", plain,
			func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
				return noiseSD * either(i == m.count-1, 0.5, 1) * rng.NormFloat64()
			}),
		noise("the polar method keeps what lies outside the circle", "shape", plain,
			func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				for {
					u, v := 2*rng.Float64()-1, 2*rng.Float64()-1
					if s := u*u + v*v; s > 0 && s < 1 {
						return noiseSD * u * math.Sqrt(-2*math.Log(s)/s)
					} else if s >= 1 && s < 1.02 {
						return noiseSD * u * 0.2
					}
				}
			}),
		one("a selection as if counts could only grow", "ε 2 for 1", answers{
			claim: event(accountant.Pure(accountant.Substitute, 1)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				best, most := 0, math.Inf(-1)
				for k, c := range histogram(x) {
					if v := c - math.Log(rng.ExpFloat64()); v > most {
						best, most = k, v
					}
				}
				return []float64{float64(best)}
			})}, []float64{0, 1, 2, 0}, []float64{1, 1, 2, 0}),
		mechanismCase("the third noise's sign is the product of two", "three together", shared{vectors(func(z []float64) {
			z[6] = math.Copysign(z[6], z[1]*z[4])
		}), 2}, 10, ten(1), ten(-1)),
		mechanism("columns clipped by another one's bounds", "the second of two", form{"of two numbers", 2, 0, true},
			func(m *sum) {
				m.clip = func(i int, x float64) float64 {
					return either(math.IsNaN(x), 0, max(-1, min(x, either(i%2 == 1, 1.5, 0.5))))
				}
			}),
	}
}

func twelfthMechanismControls() []Case {
	five := []float64{1, 0.3, -0.2, 0.5, -1}
	other := []float64{-1, 0.3, -0.2, 0.5, -1}
	return []Case{
		one("running totals", "", prefixes(4), five[:4], other[:4]),
		one("bins between fixed edges", "", equiwidth(func([]float64) (low, high float64) { return -1, 1 }), five, other),
		one("pairs", "", microbatched(2), five, other),
		one("reports", "", reports(math.Log(3)), five, other),
		mechanism("equal records count once", "", bare, func(m *sum) {
			m.extra = func(x []float64) float64 {
				seen, again := map[float64]bool{}, 0.0
				for _, v := range x {
					if v = clipped(0, v); seen[v] {
						again += v
					}
					seen[v] = true
				}
				return -again
			}
		}),
	}
}
