package planted

import (
	"math"
	"math/rand/v2"
	"sync/atomic"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
)

func fourthKernels() []Case {
	return []Case{
		flawed("last half step is a whole one", "h/2", true, flaws{wholeKick: true}),
		flawed("momentum not refreshed after a refusal", "kept", true, flaws{kept: true}),
		flawed("gradient of the end before", "stale", true, flaws{stale: true}),
		flawed("momentum drawn with the inverse mass", "½ for 2", true, flaws{inverse: true}),
		flawed("noise of the ratio not corrected for", "0.5", true, flaws{noPenalty: true}),
		flawed("no prior ratio below 0", "one branch", true, flaws{somePrior: true}),
		flawed("ends where the trajectory turns", "no reverse", true, flaws{turns: true}),
		flawed("half the step where the gradient is large", "beyond 5", true, flaws{timid: true}),
		flawed("draws from a generator of its own", "one seed", true, flaws{ownSeed: true}),
		flawed("momentum refreshed with 1 − α", "α = 0.7", true, flaws{persistence: 0.7, coefficient: true}),
		flawed("Recall forgets the momentum", "resumed chains", false, flaws{persistence: 0.7, forgets: true}),
		flawed("scale of the first steps by the largest record", "ten steps", false, flaws{warm: true}),
		sampled("a second, shorter try after a refusal", "uncorrected", true, delayed),
		moves("moves the larger coordinate", "by the state", func(_ *chain, _ *rand.Rand, theta, next []float64) {
			if math.Abs(theta[0]) > math.Abs(theta[1]) {
				next[1] = theta[1]
			} else {
				next[0] = theta[0]
			}
		}),
		diffusion("preconditioner multiplies drift and noise alike", "1.2", hooks{
			drift: func(_ *chain, _, g []float64) { g[0] *= 1.2 },
			noise: func(_ *chain, _ *rand.Rand, _, z []float64) { z[0] *= 1.2 }}),
	}
}

func fourthKernelControls() []Case {
	return []Case{flawed("trajectory", "", true, flaws{}),
		flawed("trajectory with persistence", "", true, flaws{persistence: 0.7})}
}

func fifthKernels() []Case {
	var apart [2]float64 // of the proposal from the law's middle
	return []Case{
		flawed("gradient of the prior where the trajectory began", "stale", true, flaws{oldPrior: true}),
		flawed("the step's scale and the test from one number", "±20%", true, flaws{jitter: true}),
		flawed("counts one gradient for four", "Info", false, flaws{miscounts: true}),
		flawed("momentum not reversed after a refusal", "0.7", true, flaws{persistence: 0.7, noFlip: true}),
		flawed("generator by the iteration", "one seed", true, flaws{byIteration: true}),
		byIteration("first step accepted", "iteration 0", func(iteration int64, k *chain, rng *rand.Rand, s *kernels.State) {
			if iteration == 1 {
				for j := range s.Theta {
					s.Theta[j] = k.before[j] + step*rng.NormFloat64()
				}
			}
		}),
		hooked("proposals of the law, corrected for a narrower one", "1 in 5, sd 10%", asked{}, hooks{
			propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				apart = [2]float64{}
				if rng.IntN(5) == 0 {
					for j := range next {
						next[j] = center[j] + 1.1*sd*rng.NormFloat64()
						a, b := next[j]-center[j], theta[j]-center[j]
						apart[0] += (a*a - b*b) * precision / 2
					}
				}
			},
			public: func(_ *chain, _, _ []float64, r float64) float64 { return r + apart[0] }}),
		byIteration("goes to a draw of the prior", "every 777 steps", func(iteration int64, _ *chain, rng *rand.Rand,
			s *kernels.State) {
			if iteration%777 == 0 {
				s.Theta[0], s.Theta[1] = rng.NormFloat64(), rng.NormFloat64()
			}
		}),
		hooked("direct and reverse swapped uphill of the prior", "sign", asked{}, hooks{
			public: func(_ *chain, _, _ []float64, r float64) float64 { return -math.Abs(r) }}),
		sampled("one coordinate in two, twice as often the first", "scan by the last answer", true,
			func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
				return newChain(c, steps, true, false, hooks{
					propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
						if theta[0] > center[0] && rng.IntN(3) > 0 {
							next[1] = theta[1]
						} else {
							next[0] = theta[0]
						}
					}})
			}),
	}
}

