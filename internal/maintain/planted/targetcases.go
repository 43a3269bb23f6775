package planted

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

func (m model) options(seed uint64, effort proptest.Effort) proptest.TargetOptions {
	o := proptest.TargetOptions{Seed: seed, Effort: effort}
	if m.labels {
		o.Response = func(u float64) float64 {
			return either(u > 0.5, 1, 0)
		}
	}
	return o
}

// target makes a case; plant sets the hooks of a fresh model.
func target(name, effect string, m model, plant func(p *planted)) Case {
	return Case{Name: name, Effect: effect,
		Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
			p := &planted{model: m}
			plant(p)
			proptest.CheckTarget(t, p, m.options(seed, effort))
		}}
}

func distance(a at) float64 { return math.Hypot(a.next[0]-a.theta[0], a.next[1]-a.theta[1]) }

// when multiplies by a factor where a condition holds.
func when(cond func(a at) bool, by float64) func(at, float64) float64 {
	return func(a at, v float64) float64 {
		return either(cond(a), v*by, v)
	}
}

func ratioDefects() (all []Case) {
	add := func(name, effect string, m model, cond func(a at) bool, by float64) {
		all = append(all, target(name, effect, m, func(p *planted) { p.ratio = when(cond, by) }))
	}
	add("moves of one coordinate", "5%", logistic, func(a at) bool {
		return a.next[0] == a.theta[0] && a.next[1] != a.theta[1]
	}, 1.05)
	add("moves of the first coordinate alone", "1%", huber, func(a at) bool { return a.next[1] == a.theta[1] }, 1.01)
	add("moves shorter than 10⁻³", "5%", logistic, func(a at) bool { return distance(a) < 1e-3 }, 1.05)
	add("moves shorter than 10⁻⁶", "10%", welsch, func(a at) bool { return distance(a) < 1e-6 }, 1.1)
	add("moves longer than 5", "1%", logistic, func(a at) bool { return distance(a) > 5 }, 1.01)
	add("moves along the record", "2%", logistic, func(a at) bool {
		d := []float64{a.next[0] - a.theta[0], a.next[1] - a.theta[1]}
		return math.Abs(dot(d, a.x)) > 0.999*math.Sqrt(dot(d, d)*dot(a.x, a.x))
	}, 1.02)
	add("a reflected coordinate", "sign", huber, func(a at) bool { return a.next[0] == -a.theta[0] && a.theta[0] != 0 },
		-1)
	add("responses that are exactly 1", "3%", huber, func(a at) bool { return a.y == 1 }, 1.03)
	add("whole responses", "3%", welsch, func(a at) bool { return a.y == math.Round(a.y) }, 1.03)
	add("label 1 only", "0.1%", logistic, func(a at) bool { return a.y == 1 }, 1.001)
	add("features beyond 4", "5%", logistic, func(a at) bool { return a.x[1] > 4 }, 1.05)
	add("records beyond 10⁵", "5%", logistic, func(a at) bool { return math.Abs(a.x[0]) > 1e5 }, 1.05)
	add("a feature that is 0", "sign", huber, func(a at) bool { return a.x[0] == 0 && a.x[1] != 0 }, -1)
	add("predictors beyond 15", "10%", logistic, func(a at) bool { return math.Abs(a.eta()) > 15 }, 1.1)
	add("parameters of one sign", "0.01%", welsch, func(a at) bool { return a.theta[0] > 0 && a.theta[1] > 0 }, 1.0001)
	add("at the origin", "50%", logistic, func(a at) bool { return a.theta[0] == 0 && a.theta[1] == 0 }, 1.5)
	return all
}

