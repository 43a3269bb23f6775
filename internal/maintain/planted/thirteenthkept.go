package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
)

func thirteenthKernelControls() []Case {
	zero := func(float64, float64) float64 { return 0 }
	root := func(alpha float64) float64 { return math.Sqrt(1 - alpha*alpha) }
	return []Case{
		penalised("penalty of a noise that grows with moves", "", func(now, _ float64) float64 { return now * now / 2 }),
		tempered("two temperatures", "", swapFlaws{}),
		mala("Langevin moves, corrected, a gradient kept", "", true, malaFlaws{}),
		dense("a dense mass", "", denseFlaws{}),
		lifted("a refusal turns the direction", "", func(v []float64, moved int, accepted bool) {
			if !accepted {
				v[moved] *= -1
			}
		}),
		lifted("a refusal turns all directions", "", func(v []float64, _ int, accepted bool) {
			if !accepted {
				v[0], v[1] = -v[0], -v[1]
			}
		}),
		lifted("a move turns its direction", "", func(v []float64, moved int, accepted bool) {
			if accepted {
				v[moved] *= -1
			}
		}),
		conditional("each parameter given the other", "", false),
		heavy("proposals of Student's distribution", "", 3.5),
		twofold("a surrogate is asked first", "", func(first float64) float64 { return -first }),
		against("reflected at a wall", "", func(rng *rand.Rand, at float64) float64 {
			return wall + math.Abs(at+step*rng.NormFloat64()-wall)
		}, zero),
		against("truncated at a wall", "", truncate, func(next, theta float64) float64 { return below(theta) - below(next) }),
		splitting("velocity and friction", "", "BAOAB", root),
		stretched("a stretch", "", 1),
		sampled("two moves", "", true, lastOfTwo(true)),
		smoothly("walk under a correlated prior", "", correlatedWalk(rho)),
		halfBatch("a batch of half the records", "", 0),
		kernel("hit and run, longer along the first", "", asked{}, func() hooks {
			return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				u, v := 2*rng.Float64()-1, 2*rng.Float64()-1
				d := (0.5 + math.Abs(u)) * rng.NormFloat64() / math.Hypot(u, v)
				next[0], next[1] = theta[0]+d*u, theta[1]+d*v
			}}
		}),
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

// correlatedWalk takes the prior's correlation for another one.
func correlatedWalk(r float64) proptest.Factory {
	return func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := &smooth{posteriors.StandardMean(), r}
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		next := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				for j, t := range s.Theta {
					next[j] = t + step*rng.NormFloat64()
				}
				return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			}}, err
	}
}

// halfBatch follows gradients of half the records, and says that it costs those of so many more.
func halfBatch(name, effect string, more int64) Case {
	noisy := func(n int64) curator.NoisyGradient {
		return curator.NoisyGradient{Target: posteriors.StandardMean(), Clip: 10, NoiseMultiplier: 0.5,
			Batch: curator.Batch{Size: max(1, n/2)}}
	}
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		slopes, err := curator.Charge(c, noisy(c.Facts().Records+more), steps)
		g, target := make([]float64, 2), posteriors.StandardMean()
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return slopes.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if err := slopes.Release(g, s.Theta); err != nil {
					return kernels.Info{}, err
				}
				for j := range g {
					s.Theta[j] -= size/2*(g[j]+s.Theta[j]) - math.Sqrt(size)*rng.NormFloat64()
				}
				return kernels.Info{Accepted: true, StepSize: size, Gradients: 1}, nil
			}}, err
	}, func(o *proptest.KernelOptions) {
		o.Cost = func(f curator.Facts) (accountant.Event, error) { return noisy(f.Records).Event(f) }
	})
}

// keeper is a walk that keeps the numbers that its hooks remember, so that it can be interrupted.
type keeper struct {
	kernels.Kernel
	remembered
}

func (k *keeper) Init(theta []float64) (*kernels.State, error) {
	clear(k.memory)
	k.known = false
	return k.Kernel.Init(theta)
}

func (k *keeper) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	info, err := k.Kernel.Step(rng, s)
	k.known = k.known || err == nil
	return info, err
}

