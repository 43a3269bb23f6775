package planted

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

func ninthKernels() []Case {
	return []Case{
		independent("independent proposals corrected for a wider law", "sd 1.23 for 1.2", 1.23),
		moves("shorter moves where the second parameter is near 0", "10% within 0.2",
			func(_ *chain, _ *rand.Rand, theta, next []float64) {
				if math.Abs(theta[1]) < 0.2 {
					for j, t := range theta {
						next[j] = t + 0.9*(next[j]-t)
					}
				}
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
		diffusion("drift too weak", "2%", hooks{drift: func(_ *chain, _, g []float64) { g[0], g[1] = 0.98*g[0], 0.98*g[1] }}),
		scanned("the second ratio of a scan is of the prior before the first", "stale", true),
		diffusion("tamed drift", "1.9% weaker on average", hooks{drift: func(_ *chain, _, g []float64) {
			by := 1 / (1 + 0.1*size*math.Hypot(g[0], g[1]))
			g[0], g[1] = by*g[0], by*g[1]
		}}),
		hooked("prior too weak", "12%", asked{}, hooks{
			public: func(_ *chain, _, _ []float64, r float64) float64 { return 0.88 * r }}),
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

func tenthKernels() []Case {
	width := func(theta []float64) float64 { return 1 + 0.2*math.Tanh(math.Abs(theta[0]-center[0])/sd) }
	return []Case{
		hooked("scale by the state, its density in one dimension for two", "up to 20%", asked{}, hooks{
			propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] = t + width(theta)*(next[j]-t)
				}
			}, public: func(_ *chain, theta, next []float64, r float64) float64 {
				a, b, d := width(theta), width(next), math.Hypot(next[0]-theta[0], next[1]-theta[1])/step
				return r + math.Log(a/b) + d*d*(1/(a*a)-1/(b*b))/2
			}}),
		diffusion("noise of one parameter has some of the other's", "3%", hooks{
			noise: func(_ *chain, _ *rand.Rand, _, z []float64) { z[1] = 0.03*z[0] + math.Sqrt(1-0.03*0.03)*z[1] }}),
		hooked("prior ratio cut off", "at 1", asked{}, hooks{
			public: func(_ *chain, _, _ []float64, r float64) float64 { return max(-1, min(r, 1)) }}),
		walk("a number of the last step is used again", "1 in 64", func() hooks {
			last := math.NaN()
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				last = math.NaN()
				return kernels.NewState(k.target, theta)
			}, propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				if rng.IntN(64) == 0 && !math.IsNaN(last) {
					next[1] = theta[1] + last
				}
				last = next[1] - theta[1]
			}}
		}),
		diffusion("noise too large", "½%", hooks{scale: 1.005}),
		hooked("no iteration is counted beyond three sd", "rare", asked{}, hooks{
			after: func(_ *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
				if math.Abs(s.Theta[0]-center[0]) > 3*sd {
					s.Iteration--
				}
			}}),
		wideWalk("the first of five moves too long where the last is large", "10%", 5,
			func(theta, next []float64) {
				next[0] += either(math.Abs(theta[4]) > sd, 0.1*(next[0]-theta[0]), 0)
			}),
	}
}

func eleventhKernels() []Case {
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
		moves("a coordinate is chosen more often where it is large", "55%",
			func(_ *chain, rng *rand.Rand, theta, next []float64) {
				second := rng.Float64() < either(normalised(theta, 1) > 0, 0.55, 0.45)
				if second {
					next[0] = theta[0]
				} else {
					next[1] = theta[1]
				}
			}),
		redrawn("proposals outside a box are drawn again", "2.5 sd", 2.5),
		hooked("the prior ratio is rounded down", "to tenths", asked{}, hooks{
			public: func(_ *chain, _, _ []float64, r float64) float64 { return math.Floor(10*r) / 10 }}),
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
		hooked("wide moves now and then", "1 in 50, thrice as long", asked{transition: true}, hooks{
			propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] = t + either(rng.IntN(50) == 0, 3, 1)*(next[j]-t)
				}
			}}),
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

