package planted

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// unusualTargets are right ones that look like none that a suite was made for.
func unusualTargets() []Case {
	uniform := func(rng *rand.Rand) float64 { return rng.Float64() }
	half := func(rng *rand.Rand) float64 { return math.Copysign(1, rng.Float64()-0.5) }
	cauchy := func(rng *rand.Rand) float64 { return math.Tan(math.Pi * (rng.Float64() - 0.5)) }
	return []Case{
		ofRecords("features of whole numbers", func(o *proptest.TargetOptions) {
			o.Record = func(rng *rand.Rand, x []float64) float64 {
				x[0], x[1] = float64(rng.IntN(4)), float64(rng.IntN(9)-4)
				return float64(rng.IntN(3))
			}
		}, madeOf(huberOf(2))),
		ofRecords("a column of ones and one of zeros", func(o *proptest.TargetOptions) {
			o.Record = func(rng *rand.Rand, x []float64) float64 {
				x[0], x[1], x[2] = 1, 0, rng.NormFloat64()
				return x[2] + rng.NormFloat64()
			}
		}, madeOf(huberOf(3))),
		ofRecords("features of a millionth and responses of a million", func(o *proptest.TargetOptions) {
			o.State = func(rng *rand.Rand, theta []float64) { theta[0], theta[1] = rng.NormFloat64(), rng.NormFloat64() }
			o.Record = func(rng *rand.Rand, x []float64) float64 {
				x[0], x[1] = 1e-6*rng.NormFloat64(), 1e-6*rng.NormFloat64()
				return 1e6 * rng.NormFloat64()
			}
		}, madeOf(huberOf(2))),
		plainly("residuals of less than a half cost nothing", "", madeOf(func() *own {
			dead := func(r float64) float64 { return max(0, math.Abs(r)-0.5) }
			return along(func(eta, y float64) float64 { return dead(eta-y) * dead(eta-y) },
				func(eta, y float64) float64 { return math.Copysign(2*dead(eta-y), eta-y) })
		})),
		plainly("nothing costs anything", "", func() targets.Target {
			m := along(func(_, _ float64) float64 { return 0 }, func(_, _ float64) float64 { return 0 })
			return bounded{m, func(_, _ []float64, _ float64) float64 { return 0 }, func(float64) float64 { return 0 }}
		}),
		plainly("losses that hardly grow", "", madeOf(func() *own {
			return along(func(eta, y float64) float64 { return math.Log1p((eta - y) * (eta - y)) },
				func(eta, y float64) float64 { return 2 * (eta - y) / (1 + (eta-y)*(eta-y)) })
		})),
		plainly("a location of responses, without features", "", madeOf(func() *own {
			return &own{dim: 1,
				loss: func(theta, _ []float64, y float64) float64 { return math.Hypot(1, theta[0]-y) },
				grad: func(g, theta, _ []float64, y float64) { g[0] = (theta[0] - y) / math.Hypot(1, theta[0]-y) }}
		})),
		plainly("a Cauchy prior of a thousandth", "", priorOf(
			func(t float64) float64 { return -math.Log1p(1e6 * t * t) },
			func(t float64) float64 { return -2e6 * t / (1 + 1e6*t*t) },
			func(rng *rand.Rand) float64 { return 1e-3 * cauchy(rng) })),
		plainly("a prior of ten millions", "", drawnOf(1e7, 1e7)),
		plainly("a prior of a ten millionth", "", drawnOf(1e-7, 1e-7)),
		plainly("a Laplace prior", "", priorOf(func(t float64) float64 { return -math.Abs(t) },
			func(t float64) float64 { return either(t == 0, 0, -math.Copysign(1, t)) },
			func(rng *rand.Rand) float64 { return half(rng) * rng.ExpFloat64() })),
		plainly("a uniform prior", "", priorOf(
			func(t float64) float64 { return either(t >= -3 && t <= 3, 0, math.Inf(-1)) },
			func(float64) float64 { return 0 }, func(rng *rand.Rand) float64 { return 6*uniform(rng) - 3 })),
		plainly("a scale that must be positive, as it is", "", madeOf(func() *own {
			return &own{dim: 2, features: 1,
				loss: func(theta, x []float64, y float64) float64 {
					return math.Log(theta[1]) + math.Abs(y-theta[0]*x[0])/theta[1]
				},
				grad: func(g, theta, x []float64, y float64) {
					r := y - theta[0]*x[0]
					g[0] = -either(r == 0, 0, math.Copysign(1, r)) * x[0] / theta[1]
					g[1] = 1/theta[1] - math.Abs(r)/(theta[1]*theta[1])
				},
				logPrior: func(t []float64) float64 {
					return either(t[1] > 0, -t[0]*t[0]/2-t[1], math.Inf(-1))
				},
				gradPrior: func(g, t []float64) { g[0], g[1] = -t[0], -1 }}
		})),
		plainly("a prior of a spike of a hundredth and a slab", "", priorOf(spikeLog, spikeSlope,
			func(rng *rand.Rand) float64 { return rng.NormFloat64() * either(rng.IntN(2) == 0, 0.01, 1) })),
		plainly("the log of an exponential law to the eighth power as a prior", "", priorOf(
			func(t float64) float64 { return t/8 - math.Exp(t/8) },
			func(t float64) float64 { return (1 - math.Exp(t/8)) / 8 },
			func(rng *rand.Rand) float64 { return 8 * math.Log(rng.ExpFloat64()) })),
	}
}

// ofRecords is a right case of options.
func ofRecords(name string, options func(o *proptest.TargetOptions), make func() targets.Target) Case {
	return Case{Name: name, Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
		o := proptest.TargetOptions{Seed: seed, Effort: effort}
		options(&o)
		proptest.CheckTarget(t, make(), o)
	}}
}

// spikeLog is the log density of half a spike of a hundredth and half a standard normal law, up to a constant.
func spikeLog(t float64) float64 {
	narrow, wide := math.Log(100)-t*t*5000, -t*t/2
	most := max(narrow, wide)
	return most + math.Log(math.Exp(narrow-most)+math.Exp(wide-most))
}

func spikeSlope(t float64) float64 {
	w := 1 / (1 + math.Exp(-t*t/2+t*t*5000-math.Log(100)))
	return -t*1e4*w - t*(1-w)
}
