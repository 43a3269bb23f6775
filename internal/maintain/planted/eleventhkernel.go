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

// normalised is a parameter in standard deviations from the center.
func normalised(theta []float64, j int) float64 { return (theta[j] - center[j]) / sd }

// dependent scales the second number's move by a function of the first, with a share of the
// correction.
func dependent(name, effect string, by, share float64) Case {
	width := func(theta []float64) float64 { return 1 + by*math.Tanh(normalised(theta, 0)) }
	return kernel(name, effect, asked{}, func() hooks {
		return hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
			next[1] = theta[1] + width(theta)*(next[1]-theta[1])
		}, public: func(_ *chain, theta, next []float64, r float64) float64 {
			a, b, d := width(theta), width(next), (next[1]-theta[1])/step
			return r + share*(math.Log(a/b)+d*d*(1/(a*a)-1/(b*b))/2)
		}}
	})
}

// redrawn draws proposals again that fall outside a box, as many as it takes.
func redrawn(name, effect string, at float64) Case {
	return kernel(name, effect, asked{}, func() hooks {
		return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
			for j, t := range theta {
				for math.Abs(normalised(next, j)) > at && math.Abs(normalised(theta, j)) <= at {
					next[j] = t + step*rng.NormFloat64()
				}
			}
		}}
	})
}

// occasional proposes a draw about the center now and then, with a sign of the correction.
func occasional(name, effect string, sign float64) Case {
	return kernel(name, effect, asked{}, func() hooks {
		far := false
		return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
			if far = rng.IntN(20) == 0; far {
				for j, t := range theta {
					next[j] = center[j] + 1.5*sd*(next[j]-t)/step
				}
			}
		}, public: func(_ *chain, theta, next []float64, r float64) float64 {
			for j := range theta {
				a, b := normalised(next, j), normalised(theta, j)
				r += either(far, sign*(a*a-b*b)/(2*1.5*1.5), 0)
			}
			return r
		}}
	})
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

func eleventhKernels() []Case {
	walk := func(name, effect string, plant func() hooks) Case { return kernel(name, effect, asked{}, plant) }
	return []Case{
		walk("scale by the running spread of the chain", "Welford, without an end", func() hooks {
			n, mean, m2 := 0.0, 0.0, 0.0
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				n, mean, m2 = 0, 0, 0
				return kernels.NewState(k.target, theta)
			}, propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				n++
				d := theta[0] - mean
				mean += d / n
				m2 += d * (theta[0] - mean)
				if n > 10 {
					next[0] = theta[0] + math.Sqrt(m2/n)/sd*(next[0]-theta[0])
				}
			}}
		}),
		walk("a coordinate is chosen more often where it is large", "55%", func() hooks {
			return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				second := rng.Float64() < either(normalised(theta, 1) > 0, 0.55, 0.45)
				if second {
					next[0] = theta[0]
				} else {
					next[1] = theta[1]
				}
			}}
		}),
		redrawn("proposals outside a box are drawn again", "2.5 sd", 2.5),
		walk("the prior ratio is rounded down", "to tenths", func() hooks {
			return hooks{public: func(_ *chain, _, _ []float64, r float64) float64 { return math.Floor(10*r) / 10 }}
		}),
		flawed("masses swapped in the first leap", "one of three", true, flaws{swapped: true}),
		dependent("the second number's scale follows the first, uncorrected", "±15%", 0.15, 0),
		dependent("half of the correction of a scale that follows", "±30%", 0.3, 0.5),
		occasional("now and then a draw, log q with a wrong sign", "1 in 20", -1),
		priced("Cost is of three gradients in four", "one release", leaps),
		walk("the prior counts more in the first steps", "1 + 1/(1 + n)", func() hooks {
			n := 0.0
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				n = 0
				return kernels.NewState(k.target, theta)
			}, public: func(_ *chain, _, _ []float64, r float64) float64 {
				n++
				return r * (1 + 1/n)
			}}
		}),
		wideWalk("the fourth of five is pulled to the second", "2% of their distance", 5,
			func(theta, next []float64) { next[3] += 0.02 * (theta[1] - theta[3]) }),
		kernel("the drift's step decays, the noise's does not", "n^−0.05", asked{langevin: true}, func() hooks {
			n := 0.0
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				n = 0
				return kernels.NewState(k.target, theta)
			}, drift: func(_ *chain, _, g []float64) {
				n++
				g[0], g[1] = g[0]*math.Pow(n, -0.05), g[1]*math.Pow(n, -0.05)
			}}
		}),
		kernel("numbers drawn at once are left for the next step", "a buffer",
			asked{langevin: true}, func() hooks {
				var drawn [3]float64
				left := 0
				return hooks{noise: func(_ *chain, rng *rand.Rand, _, z []float64) {
					for j := range z {
						if left == 0 {
							for i := range drawn {
								drawn[i] = rng.NormFloat64()
							}
							left = len(drawn)
						}
						left--
						z[j] = drawn[left]
					}
				}}
			}),
		kernel("Accepted is that of the step before after a thousand steps", "stale", asked{noLaw: true}, func() hooks {
			last := false
			return hooks{after: func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				if now := info.Accepted; k.steps > 1000 {
					info.Accepted, last = last, now
				} else {
					last = now
				}
			}}
		}),
		kernel("wide moves now and then", "1 in 50, thrice as long", asked{transition: true}, func() hooks {
			return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] = t + either(rng.IntN(50) == 0, 3, 1)*(next[j]-t)
				}
			}}
		}),
	}
}

// following has scales that follow a coordinate, of walks that are said to be reversible.
func following() []Case {
	return []Case{
		widely("the first of five follows the last", "10%", 5, true, func(theta, next []float64) {
			next[0] += either(math.Abs(theta[4]) > sd, 0.1*(next[0]-theta[0]), 0)
		}),
		widely("all of ten follow the third", "5%", 10, true, func(theta, next []float64) {
			for j, t := range theta {
				next[j] += either(theta[2] > 0, 0.05*(next[j]-t), 0)
			}
		}),
		widely("the second of three follows the first", "8%", 3, true, func(theta, next []float64) {
			next[1] += either(theta[0] > 0, 0.08*(next[1]-theta[1]), 0)
		}),
		kernel("wider above the median", "2%", asked{reversible: true}, func() hooks {
			return hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] += either(theta[0] > center[0], 0.02*(next[j]-t), 0)
				}
			}}
		}),
	}
}

func eleventhKernelControls() []Case {
	return []Case{
		dependent("a scale that follows, corrected", "", 0.3, 1),
		occasional("now and then a draw about the center", "", 1),
		priced("trajectory, its price stated", "", leaps+1),
		widely("walk of five, reversible", "", 5, true, func(_, _ []float64) {}),
	}
}
