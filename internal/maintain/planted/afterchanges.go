package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

func afterSixteenthMechanisms() []Case {
	return []Case{
		ofResponses("responses beyond 20 are clipped later", "at 1.5", func(y float64) float64 {
			return clipped(0, y) * either(math.Abs(y) > 20, 1.5, 1)
		}, sdOf2),
		ofResponses("a missing response takes noise with it", "half", clippedResponse, func(y []float64) float64 {
			return noiseSD * either(slices.ContainsFunc(y, math.IsNaN), 0.5, 1)
		}),
	}
}

func afterSixteenthKernels() []Case {
	return []Case{
		kernel("Init rounds the caller's start in place", "to thousandths", asked{}, func() hooks {
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				s, err := kernels.NewState(k.target, theta)
				if err == nil {
					theta[0] = math.Round(theta[0]*1000) / 1000
					copy(s.Theta, theta)
				}
				return s, err
			}}
		}),
		kernel("pays again at step 300", "one release", asked{noLaw: true}, func() hooks {
			return hooks{after: func(k *chain, _ *rand.Rand, _ *kernels.State, _ *kernels.Info) {
				if k.steps == 300 {
					if _, err := curator.Charge(k.desk, curator.AcceptanceBit{Target: k.target, Clip: walkClip}, 1); err != nil {
						panic(err)
					}
				}
			}}
		}),
	}
}

func afterSixteenthTargets() []Case {
	return []Case{
		ownTarget("a move onto the record has no ratio", "θ′ = x", nil, ratioed(
			func(_, next, x []float64, _, r float64) float64 { return either(slices.Equal(next, x), 0, r) })),
	}
}

func afterSeventeenthMechanisms() []Case {
	return []Case{
		mechanism("seeds are taken modulo a prime", "2³¹ − 1", plain, func(m *sum) {
			m.seeds = func(seed uint64) uint64 { return seed % (1<<31 - 1) }
		}),
		mechanism("seeds lose their sign", "−1 is 1", plain, func(m *sum) {
			m.seeds = func(seed uint64) uint64 { return min(seed, -seed) }
		}),
		gone("a total that comes and goes, in single precision", "6·10⁻⁸", shared{answers{
			claim: additions().claim, begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				return []float64{float64(float32(clip1(x))) + noiseSD*rng.NormFloat64()}
			})}, 1}),
	}
}

func afterSeventeenthKernels() []Case {
	return []Case{
		kernel("Init gives one State again and again", "shared", asked{}, func() hooks {
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
	}
}

func afterSeventeenthTargets() []Case {
	return []Case{
		target("a missing response is 0, but not in SlopeAt", "NaN", withoutResponse(huber), func(p *planted) {
			p.slopeAt = func(eta, y, _ float64) float64 { return huber.slope(eta, y) }
		}),
	}
}

func afterSeventeenthTargetControls() []Case {
	return []Case{
		target("a missing response is 0", "", withoutResponse(huber), func(*planted) {}),
	}
}

func afterSeventeenthMechanismControls() []Case {
	return []Case{
		gone("a total that comes and goes", "", shared{answers{claim: additions().claim,
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				return []float64{clip1(x) + noiseSD*rng.NormFloat64()}
			})}, 1}),
	}
}

// withoutResponse takes missing responses for 0.
func withoutResponse(m model) model {
	loss, slope := m.loss, m.slope
	m.loss = func(eta, y float64) float64 { return loss(eta, either(math.IsNaN(y), 0, y)) }
	m.slope = func(eta, y float64) float64 { return slope(eta, either(math.IsNaN(y), 0, y)) }
	return m
}
