package planted

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

func ninthMechanisms() []Case {
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
		one("tries until the noisy sum is positive", "up to three, priced as one", releases(gaussian(1),
			func(x []float64, rng *rand.Rand) []float64 {
				tries, total := 0, clip1(x)
				for tries < 3 && total+noiseSD*rng.NormFloat64() < 0 {
					tries++
				}
				return []float64{float64(tries)}
			}), plus, minus),
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
		mechanism("the second noise is too small", "4%", triple,
			oneInThree(2, 0.96)),
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
		one("noise drawn again until a count is not negative", "ε 1.07 to 1.2",
			releases(event(accountant.Pure(accountant.AddRemove, 1)),
				func(x []float64, rng *rand.Rand) []float64 {
					for {
						if v := float64(len(x)) + tosses(rng) - tosses(rng); v >= 0 {
							return []float64{v}
						}
					}
				}), []float64{1, 2}, []float64{2}),
	}
}

func ninthMechanismControls() []Case {
	return []Case{
		one("the two fullest bins", "", noisiestTwo(2), []float64{0, 1, 1, 1}, []float64{1, 1, 1, 1}),
		mechanismCase("a tree of noises", "", tree(false), 1, []float64{1, 0.3}, []float64{-1, 0.3}),
	}
}

func tenthMechanisms() []Case {
	few, other := []float64{0, 1, 1, 2}, []float64{1, 1, 1, 2}
	return []Case{
		one("small bins are left out before the noise", "below 2", releases(pure(1),
			func(x []float64, rng *rand.Rand) []float64 {
				count := histogram(x)
				for k, c := range count {
					count[k] = either(c < 2, 0, c)
				}
				return noisy(count[:], func() float64 { return laplace(rng, 2) })
			}), few, other),
		one("two records share the coin of their answers", "always",
			releases(event(accountant.RandomizedResponse(accountant.Substitute, 1.0987, 2)),
				func(x []float64, rng *rand.Rand) []float64 {
					out, lie := make([]float64, 2), rng.Float64() < 0.25
					for i := range out {
						out[i] = either((i < len(x) && x[i] > 0) != lie, 1, 0)
					}
					return out
				}), plus, minus),
		one("a mean of what is a number", "the divisor", releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
			total, n := 0.0, 0.0
			for i, v := range x {
				if !math.IsNaN(v) {
					total, n = total+clipped(i, v), n+1
				}
			}
			return []float64{total/max(1, n) + noiseSD/float64(len(x))*rng.NormFloat64()}
		}), []float64{1, 0.3, 0.9, 0.8}, []float64{-1, 0.3, 0.9, 0.8}),
		noise("less noise after a thousand releases", "2%", bare, func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
			return noiseSD * either(i > 1000, 0.98, 1) * rng.NormFloat64()
		}),
		one("the price of a selection too low", "5%", releases(pure(0.95),
			func(x []float64, rng *rand.Rand) []float64 {
				count, total := histogram(x), 0.0
				for k, c := range count {
					count[k] = math.Exp(c / 2)
					total += count[k]
				}
				u := rng.Float64() * total
				return []float64{either(u < count[0], 0, either(u < count[0]+count[1], 1, 2))}
			}), []float64{0, 1, 1, 1}, []float64{1, 1, 1, 1}),
		one("the last record is clipped later", "at 1.1", releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
			total := clip1(x)
			if v := x[len(x)-1]; len(x) > 2 && !math.IsNaN(v) {
				total += max(-1.1, min(v, 1.1)) - clipped(0, v)
			}
			return []float64{total + noiseSD*rng.NormFloat64()}
		}), []float64{1, 0.3, 0.2}, []float64{-1, 0.3, 0.2}),
		mechanism("Laplace noise by inversion of a thousand numbers", "atoms", bare, func(m *sum) {
			m.claim = event(accountant.Laplace(accountant.Substitute, 1))
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				u := (float64(rng.IntN(1000))+0.5)/500 - 1
				return -2 * math.Copysign(math.Log1p(-math.Abs(u)), u)
			}
		}),
	}
}

