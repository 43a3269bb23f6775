package planted

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// unseenTargets were written before the suites were run on them.
func unseenTargets() []Case {
	add := func(name, effect string, m model, plant func(p *planted)) Case {
		return target(name, effect, m, plant)
	}
	scale := func(name, effect string, s scaled) Case {
		return scaledTarget(name, effect, s)
	}
	return []Case{
		scale("Jacobian of a log scale forgotten", "e^θ", scaled{jacobian: -1}),
		scale("Jacobian of a log scale twice", "e^θ", scaled{jacobian: 1}),
		scale("gradient of a log scale without its constant", "1",
			scaled{slope: func(_, _, _ float64) float64 { return -1 }}),
		scale("gradient of a log scale by the scale", "chain rule",
			scaled{slope: func(_, tau, g float64) float64 { return g*math.Exp(-tau) - g }}),
		scale("gradient of a small scale cut off", "σ < e⁻³", scaled{slope: func(_, tau, g float64) float64 {
			return either(tau < -3, -g, 0)
		}}),
		add("gradients added to the record's before", "10⁻⁶", logistic, func(p *planted) {
			p.grad = func(a at, g []float64) {
				if a.i > 0 {
					g[0] += 1e-6 * p.model.slope(dot(a.rows.Row(a.i-1), a.theta), a.rows.Y[a.i-1])
				}
			}
		}),
		add("coordinates shifted by one beyond record 1024", "index", huber, func(p *planted) {
			p.grad = func(a at, g []float64) {
				if a.i >= 1024 {
					g[0], g[1] = g[1], g[0]
				}
			}
		}),
		add("a block's first record takes the last one's response", "one in 256", huber, func(p *planted) {
			p.loss = func(a at, l float64) float64 {
				if a.i > 0 && a.i%256 == 0 {
					return p.model.loss(a.eta(), a.rows.Y[a.i-1])
				}
				return l
			}
		}),
		add("θ and θ′ swapped for label 0", "sign", logistic, func(p *planted) {
			p.ratio = when(func(a at) bool { return a.y == 0 }, -1)
		}),
		add("ratio clamped", "at 10", huber, func(p *planted) {
			p.ratio = func(_ at, v float64) float64 { return max(-10, min(v, 10)) }
		}),
		add("whole part of the response", "y = 0.7", huber, func(p *planted) {
			p.ratio = func(a at, _ float64) float64 {
				y := math.Trunc(a.y)
				return p.model.loss(a.eta(), y) - p.model.loss(dot(a.x, a.next), y)
			}
		}),
		add("ratio in single precision", "6·10⁻⁸", logistic, func(p *planted) {
			p.ratio = func(_ at, v float64) float64 { return float64(float32(v)) }
		}),
		add("cache keyed on the address of θ", "stale", huber, func(p *planted) {
			var address *float64
			var kept [dim]float64
			var mu sync.Mutex
			p.loss = func(a at, _ float64) float64 {
				mu.Lock()
				defer mu.Unlock()
				if &a.theta[0] != address {
					address = &a.theta[0]
					copy(kept[:], a.theta)
				}
				return p.model.loss(dot(a.x, kept[:]), a.y)
			}
		}),
		add("gradient at the parameters of the last loss", "stale", logistic, func(p *planted) {
			last, mu := make([]float64, dim), sync.Mutex{}
			p.loss = func(a at, l float64) float64 {
				mu.Lock()
				defer mu.Unlock()
				copy(last, a.theta)
				return l
			}
			p.grad = func(a at, g []float64) {
				mu.Lock()
				defer mu.Unlock()
				for j, x := range a.x {
					g[j] = p.model.slope(dot(a.x, last), a.y) * x
				}
			}
		}),
		add("mean instead of sum", "1/n", logistic, func(p *planted) {
			p.grad = func(a at, g []float64) { g[0] /= float64(a.n) }
		}),
		add("equal features", "x₁ = x₂", huber, func(p *planted) {
			p.grad = func(a at, g []float64) {
				if a.x[0] == a.x[1] {
					g[1] = 0
				}
			}
		}),
		add("bound by the largest coordinate's move", "1/√2", logistic, func(p *planted) {
			p.bound = func(theta, next []float64, radius, _ float64) float64 {
				return radius * max(math.Abs(next[0]-theta[0]), math.Abs(next[1]-theta[1])) * (1 + 1e-12)
			}
		}),
		add("bound capped", "at 3", huber, func(p *planted) {
			p.bound = func(_, _ []float64, _, b float64) float64 { return min(b, 3) }
		}),
		add("gradient's bound with the radius squared", "below 1", logistic, func(p *planted) {
			p.gradBound = func(r, b float64) float64 { return b * min(1, r) }
		}),
		add("slope grows with the response", "2% at y = 100", huber, func(p *planted) {
			p.weigh(func(y float64) float64 { return 1 + 0.02*math.Tanh(math.Abs(y)/50) })
		}),
		add("prior's support smaller than its draws", "0.3%", logistic, func(p *planted) {
			p.prior = func(t []float64, lp float64) float64 {
				return either(math.Abs(t[1]) > 3*priorSD, math.Inf(-1), lp)
			}
		}),
		add("prior's gradient swapped", "θ₁ > θ₂", logistic, func(p *planted) {
			p.gradPrior = func(t, g []float64) {
				if t[0] > t[1] {
					g[0], g[1] = g[1], g[0]
				}
			}
		}),
		add("draws with heavier tails", "Student, 8 degrees", logistic, func(p *planted) {
			p.draw = func(t []float64, rng *rand.Rand) {
				t[0] *= heavier(rng, 8)
			}
		}),
	}
}

