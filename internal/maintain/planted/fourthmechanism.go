package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// answers is a mechanism that is a function of its records and a stream.
type answers struct {
	claim accountant.Event
	// begin is called once a call; it returns what makes one release.
	begin func(x []float64, rng *rand.Rand) func() []float64
	seed  func(seed uint64, i int) uint64 // of release i; nil: one stream a call
}

func (m answers) Claim() accountant.Event { return m.claim }

func (m answers) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	rng, all := rand.New(rand.NewPCG(seed, 3)), make([][]float64, count)
	next := m.begin(r.X, rng)
	for i := range all {
		if m.seed != nil {
			next = m.begin(r.X, rand.New(rand.NewPCG(m.seed(seed, i), 3)))
		}
		all[i] = next()
	}
	return all, nil
}

// shared is a mechanism of answers whose noise depends on the seed alone.
type shared struct {
	answers
	sensitivity float64
}

func (m shared) Sensitivity() float64 { return m.sensitivity }
func (m shared) Step() float64        { return 0 }

// each of the releases of answers is a function of the stream.
func eachRelease(release func(x []float64, rng *rand.Rand) []float64) func(x []float64,
	rng *rand.Rand) func() []float64 {
	return func(x []float64, rng *rand.Rand) func() []float64 {
		return func() []float64 { return release(x, rng) }
	}
}

func event(e accountant.Event, err error) accountant.Event {
	if err != nil {
		panic(err)
	}
	return e
}

// one is such a case of single numbers.
func one(name, effect string, m proptest.Mechanism, a, b []float64) Case {
	return mechanismCase(name, effect, m, 1, a, b)
}

var plus, minus = []float64{1, 0.3}, []float64{-1, 0.3} // their records, mostly

// shorten returns a row within the unit ball of a norm; what is not finite counts 0.
func shorten(row []float64, norm func(row []float64) float64) []float64 {
	by, out := 1/max(1, norm(row)), make([]float64, len(row))
	for j, v := range row {
		if out[j] = v * by; math.IsNaN(out[j]) || math.IsInf(v, 0) {
			clear(out)
			return out
		}
	}
	return out
}

func euclidean(row []float64) float64 {
	most := largest(row)
	if most == 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		return most
	}
	sum := 0.0
	for _, v := range row {
		sum += v / most * (v / most)
	}
	return most * math.Sqrt(sum)
}

func largest(row []float64) float64 {
	most := 0.0
	for _, v := range row {
		most = max(most, math.Abs(v))
	}
	return most
}

// rowsum is the sum of rows of three numbers, each shortened by a norm.
func rowsum(x []float64, norm func(row []float64) float64) []float64 {
	sum := make([]float64, 3)
	for ; len(x) > 0; x = x[3:] {
		for j, v := range shorten(x[:3], norm) {
			sum[j] += v
		}
	}
	return sum
}

func noisy(sum []float64, draw func() float64) []float64 {
	for j := range sum {
		sum[j] += draw()
	}
	return sum
}

func laplace(rng *rand.Rand, scale float64) float64 {
	return scale * (rng.ExpFloat64() - rng.ExpFloat64())
}

func clip1(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += clipped(0, v)
	}
	return total
}

// gradients is the sum of clipped rows with normal noise of sd 2: a claim of 1.
func gradients(norm func(row []float64) float64, noise func(rng *rand.Rand, sum []float64) []float64) shared {
	return shared{answers{claim: gaussian(1), begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		return noise(rng, rowsum(x, norm))
	})}, 2}
}

func each2(rng *rand.Rand, sum []float64) []float64 {
	return noisy(sum, func() float64 { return noiseSD * rng.NormFloat64() })
}

// batches is the sum of a Poisson sample of rate ½ under add/remove, with noise of sd 1.
func batches(begin func(x []float64, rng *rand.Rand) func() []float64) answers {
	return answers{begin: begin,
		claim: event(event(accountant.Gaussian(accountant.AddRemove, 1)).PoissonSampled(0.5))}
}

func batched(x []float64, inclusion func(i int) bool) float64 {
	total := 0.0
	for i, v := range x {
		total += either(inclusion(i), clipped(i, v), 0)
	}
	return total
}

// bins counts records of 0, 1 and 2 with Laplace noise of a scale.
func bins(epsilon, scale float64) answers {
	return answers{claim: event(accountant.Pure(accountant.Substitute, epsilon)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			count := histogram(x)
			return noisy(count[:], func() float64 { return laplace(rng, scale) })
		})}
}

func histogram(x []float64) (count [3]float64) {
	for _, v := range x {
		switch {
		case v < 0.5:
			count[0]++
		case v < 1.5:
			count[1]++
		default:
			count[2]++
		}
	}
	return count
}

// noisiest is the fullest bin, with Laplace noise of a scale.
func noisiest(scale float64, release func(best int, count float64, rng *rand.Rand) []float64) answers {
	return answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			best, most, count := 0, math.Inf(-1), histogram(x)
			for k, c := range count {
				if v := c + laplace(rng, scale); v > most {
					best, most = k, v
				}
			}
			return release(best, count[best], rng)
		})}
}

func index(best int, _ float64, _ *rand.Rand) []float64 { return []float64{float64(best)} }

// response is randomised response over four categories.
func response(lie func(truth int, rng *rand.Rand) int) answers {
	return answers{claim: event(accountant.RandomizedResponse(accountant.Substitute, 1.0001, 4)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			truth := int(max(0, min(3, clipped(0, x[0]/3)*3)))
			if rng.Float64() < 3/(3+math.E) {
				truth = lie(truth, rng)
			}
			return []float64{float64(truth)}
		})}
}

// geometric is a count under add/remove with two-sided geometric noise of ε = 1.
func geometric(draw func(rng *rand.Rand) float64) answers {
	return answers{claim: event(accountant.Pure(accountant.AddRemove, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			return []float64{float64(len(x)) + draw(rng)}
		})}
}

func tosses(rng *rand.Rand) float64 { return math.Floor(rng.ExpFloat64()) } // P(k) ∝ e⁻ᵏ

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
		one("nothing to add noise to", "a sum of 0", answers{claim: gaussian(1),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				total := clip1(x)
				return []float64{either(total == 0, 0, total+noiseSD*rng.NormFloat64())}
			})}, []float64{1}, []float64{-1}),
		one("counts priced as if records came and went", "½", bins(1, 1), []float64{0, 1, 2}, []float64{1, 1, 2}),
		three("Laplace noise for the Euclidean norm", "√3", answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				return noisy(rowsum(x, euclidean), func() float64 { return laplace(rng, 2) })
			})}),
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
			claim: event(accountant.Pure(accountant.Substitute, 1)),
			begin: func(x []float64, rng *rand.Rand) func() []float64 {
				threshold := laplace(rng, 4)
				return func() []float64 {
					return []float64{either(clip1(x)+laplace(rng, 4) > threshold, 1, 0)}
				}
			}}, plus, minus),
		one("the noisy sum is clipped, not the records", "records beyond 1", answers{claim: gaussian(1),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				total := 0.0
				for _, v := range x {
					total += either(!math.IsNaN(v) && !math.IsInf(v, 0), v, 0)
				}
				return []float64{max(-9, min(total+noiseSD*rng.NormFloat64(), 9))}
			})}, plus, minus),
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
