package planted

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// The families named fresh were written after all others, and the suites were run
// once on them before anything was changed.

func freshTargets() (all []Case) {
	add := func(name, effect string, m model, plant func(p *planted)) {
		all = append(all, target(name, effect, m, plant))
	}
	add("ratio for label 0, θ₁ > 1 and x₂ < −1 together", "2%", logistic, func(p *planted) {
		p.ratio = when(func(a at) bool { return a.y == 0 && a.theta[0] > 1 && a.x[1] < -1 }, 1.02)
	})
	add("gradient for x₁x₂ > 6", "3%", huber, func(p *planted) {
		p.grad = func(a at, g []float64) {
			g[0] *= either(a.x[0]*a.x[1] > 6, 1.03, 1)
		}
	})
	add("gradient at θ₁ = 0 exactly", "sign", huber, func(p *planted) {
		p.grad = func(a at, g []float64) {
			if a.theta[0] == 0 {
				g[0] = -g[0]
			}
		}
	})
	add("gradient where θ₁ = θ₂ exactly", "10%", logistic, func(p *planted) {
		p.grad = func(a at, g []float64) {
			g[1] *= either(a.theta[0] == a.theta[1], 1.1, 1)
		}
	})
	add("last of a block of 64 takes the next one's features", "one in 64", huber, func(p *planted) {
		p.grad = func(a at, g []float64) {
			if a.i%64 == 63 && a.i+1 < a.n {
				for j, x := range a.rows.Row(a.i + 1) {
					g[j] = p.model.slope(a.eta(), a.y) * x
				}
			}
		}
	})
	add("last gradient of a batch beyond 400", "zero", logistic, func(p *planted) {
		p.grad = func(a at, g []float64) {
			if a.n > 400 && a.i == a.n-1 {
				clear(g)
			}
		}
	})
	add("RatioBound on falling moves of θ₂ alone", "2% low", logistic, func(p *planted) {
		p.bound = func(a, b []float64, _, v float64) float64 {
			return either(a[0] == b[0] && b[1] < a[1], 0.98*v, v)
		}
	})
	add("RatioBound on moves of both coordinates alike", "4% low", huber, func(p *planted) {
		p.bound = func(a, b []float64, _, v float64) float64 {
			return either(math.Abs(math.Abs(b[0]-a[0])-math.Abs(b[1]-a[1])) < 1e-12, 0.96*v, v)
		}
	})
	add("RatioBound on moves through θ₁ = 0", "3% low", welsch, func(p *planted) {
		p.bound = func(a, b []float64, _, v float64) float64 {
			return either(a[0]*b[0] < 0, 0.97*v, v)
		}
	})
	add("RatioBound by the start's norm", "1% low beyond 6", logistic, func(p *planted) {
		p.bound = func(a, _ []float64, _, v float64) float64 {
			return either(math.Hypot(a[0], a[1]) > 6, 0.99*v, v)
		}
	})
	add("range exceeded for responses beyond 200", "2%", welsch, func(p *planted) {
		p.weigh(func(y float64) float64 {
			return either(math.Abs(y) > 200, 1.02, 1)
		})
	})
	add("θ′ is copied over θ for a while", "writes", logistic, func(p *planted) {
		p.ratio = func(a at, _ float64) float64 {
			now := p.model.loss(a.eta(), a.y)
			kept := [dim]float64{a.theta[0], a.theta[1]}
			copy(a.theta, a.next)
			then := p.model.loss(a.eta(), a.y)
			copy(a.theta, kept[:])
			return now - then
		}
	})
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
	})
	add("small slopes flushed to zero", "below 10⁻⁶", logistic, func(p *planted) {
		flush := func(v float64) float64 {
			return either(math.Abs(v) < 1e-6, 0, v)
		}
		p.grad = func(a at, g []float64) {
			s := flush(p.model.slope(a.eta(), a.y))
			g[0], g[1] = s*a.x[0], s*a.x[1]
		}
		p.slopeAt = func(_, _, v float64) float64 { return flush(v) }
	})
	add("ratio of first order on moves shorter than 10⁻²", "O(length²)", welsch, func(p *planted) {
		p.ratio = func(a at, v float64) float64 {
			return either(distance(a) < 1e-2, p.model.slope(a.eta(), a.y)*(a.eta()-dot(a.x, a.next)), v)
		}
	})
	add("LossAt for negative responses and predictors beyond 3", "1%", huber, func(p *planted) {
		p.lossAt = func(eta, y, v float64) float64 {
			return either(y < -1 && eta > 3, 1.01*v, v)
		}
	})
	add("prior's gradient where a parameter is 0", "0.1", logistic, func(p *planted) {
		p.gradPrior = func(t, g []float64) {
			for j, v := range t {
				if v == 0 {
					g[j] = 0.1
				}
			}
		}
	})
	add("prior's gradient in a narrow band", "3%, width 0.04", logistic, func(p *planted) {
		p.gradPrior = func(t, g []float64) {
			g[0] *= either(math.Abs(t[0]-2.5) < 0.02, 1.03, 1)
		}
	})
	add("every 100th prior draw repeats the one before", "1%", logistic, func(p *planted) {
		var n atomic.Int64
		var last [dim]float64
		p.draw = func(t []float64, _ *rand.Rand) {
			if n.Add(1)%100 == 0 {
				copy(t, last[:])
			}
			copy(last[:], t)
		}
	})
	add("prior draws share their scale", "0.7 and 1.23", logistic, func(p *planted) {
		p.draw = func(t []float64, rng *rand.Rand) {
			by := []float64{0.7, math.Sqrt(1.51)}[rng.IntN(2)]
			t[0], t[1] = by*t[0], by*t[1]
		}
	})
	return all
}