func twelfthKernels() []Case {
	var shared [2]float64
	return []Case{
		elliptic("an ellipse whose second draw is shortened at the far side", "30%, θ·ν < 0", func(nu, theta []float64) {
			if dot(nu, theta) < 0 {
				nu[0], nu[1] = 0.7*nu[0], 0.7*nu[1]
			}
		}),
		guidedWalk("a velocity is not turned by a refusal", "a walk that goes on", false),
		hooked("accepted moves take one coordinate alone now and then", "1 in 2", asked{}, hooks{
			accept: func(_ *chain, rng *rand.Rand, theta, next []float64, accepted bool) bool {
				if rng.IntN(2) == 0 {
					next[1] = theta[1]
				}
				return accepted
			}}),
		moves("every second move is the opposite of the one before", "−1",
			func(k *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					if k.steps%2 == 0 {
						next[j] = t - k.last[j]
					}
					k.last[j] = next[j] - t
				}
			}),
		moves("the sum of parameters keeps its sign", "3% of the law", func(_ *chain, _ *rand.Rand, theta, next []float64) {
			if theta[0]+theta[1] > 0 != (next[0]+next[1] > 0) {
				next[0], next[1] = -next[1], -next[0]
			}
		}),
		moves("reflected at one wall, wrapped at the other", "2.5 sd", func(_ *chain, _ *rand.Rand, _, next []float64) {
			for j := range next {
				if v := normalised(next, j); v > 2.5 {
					next[j] = center[j] + sd*(5-v)
				} else if v < -2.5 {
					next[j] = center[j] + sd*(v+5)
				}
			}
		}),
		moves("the last move of any chain biases the next", "package variable, 5%",
			func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] += 0.05 * shared[j]
					shared[j] = next[j] - t
				}
			}),
		diffusion("drift and noise of a mass, not its root", "0.95", hooks{
			drift: func(_ *chain, _, g []float64) { g[1] *= 0.95 },
			noise: func(_ *chain, _ *rand.Rand, _, z []float64) { z[1] *= 0.95 }}),
		tells("StepSize from step 2500 on", "10⁻⁹", func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
			info.StepSize += either(k.steps > 2500 && k.spy.largest > 3, 1e-9, 0)
		}),
		tells("StepSize by the order of records", "last and largest",
			func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				info.StepSize += either(k.spy.last == k.spy.largest && k.spy.largest > 1, 1e-9, 0)
			}),
		tells("StepSize for a record of 0", "one value", func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
			info.StepSize += either(k.spy.last == 0, 1e-9, 0)
		}),
		tells("StepSize by the clock", "10⁻⁹", func(_ *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
			info.StepSize += either(time.Now().Nanosecond()>>20 == 0, 1e-9, 0)
		}),
		hooked("a public number more for a huge record", "the stream", asked{noLaw: true}, hooks{
			propose: func(k *chain, rng *rand.Rand, _, _ []float64) {
				if k.spy.huge > 0 {
					rng.NormFloat64()
				}
			}}),
		hooked("Left is one too few after a thousand steps", "1", asked{noLaw: true}, hooks{
			left: func(k *chain, left int64) int64 {
				if k.steps > 1000 && left > 0 {
					left--
				}
				return left
			}}),
		misstated("Cost takes persons for rows", "several rows", func(f *curator.Facts) { f.RowsPerPerson = 1 }),
		misstated("Cost is that of substitution", "any adjacency",
			func(f *curator.Facts) { f.Adjacency = accountant.Substitute }),
	}
}

func twelfthKernelControls() []Case {
	return []Case{
		misstated("walk of one's own target, its price stated", "", func(*curator.Facts) {}),
		elliptic("an ellipse", "", func(_, _ []float64) {}),
		guidedWalk("a velocity that a refusal turns", "", true),
	}
}