func freshTargets() []Case {
	add := func(name, effect string, m model, plant func(p *planted)) Case {
		return target(name, effect, m, plant)
	}
	return []Case{
		add("ratio for label 0, θ₁ > 1 and x₂ < −1 together", "2%", logistic, func(p *planted) {
			p.ratio = when(func(a at) bool { return a.y == 0 && a.theta[0] > 1 && a.x[1] < -1 }, 1.02)
		}),
		add("gradient for x₁x₂ > 6", "3%", huber, func(p *planted) {
			p.grad = func(a at, g []float64) {
				g[0] *= either(a.x[0]*a.x[1] > 6, 1.03, 1)
			}
		}),
		add("gradient at θ₁ = 0 exactly", "sign", huber, func(p *planted) {
			p.grad = func(a at, g []float64) {
				if a.theta[0] == 0 {
					g[0] = -g[0]
				}
			}
		}),
		add("gradient where θ₁ = θ₂ exactly", "10%", logistic, func(p *planted) {
			p.grad = func(a at, g []float64) {
				g[1] *= either(a.theta[0] == a.theta[1], 1.1, 1)
			}
		}),
		add("last of a block of 64 takes the next one's features", "one in 64", huber, func(p *planted) {
			p.grad = func(a at, g []float64) {
				if a.i%64 == 63 && a.i+1 < a.n {
					for j, x := range a.rows.Row(a.i + 1) {
						g[j] = p.model.slope(a.eta(), a.y) * x
					}
				}
			}
		}),
		add("last gradient of a batch beyond 400", "zero", logistic, func(p *planted) {
			p.grad = func(a at, g []float64) {
				if a.n > 400 && a.i == a.n-1 {
					clear(g)
				}
			}
		}),
		add("RatioBound on falling moves of θ₂ alone", "2% low", logistic, func(p *planted) {
			p.bound = func(a, b []float64, _, v float64) float64 {
				return either(a[0] == b[0] && b[1] < a[1], 0.98*v, v)
			}
		}),
		add("RatioBound on moves of both coordinates alike", "4% low", huber, func(p *planted) {
			p.bound = func(a, b []float64, _, v float64) float64 {
				return either(math.Abs(math.Abs(b[0]-a[0])-math.Abs(b[1]-a[1])) < 1e-12, 0.96*v, v)
			}
		}),
		add("RatioBound on moves through θ₁ = 0", "3% low", welsch, func(p *planted) {
			p.bound = func(a, b []float64, _, v float64) float64 {
				return either(a[0]*b[0] < 0, 0.97*v, v)
			}
		}),
		add("RatioBound by the start's norm", "1% low beyond 6", logistic, func(p *planted) {
			p.bound = func(a, _ []float64, _, v float64) float64 {
				return either(math.Hypot(a[0], a[1]) > 6, 0.99*v, v)
			}
		}),
		add("range exceeded for responses beyond 200", "2%", welsch, func(p *planted) {
			p.weigh(func(y float64) float64 {
				return either(math.Abs(y) > 200, 1.02, 1)
			})
		}),
		add("θ′ is copied over θ for a while", "writes", logistic, func(p *planted) {
			p.ratio = func(a at, _ float64) float64 {
				now := p.model.loss(a.eta(), a.y)
				kept := [dim]float64{a.theta[0], a.theta[1]}
				copy(a.theta, a.next)
				then := p.model.loss(a.eta(), a.y)
				copy(a.theta, kept[:])
				return now - then
			}
		}),
		add("gradients of 0 are not written", "what dst held", huber, func(p *planted) {
			var mu sync.Mutex
			held := map[int]float64{} // as if dst were not overwritten
			p.grad = func(a at, g []float64) {
				mu.Lock()
				defer mu.Unlock()
				if a.x[0] == 0 {
					g[0] = held[a.i]
				}
				held[a.i] = g[0]
			}
		}),
		add("small slopes flushed to zero", "below 10⁻⁶", logistic, func(p *planted) {
			flush := func(v float64) float64 {
				return either(math.Abs(v) < 1e-6, 0, v)
			}
			p.grad = func(a at, g []float64) {
				s := flush(p.model.slope(a.eta(), a.y))
				g[0], g[1] = s*a.x[0], s*a.x[1]
			}
			p.slopeAt = func(_, _, v float64) float64 { return flush(v) }
		}),
		add("ratio of first order on moves shorter than 10⁻²", "O(length²)", welsch, func(p *planted) {
			p.ratio = func(a at, v float64) float64 {
				return either(distance(a) < 1e-2, p.model.slope(a.eta(), a.y)*(a.eta()-dot(a.x, a.next)), v)
			}
		}),
		add("LossAt for negative responses and predictors beyond 3", "1%", huber, func(p *planted) {
			p.lossAt = func(eta, y, v float64) float64 {
				return either(y < -1 && eta > 3, 1.01*v, v)
			}
		}),
		add("prior's gradient where a parameter is 0", "0.1", logistic, func(p *planted) {
			p.gradPrior = func(t, g []float64) {
				for j, v := range t {
					if v == 0 {
						g[j] = 0.1
					}
				}
			}
		}),
		add("prior's gradient in a narrow band", "3%, width 0.04", logistic, func(p *planted) {
			p.gradPrior = func(t, g []float64) {
				g[0] *= either(math.Abs(t[0]-2.5) < 0.02, 1.03, 1)
			}
		}),
		add("every 100th prior draw repeats the one before", "1%", logistic, func(p *planted) {
			var n atomic.Int64
			var last [dim]float64
			p.draw = func(t []float64, _ *rand.Rand) {
				if n.Add(1)%100 == 0 {
					copy(t, last[:])
				}
				copy(last[:], t)
			}
		}),
		add("prior draws share their scale", "0.7 and 1.23", logistic, func(p *planted) {
			p.draw = func(t []float64, rng *rand.Rand) {
				by := []float64{0.7, math.Sqrt(1.51)}[rng.IntN(2)]
				t[0], t[1] = by*t[0], by*t[1]
			}
		}),
	}
}