func freshKernels() (all []Case) {
	add := func(name, effect string, q asked, plant func() hooks) {
		all = append(all, kernel(name, effect, q, plant))
	}
	walk := func(name, effect string, h hooks) { add(name, effect, asked{}, func() hooks { return h }) }
	proposes := func(name, effect string, f func(k *chain, rng *rand.Rand, theta, next []float64)) {
		walk(name, effect, hooks{propose: f})
	}
	stretch := func(rng *rand.Rand, theta, next []float64) {
		by := math.Exp(0.3 * rng.NormFloat64())
		for j, t := range theta {
			next[j] = center[j] + by*(t-center[j])
		}
	}
	distance := func(t []float64) float64 { return math.Hypot(t[0]-center[0], t[1]-center[1]) }
	walk("Jacobian of a stretch halved far out", "beyond 2 sd", hooks{
		propose: func(k *chain, rng *rand.Rand, theta, next []float64) {
			if k.steps%2 == 0 {
				stretch(rng, theta, next)
				k.last[0] = 2 * math.Log(distance(next)/distance(theta))
				k.last[0] /= either(distance(theta) > 2*sd, 2, 1)
				return
			}
			k.last[0] = 0
		},
		public: func(k *chain, _, _ []float64, r float64) float64 { return r + k.last[0] }})
	proposes("shifted at every seventh iteration", "20% of its sd", func(k *chain, _ *rand.Rand, _, next []float64) {
		next[0] += either(k.steps%7 == 0, 0.2*step, 0)
	})
	proposes("shifted from its own step 20 000 on", "10% of its sd", func(k *chain, _ *rand.Rand, _, next []float64) {
		next[1] += either(k.steps > 20_000, 0.1*step, 0)
	})
	walk("prior of the first parameter only", "1/7 of one curvature", hooks{
		public: func(_ *chain, theta, next []float64, _ float64) float64 {
			return (theta[0]*theta[0] - next[0]*next[0]) / 2
		}})
	proposes("now and then a draw of the prior, uncorrected", "1 in 20", func(_ *chain, rng *rand.Rand, _,
		next []float64) {
		if rng.IntN(20) == 0 {
			next[0], next[1] = rng.NormFloat64(), rng.NormFloat64()
		}
	})
	walk("prior ratio too small for long moves", "20% beyond 1", hooks{
		public: func(_ *chain, theta, next []float64, r float64) float64 {
			return either(math.Hypot(next[0]-theta[0], next[1]-theta[1]) > 1, 0.8*r, r)
		}})
	proposes("scale adapts for ever", "±3% an answer", func(k *chain, _ *rand.Rand, theta, next []float64) {
		k.last[0] -= 0.01
		k.last[0] += either(k.before[0] != theta[0], 0.03, 0)
		by := math.Exp(max(-1, min(k.last[0], 1)))
		for j, t := range theta {
			next[j] = t + by*(next[j]-t)
		}
	})
	walk("says refused, and moves a little", "10⁻⁶", hooks{
		after: func(_ *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info) {
			s.Theta[0] += either(!info.Accepted && rng.IntN(50) == 0, 1e-6, 0)
		}})
	langevin := func(name, effect string, h hooks) {
		add(name, effect, asked{langevin: true}, func() hooks { return h })
	}
	langevin("noise's scale follows the state, the drift does not", "10%", hooks{
		noise: func(_ *chain, _ *rand.Rand, theta, z []float64) {
			by := 1 + 0.1*math.Tanh((theta[1]-center[1])/sd)
			z[0], z[1] = by*z[0], by*z[1]
		}})
	langevin("drift too strong where it is negative", "5%", hooks{drift: func(_ *chain, _, g []float64) {
		for j := range g {
			g[j] *= either(g[j] < 0, 1.05, 1)
		}
	}})
	langevin("noise of Student's law of the same sd", "10 degrees", hooks{
		noise: func(_ *chain, rng *rand.Rand, _, z []float64) {
			for j := range z {
				z[j] *= heavier(rng, 10)
			}
		}})
	langevin("the second noise has the first one's sign now and then", "1 in 20", hooks{
		noise: func(_ *chain, rng *rand.Rand, _, z []float64) {
			if rng.IntN(20) == 0 {
				z[1] = math.Copysign(z[1], z[0])
			}
		}})
	leak := func(name, effect string, h hooks) {
		add(name, effect, asked{noLaw: true}, func() hooks { return h })
	}
	leak("the state's low bits from step 3000 on", "10⁻¹⁵", hooks{
		after: func(k *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
			if s.Iteration > 3000 && k.spy.last > 1 {
				s.Theta[1] *= 1 + 1e-15
			}
		}})
	leak("Left tells of large records", "one fewer", hooks{left: func(k *chain, left int64) int64 {
		if k.spy.largest > 1e4 {
			return max(0, left-1)
		}
		return left
	}})
	leak("StepSize beyond two sd of the start", "rare states", hooks{
		after: func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
			info.StepSize /= either(s.Theta[0] > center[0]+2.5*sd && k.spy.last > 1, 2, 1)
		}})
	leak("swallows every second error", "last step", hooks{
		fail: func(k *chain, _ *kernels.State, err error) (kernels.Info, error) {
			if k.steps%2 == 0 {
				return kernels.Info{}, nil
			}
			return kernels.Info{}, err
		}})
	leak("Init fails once a record was large", "error", hooks{
		init: func(k *chain, theta []float64) (*kernels.State, error) {
			if k.spy.largest > 1e10 {
				theta = nil
			}
			return kernels.NewState(k.target, theta)
		}})
	return all
}