func gradientDefects() (all []Case) {
	add := func(name, effect string, m model, cond func(a at) bool, j int, by float64) {
		all = append(all, target(name, effect, m, func(p *planted) {
			p.grad = func(a at, g []float64) {
				if cond(a) {
					g[j] *= by
				}
			}
		}))
	}
	add("|x₂| > 3", "10%", logistic, func(a at) bool { return math.Abs(a.x[1]) > 3 }, 0, 1.1)
	add("x₁ < −8", "1%", huber, func(a at) bool { return a.x[0] < -8 }, 1, 1.01)
	add("predictors beyond 12", "sign", logistic, func(a at) bool { return a.eta() > 12 }, 0, -1)
	add("predictors below −20", "sign", logistic, func(a at) bool { return a.eta() < -20 }, 1, -1)
	add("|θ₁| > 3.5", "2%", welsch, func(a at) bool { return math.Abs(a.theta[0]) > 3.5 }, 1, 1.02)
	add("y = 1", "1%", huber, func(a at) bool { return a.y == 1 }, 0, 1.01)
	add("y = 0", "zero", welsch, func(a at) bool { return a.y == 0 }, 0, 0)
	add("y > 50", "sign", huber, func(a at) bool { return a.y > 50 }, 0, -1)
	add("one coordinate everywhere", "10⁻⁵", logistic, func(a at) bool { return true }, 1, 1+1e-5)
	add("one quadrant of parameters", "0.1%", huber, func(a at) bool { return a.theta[0] > 0 && a.theta[1] < 0 }, 0, 1.001)
	add("records beyond 100", "5%", logistic, func(a at) bool { return math.Abs(a.x[0])+math.Abs(a.x[1]) > 100 }, 1, 1.05)
	add("a narrow band of predictors", "2%, width 0.1", logistic,
		func(a at) bool { return math.Abs(a.eta()-1.3) < 0.05 }, 0, 1.02)
	add("a zero feature", "constant", huber, func(a at) bool { return a.x[1] == 0 }, 0, 1.5)
	add("residuals beyond 5", "clipped", huber, func(a at) bool { return math.Abs(a.eta()-a.y) > 5 }, 1, 0.97)
	all = append(all, target("swapped coordinates for label 0", "all", logistic,
		func(p *planted) {
			p.grad = func(a at, g []float64) {
				if a.y == 0 {
					g[0], g[1] = g[1], g[0]
				}
			}
		}))
	return all
}

func valueDefects() (all []Case) {
	add := func(name, effect string, m model, cond func(a at) bool, v float64) {
		all = append(all, target(name, effect, m, func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				return either(cond(a), v, l)
			}
		}))
	}
	add("NaN for |θ₁| > 3.5", "region", logistic, func(a at) bool { return math.Abs(a.theta[0]) > 3.5 }, math.NaN())
	add("NaN for θ₂ < −5", "2.5 prior sd", huber, func(a at) bool { return a.theta[1] < -5 }, math.NaN())
	add("+Inf for plausible predictors beyond 4", "region", logistic,
		func(a at) bool { return a.eta() < -4 && distanceTo(a.x) < 3 }, math.Inf(1))
	add("zero for labels of 1 and negative predictors", "region", logistic,
		func(a at) bool { return a.y == 1 && a.eta() < 0 }, 0)
	scaled := func(name, effect string, m model, cond func(a at) bool, by float64) {
		all = append(all, target(name, effect, m, func(p *planted) { p.loss = when(cond, by) }))
	}
	scaled("2% larger for y = 1, gradient not", "2%", huber, func(a at) bool { return a.y == 1 }, 1.02)
	scaled("1% larger for x₁ > 2.5", "1%", logistic, func(a at) bool { return a.x[0] > 2.5 }, 1.01)
	scaled("beyond its range far away", "3%", welsch, func(a at) bool { return math.Abs(a.eta()) > 30 }, 1.03)
	scaled("depends on x beyond the predictor", "10⁻⁴", logistic, func(a at) bool { return a.x[0]*a.x[1] > 0 }, 1.0001)
	all = append(all, target("a jump of 0.02 at θ₁ = 1.234567", "0.02", logistic, func(p *planted) {
		p.loss = func(a at, l float64) float64 {
			return either(a.theta[0] > 1.234567, l+0.02, l)
		}
	}))
	return all
}

func distanceTo(x []float64) float64 { return math.Sqrt(dot(x, x)) }

