package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
)

func conformanceDefects() []Case {
	var junk []byte
	return []Case{
		tells("allocates rarely", "1 in 1000 steps", func(_ *chain, rng *rand.Rand, _ *kernels.State, _ *kernels.Info) {
			if rng.IntN(1000) == 0 {
				junk = make([]byte, 100)
			}
		}),
		tells("allocates", "every 50 steps", func(k *chain, _ *rand.Rand, _ *kernels.State, _ *kernels.Info) {
			if k.steps%50 == 0 {
				junk = make([]byte, 100+len(junk)%2)
			}
		}),
		tells("says Accepted always", "all",
			func(_ *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) { info.Accepted = true }),
		tells("says Accepted never", "all",
			func(_ *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) { info.Accepted = false }),
		tells("forgets to say Accepted", "1 in 500", func(_ *chain, rng *rand.Rand, _ *kernels.State, info *kernels.Info) {
			if rng.IntN(500) == 0 {
				info.Accepted = false
			}
		}),
		tells("skips an iteration", "step 50", func(k *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
			if k.steps == 50 {
				s.Iteration++
			}
		}),
		tells("StepSize NaN", "1 in 300", func(_ *chain, rng *rand.Rand, _ *kernels.State, info *kernels.Info) {
			if rng.IntN(300) == 0 {
				info.StepSize = math.NaN()
			}
		}),
		tells("state NaN", "1 in 1000", func(_ *chain, rng *rand.Rand, s *kernels.State, _ *kernels.Info) {
			if rng.IntN(1000) == 0 {
				s.Theta[0] = math.NaN()
			}
		}),
		hooked("an error moves the state", "last step", asked{noLaw: true}, hooks{fail: func(_ *chain, s *kernels.State,
			err error) (kernels.Info, error) {
			s.Theta[1] += 1e-9
			return kernels.Info{}, err
		}}),
		hooked("an error counts", "last step", asked{noLaw: true}, hooks{
			fail: func(_ *chain, s *kernels.State, err error) (kernels.Info, error) {
				s.Iteration++
				return kernels.Info{}, err
			}}),
		hooked("goes on when spent", "last step", asked{noLaw: true}, hooks{
			fail: func(*chain, *kernels.State, error) (kernels.Info, error) { return kernels.Info{}, nil }}),
		hooked("Left one too many", "1", asked{noLaw: true}, hooks{
			left: func(_ *chain, left int64) int64 { return left + 1 }}),
		hooked("a name with a space", "", asked{noLaw: true}, hooks{name: "my walk"}),
		hooked("Init keeps the slice", "", asked{noLaw: true}, hooks{
			init: func(k *chain, theta []float64) (*kernels.State, error) {
				s, err := kernels.NewState(k.target, theta)
				if err == nil {
					s.Theta = theta
				}
				return s, err
			}}),
		hooked("Init accepts −Inf", "", asked{noLaw: true}, hooks{
			init: func(k *chain, theta []float64) (*kernels.State, error) {
				if len(theta) == 2 && math.IsInf(theta[1], -1) {
					return &kernels.State{Theta: slices.Clone(theta)}, nil
				}
				return kernels.NewState(k.target, theta)
			}}),
		hooked("breaks far away", "10⁸", asked{noLaw: true}, hooks{
			propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				if math.Abs(theta[0]) > 1e6 {
					panic("far")
				}
			}}),
		kernelCase("takes a grant that was refused", "no error",
			func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
				k, _ := newChain(c, steps, true, true, hooks{})
				return k, nil
			}, func(*proptest.KernelOptions) {}),
	}
}

// lastOfTwo makes two moves a step.
func lastOfTwo(right bool) proptest.Factory {
	return func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, 2*steps)
		next := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() / 2 },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				before := false
				for i := range 2 {
					for j, t := range s.Theta {
						next[j] = t + step*rng.NormFloat64()
					}
					info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
					if err != nil || i == 1 {
						info.Accepted = info.Accepted || right && before
						return info, err
					}
					before = info.Accepted
				}
				return kernels.Info{}, nil
			}}, err
	}
}

// idle is a walk that moves at some iterations only.
func idle(name, effect string, moves func(iteration int64) bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		return asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			accepted, err := bits.Accept(next, s.Theta, priorRatio(target, next, s.Theta))
			if accepted = accepted && moves(s.Iteration); accepted {
				copy(s.Theta, next)
			}
			return kernels.Info{Accepted: accepted, StepSize: step}, err
		})
	})
}
