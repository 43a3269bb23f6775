package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// afterSeventeenth are of kinds that no family had, of all three suites.
func afterSeventeenth() []Case {
	return inFamily("after the seventeenth", []Case{
		mechanism("", "seeds are taken modulo a prime", "2³¹ − 1", plain, func(m *sum) {
			m.seeds = func(seed uint64) uint64 { return seed % (1<<31 - 1) }
		}),
		mechanism("", "seeds lose their sign", "−1 is 1", plain, func(m *sum) {
			m.seeds = func(seed uint64) uint64 { return min(seed, -seed) }
		}),
		gone("a total that comes and goes, in single precision", "6·10⁻⁸", shared{answers{
			claim: additions().claim, begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				return []float64{float64(float32(clip1(x))) + noiseSD*rng.NormFloat64()}
			})}, 1}),
		kernel("", "Init gives one State again and again", "shared", asked{}, func() hooks {
			var one *kernels.State
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				s, err := kernels.NewState(k.target, theta)
				if err != nil || one == nil {
					one = s
					return s, err
				}
				copy(one.Theta, theta)
				one.Iteration = 0
				return one, nil
			}}
		}),
		target("", "a missing response is 0, but not in SlopeAt", "NaN", withoutResponse(huber), func(p *planted) {
			p.slopeAt = func(eta, y, _ float64) float64 { return huber.slope(eta, y) }
		}),
	})
}

func afterSeventeenthControls() []Case {
	return inFamily("right", []Case{
		target("", "a missing response is 0", "", withoutResponse(huber), func(*planted) {}),
		gone("a total that comes and goes", "", shared{answers{claim: additions().claim,
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				return []float64{clip1(x) + noiseSD*rng.NormFloat64()}
			})}, 1}),
	})
}

// withoutResponse takes missing responses for 0.
func withoutResponse(m model) model {
	loss, slope := m.loss, m.slope
	m.loss = func(eta, y float64) float64 { return loss(eta, either(math.IsNaN(y), 0, y)) }
	m.slope = func(eta, y float64) float64 { return slope(eta, either(math.IsNaN(y), 0, y)) }
	return m
}