// prices are of a family whose checks were written with them.
func prices() []Case {
	more := func(pays func(k *chain) bool) func() hooks {
		return func() hooks {
			return hooks{after: func(k *chain, _ *rand.Rand, _ *kernels.State, _ *kernels.Info) {
				if k.steps == 10 && pays(k) {
					if _, err := curator.Charge(k.desk, curator.AcceptanceBit{Target: k.target, Clip: walkClip}, 1); err != nil {
						panic(err)
					}
				}
			}}
		}
	}
	none := func() hooks { return hooks{} }
	return []Case{
		kernel("Cost of half the clip", "half", asked{noLaw: true, clip: walkClip / 2}, none),
		kernel("Cost too low", "1%", asked{noLaw: true, clip: 0.99 * walkClip}, none),
		kernel("pays again at step 10", "one release", asked{noLaw: true},
			more(func(*chain) bool { return true })),
		kernel("pays more for large records", "one release", asked{noLaw: true},
			more(func(k *chain) bool { return k.spy.largest > 1e4 })),
	}
}

func freshMechanisms() (all []Case) {
	add := func(name, effect string, f form, plant func(m *sum)) {
		all = append(all, mechanism(name, effect, f, plant))
	}
	noise := func(name, effect string, f form, draw func(m *sum, rng *rand.Rand, i int, total float64) float64) {
		add(name, effect, f, func(m *sum) { m.noise = draw })
	}
	noise("the record itself at 1/1000, far out", "δ = 10⁻³", bare, func(_ *sum, rng *rand.Rand, _ int,
		total float64) float64 {
		z := noiseSD * rng.NormFloat64()
		return either(rng.IntN(1000) == 0, z+40*math.Copysign(1, total), z)
	})
	add("coordinates share their scale", "0.9 and 1.09", wide, func(m *sum) {
		calls, by := 0, 1.0
		m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			if calls%3 == 0 {
				by = []float64{0.9, math.Sqrt(1.19)}[rng.IntN(2)]
			}
			calls++
			return by * noiseSD * rng.NormFloat64()
		}
	})
	noise("noise correlated with the 20 000th before", "0.2", plain, lagged(20_000, 0.2))
	add("rounded to a fine grid that the data set", "3·10⁻⁷", bare, func(m *sum) {
		m.last = func(total, noise float64) float64 {
			step := 3e-7 * (1 + math.Abs(total)/7)
			return step * math.Round((total+noise)/step)
		}
	})
	add("no noise once a record is NaN", "a quarter", bare, func(m *sum) {
		quiet := false
		m.check = func(r curator.Records) error {
			quiet = false
			for _, x := range r.X {
				quiet = quiet || math.IsNaN(x)
			}
			return nil
		}
		m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			z := noiseSD * rng.NormFloat64()
			return either(quiet, z/4, z)
		}
	})
	add("two records at the clip count thrice", "pairs", plain, func(m *sum) {
		m.extra = func(x []float64) float64 {
			if len(x) > 1 && x[0] >= 1 && x[1] >= 1 {
				return 2
			}
			return 0
		}
	})
	noise("the first release of a call has half the noise", "one a call", plain,
		func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
			z := noiseSD * rng.NormFloat64()
			return either(i == 0, z/2, z)
		})
	add("the seed's low byte only", "256 streams", plain, func(m *sum) {
		m.seeds = func(seed uint64) uint64 { return seed & 255 }
	})
	noise("the lowest bit is the noise's sign", "1 bit", grid, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		z := noiseSD * rng.NormFloat64()
		k := int64(math.Round(z/0x1p-30)) &^ 1
		if z > 0 {
			k |= 1
		}
		return float64(k) * 0x1p-30
	})
	noise("each third sign is the product of the two before", "all", plain,
		func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
			z := noiseSD * rng.NormFloat64()
			if i%3 == 2 {
				z = math.Copysign(z, m.kept[0]*m.kept[1])
			}
			m.kept = append(m.kept, z)[max(0, len(m.kept)-1):]
			return z
		})
	noise("the scale follows the sign before", "±5%", bare, func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
		z := noiseSD * rng.NormFloat64()
		if i > 0 {
			z *= 1 + math.Copysign(0.05, m.kept[0])
		}
		m.kept = append(m.kept[:0], z)
		return z
	})
	add("two releases for the price of one", "√2", form{"of two numbers", 2, 0, true},
		func(m *sum) { m.claim = gaussian(1) })
	add("the price of a sample, of all records", "Poisson, 0.5", bare,
		func(m *sum) { m.claim = event(gaussian(1).SubsetSampled(2, 1)) })
	add("Laplace noise too small", "3%", plain, func(m *sum) {
		m.claim = event(accountant.Laplace(accountant.Substitute, 1))
		m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return 0.97 * noiseSD * (rng.ExpFloat64() - rng.ExpFloat64())
		}
	})
	return all
}
