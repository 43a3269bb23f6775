package planted

import (
	"math"
	"math/rand/v2"
	"sync"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
)

func secondTargets() []Case {
	add := func(name, effect string, m model, plant func(p *planted)) Case {
		return target(name, effect, m, plant)
	}
	ratio := func(name, effect string, m model, cond func(a at) bool, by float64) Case {
		return add(name, effect, m, func(p *planted) { p.ratio = when(cond, by) })
	}
	grad := func(name, effect string, m model, f func(a at, g []float64)) Case {
		return add(name, effect, m, func(p *planted) { p.grad = f })
	}
	bound := func(name, effect string, m model, cond func(a, b []float64) bool, by float64) Case {
		return add(name, effect, m, func(p *planted) {
			p.bound = func(a, b []float64, _, v float64) float64 {
				return either(cond(a, b), by*v, v)
			}
		})
	}
	draw := func(name, effect string, f func(t []float64, rng *rand.Rand)) Case {
		return add(name, effect, logistic, func(p *planted) { p.draw = f })
	}
	var before [dim]float64 // of the prior's draws
	return []Case{
		ratio("ratio for x₁ < −2 on moves that raise θ₂", "3%", logistic,
			func(a at) bool { return a.x[0] < -2 && a.next[1] > a.theta[1] }, 1.03),
		ratio("no ratio where the norms are equal", "zero", huber,
			func(a at) bool { return math.Hypot(a.theta[0], a.theta[1]) == math.Hypot(a.next[0], a.next[1]) }, 0),
		grad("gradient for x₁ > 1 and y in a narrow band", "5%, width 0.1", huber, func(a at, g []float64) {
			g[0] *= either(a.x[0] > 1 && a.y > 1.5 && a.y < 1.6, 1.05, 1)
		}),
		grad("gradient for features near 0", "5%, |x₁| < 0.01", huber, func(a at, g []float64) {
			g[1] *= either(math.Abs(a.x[0]) < 0.01, 1.05, 1)
		}),
		grad("last record of 2ᵏ records", "zero, from 256 on", logistic, func(a at, g []float64) {
			if a.n >= 256 && a.n&(a.n-1) == 0 && a.i == a.n-1 {
				clear(g)
			}
		}),
		add("gradients kept by θ₁ and the batch's length", "stale", huber, func(p *planted) {
			var mu sync.Mutex
			type key struct {
				first float64
				n     int
			}
			var now key
			kept := map[int][dim]float64{}
			p.grad = func(a at, g []float64) {
				mu.Lock()
				defer mu.Unlock()
				if k := (key{a.theta[0], a.n}); k != now {
					now = k
					clear(kept)
				}
				if old, ok := kept[a.i]; ok {
					copy(g, old[:])
				}
				kept[a.i] = [dim]float64{g[0], g[1]}
			}
		}),
		{Name: "LossAt reads what it has written", Effect: "where dst is eta",
			Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
				proptest.CheckTarget(t, twice{&planted{model: huber}}, huber.options(seed, effort))
			}},
		add("log prior kept by θ₁", "stale", logistic, func(p *planted) {
			var mu sync.Mutex
			first, kept := math.NaN(), 0.0
			p.prior = func(t []float64, lp float64) float64 {
				mu.Lock()
				defer mu.Unlock()
				if t[0] != first {
					first, kept = t[0], lp
				}
				return kept
			}
		}),
		{Name: "prior's gradient added to dst", Effect: "θ₂ < −1",
			Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
				proptest.CheckTarget(t, adds{planted: &planted{model: huber}, prior: true}, huber.options(seed, effort))
			}},
		{Name: "gradient added to dst", Effect: "label 0",
			Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
				proptest.CheckTarget(t, adds{planted: &planted{model: logistic}}, logistic.options(seed, effort))
			}},
		bound("RatioBound from one corner to the other", "5% low", logistic,
			func(a, b []float64) bool { return a[0] > 1.5 && b[1] < -1.5 }, 0.95),
		bound("RatioBound on moves longer than 50", "2% low", huber,
			func(a, b []float64) bool { return math.Hypot(a[0]-b[0], a[1]-b[1]) > 50 }, 0.98),
		add("NaN for a record of zeros", "one record", welsch, func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				return either(a.x[0] == 0 && a.x[1] == 0, math.NaN(), l)
			}
		}),
		add("a panic for predictors beyond 700", "table", logistic, func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				if a.eta() > 700 {
					panic("index out of range")
				}
				return l
			}
		}),
		draw("an atom among the prior's draws", "1 in 200", func(t []float64, rng *rand.Rand) {
			if rng.IntN(200) == 0 {
				t[0] = 0
			}
		}),
		draw("each second prior draw mirrors the one before", "−1", func(t []float64, rng *rand.Rand) {
			if rng.IntN(2) == 0 {
				t[0], t[1] = -before[0], -before[1]
			}
			copy(before[:], t)
		}),
	}
}

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
