package planted

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

// first sums at most so many records, of which each is added or removed.
func first(most int, sensitivity float64) answers {
	return answers{claim: event(accountant.Gaussian(accountant.AddRemove, noiseSD/sensitivity)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			return []float64{clip1(x[:min(most, len(x))]) + noiseSD*rng.NormFloat64()}
		})}
}

// counted is a noisy count of positive records and the noisy sum of all, priced as one or both.
func counted(sensitivity float64) answers {
	return answers{claim: gaussian(noiseSD / sensitivity),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			count := 0.0
			for _, v := range x {
				count += either(v > 0, 1, 0)
			}
			return []float64{count + noiseSD*rng.NormFloat64(), clip1(x) + noiseSD*rng.NormFloat64()}
		})}
}

// lagProducts is a sum of products of neighbours in time.
func lagProducts(sensitivity float64) shared {
	return shared{answers{claim: gaussian(2 * noiseSD / sensitivity),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			total := 0.0
			for i := 1; i < len(x); i++ {
				total += clipped(0, x[i]) * clipped(0, x[i-1])
			}
			return []float64{total + 2*noiseSD*rng.NormFloat64()}
		})}, sensitivity}
}

// oneHot is a category of three as three bits, each flipped with probability ¼.
func oneHot(epsilon float64) answers {
	return answers{claim: event(accountant.Pure(accountant.Substitute, epsilon)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			bits := histogram(x[:1])
			for k := range bits {
				bits[k] = either(rng.IntN(4) == 0, 1-bits[k], bits[k])
			}
			return bits[:]
		})}
}

// capped is a noisy count of records, at most so many above the true count.
func capped(above float64) answers {
	return answers{claim: event(accountant.Pure(accountant.AddRemove, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			return []float64{float64(len(x)) + min(above, tosses(rng)-tosses(rng))}
		})}
}

func eleventhMechanisms() []Case {
	noise := func(name, effect string, f form, draw func(m *sum, rng *rand.Rand, i int, total float64) float64) Case {
		return mechanism(name, effect, f, func(m *sum) { m.noise = draw })
	}
	five := []float64{1, 0.3, -0.2, 0.5, -1}
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
		noise("twelve uniforms for a normal", "bounded, kurtosis −0.1", plain,
			func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				z := -6.0
				for range 12 {
					z += rng.Float64()
				}
				return noiseSD * z
			}),
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
	five := []float64{1, 0.3, -0.2, 0.5, -1}
	return []Case{
		one("the first four", "", first(4, 2), five, five[1:]),
		one("products of neighbours in time", "", lagProducts(4), []float64{1, 0.8, 0.5, -1}, []float64{-1, 0.8, 0.5, -1}),
		one("three bits of a category", "", oneHot(2*math.Log(3)), []float64{0, 1}, []float64{1, 1}),
		one("a count beside the sum", "", counted(math.Sqrt(5)), []float64{1, 0.3}, []float64{-0.4, 0.3}),
	}
}
