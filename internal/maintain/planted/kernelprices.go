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

// prices are of a family whose checks were written with them.
func prices() []Case {
	more := func(pays func(k *chain) bool) func() hooks {
		return func() hooks {
			return hooks{after: func(k *chain, _ *rand.Rand, _ *kernels.State, _ *kernels.Info) {
				if k.steps == 10 && pays(k) {
					if _, err := curator.Charge(k.desk, curator.AcceptanceBit{Target: k.target, Clip: walkClip}, 1); err != nil {
						panic(err)
					}
				}
			}}
		}
	}
	none := func() hooks { return hooks{} }
	return []Case{
		kernel("Cost of half the clip", "half", asked{noLaw: true, clip: walkClip / 2}, none),
		kernel("Cost too low", "1%", asked{noLaw: true, clip: 0.99 * walkClip}, none),
		kernel("pays again at step 10", "one release", asked{noLaw: true},
			more(func(*chain) bool { return true })),
		kernel("pays more for large records", "one release", asked{noLaw: true},
			more(func(k *chain) bool { return k.spy.largest > 1e4 })),
	}
}

// costOf is what a bit of a clip costs.
func costOf(clip func() float64) func(f curator.Facts) (accountant.Event, error) {
	return func(f curator.Facts) (accountant.Event, error) {
		return curator.AcceptanceBit{Target: posteriors.StandardMean(), Clip: clip()}.Event(f)
	}
}

// priced is a trajectory whose Cost is of some gradients and a ratio.
func priced(name, effect string, gradients int) Case {
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return newTrajectory(c, steps, flaws{})
	}, func(o *proptest.KernelOptions) {
		o.Cost = func(f curator.Facts) (accountant.Event, error) {
			target := posteriors.StandardMean()
			ratio, err := curator.NoisyRatio{Target: target, Clip: 50, NoiseMultiplier: 0.005}.Event(f)
			if err != nil {
				return accountant.Event{}, err
			}
			all := []accountant.Event{ratio}
			for range gradients {
				slope, err := curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}.Event(f)
				if err != nil {
					return accountant.Event{}, err
				}
				all = append(all, slope)
			}
			return accountant.Compose(all...)
		}
	})
}

// misstated is a walk whose Cost takes the facts for others.
func misstated(name, effect string, facts func(f *curator.Facts)) Case {
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return newChain(c, steps, true, true, hooks{})
	}, func(o *proptest.KernelOptions) {
		o.Cost = func(f curator.Facts) (accountant.Event, error) {
			facts(&f)
			return curator.AcceptanceBit{Target: posteriors.StandardMean(), Clip: walkClip}.Event(f)
		}
	})
}

// quoted is a kernel whose Cost is that of gradients of another noise multiplier.
func quoted(name, effect string, said float64) Case {
	noisy := func(multiplier float64) curator.NoisyGradient {
		return curator.NoisyGradient{Target: posteriors.StandardMean(), Clip: 1, NoiseMultiplier: multiplier}
	}
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return descends(c, steps, noisy(0.125), size,
			func(_ *curator.Gradients, g []float64, rng *rand.Rand, theta []float64) {
				for j, t := range theta {
					theta[j] += math.Sqrt(size)*rng.NormFloat64() - size/2*(g[j]+t)
				}
			})
	}, func(o *proptest.KernelOptions) {
		o.Cost = func(f curator.Facts) (accountant.Event, error) { return noisy(said).Event(f) }
	})
}

// quotedFor is a walk whose Cost is of a clip that the facts choose.
func quotedFor(name, effect string, clip func(f curator.Facts) float64) Case {
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return newChain(c, steps, true, false, hooks{})
	}, func(o *proptest.KernelOptions) {
		o.Cost = func(f curator.Facts) (accountant.Event, error) {
			return curator.AcceptanceBit{Target: posteriors.StandardMean(), Clip: clip(f)}.Event(f)
		}
	})
}

// halfBatch follows gradients of half the records, and says that it costs those of so many more.
func halfBatch(name, effect string, more int64) Case {
	noisy := func(n int64) curator.NoisyGradient {
		return curator.NoisyGradient{Target: posteriors.StandardMean(), Clip: 10, NoiseMultiplier: 0.5,
			Batch: curator.Batch{Size: max(1, n/2)}}
	}
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return descends(c, steps, noisy(c.Facts().Records+more), size,
			func(_ *curator.Gradients, g []float64, rng *rand.Rand, theta []float64) {
				for j := range g {
					theta[j] -= size/2*(g[j]+theta[j]) - math.Sqrt(size)*rng.NormFloat64()
				}
			})
	}, func(o *proptest.KernelOptions) {
		o.Cost = func(f curator.Facts) (accountant.Event, error) { return noisy(f.Records).Event(f) }
	})
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
