package planted

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named seventh were written as the sixth ones were: from the issue, the document and
// the public interfaces, and run once before anything was changed.

func seventhTargets() []Case {
	ratio := func(name, effect string, dim int, wrong func(theta, next []float64) bool) Case {
		return ownTarget(name, effect, nil, func() targets.Target {
			m := robust(dim, 1.5)
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				v := m.loss(theta, x, y) - m.loss(next, x, y)
				v *= either(wrong(theta, next), 1.02, 1)
				return v
			}
			return m
		})
	}
	low := func(name, effect string, move func(theta, next []float64) float64, grad func(radius float64) float64) Case {
		return ownTarget(name, effect, nil, func() targets.Target {
			return bounded{robust(2, 1.5), func(theta, next []float64, radius float64) float64 {
				return slope(radius) * moved(theta, next) * move(theta, next)
			}, func(radius float64) float64 { return slope(radius) * grad(radius) }}
		})
	}
	always := func(float64) float64 { return 1 }
	return []Case{
		ratio("ratio of moves of two parameters in five", "2%", 5, func(theta, next []float64) bool {
			n := 0
			for j, t := range theta {
				if next[j] != t {
					n++
				}
			}
			return n == 2
		}),
		ratio("ratio of moves along the parameters", "2%", 2, func(theta, next []float64) bool {
			return math.Abs(theta[0]*next[1]-theta[1]*next[0]) < 1e-9*math.Abs(theta[0]*next[1])
		}),
		grown("gradient where features are opposite", "5%, x₁ = −x₂", nil, huberOf(2), func(g, _, x []float64, _ float64) {
			g[0] *= either(x[0] == -x[1], 1.05, 1)
		}),
		grown("the 150th of 200 gradients for small features", "2% below −1.5", nil, huberOf(200),
			func(g, _, x []float64, _ float64) { g[149] *= either(x[149] < -1.5, 1.02, 1) }),
		ownTarget("losses kept by the sum of parameters", "stale", nil, func() targets.Target {
			return remembering(func(a, b [2]float64) bool { return a[0]+a[1] == b[0]+b[1] })
		}),
		ownTarget("losses kept by the norm of features", "stale", nil, func() targets.Target {
			m := robust(2, 1.5)
			right, kept, lock := m.loss, [2]float64{}, &sync.Mutex{}
			m.loss = func(theta, x []float64, y float64) float64 {
				lock.Lock()
				if math.Hypot(x[0], x[1]) != math.Hypot(kept[0], kept[1]) {
					kept = [2]float64(x)
				}
				at := kept
				lock.Unlock()
				return right(theta, at[:], y)
			}
			return m
		}),
		ownTarget("a batch of 100 repeats its first record", "one length", nil, func() targets.Target {
			m := robust(2, 1.5)
			m.batch = func(dst []float64, _ targets.Rows) {
				if len(dst) == 100 {
					dst[99] = dst[0]
				}
			}
			return m
		}),
		low("RatioBound of moves through θ₂ = 1.7", "3% low", func(theta, next []float64) float64 {
			return either((theta[1] < 1.7) != (next[1] < 1.7), 0.97, 1)
		}, always),
		low("GradBound for some radii", "2% low, 2 to 3", func(_, _ []float64) float64 { return 1 },
			func(radius float64) float64 { return either(radius > 2 && radius < 3, 0.98, 1) }),
		ownTarget("small responsibilities are dropped", "below 1%", nil, func() targets.Target {
			share := func(theta []float64, y float64) float64 { // of the first component
				return 1 / (1 + math.Exp((y-theta[0])*(y-theta[0])/2-(y-theta[1])*(y-theta[1])/2))
			}
			return &own{dim: 2, loss: func(theta, _ []float64, y float64) float64 {
				a, b := (y-theta[0])*(y-theta[0])/2, (y-theta[1])*(y-theta[1])/2
				return min(a, b) - math.Log1p(math.Exp(-math.Abs(a-b)))
			}, grad: func(g, theta, _ []float64, y float64) {
				w := share(theta, y)
				g[0], g[1] = either(w < 0.01, 0, w)*(theta[0]-y), either(w > 0.99, 0, 1-w)*(theta[1]-y)
			}}
		}),
		target("the prior is higher above a value", "0.02 beyond θ₁ = 1.23", huber, func(p *planted) {
			p.prior = func(theta []float64, lp float64) float64 { return lp + either(theta[0] > 1.23, 0.02, 0) }
		}),
		target("probabilities cut off in the loss only", "10⁻⁹", logistic, func(p *planted) {
			p.loss = func(_ at, l float64) float64 { return min(l, 20.7) }
			p.lossAt = func(_, _, l float64) float64 { return min(l, 20.7) }
		}),
		ownTarget("prior draws reflected far out", "at 2.5 sd", nil, drawnFrom(2, func(t []float64, _ *rand.Rand) {
			if math.Abs(t[0]) > 2.5 {
				t[0] = math.Copysign(5, t[0]) - t[0]
			}
		})),
		ownTarget("the third prior draw signed by the others' product", "three together", nil,
			drawnFrom(3, func(t []float64, _ *rand.Rand) { t[2] = math.Copysign(t[2], t[0]*t[1]) })),
	}
}

