package planted

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// unseenKernels were written before the suites were run on them.
func unseenKernels() []Case {
	after := func(name, effect string, f func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info)) Case {
		return hooked(name, effect, asked{}, hooks{after: f})
	}
	var shared atomic.Uint64 // by all chains of a process, as a package variable is
	return []Case{
		moves("multiplied by a lognormal, no Jacobian", "sd 0.3", func(_ *chain, rng *rand.Rand, theta, next []float64) {
			next[0] = theta[0] * math.Exp(0.3*rng.NormFloat64())
		}),
		hooked("Jacobian for positive values only", "θ₂ < 0", asked{}, hooks{
			propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				next[1] = theta[1] * math.Exp(0.3*rng.NormFloat64())
			},
			public: func(_ *chain, theta, next []float64, r float64) float64 {
				r += either(theta[1] > 0, math.Log(next[1]/theta[1]), 0)
				return r
			}}),
		moves("clamped to a box", "at 3 sd", func(_ *chain, _ *rand.Rand, _, next []float64) {
			next[0] = max(center[0]-3*sd, min(next[0], center[0]+3*sd))
		}),
		moves("autoregressive, no correction", "0.98", func(_ *chain, _ *rand.Rand, theta, next []float64) {
			next[1] += 0.02 * (center[1] - theta[1])
		}),
		moves("wider above the median", "5%", func(_ *chain, _ *rand.Rand, theta, next []float64) {
			if theta[0] > center[0] {
				next[0] = theta[0] + 1.05*(next[0]-theta[0])
			}
		}),
		moves("scale follows the last answer", "5%", func(k *chain, _ *rand.Rand, theta, next []float64) {
			by := 0.97
			if k.before[0] != theta[0] {
				by = 1.05
			}
			next[0] = theta[0] + by*(next[0]-theta[0])
		}),
		hooked("temperature of uphill moves", "1.1", asked{}, hooks{
			public: func(_ *chain, _, _ []float64, r float64) float64 {
				return either(r > 0, 1.1*r, r)
			}}),
		walk("log prior of the last chain's state", "kept over Init", func() hooks {
			var kept float64 // of the state, or of another chain's after Init
			return hooks{public: func(k *chain, theta, next []float64, r float64) float64 {
				if kept == 0 {
					kept = k.target.LogPrior(theta)
				}
				return k.target.LogPrior(next) - kept
			}, accept: func(k *chain, _ *rand.Rand, _, next []float64, a bool) bool {
				if a {
					kept = k.target.LogPrior(next)
				}
				return a
			}}
		}),
		hooked("prior ratio clamped", "at 0.2", asked{}, hooks{public: func(_ *chain, _, _ []float64, r float64) float64 {
			return max(-0.2, min(r, 0.2))
		}}),
		after("starts again", "1 in 1000", func(_ *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info) {
			if rng.IntN(1000) == 0 {
				s.Theta[0], s.Theta[1] = 1, 0
				info.Accepted = true
			}
		}),
		after("swaps the coordinates", "1 in 200", func(_ *chain, rng *rand.Rand, s *kernels.State,
			info *kernels.Info) {
			if rng.IntN(200) == 0 {
				s.Theta[0], s.Theta[1] = s.Theta[1]+center[0]-center[1]+0.1, s.Theta[0]+center[1]-center[0]
				info.Accepted = true
			}
		}),
		diffusion("gradient of the step before", "stale", hooks{drift: func(k *chain, _, g []float64) {
			for j := range g {
				g[j], k.last[j] = k.last[j], g[j]
			}
		}}),
		diffusion("gradient clipped in each coordinate", "at 5", hooks{drift: func(_ *chain, _, g []float64) {
			for j := range g {
				g[j] = max(-5, min(g[j], 5))
			}
		}}),
		diffusion("prior's gradient twice far out", "beyond 2 sd", hooks{drift: func(_ *chain, theta, g []float64) {
			for j, t := range theta {
				if math.Abs(t-center[j]) > 2*sd {
					g[j] -= t
				}
			}
		}}),
		diffusion("both coordinates share the noise's size", "|z₁| = |z₂|",
			hooks{noise: func(_ *chain, _ *rand.Rand, _, z []float64) { z[1] = math.Copysign(z[0], z[1]) }}),
		diffusion("noise of the drift's sign", "1%", hooks{noise: func(k *chain, rng *rand.Rand, _, z []float64) {
			if z[0]*k.grad[0] < 0 && rng.IntN(100) == 0 {
				z[0] = -z[0]
			}
		}}),
		tells("draws more when a record is large", "the public stream",
			func(k *chain, rng *rand.Rand, _ *kernels.State, _ *kernels.Info) {
				if k.spy.last > 2 {
					rng.Uint64()
				}
			}),
		tells("tells the time", "10⁻¹²", func(_ *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
			s.Theta[1] += either(info.Accepted, 1e-12*float64(time.Now().Nanosecond()), 0)
		}),
		tells("StepSize tells the sum's sign", "1 in 64", func(k *chain, _ *rand.Rand, s *kernels.State,
			info *kernels.Info) {
			if s.Iteration%64 == 63 && k.spy.last < 0 {
				info.StepSize = math.Nextafter(info.StepSize, 1)
			}
		}),
		tells("negative zero tells a record", "−0", func(k *chain, _ *rand.Rand, _ *kernels.State,
			info *kernels.Info) {
			info.StepSize = 0
			if k.spy.last > 1 {
				info.StepSize = math.Copysign(0, -1)
			}
		}),
		hooked("chains share the last move", "package variable", asked{noLaw: true}, hooks{
			propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				next[0] += 0.3 * math.Float64frombits(shared.Load())
				shared.Store(math.Float64bits(next[0] - theta[0]))
			}}),
		tells("the state's slice is replaced", "aliases the proposal",
			func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
				if info.Accepted {
					s.Theta = k.next
				}
			}),
	}
}