// keeping is such a walk of n numbers, all 0 at first.
func keeping(name, effect string, n int, follows bool, plant func(memory []float64) hooks) Case {
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		memory := make([]float64, n)
		k, err := newChain(c, steps, !follows, false, plant(memory))
		return &keeper{Kernel: k, remembered: remembered{memory: memory}}, err
	}, func(o *proptest.KernelOptions) { o.Exact = exactly(either(follows, langevin, sd)) })
}

func afterThirteenth() []Case {
	return []Case{
		keeping("mirrored at the running mean", "1 in 2", 3, false, func(m []float64) hooks {
			return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				m[2]++
				mirrored := rng.IntN(2) == 0
				for j, t := range theta {
					m[j] += (t - m[j]) / m[2]
					next[j] += either(mirrored, 2*(m[j]-t), 0)
				}
			}}
		}),
		keeping("a kept scale adapts ever less", "n^−0.6", 2, false, func(m []float64) hooks {
			return hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] = t + math.Exp(m[0])*(next[j]-t)
				}
			}, after: func(_ *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				m[1]++
				m[0] += (either(info.Accepted, 1, 0) - 0.4) * math.Pow(m[1], -0.6)
			}}
		}),
		keeping("noise has some of the last", "5%", 2, true, func(m []float64) hooks {
			return hooks{noise: func(_ *chain, _ *rand.Rand, _, z []float64) {
				for j := range z {
					z[j] = 0.05*m[j] + math.Sqrt(1-0.05*0.05)*z[j]
					m[j] = z[j]
				}
			}}
		}),
		keeping("the prior is forgotten late", "from step 500 on", 1, false, func(m []float64) hooks {
			return hooks{public: func(_ *chain, _, _ []float64, r float64) float64 {
				m[0]++
				return either(m[0] > 500, 0, r)
			}}
		}),
		keeping("the prior is forgotten late", "from step 100 on", 1, false, func(m []float64) hooks {
			return hooks{public: func(_ *chain, _, _ []float64, r float64) float64 {
				m[0]++
				return either(m[0] > 100, 0, r)
			}}
		}),
		keeping("a refusal is tried twice with the same noise", "1 in 10", 3, false, func(m []float64) hooks {
			return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				again := m[2] == 1 && rng.IntN(10) == 0
				for j, t := range theta {
					if again {
						next[j] = t - m[j]
					}
					m[j] = next[j] - t
				}
			}, after: func(_ *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				m[2] = either(info.Accepted, 0, 1)
			}}
		}),
		keeping("stands still after 5000 steps", "for ever", 1, false, func(m []float64) hooks {
			return hooks{accept: func(_ *chain, _ *rand.Rand, _, _ []float64, a bool) bool {
				m[0]++
				return a && m[0] < 5000
			}}
		}),
		kernel("StepSize by a record of a table beyond a hundred", "10⁻⁹", asked{noLaw: true}, func() hooks {
			return hooks{after: func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				info.StepSize += either(k.desk.Facts().Records > 100 && k.spy.largest > 2, 1e-9, 0)
			}}
		}),
		sampled("a second chain uses the first's grant", "one price", true, grantedOnce()),
		sampled("proposals in a slice of the factory's", "shared", true, handedOver()),
	}
}

// grantedOnce pays for the first chain on a curator alone, and for thrice as many steps as it has.
func grantedOnce() proptest.Factory {
	var paid *curator.Bits
	var by *curator.Curator
	return func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target, next, left := posteriors.StandardMean(), make([]float64, 2), steps
		var err error
		if by != c {
			paid, err = curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, 3*steps)
			by = c
		}
		bits := paid
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return left },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if left == 0 {
					return kernels.Info{}, curator.ErrSpent
				}
				left--
				for j, t := range s.Theta {
					next[j] = t + step*rng.NormFloat64()
				}
				return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			}}, err
	}
}

// handedOver draws each proposal's noise a step ahead, into a slice of the factory's.
func handedOver() proptest.Factory {
	ahead := make([]float64, 2)
	return func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		memory := make([]float64, 2)
		k, err := newChain(c, steps, true, false, hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
			for j, t := range theta {
				if z := rng.NormFloat64(); ahead[j] == 0 {
					ahead[j] = step * z
				}
				next[j] = t + ahead[j]
				ahead[j] = step * rng.NormFloat64()
			}
			copy(memory, ahead)
		}})
		return &keeper{Kernel: k, remembered: remembered{memory: memory}}, err
	}
}