func seventhKernels() []Case {
	walk := func(name, effect string, plant func() hooks) Case { return kernel(name, effect, asked{}, plant) }
	drifts := func(name, effect string, h hooks) Case {
		return kernel(name, effect, asked{langevin: true}, func() hooks { return h })
	}
	apart := func(theta []float64, j int) float64 { return (theta[j] - center[j]) / sd }
	return []Case{
		walk("no prior ratio where the first parameter falls", "one direction", func() hooks {
			return hooks{public: func(_ *chain, theta, next []float64, r float64) float64 {
				return either(next[0] < theta[0], 0, r)
			}}
		}),
		walk("the second chain of a kernel shifts its proposals", "10% of their sd", func() hooks {
			begun := 0
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				begun++
				return kernels.NewState(k.target, theta)
			}, propose: func(_ *chain, _ *rand.Rand, _, next []float64) { next[0] += either(begun > 1, 0.1*step, 0) }}
		}),
		walk("autoregressive with short noise", "3%", func() hooks {
			return hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] = 0.9*t + 0.97*math.Sqrt(1-0.9*0.9)*(next[j]-t)/step
				}
			}, public: func(_ *chain, _, _ []float64, _ float64) float64 { return 0 }}
		}),
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
		walk("a little noise after accepted moves", "0.08 sd", func() hooks {
			return hooks{after: func(_ *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info) {
				if info.Accepted {
					s.Theta[1] += 0.08 * sd * rng.NormFloat64()
				}
			}}
		}),
		walk("Init rounds the start", "to thousandths", func() hooks {
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				s, err := kernels.NewState(k.target, theta)
				for j := range theta {
					s.Theta[j] = math.Round(theta[j]*1000) / 1000
				}
				return s, err
			}}
		}),
		kernel("StepSize for records of some size", "30 to 40, 10⁻⁹", asked{noLaw: true}, func() hooks {
			return hooks{after: func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				info.StepSize += either(k.spy.last > 30 && k.spy.last < 40, 1e-9, 0)
			}}
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
		drifts("step by the state without its divergence", "±5%", hooks{
			drift: func(_ *chain, theta, g []float64) { g[0] *= 1 + 0.05*math.Tanh(apart(theta, 0)) },
			noise: func(_ *chain, _ *rand.Rand, theta, z []float64) {
				z[0] *= math.Sqrt(1 + 0.05*math.Tanh(apart(theta, 0)))
			}}),
		drifts("noise too small near the middle", "3% within one sd", hooks{
			noise: func(_ *chain, _ *rand.Rand, theta, z []float64) {
				if math.Hypot(apart(theta, 0), apart(theta, 1)) < 1 {
					z[0], z[1] = 0.97*z[0], 0.97*z[1]
				}
			}}),
		wideWalk("the only parameter shifted", "4% of its sd", 1, func(_, next []float64) { next[0] += 0.04 * wideStep }),
		wideWalk("the third of ten moves too long upwards", "10%", 10, func(theta, next []float64) {
			next[2] += either(next[2] > theta[2], 0.1*(next[2]-theta[2]), 0)
		}),
	}
}

