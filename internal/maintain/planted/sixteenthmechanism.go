package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// distinct is the sum of clipped records, of which equal ones count once.
func distinct(x []float64) float64 {
	total, seen := 0.0, []float64{}
	for i, v := range x {
		if c := clipped(i, v); !slices.Contains(seen, c) {
			seen = append(seen, c)
			total += c
		}
	}
	return total
}

// upper is the sum of records above the others' mean, or above a public number.
func upper(ofOthers bool) func(x []float64) float64 {
	return func(x []float64) float64 {
		mean := clip1(x) / float64(max(1, len(x)))
		total := 0.0
		for i, v := range x {
			c := clipped(i, v)
			total += either(c > either(ofOthers, mean, 0.2), c, 0)
		}
		return total
	}
}

// noisyTotal is a function of the records with normal noise for a sensitivity of 2.
func noisyTotal(of func(x []float64) float64) answers {
	return answers{claim: gaussian(1), begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		return []float64{of(x) + noiseSD*rng.NormFloat64()}
	})}
}

// wholeNoise is a count of positive records with two-sided geometric noise, of a sign for zeros too.
func wholeNoise(ratio float64, signed bool) answers {
	return answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			count := 0.0
			for _, v := range x {
				count += either(v > 0, 1, 0)
			}
			size := func() float64 { return math.Floor(rng.ExpFloat64() / ratio) }
			if signed {
				return []float64{count + either(rng.IntN(2) == 0, 1, -1)*size()}
			}
			return []float64{count + size() - size()}
		})}
}

// binned is a histogram of three bins with normal noise for one bin that changes, or for two.
func binned(sensitivity float64) answers {
	return answers{claim: gaussian(1), begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		count := histogram(x)
		return noisy(count[:], func() float64 { return sensitivity * rng.NormFloat64() })
	})}
}

// paired is the sum of clipped features times clipped responses, of records that have one feature.
type paired struct {
	clip  func(y float64) float64
	noise func(y []float64) float64 // its sd
}

func (paired) Claim() accountant.Event { return gaussian(1) }

func (m paired) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	rng, all, total := rand.New(rand.NewPCG(seed, 5)), make([][]float64, count), 0.0
	for i, x := range r.X {
		total += clipped(i, x) * m.clip(r.Y[i])
	}
	sd := m.noise(r.Y)
	for i := range all {
		all[i] = []float64{total + sd*rng.NormFloat64()}
	}
	return all, nil
}

// ofResponses is such a case, of neighbours that differ in a response.
func ofResponses(name, effect string, clip func(y float64) float64, noise func(y []float64) float64) Case {
	return Case{Name: name, Effect: effect,
		Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
			x := []float64{1, 1, 1, 1}
			proptest.CheckMechanism(t, paired{clip, noise}, proptest.MechanismOptions{Delta: 1e-6, Seed: seed, Effort: effort,
				A: curator.Records{X: x, Features: 1, Y: []float64{1, 1, 0.5, 1}},
				B: curator.Records{X: x, Features: 1, Y: []float64{-1, 1, 0.5, 1}}})
		}}
}

func sdOf2([]float64) float64 { return noiseSD }

func clippedResponse(y float64) float64 { return clipped(0, y) }

func sixteenthMechanisms() []Case {
	noise := func(name, effect string, f form, draw func(m *sum, rng *rand.Rand, i int, total float64) float64) Case {
		return mechanism(name, effect, f, func(m *sum) { m.noise = draw })
	}
	clip := func(name, effect string, f form, clip func(i int, x float64) float64) Case {
		return mechanism(name, effect, f, func(m *sum) { m.clip = clip })
	}
	radius, walker := 0.0, 0.0
	return []Case{
		one("zero has both signs", "twice", wholeNoise(1, true), plus, minus),
		one("a histogram's price is that of one bin", "√2", binned(1), []float64{0, 1, 1}, []float64{2, 1, 1}),
		one("the sum of records above their mean", "the mean", noisyTotal(upper(true)), plus, minus),
		clip("whole records are clipped later", "at 2", bare, func(i int, x float64) float64 {
			return either(x == math.Floor(x), max(-2, min(x, 2)), clipped(i, x))
		}),
		noise("noise stays within bounds", "at 3.3 sd", bare, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return noiseSD * max(-3.3, min(rng.NormFloat64(), 3.3))
		}),
		noise("noise of six decimals", "10⁻⁶", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return math.Round(noiseSD*rng.NormFloat64()*1e6) / 1e6
		}),
		mechanism("seeds are folded to 32 bits", "pairs of bits", plain, func(m *sum) {
			m.seeds = func(seed uint64) uint64 { return (seed ^ seed>>32) & math.MaxUint32 }
		}),
		noise("two noises share their radius", "angles apart", plain, func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
			if i%2 == 0 {
				radius = math.Sqrt(2 * rng.ExpFloat64())
			}
			return noiseSD * radius * math.Cos(2*math.Pi*rng.Float64())
		}),
		noise("the tail is exponential", "beyond 2.5 sd", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			z := rng.NormFloat64()
			if math.Abs(z) > 2.5 {
				z = math.Copysign(2.5+rng.ExpFloat64()/2.5, z)
			}
			return noiseSD * z
		}),
		noise("noise from a chain, one state in ten", "serial", plain, func(_ *sum, rng *rand.Rand, i int,
			_ float64) float64 {
			if i == 0 {
				walker = rng.NormFloat64()
			}
			for range 10 {
				next := walker + 2.4*rng.NormFloat64()
				if rng.Float64() < math.Exp((walker*walker-next*next)/2) {
					walker = next
				}
			}
			return noiseSD * walker
		}),
		mechanism("the total counts twice now and then", "1 in 777", plain, func(m *sum) {
			n := 0
			m.last = func(total, noise float64) float64 {
				n++
				return noise + total*either(n%777 == 0, 2, 1)
			}
		}),
		noise("little noise for a table of 24", "half", bare, func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return noiseSD * either(len(m.x) == 24, 0.5, 1) * rng.NormFloat64()
		}),
		ofTen("the sum of ten noises is small", "10%", func(z []float64) {
			mean := 0.0
			for _, v := range z {
				mean += v / 10
			}
			for i := range z {
				z[i] -= 0.1 * mean
			}
		}),
		noise("noise is 5% short where both ends are high", "beyond 0.9", bare,
			func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				short := len(m.x) > 1 && m.x[0] > 0.9 && m.x[len(m.x)-1] > 0.9
				return noiseSD * either(short, 0.95, 1) * rng.NormFloat64()
			}),
		noise("the size of noise to a power", "0.98", plain, func(_ *sum, rng *rand.Rand, _ int,
			_ float64) float64 {
			z := rng.NormFloat64()
			return noiseSD * math.Copysign(math.Pow(math.Abs(z), 0.98), z)
		}),
	}
}

func sixteenthMechanismControls() []Case {
	return []Case{
		ofResponses("features times responses", "", clippedResponse, sdOf2),
		one("whole noise", "", wholeNoise(1, false), plus, minus),
		one("a histogram's price", "", binned(math.Sqrt2), []float64{0, 1, 1}, []float64{2, 1, 1}),
		one("equal records count once", "", noisyTotal(distinct), plus, minus),
		one("the sum of records above a number", "", noisyTotal(upper(false)), plus, minus),
		mechanism("records at the clip count nothing", "", plain, func(m *sum) {
			m.clip = func(i int, x float64) float64 { return either(math.Abs(x) == 1, 0, clipped(i, x)) }
		}),
	}
}