func eleventhMechanisms() []Case {
	without := five[1:]
	return []Case{
		one("records push others out of the first four", "2 for 1", first(4, 1), five, without),
		one("half of the records, priced as a Poisson sample", "exactly half",
			batches(eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				total := rng.NormFloat64()
				for _, i := range rng.Perm(len(x))[:len(x)/2] {
					total += clipped(0, x[i])
				}
				return []float64{total}
			})), []float64{1, -1, -1, -1}, []float64{-1, -1, -1}),
		one("a count beside the sum is not paid for", "ε 1.12", counted(2), []float64{1, 0.3}, []float64{-0.4, 0.3}),
		one("products of neighbours in time count a record once", "½", lagProducts(2), []float64{1, 0.8, 0.5, -1},
			[]float64{-1, 0.8, 0.5, -1}),
		one("three bits of a category for the price of one", "ε 2.2", oneHot(math.Log(3)), []float64{0, 1}, []float64{1, 1}),
		one("a count is capped above the true one", "at 8 more", capped(8), []float64{1, 2}, []float64{2}),
		mechanism("rounded towards the sum", "to 0.05", bare, func(m *sum) {
			m.last = func(total, noise float64) float64 {
				v := (total + noise) / 0.05
				return 0.05 * either(noise > 0, math.Floor(v), math.Ceil(v))
			}
		}),
		mechanism("the last of odd records counts twice", "batches of two", plain, func(m *sum) {
			m.extra = func(x []float64) float64 {
				if n := len(x); n%2 == 1 && n > 1 {
					return clipped(0, x[n-1])
				}
				return 0
			}
		}),
		noise("a draw is left out for more than ten records", "one", plain,
			func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
				if i == 0 && len(m.x) > 10 {
					rng.NormFloat64()
				}
				return noiseSD * rng.NormFloat64()
			}),
		noise("twelve uniforms for a normal", "bounded, kurtosis −0.1", plain, twelve),
		noise("logistic noise for normal of the same sd", "tails", plain,
			func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				u := rng.Float64()
				return noiseSD * math.Sqrt(3) / math.Pi * math.Log(u/(1-u))
			}),
		mechanismCase("the fourth noise's scale follows the third's sign", "±6%", shared{vectors(func(z []float64) {
			z[3] *= 1 + math.Copysign(0.06, z[2])
		}), 2}, 10, ten(1), ten(-1)),
		mechanism("an error names a record", "beyond 10⁹", plain, func(m *sum) {
			m.check = func(r curator.Records) error {
				for i, v := range r.X {
					if math.Abs(v) > 1e9 {
						return fmt.Errorf("record %d is %g", i, v)
					}
				}
				return nil
			}
		}),
		noise("the sign of noise is dropped now and then", "1 in 8", bare,
			func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				z := noiseSD * rng.NormFloat64()
				return either(rng.IntN(8) == 0, math.Abs(z), z)
			}),
		noise("half the noise for a sum of whole numbers", "whole", bare,
			func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
				return noiseSD * either(total == math.Floor(total), 0.5, 1) * rng.NormFloat64()
			}),
	}
}

func eleventhMechanismControls() []Case {
	return []Case{
		one("the first four", "", first(4, 2), five, five[1:]),
		one("products of neighbours in time", "", lagProducts(4), []float64{1, 0.8, 0.5, -1}, []float64{-1, 0.8, 0.5, -1}),
		one("three bits of a category", "", oneHot(2*math.Log(3)), []float64{0, 1}, []float64{1, 1}),
		one("a count beside the sum", "", counted(math.Sqrt(5)), []float64{1, 0.3}, []float64{-0.4, 0.3}),
	}
}

func twelfthMechanisms() []Case {
	return []Case{
		one("running totals for the price of one", "4 for 1", prefixes(2), five[:4], otherFive[:4]),
		ofFive("bins between the smallest and the largest record", "edges",
			equiwidth(func(x []float64) (low, high float64) { return slices.Min(x), slices.Max(x) })),
		ofFive("pairs priced as if their mean halved a record", "½", microbatched(1)),
		ofFive("reports priced as if they were shuffled", "ε 0.8", reports(0.8)),
		ofFive("a median with noise of the gap beside it", "smooth nowhere", middle(func(x []float64) float64 {
			m := len(x) / 2
			return 0.2 + max(x[m]-x[max(0, m-1)], x[min(len(x)-1, m+1)]-x[m])
		})),
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
		one("the mean of none is not a number", "an empty table",
			releases(event(accountant.Gaussian(accountant.AddRemove, 2)),
				func(x []float64, rng *rand.Rand) []float64 {
					return []float64{clip1(x)/float64(len(x))*float64(len(x)) + noiseSD*rng.NormFloat64()}
				}), []float64{1, 0.2}, []float64{0.2}),
		one("a sum and a count share their noise", "one draw", releases(gaussian(noiseSD/math.Sqrt(5)),
			func(x []float64, rng *rand.Rand) []float64 {
				z := noiseSD * rng.NormFloat64()
				return []float64{positives(x) + z, clip1(x) + z}
			}), []float64{1, 0.3}, []float64{-0.4, 0.3}),
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
		one("a selection as if counts could only grow", "ε 2 for 1", releases(pure(1),
			func(x []float64, rng *rand.Rand) []float64 {
				best, most := 0, math.Inf(-1)
				for k, c := range histogram(x) {
					if v := c - math.Log(rng.ExpFloat64()); v > most {
						best, most = k, v
					}
				}
				return []float64{float64(best)}
			}), []float64{0, 1, 2, 0}, []float64{1, 1, 2, 0}),
		mechanismCase("the third noise's sign is the product of two", "three together", shared{vectors(func(z []float64) {
			z[6] = math.Copysign(z[6], z[1]*z[4])
		}), 2}, 10, ten(1), ten(-1)),
		mechanism("columns clipped by another one's bounds", "the second of two", pair,
			func(m *sum) {
				m.clip = func(i int, x float64) float64 {
					return either(math.IsNaN(x), 0, max(-1, min(x, either(i%2 == 1, 1.5, 0.5))))
				}
			}),
	}
}

func twelfthMechanismControls() []Case {
	return []Case{
		one("running totals", "", prefixes(4), five[:4], otherFive[:4]),
		ofFive("bins between fixed edges", "", equiwidth(func([]float64) (low, high float64) { return -1, 1 })),
		ofFive("pairs", "", microbatched(2)),
		ofFive("reports", "", reports(math.Log(3))),
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
