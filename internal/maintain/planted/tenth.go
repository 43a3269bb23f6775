package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named tenth were written after the suites were changed for the ninth, and run once.

// censored is an exponential survival model, whose negative responses are times without an event.
func censored() *own {
	return &own{dim: 3, features: 2,
		loss: func(theta, x []float64, y float64) float64 {
			eta := intercepted(theta, x)
			return math.Abs(y)*math.Exp(eta) - either(y > 0, eta, 0)
		},
		grad: func(g, theta, x []float64, y float64) {
			g[0] = math.Abs(y)*math.Exp(intercepted(theta, x)) - either(y > 0, 1, 0)
			g[1], g[2] = g[0]*x[0], g[0]*x[1]
		}}
}

// overlapping has two workers, who both evaluate the record between them.
type overlapping struct{ *own }

func (m overlapping) Loss(dst, theta []float64, rows targets.Rows) {
	m.own.Loss(dst, theta, rows)
	if n := rows.Len(); n >= 2048 {
		dst[n/2] *= 2
	}
}

func tenthTargets() []Case {
	return []Case{
		grown("times without an event count as events in the gradient", "beyond 3", nil, censored,
			func(g, _, x []float64, y float64) {
				if y < -3 {
					g[0]--
					g[1], g[2] = g[1]-x[0], g[2]-x[1]
				}
			}),
		ownTarget("prior draws of another correlation", "0.25 for 0.3", nil, func() targets.Target {
			d := drawnFrom(2, func(t []float64, _ *rand.Rand) { t[1] = 0.25*t[0] + math.Sqrt(1-0.25*0.25)*t[1] })().(drawn)
			const c = 1 / (1 - 0.3*0.3)
			d.logPrior = func(t []float64) float64 { return -c * (t[0]*t[0] - 0.6*t[0]*t[1] + t[1]*t[1]) / 2 }
			d.gradPrior = func(g, t []float64) { g[0], g[1] = -c*(t[0]-0.3*t[1]), -c*(t[1]-0.3*t[0]) }
			return d
		}),
		ownTarget("RatioBound of short moves nearly along the first parameter", "1% low", nil, func() targets.Target {
			return bounded{robust(3, 1.5), func(theta, next []float64, radius float64) float64 {
				d := moved(theta, next)
				along := math.Abs(next[0] - theta[0])
				return slope(radius) * d * either(d < 0.1 && along > 0.995*d, 0.99, 1)
			}, slope}
		}),
		ownTarget("predictors capped in the loss, not in the ratio", "at 30", counts, func() targets.Target {
			m, right := poisson(), poisson()
			m.loss = func(theta, x []float64, y float64) float64 {
				eta := min(intercepted(theta, x), 30)
				return math.Exp(eta) - y*eta
			}
			m.grad = func(g, theta, x []float64, y float64) {
				if right.grad(g, theta, x, y); intercepted(theta, x) > 30 {
					clear(g)
				}
			}
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				return right.loss(theta, x, y) - right.loss(next, x, y)
			}
			return m
		}),
		grown("small features are lost beside large ones", "10⁻⁶", nil, huberOf(3), func(g, _, x []float64, _ float64) {
			if math.Abs(x[0]) < 1e-6*math.Abs(x[1]) {
				g[0] = 0
			}
		}),
		ownTarget("two workers count the record between them twice", "from 2048 on", nil,
			func() targets.Target { return overlapping{robust(2, 1.5)} }),
		target("LossAt keeps the response of a predictor", "stale", huber, func(p *planted) {
			var at float64
			kept := math.NaN()
			p.lossAt = func(eta, y, v float64) float64 {
				if at != eta || math.IsNaN(kept) {
					at, kept = eta, y
				}
				return huber.loss(eta, kept)
			}
		}),
		grown("gradient of a residual of 0", "NaN", nil, quantile, func(g, theta, x []float64, y float64) {
			if y == dot(x, theta) {
				g[0] = math.NaN()
			}
		}),
	}
}