func seventhMechanisms() []Case {
	noise := func(name, effect string, f form, draw func(m *sum, rng *rand.Rand, i int, total float64) float64) Case {
		return mechanism(name, effect, f, func(m *sum) { m.noise = draw })
	}
	odd := additions()
	odd.noise = func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
		return noiseSD * either(len(m.x)%2 == 1, 0.9, 1) * rng.NormFloat64()
	}
	return []Case{
		noise("less noise when records are equal", "10%", bare, func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return noiseSD * either(m.x[0] == m.x[1], 0.9, 1) * rng.NormFloat64()
		}),
		noise("noise in waves of 100 releases", "±5%", plain, func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
			return noiseSD * (1 + 0.05*math.Sin(2*math.Pi*float64(i)/100)) * rng.NormFloat64()
		}),
		noise("odd steps of the grid are rarer", "10%", grid, func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
			for {
				z := math.Round(noiseSD * rng.NormFloat64() / m.grid)
				if math.Mod(z, 2) == 0 || rng.IntN(10) > 0 {
					return z * m.grid
				}
			}
		}),
		noise("the second noise is the first's, one later", "1 in 50", wide,
			func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				z, n := noiseSD*rng.NormFloat64(), len(m.kept)
				if n > 3 && n%3 == 1 && rng.IntN(50) == 0 {
					z = m.kept[n-4]
				}
				m.kept = append(m.kept, z)
				return z
			}),
		noise("less noise in calls for some numbers", "20%, 64 to 127", plain,
			func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				return noiseSD * either(m.count > 63 && m.count < 128, 0.8, 1) * rng.NormFloat64()
			}),
		one("less noise for an odd number of records", "10%", odd, []float64{1, 0.3}, []float64{0.3}),
		one("thresholds without noise of the queries", "two", answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				total, threshold := clip1(x), laplace(rng, 2)
				return []float64{either(total > threshold, 1, 0), either(-total > threshold, 1, 0)}
			})}, plus, minus),
		one("records divided by the largest", "for all", answers{claim: gaussian(1),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				most, total := 1.0, noiseSD*rng.NormFloat64()
				for _, v := range x {
					most = max(most, math.Abs(clipped(0, v/1e9)*1e9))
				}
				for i, v := range x {
					total += clipped(i, v/most)
				}
				return []float64{total}
			})}, []float64{1, 0.3, 0.6, 0.5}, []float64{-1, 0.3, 0.6, 0.5}),
		one("samples more than it says", "0.55 for 0.5", batches(eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			return []float64{batched(x, func(int) bool { return rng.Float64() < 0.55 }) + rng.NormFloat64()}
		})), []float64{1, 0.3}, []float64{0.3}),
		mechanismCase("noise of one length", "ten numbers", vectors(func(z []float64) {
			by := noiseSD * math.Sqrt(float64(len(z))) / euclidean(z)
			for j := range z {
				z[j] *= by
			}
		}), 10, ten(1), ten(-1)),
		one("a lie repeats the last one", "1 in 20", answers{
			claim: event(accountant.RandomizedResponse(accountant.Substitute, 1.0001, 4)),
			begin: func(x []float64, rng *rand.Rand) func() []float64 {
				truth, lie := int(max(0, min(3, clipped(0, x[0]/3)*3))), 1
				return func() []float64 {
					if rng.Float64() >= 3/(3+math.E) {
						return []float64{float64(truth)}
					}
					if rng.IntN(20) > 0 {
						lie = 1 + rng.IntN(3)
					}
					return []float64{float64((truth + lie) % 4)}
				}
			}}, []float64{0, 1}, []float64{1, 1}),
		mechanismCase("a count beside the clipped sum", "√2", answers{
			claim: event(accountant.Gaussian(accountant.AddRemove, 1)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				out := []float64{float64(len(x) / 2), 0, 0}
				for ; len(x) > 0; x = x[2:] {
					for j, v := range shorten(x[:2], euclidean) {
						out[j+1] += v
					}
				}
				return noisy(out, rng.NormFloat64)
			})}, 2, []float64{1, 0, 0.2, 0.3}, []float64{0.2, 0.3}),
	}
}
