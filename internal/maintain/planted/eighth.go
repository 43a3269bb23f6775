package planted

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named eighth were written after the suites were changed for the seventh, as those.

func eighthTargets() []Case {
	return []Case{
		grown("gradient where both parameters are large in order", "1%", nil, huberOf(2), func(g, theta, _ []float64,
			_ float64) {
			g[0] *= either(theta[0] > 1.5 && theta[1] > theta[0], 1.01, 1)
		}),
		ownTarget("ratio of moves of the last of twelve alone", "1%", nil, func() targets.Target {
			m := robust(12, 1.5)
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				v := m.loss(theta, x, y) - m.loss(next, x, y)
				v *= either(moved(theta[:11], next[:11]) == 0, 1.01, 1)
				return v
			}
			return m
		}),
		ownTarget("the second of four draws has heavier tails", "Student, 12 degrees", nil,
			drawnFrom(4, func(t []float64, rng *rand.Rand) { t[1] *= heavier(rng, 12) })),
		ownTarget("losses kept by θ and the rows' address", "stale", nil, func() targets.Target {
			m := robust(2, 1.5)
			var lock sync.Mutex
			var at *float64
			var theta, kept [2]float64
			right := m.loss
			m.loss = func(t, x []float64, y float64) float64 {
				lock.Lock()
				defer lock.Unlock()
				if at != &x[0] || theta != [2]float64(t) {
					at, theta, kept = &x[0], [2]float64(t), [2]float64(x)
				}
				return right(t, kept[:], y)
			}
			return m
		}),
		ownTarget("RatioBound of moves that end far and change a sign", "1.5% low", nil, func() targets.Target {
			return bounded{robust(2, 1.5), func(theta, next []float64, radius float64) float64 {
				crossing := theta[0]*next[0] < 0 && max(math.Abs(next[0]), math.Abs(theta[0])) > 2
				return slope(radius) * moved(theta, next) * either(crossing, 0.985, 1)
			}, slope}
		}),
	}
}

func eighthKernels() []Case {
	return []Case{
		kernel("one parameter drawn from the prior now and then", "1 in 50", asked{}, func() hooks {
			return hooks{after: func(_ *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info) {
				if rng.IntN(50) == 0 {
					s.Theta[1], info.Accepted = rng.NormFloat64(), true
				}
			}}
		}),
		flawed("momentum drawn short", "2%", true, flaws{faint: true}),
		kernel("drift of one parameter has some of the other's", "2%", asked{langevin: true}, func() hooks {
			return hooks{drift: func(_ *chain, _, g []float64) { g[0] += 0.02 * g[1] }}
		}),
		wideWalk("all of ten moves wider above zero of the third", "5%", 10, func(theta, next []float64) {
			for j, t := range theta {
				next[j] += either(theta[2] > 0, 0.05*(next[j]-t), 0)
			}
		}),
		kernel("StepSize late for records beyond 5", "from step 2000 on", asked{noLaw: true}, func() hooks {
			return hooks{after: func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
				info.StepSize += either(s.Iteration > 2000 && k.spy.last > 5, 1e-9, 0)
			}}
		}),
	}
}

func eighthMechanisms() []Case {
	return []Case{
		mechanism("noise too small", "3%", bare, func(m *sum) {
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 { return 0.97 * noiseSD * rng.NormFloat64() }
		}),
		mechanism("the third noise is too small", "5%", form{"of three numbers, not additive", 3, 0, true}, func(m *sum) {
			at := 0
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				at++
				return noiseSD * either(at%3 == 0, 0.95, 1) * rng.NormFloat64()
			}
		}),
		mechanismCase("the truth more often", "2%", response(func(truth int, rng *rand.Rand) int {
			if rng.IntN(50) == 0 {
				return truth
			}
			return (truth + 1 + rng.IntN(3)) % 4
		}), 1, []float64{0, 1}, []float64{1, 1}),
		mechanismCase("noise follows the clipped first record", "±3%", answers{claim: gaussian(1),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				return []float64{clip1(x) + noiseSD*(1+0.03*clipped(0, x[0]))*rng.NormFloat64()}
			})}, 1, plus, minus),
	}
}
