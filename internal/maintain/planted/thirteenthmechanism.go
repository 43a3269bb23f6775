package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// searched looks for a median by three noisy counts, each of which chooses the next.
func searched(scale float64) answers {
	return answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			low, high := -1.0, 1.0
			for range 3 {
				middle, below := (low+high)/2, 0.0
				for i, v := range x {
					below += either(clipped(i, v) < middle, 1, 0)
				}
				if below+laplace(rng, scale) > float64(len(x))/2 {
					high = middle
				} else {
					low = middle
				}
			}
			return []float64{(low + high) / 2}
		})}
}

// stable releases the noisy count of records above 0 if it is beyond a threshold.
func stable(threshold float64, claim accountant.Event) answers {
	return answers{claim: claim, begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		count := 0.0
		for _, v := range x {
			count += either(v > 0, 1, 0)
		}
		noisy := count + laplace(rng, 1)
		return []float64{either(count > 0 && noisy > threshold, noisy, 0)}
	})}
}

// within is a sum with Laplace noise that is made to end between −3 and 3.
func within(bring func(draw func() float64) float64) answers {
	return answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			total := clip1(x)
			return []float64{bring(func() float64 { return total + laplace(rng, 2) })}
		})}
}

func thirteenthMechanisms() []Case {
	five := []float64{1, 0.3, -0.2, 0.5, -1}
	other := []float64{-1, 0.3, -0.2, 0.5, -1}
	return []Case{
		one("three counts that cost ε 0.5 each", "ε 1.5 for 1", searched(2), five, other),
		one("a sample is drawn once for all releases of a call", "one sample", batches(func(x []float64,
			rng *rand.Rand) func() []float64 {
			in := make([]bool, len(x))
			for i := range in {
				in[i] = rng.IntN(2) == 0
			}
			return func() []float64 {
				return []float64{batched(x, func(i int) bool { return in[i] }) + rng.NormFloat64()}
			}
		}), []float64{1, -1, -1, -1}, []float64{-1, -1, -1}),
		one("a threshold as if it cost nothing", "δ 0.003 at 6", stable(6, event(accountant.Pure(accountant.AddRemove, 1))),
			[]float64{1, -1}, []float64{-1}),
		one("noise drawn again until the release is plausible", "ε 1.17 for 1", within(func(draw func() float64) float64 {
			v := draw()
			for tries := 0; math.Abs(v) > 3 && tries < 20; tries++ {
				v = draw()
			}
			return v
		}), five, other),
		mechanism("negative records are clipped later", "at −1.06", bare, func(m *sum) {
			m.clip = func(_ int, x float64) float64 { return either(math.IsNaN(x), 0, max(-1.06, min(x, 1))) }
		}),
		mechanism("each call has a scale of its own", "±6%", plain, func(m *sum) {
			m.noise = func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
				if i == 0 {
					m.kept = []float64{0.94 + 0.12*rng.Float64()}
				}
				return m.kept[0] * noiseSD * rng.NormFloat64()
			}
		}),
		mechanism("a buffer of the noise ends one too early", "1 in 64", wide, func(m *sum) {
			n := 0
			m.noise = func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				if m.kept == nil {
					m.kept, n = []float64{0}, 0
				}
				if n++; n%64 == 0 {
					return m.kept[0]
				}
				m.kept[0] = noiseSD * rng.NormFloat64()
				return m.kept[0]
			}
		}),
	}
}

func thirteenthMechanismControls() []Case {
	five := []float64{1, 0.3, -0.2, 0.5, -1}
	other := []float64{-1, 0.3, -0.2, 0.5, -1}
	return []Case{
		one("three counts", "", searched(3), five, other),
		one("a stable count", "", stable(15, event(accountant.Approximate(accountant.AddRemove, 1, 1e-6))),
			[]float64{1, -1}, []float64{-1}),
		one("a release cut off at what is plausible", "", within(func(draw func() float64) float64 {
			return max(-3, min(draw(), 3))
		}), five, other),
	}
}