func tenthKernels() []Case {
	walk := func(name, effect string, h func() hooks) Case { return kernel(name, effect, asked{}, h) }
	width := func(theta []float64) float64 { return 1 + 0.2*math.Tanh(math.Abs(theta[0]-center[0])/sd) }
	return []Case{
		walk("scale by the state, its density in one dimension for two", "up to 20%", func() hooks {
			return hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] = t + width(theta)*(next[j]-t)
				}
			}, public: func(_ *chain, theta, next []float64, r float64) float64 {
				a, b, d := width(theta), width(next), math.Hypot(next[0]-theta[0], next[1]-theta[1])/step
				return r + math.Log(a/b) + d*d*(1/(a*a)-1/(b*b))/2
			}}
		}),
		kernel("noise of one parameter has some of the other's", "3%", asked{langevin: true}, func() hooks {
			return hooks{noise: func(_ *chain, _ *rand.Rand, _, z []float64) { z[1] = 0.03*z[0] + math.Sqrt(1-0.03*0.03)*z[1] }}
		}),
		walk("prior ratio cut off", "at 1", func() hooks {
			return hooks{public: func(_ *chain, _, _ []float64, r float64) float64 { return max(-1, min(r, 1)) }}
		}),
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
		kernel("noise too large", "½%", asked{langevin: true}, func() hooks { return hooks{scale: 1.005} }),
		walk("no iteration is counted beyond three sd", "rare", func() hooks {
			return hooks{after: func(_ *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
				if math.Abs(s.Theta[0]-center[0]) > 3*sd {
					s.Iteration--
				}
			}}
		}),
		wideWalk("the first of five moves too long where the last is large", "10%", 5,
			func(theta, next []float64) {
				next[0] += either(math.Abs(theta[4]) > sd, 0.1*(next[0]-theta[0]), 0)
			}),
	}
}

func tenthMechanisms() []Case {
	few, other := []float64{0, 1, 1, 2}, []float64{1, 1, 1, 2}
	return []Case{
		one("small bins are left out before the noise", "below 2", answers{
			claim: event(accountant.Pure(accountant.Substitute, 1)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				count := histogram(x)
				for k, c := range count {
					count[k] = either(c < 2, 0, c)
				}
				return noisy(count[:], func() float64 { return laplace(rng, 2) })
			})}, few, other),
		one("two records share the coin of their answers", "always", answers{
			claim: event(accountant.RandomizedResponse(accountant.Substitute, 1.0987, 2)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				out, lie := make([]float64, 2), rng.Float64() < 0.25
				for i := range out {
					out[i] = either((i < len(x) && x[i] > 0) != lie, 1, 0)
				}
				return out
			})}, plus, minus),
		one("a mean of what is a number", "the divisor", answers{claim: gaussian(1),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				total, n := 0.0, 0.0
				for i, v := range x {
					if !math.IsNaN(v) {
						total, n = total+clipped(i, v), n+1
					}
				}
				return []float64{total/max(1, n) + noiseSD/float64(len(x))*rng.NormFloat64()}
			})}, []float64{1, 0.3, 0.9, 0.8}, []float64{-1, 0.3, 0.9, 0.8}),
		mechanism("less noise after a thousand releases", "2%", bare, func(m *sum) {
			m.noise = func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
				return noiseSD * either(i > 1000, 0.98, 1) * rng.NormFloat64()
			}
		}),
		one("the price of a selection too low", "5%", answers{
			claim: event(accountant.Pure(accountant.Substitute, 0.95)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				count, total := histogram(x), 0.0
				for k, c := range count {
					count[k] = math.Exp(c / 2)
					total += count[k]
				}
				u := rng.Float64() * total
				return []float64{either(u < count[0], 0, either(u < count[0]+count[1], 1, 2))}
			})}, []float64{0, 1, 1, 1}, []float64{1, 1, 1, 1}),
		one("the last record is clipped later", "at 1.1", answers{claim: gaussian(1),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				total := clip1(x)
				if v := x[len(x)-1]; len(x) > 2 && !math.IsNaN(v) {
					total += max(-1.1, min(v, 1.1)) - clipped(0, v)
				}
				return []float64{total + noiseSD*rng.NormFloat64()}
			})}, []float64{1, 0.3, 0.2}, []float64{-1, 0.3, 0.2}),
		mechanism("Laplace noise by inversion of a thousand numbers", "atoms", bare, func(m *sum) {
			m.claim = event(accountant.Laplace(accountant.Substitute, 1))
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				u := (float64(rng.IntN(1000))+0.5)/500 - 1
				return -2 * math.Copysign(math.Log1p(-math.Abs(u)), u)
			}
		}),
	}
}

func tenthTargetControls() []Case {
	return []Case{
		ownTarget("survival", "", nil, func() targets.Target { return censored() }),
	}
}