func sixthKernels() []Case {
	var made atomic.Int64
	return []Case{
		walk("every second kernel shifts its proposals", "10% of their sd", func() hooks {
			if made.Add(1)%2 == 0 {
				return hooks{}
			}
			return hooks{propose: func(_ *chain, _ *rand.Rand, _, next []float64) { next[0] += 0.1 * step }}
		}),
		moves("a parameter that is 0 stays 0", "the second at the start",
			func(_ *chain, _ *rand.Rand, theta, next []float64) {
				if theta[1] == 0 {
					next[1] = 0
				}
			}),
		flawed("first half step is short", "5%", true, flaws{shortKick: true}),
		moves("the prior is tested twice now and then", "1 in 5", func(k *chain, rng *rand.Rand, theta, next []float64) {
			if rng.IntN(5) == 0 && math.Log(rng.Float64()) > k.target.LogPrior(next)-k.target.LogPrior(theta) {
				copy(next, theta)
			}
		}),
		walk("scale adapts during the first twenty steps", "10% an answer", func() hooks {
			scale := 1.0
			return hooks{
				init: func(k *chain, theta []float64) (*kernels.State, error) {
					scale = 1
					return kernels.NewState(k.target, theta)
				},
				propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
					for j, t := range theta {
						next[j] = t + scale*(next[j]-t)
					}
				},
				after: func(_ *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
					switch {
					case s.Iteration > 20:
					case info.Accepted:
						scale *= 1.1
					default:
						scale /= 1.1
					}
				}}
		}),
		flawed("remembers the largest record", "Keep", false, flaws{persistence: 0.7, tells: true}),
		tells("Gradients counts a negative record", "from step 200 on",
			func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
				if s.Iteration > 200 && k.spy.last < -3 {
					info.Gradients++
				}
			}),
		flawed("momentum cut off", "at 2 sd", true, flaws{cut: true}),
		flawed("half the noise of the ratio corrected for", "σ²/4", true, flaws{halfPenalty: true}),
		byIteration("mirrored through a point beside the center", "0.1 sd, 1 in 20", func(_ int64, _ *chain, rng *rand.Rand,
			s *kernels.State) {
			if rng.IntN(20) == 0 {
				for j := range s.Theta {
					s.Theta[j] = 2*(center[j]+0.1*sd) - s.Theta[j]
				}
			}
		}),
		diffusion("noise repeated at every tenth step", "repeat", hooks{
			noise: func(k *chain, _ *rand.Rand, _, z []float64) {
				if k.steps%10 == 0 {
					copy(z, k.last)
				}
				copy(k.last, z)
			}}),
		wideWalk("the last of ten parameters shifted", "5% of its sd", 10,
			func(_, next []float64) { next[9] += 0.05 * wideStep }),
	}
}