func predictorDefects() []Case {
	add := func(name, effect string, m model, plant func(p *planted)) Case {
		return target(name, effect, m, plant)
	}
	factor := func(cond func(eta, y float64) bool, by float64) func(eta, y, v float64) float64 {
		return func(eta, y, v float64) float64 {
			return either(cond(eta, y), v*by, v)
		}
	}
	return []Case{
		add("LossAt for y = 1", "1%", huber, func(p *planted) {
			p.lossAt = factor(func(_, y float64) bool { return y == 1 }, 1.01)
		}),
		add("LossAt beyond 30", "1%", logistic, func(p *planted) {
			p.lossAt = factor(func(eta, _ float64) bool { return eta < -30 }, 1.01)
		}),
		add("SlopeAt beyond 12", "sign", logistic, func(p *planted) {
			p.slopeAt = factor(func(eta, _ float64) bool { return eta > 12 }, -1)
		}),
		add("SlopeAt in a narrow band", "5%, width 0.1", huber, func(p *planted) {
			p.slopeAt = factor(func(eta, _ float64) bool { return math.Abs(eta-2.2) < 0.05 }, 1.05)
		}),
		add("SlopeAt for large responses", "5%", huber, func(p *planted) {
			p.slopeAt = factor(func(_, y float64) bool { return y > 20 }, 1.05)
		}),
		add("SlopeAt kept by the predictor", "stale response", huber, func(p *planted) {
			var mu sync.Mutex
			at, kept := math.NaN(), 0.0
			p.slopeAt = func(eta, _, v float64) float64 {
				mu.Lock()
				defer mu.Unlock()
				if eta != at {
					at, kept = eta, v
				}
				return kept
			}
		}),
		add("SlopeAt panics for infinite responses", "panic", huber, func(p *planted) {
			p.slopeAt = func(_, y, v float64) float64 {
				if math.IsInf(y, 1) {
					panic("response")
				}
				return v
			}
		}),
		add("SlopeAt for negative zero", "sign", welsch, func(p *planted) {
			p.slopeAt = factor(func(_, y float64) bool { return y == 0 }, -1)
		}),
	}
}

func certificateDefects() (all []Case) {
	bound := func(name, effect string, m model, cond func(theta, next []float64, radius float64) bool, by float64) {
		all = append(all, target(name, effect, m, func(p *planted) {
			p.bound = func(theta, next []float64, radius, b float64) float64 {
				return either(cond(theta, next, radius), b*by, b)
			}
		}))
	}
	length := func(a, b []float64) float64 { return math.Hypot(a[0]-b[0], a[1]-b[1]) }
	bound("RatioBound on moves of one coordinate", "5% low", logistic,
		func(a, b []float64, _ float64) bool { return a[0] == b[0] }, 0.95)
	bound("RatioBound on moves of the first coordinate", "3% low", huber,
		func(a, b []float64, _ float64) bool { return a[1] == b[1] }, 0.97)
	bound("RatioBound on moves shorter than 0.01", "5% low", logistic,
		func(a, b []float64, _ float64) bool { return length(a, b) < 0.01 }, 0.95)
	bound("RatioBound on moves longer than 4", "10% low", huber,
		func(a, b []float64, _ float64) bool { return length(a, b) > 4 }, 0.9)
	bound("RatioBound at other radii", "5% low", logistic, func(_, _ []float64, r float64) bool { return r > 1 }, 0.95)
	bound("RatioBound forgets small radii", "radius 0.3", logistic,
		func(_, _ []float64, r float64) bool { return r < 0.3 }, 0.3)
	bound("RatioBound in a half space", "3% low", welsch,
		func(a, b []float64, _ float64) bool { return a[0] > 0 && b[0] > 0 }, 0.97)
	bound("RatioBound near the origin", "4% low", welsch,
		func(a, b []float64, _ float64) bool { return math.Hypot(a[0], a[1]) < 1 }, 0.96)
	bound("RatioBound NaN for no move", "NaN", logistic,
		func(a, b []float64, _ float64) bool { return a[0] == b[0] && a[1] == b[1] }, math.NaN())
	bound("RatioBound negative backwards", "sign", huber,
		func(a, b []float64, _ float64) bool { return b[0] < a[0]-1 }, -1)
	one := func(name, effect string, m model, plant func(p *planted)) {
		all = append(all, target(name, effect, m, plant))
	}
	one("Lipschitz constant", "1% low", welsch, func(p *planted) { p.lip = func() float64 { return 0.99 * p.lipschitz } })
	one("Lipschitz constant of the logistic", "0.5% low", logistic,
		func(p *planted) { p.lip = func() float64 { return 0.995 } })
	one("GradBound", "1% low", welsch, func(p *planted) { p.gradBound = func(_, b float64) float64 { return 0.99 * b } })
	one("GradBound at large radii", "10% low", logistic, func(p *planted) {
		p.gradBound = func(r, b float64) float64 {
			return either(r > 2, 0.9*b, b)
		}
	})
	one("LossRange", "1% low", welsch, func(p *planted) { p.spans = func() float64 { return 0.99 } })
	one("LossRange of an unbounded loss", "no bound", huber, func(p *planted) { p.spans = func() float64 { return 10 } })
	return all
}

