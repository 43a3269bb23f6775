package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// The families named third were written after the second ones were dealt with, and run
// once before anything was changed.

func thirdTargets() []Case {
	grad := func(name, effect string, m model, cond func(a at) bool, by float64) Case {
		return target(name, effect, m, func(p *planted) {
			p.grad = func(a at, g []float64) {
				if cond(a) {
					g[0], g[1] = by*g[0], by*g[1]
				}
			}
		})
	}
	return []Case{
		grad("gradient in a very narrow band of predictors", "5%, width 0.01", huber,
			func(a at) bool { return math.Abs(a.eta()-1.7) < 0.005 }, 1.05),
		grad("gradient of the count 6", "5%", huber, func(a at) bool { return a.y == 6 }, 1.05),
		grad("gradient of the count 12 for positive predictors", "2%", huber,
			func(a at) bool { return a.y == 12 && a.eta() > 0 }, 1.02),
		grad("gradient of the dummies (0, 1)", "5%", logistic, func(a at) bool { return a.x[0] == 0 && a.x[1] == 1 }, 1.05),
		grad("gradient beyond record 4096", "zero", logistic, func(a at) bool { return a.i >= 4096 }, 0),
		target("RatioBound at radii beyond 20", "3% low", huber, func(p *planted) {
			p.bound = func(_, _ []float64, radius, b float64) float64 {
				return either(radius > 20, 0.97*b, b)
			}
		}),
		target("prior's gradient near 0", "10%, |θ₁| < 0.01", logistic, func(p *planted) {
			p.gradPrior = func(t, g []float64) {
				g[0] *= either(math.Abs(t[0]) < 0.01, 1.1, 1)
			}
		}),
		target("the loss ripples", "10⁻⁷, wave 0.06", huber, func(p *planted) {
			ripple := func(v float64) float64 { return 1e-7 * math.Sin(100*v) }
			p.loss = func(a at, l float64) float64 { return l + ripple(a.eta()) }
			p.lossAt = func(eta, _, v float64) float64 { return v + ripple(eta) }
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
		kernel("wide steps now and then, by the state's sign", "1 in 50, ×4", asked{}, func() hooks {
			return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				if theta[1] > center[1] && rng.IntN(50) == 0 {
					next[1] = theta[1] + 4*(next[1]-theta[1])
				}
			}}
		}),
	}
}

func thirdMechanisms() []Case {
	removal := func(name, effect string, plant func(m *sum)) Case {
		m := additions()
		plant(m)
		return mechanismCase(name, effect, half{additive{m}}, 1, []float64{1, 0.3, 0.5}, []float64{0.3, 0.5})
	}
	return []Case{
		mechanism("noise in single precision", "2⁻²⁴", bare, func(m *sum) {
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				return float64(float32(noiseSD * rng.NormFloat64()))
			}
		}),
		mechanism("a tenth of the noise is one draw a call", "variance", plain, func(m *sum) {
			m.noise = func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
				if i == 0 {
					m.kept = []float64{rng.NormFloat64()}
				}
				return noiseSD * (math.Sqrt(0.1)*m.kept[0] + math.Sqrt(0.9)*rng.NormFloat64())
			}
		}),
		bit("certain one time in 300", "0.3%", bits{scale: 1, certain: 1.0 / 300}),
		mechanism("the record itself, far out", "3·10⁻⁵", bare, func(m *sum) {
			m.noise = func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
				return either(rng.Float64() < 3e-5, 1e6*total, noiseSD*rng.NormFloat64())
			}
		}),
		removal("add/remove, clip not applied beyond 10⁴", "huge records", func(m *sum) {
			m.clip = func(_ int, x float64) float64 {
				return either(x > 1e4 && !math.IsInf(x, 0), 3, clipped(0, x))
			}
		}),
		removal("add/remove, −1 counts twice", "a sign", func(m *sum) {
			m.clip = func(_ int, x float64) float64 {
				return either(x < 0, 2*clipped(0, x), clipped(0, x))
			}
		}),
		mechanism("a second number not clipped beside a negative one", "pairs",
			form{"of two numbers", 2, 0, false}, func(m *sum) {
				first := 0.0
				m.clip = func(i int, x float64) float64 {
					if i%2 == 0 {
						first = x
					} else if first < 0 && math.Abs(x) < 10 {
						return x
					}
					return clipped(0, x)
				}
			}),
		mechanism("the sign of small noise follows the record", "below 0.01 sd", bare, func(m *sum) {
			m.noise = func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
				z := noiseSD * rng.NormFloat64()
				return either(math.Abs(z) < 0.02, math.Copysign(z, total), z)
			}
		}),
	}
}

// half is a sum whose records come and go.
type half struct{ additive }

func (half) Sensitivity() float64 { return 1 }
