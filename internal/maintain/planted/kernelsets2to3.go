package planted

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
)

func secondKernels() []Case {
	noise := func(name, effect string, f func(k *chain, rng *rand.Rand, theta, z []float64)) Case {
		return diffusion(name, effect, hooks{noise: f})
	}
	out := func(t []float64) bool { return t[0] > center[0]+sd && t[1] > center[1]+sd }
	return []Case{
		hooked("refuses to leave a corner", "1 in 10", asked{}, hooks{
			accept: func(_ *chain, rng *rand.Rand, theta, next []float64, a bool) bool {
				return a && !(out(theta) && !out(next) && rng.IntN(10) == 0)
			}}),
		hooked("Jacobian of a stretch clamped", "at 0.5", asked{}, hooks{
			propose: func(k *chain, rng *rand.Rand, theta, next []float64) {
				by := math.Exp(0.3 * rng.NormFloat64())
				k.last[0] = max(-0.5, min(2*math.Log(by), 0.5))
				for j, t := range theta {
					next[j] = center[j] + by*(t-center[j])
				}
			},
			public: func(k *chain, _, _ []float64, r float64) float64 { return r + k.last[0] }}),
		noise("noise too small at even iterations", "5%", func(k *chain, _ *rand.Rand, _, z []float64) {
			z[0] *= either(k.steps%2 == 0, 0.95, 1)
		}),
		hooked("accepts after three refusals", "always", asked{}, hooks{
			accept: func(k *chain, _ *rand.Rand, _, _ []float64, a bool) bool {
				if k.last[0]++; a || k.last[0] > 3 {
					k.last[0] = 0
					return true
				}
				return false
			}}),
		noise("one noise by the other's state", "3% below the median", func(_ *chain, _ *rand.Rand, theta, z []float64) {
			z[1] *= either(theta[0] < center[0], 1.03, 1)
		}),
		tells("StepSize of the first step", "10⁻⁶", func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
			info.StepSize += either(k.steps == 1 && k.spy.last > 1, 1e-6, 0)
		}),
		tells("draws once more for a negative record", "1 in 1000",
			func(k *chain, rng *rand.Rand, _ *kernels.State, _ *kernels.Info) {
				if rng.IntN(1000) == 0 && k.spy.last < 0 {
					rng.Uint64()
				}
			}),
		tells("Info for two numbers beyond 10⁶", "pairs", func(k *chain, _ *rand.Rand, _ *kernels.State,
			info *kernels.Info) {
			info.StepSize /= either(k.spy.huge > 1, 2, 1)
		}),
		kernelCase("a step more is charged than shown", "one release",
			func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
				return newChain(c, steps+1, true, true, hooks{
					left: func(_ *chain, left int64) int64 { return left - 1 },
					refuse: func(k *chain, _ *kernels.State) error {
						if k.bits.Left() <= 1 {
							return errors.New("no release is left")
						}
						return nil
					}})
			}, func(o *proptest.KernelOptions) { o.Cost = costOf(func() float64 { return walkClip }) }),
		hooked("fails twice, then goes on", "spent", asked{noLaw: true}, hooks{
			fail: func(k *chain, _ *kernels.State, err error) (kernels.Info, error) {
				if k.last[1]++; k.last[1] > 2 {
					err = nil
				}
				return kernels.Info{}, err
			}}),
		hooked("Init cuts a start that is too long", "three numbers", asked{noLaw: true}, hooks{
			init: func(k *chain, theta []float64) (*kernels.State, error) {
				return kernels.NewState(k.target, theta[:min(len(theta), 2)])
			}}),
		noise("noise from a table", "64 values", func(k *chain, _ *rand.Rand, _, z []float64) {
			u := math.Mod(float64(k.steps%64)*0.618034+0.5/64, 1)
			z[0] = math.Sqrt2 * math.Erfinv(2*u-1)
		}),
		hooked("steps upwards too long, downwards too short", "3%", asked{transition: true}, hooks{
			propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				next[0] = theta[0] + (next[0]-theta[0])*(1+math.Copysign(0.03, next[0]-theta[0]))
			}}),
		moves("long moves upwards turn round", "half of those beyond 2 sd",
			func(_ *chain, rng *rand.Rand, theta, next []float64) {
				if by := next[0] - theta[0]; by > 2*step && rng.IntN(2) == 0 {
					next[0] = theta[0] - by
				}
			}),
	}
}

func thirdKernels() []Case {
	right := func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return newChain(c, steps, true, false, hooks{})
	}
	return []Case{
		kernelCase("Cost falls from one call to the next", "half", right, func(o *proptest.KernelOptions) {
			calls := 0.0
			o.Cost = costOf(func() float64 { calls++; return walkClip / calls })
		}),
		kernelCase("pays twice for chains beyond 100 steps", "×2",
			func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
				if steps > 100 {
					if _, err := right(c, steps); err != nil {
						return nil, err
					}
				}
				return right(c, steps)
			}, func(o *proptest.KernelOptions) { o.Cost = costOf(func() float64 { return walkClip }) }),
		moves("wide steps now and then, by the state's sign", "1 in 50, ×4",
			func(_ *chain, rng *rand.Rand, theta, next []float64) {
				if theta[1] > center[1] && rng.IntN(50) == 0 {
					next[1] = theta[1] + 4*(next[1]-theta[1])
				}
			}),
	}
}