func priorDefects() []Case {
	add := func(name, effect string, plant func(p *planted)) Case {
		return target(name, effect, logistic, plant)
	}
	gradient := func(name, effect string, cond func(theta []float64) bool, j int, by float64) Case {
		return add(name, effect, func(p *planted) {
			p.gradPrior = func(theta, g []float64) {
				if cond(theta) {
					g[j] *= by
				}
			}
		})
	}
	return []Case{
		gradient("gradient for θ₁ > 2", "1%", func(t []float64) bool { return t[0] > 2 }, 0, 1.01),
		gradient("gradient far out", "sign", func(t []float64) bool { return t[1] < -6 }, 1, -1),
		gradient("gradient of one coordinate", "10⁻⁵", func(t []float64) bool { return true }, 1, 1+1e-5),
		gradient("gradient beyond 50", "half", func(t []float64) bool { return math.Abs(t[0]) > 50 }, 0, 0.5),
		add("LogPrior NaN in a corner", "region", func(p *planted) {
			p.prior = func(t []float64, lp float64) float64 {
				return either(t[0] > 3 && t[1] > 3, math.NaN(), lp)
			}
		}),
		add("SamplePrior too wide", "5%", func(p *planted) { p.draw = func(t []float64, _ *rand.Rand) { t[0] *= 1.05 } }),
		add("SamplePrior shifted", "0.1 sd", func(p *planted) {
			p.draw = func(t []float64, _ *rand.Rand) { t[1] += 0.1 * priorSD }
		}),
		add("SamplePrior cut off", "at 2 sd", func(p *planted) {
			p.draw = func(t []float64, rng *rand.Rand) {
				for math.Abs(t[0]) > 2*priorSD {
					t[0] = priorSD * rng.NormFloat64()
				}
			}
		}),
		add("SamplePrior correlated", "0.2", func(p *planted) {
			p.draw = func(t []float64, _ *rand.Rand) { t[1] = math.Sqrt(0.96)*t[1] + 0.2*t[0] }
		}),
		add("SamplePrior has randomness of its own", "one in 10", func(p *planted) {
			p.draw = func(t []float64, rng *rand.Rand) {
				if rng.IntN(10) == 0 {
					t[0] = priorSD * rand.NormFloat64()
				}
			}
		}),
		add("LogPrior counts calls", "10⁻⁶ a call", func(p *planted) {
			n := 0.0
			p.prior = func(_ []float64, lp float64) float64 { n++; return lp + 1e-6*n }
		}),
	}
}

