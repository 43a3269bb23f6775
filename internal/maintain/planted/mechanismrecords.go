package planted

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/proptest"
)

func dataDefects() []Case {
	bit := func(m *sum) {
		m.last = func(total, noise float64) float64 {
			b := math.Float64bits(total+noise) &^ 1
			if total > 0 {
				b |= 1
			}
			return math.Float64frombits(b)
		}
	}
	return []Case{
		noise("noise smaller for one data set", "2%", plain, func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
			return either(total > 0.5, 0.98, 1) * noiseSD * rng.NormFloat64()
		}),
		noise("noise left out at 1/1000 for one data set", "0.1%", plain,
			func(_ *sum, rng *rand.Rand, i int, total float64) float64 {
				z := noiseSD * rng.NormFloat64()
				return either(i%1000 == 999 && total > 0, 0, z)
			}),
		noise("noise of another sign for one data set", "sign", plain,
			func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
				z := noiseSD * rng.NormFloat64()
				return either(total > 0, -z, z)
			}),
		mechanism("the lowest bit is the record's", "1 bit", bare, bit),
		mechanism("the low eight bits are the record's", "8 bits", bare, func(m *sum) {
			m.last = func(total, noise float64) float64 {
				b := math.Float64bits(total+noise) &^ 255
				return math.Float64frombits(b | uint64(int64(total*50))&255)
			}
		}),
		mechanism("the lowest grid bit is the record's", "1 bit", grid, func(m *sum) {
			m.last = func(total, noise float64) float64 {
				k := int64(math.Round((total+noise)/0x1p-30)) &^ 1
				if total > 0 {
					k |= 1
				}
				return float64(k) * 0x1p-30
			}
		}),
		noise("a sign that follows the record", "60%", bare, func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
			z := noiseSD * rng.NormFloat64()
			return either(z*total < 0 && rng.Float64() < 0.3, -z, z)
		}),
		mechanism("clip not applied beyond 10⁴", "huge records", plain, func(m *sum) {
			m.clip = func(_ int, x float64) float64 {
				return either(math.Abs(x) > 1e4 && !math.IsInf(x, 0), 2*math.Copysign(1, x), clipped(0, x))
			}
		}),
		mechanism("the last record is not clipped", "one place", plain, func(m *sum) {
			m.clip = func(i int, x float64) float64 {
				return either(i == 1 && !math.IsNaN(x), max(-10, min(10, x)), clipped(0, x))
			}
		}),
		mechanism("clip 5% too wide", "5%", plain, func(m *sum) {
			m.clip = func(_ int, x float64) float64 {
				return either(math.IsNaN(x), 0, max(-1.05, min(x, 1.05)))
			}
		}),
		mechanism("NaN counts as 3", "NaN", plain, func(m *sum) {
			m.clip = func(_ int, x float64) float64 {
				return either(math.IsNaN(x), 3, clipped(0, x))
			}
		}),
		mechanism("−Inf gives NaN", "NaN", plain, func(m *sum) {
			m.clip = func(_ int, x float64) float64 {
				return either(math.IsInf(x, -1), math.NaN(), clipped(0, x))
			}
		}),
		mechanism("an error for NaN", "error", bare, func(m *sum) {
			m.check = func(r curator.Records) error {
				for _, x := range r.X {
					if math.IsNaN(x) {
						return errors.New("a record is NaN")
					}
				}
				return nil
			}
		}),
		mechanism("a panic for huge records", "panic", bare, func(m *sum) {
			m.check = func(r curator.Records) error {
				for _, x := range r.X {
					if x > 1e200 {
						panic(fmt.Sprint(x))
					}
				}
				return nil
			}
		}),
		mechanism("sorts its records", "writes", bare, func(m *sum) {
			m.check = func(r curator.Records) error {
				slices.Sort(r.X)
				return nil
			}
		}),
		mechanism("claims less from the second call on", "half", bare, func(m *sum) {
			m.check = func(curator.Records) error {
				m.claim = gaussian(2)
				return nil
			}
		}),
		mechanism("price of add/remove", "half the sensitivity", plain, func(m *sum) { m.claim = gaussian(2) }),
		mechanism("price 5% too low", "5%", plain, func(m *sum) { m.claim = gaussian(1.05) }),
		mechanism("price 10% too low", "10%", bare, func(m *sum) { m.claim = gaussian(1.1) }),
	}
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
