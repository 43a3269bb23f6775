package planted

import (
	"math"
	"math/rand/v2"
	"sync"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// unseenTargets were written before the suites were run on them.
func unseenTargets() (all []Case) {
	add := func(name, effect string, m model, plant func(p *planted)) {
		all = append(all, target(name, effect, m, plant))
	}
	scale := func(name, effect string, s scaled) { all = append(all, scaledTarget(name, effect, s)) }
	scale("Jacobian of a log scale forgotten", "e^θ", scaled{jacobian: -1})
	scale("Jacobian of a log scale twice", "e^θ", scaled{jacobian: 1})
	scale("gradient of a log scale without its constant", "1", scaled{slope: func(_, _, _ float64) float64 { return -1 }})
	scale("gradient of a log scale by the scale", "chain rule",
		scaled{slope: func(_, tau, g float64) float64 { return g*math.Exp(-tau) - g }})
	scale("gradient of a small scale cut off", "σ < e⁻³", scaled{slope: func(_, tau, g float64) float64 {
		return either(tau < -3, -g, 0)
	}})
	add("gradients added to the record's before", "10⁻⁶", logistic, func(p *planted) {
		p.grad = func(a at, g []float64) {
			if a.i > 0 {
				g[0] += 1e-6 * p.model.slope(dot(a.rows.Row(a.i-1), a.theta), a.rows.Y[a.i-1])
			}
		}
	})
	add("coordinates shifted by one beyond record 1024", "index", huber, func(p *planted) {
		p.grad = func(a at, g []float64) {
			if a.i >= 1024 {
				g[0], g[1] = g[1], g[0]
			}
		}
	})
	add("a block's first record takes the last one's response", "one in 256", huber, func(p *planted) {
		p.loss = func(a at, l float64) float64 {
			if a.i > 0 && a.i%256 == 0 {
				return p.model.loss(a.eta(), a.rows.Y[a.i-1])
			}
			return l
		}
	})
	add("θ and θ′ swapped for label 0", "sign", logistic, func(p *planted) {
		p.ratio = when(func(a at) bool { return a.y == 0 }, -1)
	})
	add("ratio clamped", "at 10", huber, func(p *planted) {
		p.ratio = func(_ at, v float64) float64 { return max(-10, min(v, 10)) }
	})
	add("whole part of the response", "y = 0.7", huber, func(p *planted) {
		p.ratio = func(a at, _ float64) float64 {
			y := math.Trunc(a.y)
			return p.model.loss(a.eta(), y) - p.model.loss(dot(a.x, a.next), y)
		}
	})
	add("ratio in single precision", "6·10⁻⁸", logistic, func(p *planted) {
		p.ratio = func(_ at, v float64) float64 { return float64(float32(v)) }
	})
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
	})
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
	})
	add("mean instead of sum", "1/n", logistic, func(p *planted) {
		p.grad = func(a at, g []float64) { g[0] /= float64(a.n) }
	})
	add("equal features", "x₁ = x₂", huber, func(p *planted) {
		p.grad = func(a at, g []float64) {
			if a.x[0] == a.x[1] {
				g[1] = 0
			}
		}
	})
	add("bound by the largest coordinate's move", "1/√2", logistic, func(p *planted) {
		p.bound = func(theta, next []float64, radius, _ float64) float64 {
			return radius * max(math.Abs(next[0]-theta[0]), math.Abs(next[1]-theta[1])) * (1 + 1e-12)
		}
	})
	add("bound capped", "at 3", huber, func(p *planted) {
		p.bound = func(_, _ []float64, _, b float64) float64 { return min(b, 3) }
	})
	add("gradient's bound with the radius squared", "below 1", logistic, func(p *planted) {
		p.gradBound = func(r, b float64) float64 { return b * min(1, r) }
	})
	add("slope grows with the response", "2% at y = 100", huber, func(p *planted) {
		p.weigh(func(y float64) float64 { return 1 + 0.02*math.Tanh(math.Abs(y)/50) })
	})
	add("prior's support smaller than its draws", "0.3%", logistic, func(p *planted) {
		p.prior = func(t []float64, lp float64) float64 {
			return either(math.Abs(t[1]) > 3*priorSD, math.Inf(-1), lp)
		}
	})
	add("prior's gradient swapped", "θ₁ > θ₂", logistic, func(p *planted) {
		p.gradPrior = func(t, g []float64) {
			if t[0] > t[1] {
				g[0], g[1] = g[1], g[0]
			}
		}
	})
	add("draws with heavier tails", "Student, 8 degrees", logistic, func(p *planted) {
		p.draw = func(t []float64, rng *rand.Rand) {
			t[0] *= heavier(rng, 8)
		}
	})
	return all
}

// heavier is what makes a normal number one of Student's law, of the same variance.
func heavier(rng *rand.Rand, degrees int) float64 {
	s := 0.0
	for range degrees {
		z := rng.NormFloat64()
		s += z * z
	}
	return math.Sqrt(float64(degrees-2) / s)
}

func scaledTarget(name, effect string, s scaled) Case {
	return Case{Name: name, Effect: effect,
		Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
			proptest.CheckTarget(t, s, proptest.TargetOptions{Seed: seed, Effort: effort})
		}}
}

// scaled are normal values of mean θ₁ and standard deviation e^θ₂, a normal prior
// for the mean and a half-normal one for the standard deviation.
type scaled struct {
	jacobian float64                          // how often more than once the Jacobian of θ₂ counts
	slope    func(mu, tau, g float64) float64 // added to the gradient in θ₂
}

func (scaled) Dim() int           { return 2 }
func (scaled) Shape() (int, bool) { return 1, false }

func (s scaled) LogPrior(theta []float64) float64 {
	sigma := math.Exp(theta[1])
	return -theta[0]*theta[0]/2 - sigma*sigma/2 + (1+s.jacobian)*theta[1]
}

func (s scaled) GradLogPrior(dst, theta []float64) {
	sigma := math.Exp(theta[1])
	dst[0], dst[1] = -theta[0], 1+s.jacobian-sigma*sigma
}

func (scaled) SamplePrior(theta []float64, rng *rand.Rand) {
	theta[0], theta[1] = rng.NormFloat64(), math.Log(math.Abs(rng.NormFloat64()))
}

func (scaled) Loss(dst, theta []float64, rows targets.Rows) {
	for i, x := range rows.X {
		z := (x - theta[0]) * math.Exp(-theta[1])
		dst[i] = z*z/2 + theta[1]
	}
}

func (s scaled) LossGrad(dst, theta []float64, rows targets.Rows) {
	for i, x := range rows.X {
		z := (x - theta[0]) * math.Exp(-theta[1])
		dst[2*i], dst[2*i+1] = -z*math.Exp(-theta[1]), 1-z*z
		if s.slope != nil {
			dst[2*i+1] += s.slope(theta[0], theta[1], dst[2*i+1])
		}
	}
}