func freshKernels() []Case {
	stretch := func(rng *rand.Rand, theta, next []float64) {
		by := math.Exp(0.3 * rng.NormFloat64())
		for j, t := range theta {
			next[j] = center[j] + by*(t-center[j])
		}
	}
	distance := func(t []float64) float64 { return math.Hypot(t[0]-center[0], t[1]-center[1]) }
	return []Case{
		hooked("Jacobian of a stretch halved far out", "beyond 2 sd", asked{}, hooks{
			propose: func(k *chain, rng *rand.Rand, theta, next []float64) {
				if k.steps%2 == 0 {
					stretch(rng, theta, next)
					k.last[0] = 2 * math.Log(distance(next)/distance(theta))
					k.last[0] /= either(distance(theta) > 2*sd, 2, 1)
					return
				}
				k.last[0] = 0
			},
			public: func(k *chain, _, _ []float64, r float64) float64 { return r + k.last[0] }}),
		moves("shifted at every seventh iteration", "20% of its sd", func(k *chain, _ *rand.Rand, _, next []float64) {
			next[0] += either(k.steps%7 == 0, 0.2*step, 0)
		}),
		moves("shifted from its own step 20 000 on", "10% of its sd", func(k *chain, _ *rand.Rand, _, next []float64) {
			next[1] += either(k.steps > 20_000, 0.1*step, 0)
		}),
		hooked("prior of the first parameter only", "1/7 of one curvature", asked{}, hooks{
			public: func(_ *chain, theta, next []float64, _ float64) float64 {
				return (theta[0]*theta[0] - next[0]*next[0]) / 2
			}}),
		moves("now and then a draw of the prior, uncorrected", "1 in 20", func(_ *chain, rng *rand.Rand, _,
			next []float64) {
			if rng.IntN(20) == 0 {
				next[0], next[1] = rng.NormFloat64(), rng.NormFloat64()
			}
		}),
		hooked("prior ratio too small for long moves", "20% beyond 1", asked{}, hooks{
			public: func(_ *chain, theta, next []float64, r float64) float64 {
				return either(math.Hypot(next[0]-theta[0], next[1]-theta[1]) > 1, 0.8*r, r)
			}}),
		moves("scale adapts for ever", "±3% an answer", func(k *chain, _ *rand.Rand, theta, next []float64) {
			k.last[0] -= 0.01
			k.last[0] += either(k.before[0] != theta[0], 0.03, 0)
			by := math.Exp(max(-1, min(k.last[0], 1)))
			for j, t := range theta {
				next[j] = t + by*(next[j]-t)
			}
		}),
		hooked("says refused, and moves a little", "10⁻⁶", asked{}, hooks{
			after: func(_ *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info) {
				s.Theta[0] += either(!info.Accepted && rng.IntN(50) == 0, 1e-6, 0)
			}}),
		diffusion("noise's scale follows the state, the drift does not", "10%", hooks{
			noise: func(_ *chain, _ *rand.Rand, theta, z []float64) {
				by := 1 + 0.1*math.Tanh((theta[1]-center[1])/sd)
				z[0], z[1] = by*z[0], by*z[1]
			}}),
		diffusion("drift too strong where it is negative", "5%", hooks{drift: func(_ *chain, _, g []float64) {
			for j := range g {
				g[j] *= either(g[j] < 0, 1.05, 1)
			}
		}}),
		diffusion("noise of Student's law of the same sd", "10 degrees", hooks{
			noise: func(_ *chain, rng *rand.Rand, _, z []float64) {
				for j := range z {
					z[j] *= heavier(rng, 10)
				}
			}}),
		diffusion("the second noise has the first one's sign now and then", "1 in 20", hooks{
			noise: func(_ *chain, rng *rand.Rand, _, z []float64) {
				if rng.IntN(20) == 0 {
					z[1] = math.Copysign(z[1], z[0])
				}
			}}),
		tells("the state's low bits from step 3000 on", "10⁻¹⁵",
			func(k *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
				if s.Iteration > 3000 && k.spy.last > 1 {
					s.Theta[1] *= 1 + 1e-15
				}
			}),
		hooked("Left tells of large records", "one fewer", asked{noLaw: true}, hooks{
			left: func(k *chain, left int64) int64 {
				if k.spy.largest > 1e4 {
					return max(0, left-1)
				}
				return left
			}}),
		tells("StepSize beyond two sd of the start", "rare states",
			func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
				info.StepSize /= either(s.Theta[0] > center[0]+2.5*sd && k.spy.last > 1, 2, 1)
			}),
		hooked("swallows every second error", "last step", asked{noLaw: true}, hooks{
			fail: func(k *chain, _ *kernels.State, err error) (kernels.Info, error) {
				if k.steps%2 == 0 {
					return kernels.Info{}, nil
				}
				return kernels.Info{}, err
			}}),
		hooked("Init fails once a record was large", "error", asked{noLaw: true}, hooks{
			init: func(k *chain, theta []float64) (*kernels.State, error) {
				if k.spy.largest > 1e10 {
					theta = nil
				}
				return kernels.NewState(k.target, theta)
			}}),
	}
}