func seventhKernels() []Case {
	return []Case{
		hooked("no prior ratio where the first parameter falls", "one direction", asked{}, hooks{
			public: func(_ *chain, theta, next []float64, r float64) float64 {
				return either(next[0] < theta[0], 0, r)
			}}),
		walk("the second chain of a kernel shifts its proposals", "10% of their sd", func() hooks {
			begun := 0
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				begun++
				return kernels.NewState(k.target, theta)
			}, propose: func(_ *chain, _ *rand.Rand, _, next []float64) { next[0] += either(begun > 1, 0.1*step, 0) }}
		}),
		hooked("autoregressive with short noise", "3%", asked{}, hooks{
			propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] = 0.9*t + 0.97*math.Sqrt(1-0.9*0.9)*(next[j]-t)/step
				}
			}, public: func(_ *chain, _, _ []float64, _ float64) float64 { return 0 }}),
		walk("a refused proposal is tried again", "1 in 10", func() hooks {
			tried := [2]float64{math.NaN()}
			return hooks{propose: func(_ *chain, rng *rand.Rand, _, next []float64) {
				if rng.IntN(10) == 0 && !math.IsNaN(tried[0]) {
					copy(next, tried[:])
				}
			}, accept: func(_ *chain, _ *rand.Rand, _, next []float64, accepted bool) bool {
				if tried = [2]float64(next); accepted {
					tried[0] = math.NaN()
				}
				return accepted
			}}
		}),
		hooked("a little noise after accepted moves", "0.08 sd", asked{}, hooks{
			after: func(_ *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info) {
				if info.Accepted {
					s.Theta[1] += 0.08 * sd * rng.NormFloat64()
				}
			}}),
		hooked("Init rounds the start", "to thousandths", asked{}, hooks{
			init: func(k *chain, theta []float64) (*kernels.State, error) {
				s, err := kernels.NewState(k.target, theta)
				for j := range theta {
					s.Theta[j] = math.Round(theta[j]*1000) / 1000
				}
				return s, err
			}}),
		tells("StepSize for records of some size", "30 to 40, 10⁻⁹",
			func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				info.StepSize += either(k.spy.last > 30 && k.spy.last < 40, 1e-9, 0)
			}),
		kernelCase("Cost too low from ten records on", "half",
			func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
				return newChain(c, steps, true, false, hooks{})
			}, func(o *proptest.KernelOptions) {
				o.Cost = func(f curator.Facts) (accountant.Event, error) {
					return curator.AcceptanceBit{Target: posteriors.StandardMean(),
						Clip: either(f.Records < 10, walkClip, walkClip/2)}.Event(f)
				}
			}),
		flawed("a leap fewer from one half of the law", "3 for 2", true, flaws{uneven: true}),
		flawed("kinetic energy of larger masses", "5%", true, flaws{heavy: true}),
		diffusion("step by the state without its divergence", "±5%", hooks{
			drift: func(_ *chain, theta, g []float64) { g[0] *= 1 + 0.05*math.Tanh(normalised(theta, 0)) },
			noise: func(_ *chain, _ *rand.Rand, theta, z []float64) {
				z[0] *= math.Sqrt(1 + 0.05*math.Tanh(normalised(theta, 0)))
			}}),
		diffusion("noise too small near the middle", "3% within one sd", hooks{
			noise: func(_ *chain, _ *rand.Rand, theta, z []float64) {
				if math.Hypot(normalised(theta, 0), normalised(theta, 1)) < 1 {
					z[0], z[1] = 0.97*z[0], 0.97*z[1]
				}
			}}),
		wideWalk("the only parameter shifted", "4% of its sd", 1, func(_, next []float64) { next[0] += 0.04 * wideStep }),
		wideWalk("the third of ten moves too long upwards", "10%", 10, func(theta, next []float64) {
			next[2] += either(next[2] > theta[2], 0.1*(next[2]-theta[2]), 0)
		}),
	}
}

func eighthKernels() []Case {
	return []Case{
		hooked("one parameter drawn from the prior now and then", "1 in 50", asked{}, hooks{
			after: func(_ *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info) {
				if rng.IntN(50) == 0 {
					s.Theta[1], info.Accepted = rng.NormFloat64(), true
				}
			}}),
		flawed("momentum drawn short", "2%", true, flaws{faint: true}),
		diffusion("drift of one parameter has some of the other's", "2%", hooks{
			drift: func(_ *chain, _, g []float64) { g[0] += 0.02 * g[1] }}),
		wideWalk("all of ten moves wider above zero of the third", "5%", 10, func(theta, next []float64) {
			for j, t := range theta {
				next[j] += either(theta[2] > 0, 0.05*(next[j]-t), 0)
			}
		}),
		tells("StepSize late for records beyond 5", "from step 2000 on",
			func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
				info.StepSize += either(s.Iteration > 2000 && k.spy.last > 5, 1e-9, 0)
			}),
	}
}