func stateDefects() []Case {
	add := func(name, effect string, plant func(p *planted)) Case {
		return target(name, effect, huber, plant)
	}
	cached := func(key func(a at) string) func(p *planted) {
		return func(p *planted) {
			kept, mu := map[string]float64{}, sync.Mutex{}
			p.loss = func(a at, l float64) float64 {
				mu.Lock()
				defer mu.Unlock()
				k := key(a)
				if v, ok := kept[k]; ok {
					return v
				}
				kept[k] = l
				return l
			}
		}
	}
	counted := func(every int, by float64) func(p *planted) {
		return func(p *planted) {
			var n atomic.Int64
			p.loss = func(a at, l float64) float64 {
				return either(n.Add(1)%int64(every) == 0, l+by, l)
			}
		}
	}
	return []Case{
		add("cache keyed on the first record", "first record", cached(func(a at) string {
			return fmt.Sprint(a.theta, a.rows.Row(0), a.rows.Y[0], a.i)
		})),
		add("cache keyed on the record without θ₂", "one parameter",
			cached(func(a at) string { return fmt.Sprint(a.theta[0], a.x, a.y) })),
		add("cache keyed on the parameters and x₁", "one feature",
			cached(func(a at) string { return fmt.Sprint(a.theta, a.x[0], a.y) })),
		add("cache without the response", "y", cached(func(a at) string { return fmt.Sprint(a.theta, a.x) })),
		add("repeated records count once", "zero", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				for k := range a.i {
					if r := a.rows.Row(k); r[0] == a.x[0] && r[1] == a.x[1] && a.rows.Y[k] == a.y {
						return 0
					}
				}
				return l
			}
		}),
		add("equal neighbours share a value", "zero", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				return either(a.i > 0 && a.rows.Row(a.i - 1)[0] == a.x[0], 0, l)
			}
		}),
		add("blocks of 512 forget their last record", "zero", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				return either(a.i%512 == 511, 0, l)
			}
		}),
		add("batches of one", "10⁻⁹", func(p *planted) { p.loss = when(func(a at) bool { return a.n == 1 }, 1+1e-9) }),
		add("odd batches", "last bit", func(p *planted) {
			p.loss = when(func(a at) bool { return a.n%2 == 1 && a.n > 3 }, 1+2e-16)
		}),
		add("errors grow with N beyond 10⁵", "1%", func(p *planted) {
			p.loss = when(func(a at) bool { return math.Abs(a.x[1]) > 1e5 && a.n > 1 }, 1.01)
		}),
		add("every 1000th value", "10⁻³", counted(1000, 1e-3)),
		add("every 50 000th value", "10⁻³", counted(50_000, 1e-3)),
		add("panics on an infinite second feature", "panic", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				if math.IsInf(a.x[1], -1) {
					panic("feature")
				}
				return l
			}
		}),
		add("panics on two extremes together", "panic", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				if math.IsInf(a.x[0], 1) && math.IsNaN(a.y) {
					panic("both")
				}
				return l
			}
		}),
		add("NaN spreads to the batch", "NaN", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				for i := range a.n {
					if math.IsNaN(a.rows.Row(i)[1]) {
						return math.NaN()
					}
				}
				return l
			}
		}),
		add("RatioBound grows with every call", "10⁻⁹", func(p *planted) {
			var calls atomic.Int64
			p.bound = func(_, _ []float64, _, b float64) float64 { return b * (1 + 1e-9*float64(calls.Add(1))) }
		}),
		add("sorts the responses", "writes", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				if a.n > 1 && a.i == 0 && a.rows.Y[0] > a.rows.Y[1] {
					a.rows.Y[0], a.rows.Y[1] = a.rows.Y[1], a.rows.Y[0]
				}
				return l
			}
		}),
		add("parameters clipped in place", "writes", func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				if a.theta[0] > 2 {
					a.theta[0] = 2
				}
				return l
			}
		}),
	}
}

func targetControls() []Case {
	none := func(*planted) {}
	return []Case{
		target("logistic", "", logistic, none),
		target("pseudo-Huber", "", huber, none),
		target("Welsch", "", welsch, none),
		scaledTarget("log scale", "", scaled{}),
	}
}

var _ targets.Target = (*planted)(nil)
