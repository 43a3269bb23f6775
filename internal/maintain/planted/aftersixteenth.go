package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// afterSixteenth are of kinds that no family had, of all three suites.
func afterSixteenth() []Case {
	return inFamily("after the sixteenth", []Case{
		ofResponses("responses beyond 20 are clipped later", "at 1.5", func(y float64) float64 {
			return clipped(0, y) * either(math.Abs(y) > 20, 1.5, 1)
		}, sdOf2),
		ofResponses("a missing response takes noise with it", "half", clippedResponse, func(y []float64) float64 {
			return noiseSD * either(slices.ContainsFunc(y, math.IsNaN), 0.5, 1)
		}),
		kernel("", "Init rounds the caller's start in place", "to thousandths", asked{}, func() hooks {
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				s, err := kernels.NewState(k.target, theta)
				if err == nil {
					theta[0] = math.Round(theta[0]*1000) / 1000
					copy(s.Theta, theta)
				}
				return s, err
			}}
		}),
		kernel("", "pays again at step 300", "one release", asked{noLaw: true}, func() hooks {
			return hooks{after: func(k *chain, _ *rand.Rand, _ *kernels.State, _ *kernels.Info) {
				if k.steps == 300 {
					if _, err := curator.Charge(k.desk, curator.AcceptanceBit{Target: k.target, Clip: walkClip}, 1); err != nil {
						panic(err)
					}
				}
			}}
		}),
		fourth("a move onto the record has no ratio", "θ′ = x", nil, ratioed(
			func(_, next, x []float64, _, r float64) float64 { return either(slices.Equal(next, x), 0, r) })),
	})
}
