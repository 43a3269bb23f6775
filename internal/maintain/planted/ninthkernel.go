package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// independent proposes from a normal law about the center, 1.2 times as wide, and corrects for
// one of another sd.
func independent(name, effect string, corrected float64) Case {
	return kernel(name, effect, asked{}, func() hooks {
		return hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
			for j, t := range theta {
				next[j] = center[j] + 1.2*sd*(next[j]-t)/step
			}
		}, public: func(_ *chain, theta, next []float64, r float64) float64 {
			for j, t := range theta {
				a, b := next[j]-center[j], t-center[j]
				r += (a*a - b*b) / (2 * corrected * corrected * sd * sd)
			}
			return r
		}}
	})
}

// multiplied scales the first parameter every second time, with a share of the Jacobian.
func multiplied(name, effect string, share float64) Case {
	return kernel(name, effect, asked{}, func() hooks {
		scales := false
		return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
			if scales = rng.IntN(2) == 0; scales {
				next[0] = theta[0] * math.Exp(0.3*(next[0]-theta[0])/step)
			}
		}, public: func(_ *chain, theta, next []float64, r float64) float64 {
			return r + either(scales, share*math.Log(math.Abs(next[0]/theta[0])), 0)
		}}
	})
}

// crank proposes moves that leave a normal law about m invariant, and asks for the likelihood alone.
func crank(name, effect string, m float64) Case {
	return kernel(name, effect, asked{}, func() hooks {
		return hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
			for j, t := range theta {
				next[j] = m + 0.9*(t-m) + math.Sqrt(1-0.9*0.9)*(next[j]-t)/step
			}
		}, public: func(*chain, []float64, []float64, float64) float64 { return 0 }}
	})
}

// scan moves one parameter after the other, each with a bit.
type scan struct {
	kernels.Frame
	target *targets.GaussianMean
	bits   *curator.Bits
	next   []float64
	stale  bool // the second ratio is of the prior where the step began
}

func (k *scan) Name() string { return "scan" }
func (k *scan) Left() int64  { return k.bits.Left() / 2 }

func (k *scan) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	var info kernels.Info
	begun := k.target.LogPrior(s.Theta)
	for j := range s.Theta {
		copy(k.next, s.Theta)
		k.next[j] += 2 * step * rng.NormFloat64()
		if !k.stale {
			begun = k.target.LogPrior(s.Theta)
		}
		accepted, err := k.bits.Accept(k.next, s.Theta, k.target.LogPrior(k.next)-begun)
		if err != nil {
			return kernels.Info{}, err
		}
		if accepted {
			copy(s.Theta, k.next)
			info.Accepted = true
		}
	}
	s.Iteration++
	info.StepSize = 2 * step
	return info, nil
}

func scanned(name, effect string, stale bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, 2*steps)
		return &scan{Frame: kernels.NewFrame("scan", target), target: target, bits: bits, next: make([]float64, 2),
			stale: stale}, err
	})
}

func ninthKernels() []Case {
	walk := func(name, effect string, plant func() hooks) Case { return kernel(name, effect, asked{}, plant) }
	drifts := func(name, effect string, drift func(k *chain, theta, g []float64)) Case {
		return kernel(name, effect, asked{langevin: true}, func() hooks { return hooks{drift: drift} })
	}
	return []Case{
		independent("independent proposals corrected for a wider law", "sd 1.23 for 1.2", 1.23),
		walk("shorter moves where the second parameter is near 0", "10% within 0.2", func() hooks {
			return hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				if math.Abs(theta[1]) < 0.2 {
					for j, t := range theta {
						next[j] = t + 0.9*(next[j]-t)
					}
				}
			}}
		}),
		walk("scale adapts ever less", "n^−0.6", func() hooks {
			scale, n := 1.0, 0.0
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				scale, n = 1, 0
				return kernels.NewState(k.target, theta)
			}, propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] = t + scale*(next[j]-t)
				}
			}, after: func(_ *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				n++
				scale *= math.Exp((either(info.Accepted, 1, 0) - 0.4) * math.Pow(n, -0.6))
			}}
		}),
		flawed("a temperature of the posterior in the test alone", "1.02", true, flaws{warmTest: true}),
		drifts("drift too weak", "2%", func(_ *chain, _, g []float64) { g[0], g[1] = 0.98*g[0], 0.98*g[1] }),
		scanned("the second ratio of a scan is of the prior before the first", "stale", true),
		drifts("tamed drift", "1.9% weaker on average", func(_ *chain, _, g []float64) {
			by := 1 / (1 + 0.1*size*math.Hypot(g[0], g[1]))
			g[0], g[1] = by*g[0], by*g[1]
		}),
		walk("prior too weak", "12%", func() hooks {
			return hooks{public: func(_ *chain, _, _ []float64, r float64) float64 { return 0.88 * r }}
		}),
		wideWalk("the third of three proposals follows the first one's sign", "3% of its sd", 3, func(theta, next []float64) {
			next[2] += math.Copysign(0.03*wideStep, theta[0])
		}),
		crank("proposals about another prior mean", "0.05", 0.05),
		multiplied("a share of the Jacobian", "0.9", 0.9),
		kernel("StepSize after three refusals for a record beyond 1", "10⁻¹²", asked{noLaw: true}, func() hooks {
			refusals := 0
			return hooks{after: func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				if refusals++; info.Accepted {
					refusals = 0
				}
				info.StepSize += either(refusals == 3 && k.spy.last > 1, 1e-12, 0)
			}}
		}),
	}
}

func ninthKernelControls() []Case {
	return []Case{
		independent("independent proposals", "", 1.2),
		scanned("scan", "", false),
		crank("Crank and Nicolson's proposals", "", 0),
		multiplied("multiplied", "", 1),
	}
}
