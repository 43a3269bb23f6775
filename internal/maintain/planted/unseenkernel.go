package planted

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// unseenKernels were written before the suites were run on them.
func unseenKernels() (all []Case) {
	add := func(name, effect string, q asked, plant func() hooks) {
		all = append(all, kernel(name, effect, q, plant))
	}
	walk := func(name, effect string, h hooks) { add(name, effect, asked{}, func() hooks { return h }) }
	proposes := func(name, effect string, f func(k *chain, rng *rand.Rand, theta, next []float64)) {
		walk(name, effect, hooks{propose: f})
	}
	after := func(name, effect string, q asked, f func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info)) {
		add(name, effect, q, func() hooks { return hooks{after: f} })
	}
	proposes("multiplied by a lognormal, no Jacobian", "sd 0.3", func(_ *chain, rng *rand.Rand, theta, next []float64) {
		next[0] = theta[0] * math.Exp(0.3*rng.NormFloat64())
	})
	walk("Jacobian for positive values only", "θ₂ < 0", hooks{
		propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
			next[1] = theta[1] * math.Exp(0.3*rng.NormFloat64())
		},
		public: func(_ *chain, theta, next []float64, r float64) float64 {
			r += either(theta[1] > 0, math.Log(next[1]/theta[1]), 0)
			return r
		}})
	proposes("clamped to a box", "at 3 sd", func(_ *chain, _ *rand.Rand, _, next []float64) {
		next[0] = max(center[0]-3*sd, min(next[0], center[0]+3*sd))
	})
	proposes("autoregressive, no correction", "0.98", func(_ *chain, _ *rand.Rand, theta, next []float64) {
		next[1] += 0.02 * (center[1] - theta[1])
	})
	proposes("wider above the median", "5%", func(_ *chain, _ *rand.Rand, theta, next []float64) {
		if theta[0] > center[0] {
			next[0] = theta[0] + 1.05*(next[0]-theta[0])
		}
	})
	proposes("scale follows the last answer", "5%", func(k *chain, _ *rand.Rand, theta, next []float64) {
		by := 0.97
		if k.before[0] != theta[0] {
			by = 1.05
		}
		next[0] = theta[0] + by*(next[0]-theta[0])
	})
	walk("temperature of uphill moves", "1.1", hooks{public: func(_ *chain, _, _ []float64, r float64) float64 {
		return either(r > 0, 1.1*r, r)
	}})
	add("log prior of the last chain's state", "kept over Init", asked{}, func() hooks {
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
	})
	walk("prior ratio clamped", "at 0.2", hooks{public: func(_ *chain, _, _ []float64, r float64) float64 {
		return max(-0.2, min(r, 0.2))
	}})
	after("starts again", "1 in 1000", asked{}, func(_ *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info) {
		if rng.IntN(1000) == 0 {
			s.Theta[0], s.Theta[1] = 1, 0
			info.Accepted = true
		}
	})
	after("swaps the coordinates", "1 in 200", asked{}, func(_ *chain, rng *rand.Rand, s *kernels.State,
		info *kernels.Info) {
		if rng.IntN(200) == 0 {
			s.Theta[0], s.Theta[1] = s.Theta[1]+center[0]-center[1]+0.1, s.Theta[0]+center[1]-center[0]
			info.Accepted = true
		}
	})
	langevin := func(name, effect string, h hooks) {
		add(name, effect, asked{langevin: true}, func() hooks { return h })
	}
	langevin("gradient of the step before", "stale", hooks{drift: func(k *chain, _, g []float64) {
		for j := range g {
			g[j], k.last[j] = k.last[j], g[j]
		}
	}})
	langevin("gradient clipped in each coordinate", "at 5", hooks{drift: func(_ *chain, _, g []float64) {
		for j := range g {
			g[j] = max(-5, min(g[j], 5))
		}
	}})
	langevin("prior's gradient twice far out", "beyond 2 sd", hooks{drift: func(_ *chain, theta, g []float64) {
		for j, t := range theta {
			if math.Abs(t-center[j]) > 2*sd {
				g[j] -= t
			}
		}
	}})
	langevin("both coordinates share the noise's size", "|z₁| = |z₂|",
		hooks{noise: func(_ *chain, _ *rand.Rand, _, z []float64) { z[1] = math.Copysign(z[0], z[1]) }})
	langevin("noise of the drift's sign", "1%", hooks{noise: func(k *chain, rng *rand.Rand, _, z []float64) {
		if z[0]*k.grad[0] < 0 && rng.IntN(100) == 0 {
			z[0] = -z[0]
		}
	}})
	leaks := asked{noLaw: true}
	after("draws more when a record is large", "the public stream", leaks,
		func(k *chain, rng *rand.Rand, _ *kernels.State, _ *kernels.Info) {
			if k.spy.last > 2 {
				rng.Uint64()
			}
		})
	after("tells the time", "10⁻¹²", leaks, func(_ *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
		s.Theta[1] += either(info.Accepted, 1e-12*float64(time.Now().Nanosecond()), 0)
	})
	after("StepSize tells the sum's sign", "1 in 64", leaks, func(k *chain, _ *rand.Rand, s *kernels.State,
		info *kernels.Info) {
		if s.Iteration%64 == 63 && k.spy.last < 0 {
			info.StepSize = math.Nextafter(info.StepSize, 1)
		}
	})
	after("negative zero tells a record", "−0", leaks, func(k *chain, _ *rand.Rand, _ *kernels.State,
		info *kernels.Info) {
		info.StepSize = 0
		if k.spy.last > 1 {
			info.StepSize = math.Copysign(0, -1)
		}
	})
	var shared atomic.Uint64 // by all chains of a process, as a package variable is
	add("chains share the last move", "package variable", leaks, func() hooks {
		return hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
			next[0] += 0.3 * math.Float64frombits(shared.Load())
			shared.Store(math.Float64bits(next[0] - theta[0]))
		}}
	})
	after("the state's slice is replaced", "aliases the proposal", leaks,
		func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
			if info.Accepted {
				s.Theta = k.next
			}
		})
	return all
}
