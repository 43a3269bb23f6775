package planted

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named second are another batch like the fresh ones: written by reading
// the public documents only, and run once before anything was changed.

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

// twice computes a loss in two passes over dst.
type twice struct{ *planted }

func (p twice) LossAt(dst, eta, y []float64) {
	for i, e := range eta {
		dst[i] = e - y[i]
	}
	for i, e := range eta {
		dst[i] = math.Hypot(1, e-y[i]) - 1
	}
}

// adds is a target that expects some of dst to be zero.
type adds struct {
	*planted
	prior bool
}

func (p adds) GradLogPrior(dst, theta []float64) {
	held := dst[1]
	p.planted.GradLogPrior(dst, theta)
	dst[1] += either(p.prior && theta[1] < -1, held, 0)
}

func (p adds) LossGrad(dst, theta []float64, rows targets.Rows) {
	held := slices.Clone(dst)
	p.planted.LossGrad(dst, theta, rows)
	for i, y := range rows.Y {
		if !p.prior && y == 0 {
			dst[dim*i] += held[dim*i]
		}
	}
}

func secondKernels() []Case {
	add := func(name, effect string, q asked, h hooks) Case {
		return kernel(name, effect, q, func() hooks { return h })
	}
	tells := func(name, effect string, f func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info)) Case {
		return add(name, effect, asked{noLaw: true}, hooks{after: f})
	}
	noise := func(name, effect string, f func(k *chain, rng *rand.Rand, theta, z []float64)) Case {
		return add(name, effect, asked{langevin: true}, hooks{noise: f})
	}
	out := func(t []float64) bool { return t[0] > center[0]+sd && t[1] > center[1]+sd }
	return []Case{
		add("refuses to leave a corner", "1 in 10", asked{}, hooks{
			accept: func(_ *chain, rng *rand.Rand, theta, next []float64, a bool) bool {
				return a && !(out(theta) && !out(next) && rng.IntN(10) == 0)
			}}),
		add("Jacobian of a stretch clamped", "at 0.5", asked{}, hooks{
			propose: func(k *chain, rng *rand.Rand, theta, next []float64) {
				by := math.Exp(0.3 * rng.NormFloat64())
				k.last[0] = max(-0.5, min(2*math.Log(by), 0.5))
				for j, t := range theta {
					next[j] = center[j] + by*(t-center[j])
				}
			},
			public: func(k *chain, _, _ []float64, r float64) float64 { return r + k.last[0] }}),
		noise("noise too small at even iterations", "5%", func(k *chain, _ *rand.Rand, _, z []float64) {
			z[0] *= either(k.steps%2 == 0, 0.95, 1)
		}),
		add("accepts after three refusals", "always", asked{}, hooks{
			accept: func(k *chain, _ *rand.Rand, _, _ []float64, a bool) bool {
				if k.last[0]++; a || k.last[0] > 3 {
					k.last[0] = 0
					return true
				}
				return false
			}}),
		noise("one noise by the other's state", "3% below the median", func(_ *chain, _ *rand.Rand, theta, z []float64) {
			z[1] *= either(theta[0] < center[0], 1.03, 1)
		}),
		tells("StepSize of the first step", "10⁻⁶", func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
			info.StepSize += either(k.steps == 1 && k.spy.last > 1, 1e-6, 0)
		}),
		tells("draws once more for a negative record", "1 in 1000",
			func(k *chain, rng *rand.Rand, _ *kernels.State, _ *kernels.Info) {
				if rng.IntN(1000) == 0 && k.spy.last < 0 {
					rng.Uint64()
				}
			}),
		tells("Info for two numbers beyond 10⁶", "pairs", func(k *chain, _ *rand.Rand, _ *kernels.State,
			info *kernels.Info) {
			info.StepSize /= either(k.spy.huge > 1, 2, 1)
		}),
		kernelCase("a step more is charged than shown", "one release",
			func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
				return newChain(c, steps+1, true, true, hooks{
					left: func(_ *chain, left int64) int64 { return left - 1 },
					refuse: func(k *chain, _ *kernels.State) error {
						if k.bits.Left() <= 1 {
							return errors.New("no release is left")
						}
						return nil
					}})
			}, func(o *proptest.KernelOptions) { o.Cost = costOf(func() float64 { return walkClip }) }),
		add("fails twice, then goes on", "spent", asked{noLaw: true}, hooks{
			fail: func(k *chain, _ *kernels.State, err error) (kernels.Info, error) {
				if k.last[1]++; k.last[1] > 2 {
					err = nil
				}
				return kernels.Info{}, err
			}}),
		add("Init cuts a start that is too long", "three numbers", asked{noLaw: true}, hooks{
			init: func(k *chain, theta []float64) (*kernels.State, error) {
				return kernels.NewState(k.target, theta[:min(len(theta), 2)])
			}}),
		noise("noise from a table", "64 values", func(k *chain, _ *rand.Rand, _, z []float64) {
			u := math.Mod(float64(k.steps%64)*0.618034+0.5/64, 1)
			z[0] = math.Sqrt2 * math.Erfinv(2*u-1)
		}),
		add("steps upwards too long, downwards too short", "3%", asked{transition: true}, hooks{
			propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				next[0] = theta[0] + (next[0]-theta[0])*(1+math.Copysign(0.03, next[0]-theta[0]))
			}}),
		add("long moves upwards turn round", "half of those beyond 2 sd", asked{}, hooks{
			propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				if by := next[0] - theta[0]; by > 2*step && rng.IntN(2) == 0 {
					next[0] = theta[0] - by
				}
			}}),
	}
}

func secondMechanisms() []Case {
	counted := additions()
	counted.extra = func(x []float64) float64 { return 0.5 * float64(len(x)) }
	add := func(name, effect string, f form, plant func(m *sum)) Case {
		return mechanism(name, effect, f, plant)
	}
	noise := func(name, effect string, f form, draw func(m *sum, rng *rand.Rand, i int, total float64) float64) Case {
		return add(name, effect, f, func(m *sum) { m.noise = draw })
	}
	return []Case{
		noise("half the noise now and then", "1 in 500", bare, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			z := noiseSD * rng.NormFloat64()
			return either(rng.IntN(500) == 0, z/2, z)
		}),
		noise("tails drawn again", "beyond 4.2 sd", bare, truncated(4.2)),
		noise("noise grows with the total", "6%", bare, func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
			return noiseSD * rng.NormFloat64() * (1 + 0.03*(math.Abs(total)-1))
		}),
		noise("noise on a grid that the total is not on", "0.003", bare,
			func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				return 0.003 * math.Round(noiseSD*rng.NormFloat64()/0.003)
			}),
		mechanismCase("the number of records is added", "add/remove", counted, 1, []float64{1, 0.3},
			[]float64{0.3}),
		add("clip not applied in a band", "1.1 to 1.5", plain, func(m *sum) {
			m.clip = func(_ int, x float64) float64 {
				return either(x > 1.1 && x < 1.5, x, clipped(0, x))
			}
		}),
		add("the third number follows the first, two back", "0.1", wide, func(m *sum) {
			m.noise = func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
				z := rng.NormFloat64()
				if n := len(m.kept); n%3 == 2 && n > 6 {
					z = 0.1*m.kept[n-8] + math.Sqrt(0.99)*z
				}
				m.kept = append(m.kept, z)
				return noiseSD * z
			}
		}),
		add("seeds in pairs", "2k and 2k + 1", plain, func(m *sum) { m.seeds = func(s uint64) uint64 { return s / 2 } }),
		add("a call for one release has half the noise", "count 1", plain, func(m *sum) {
			m.noise = func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				z := noiseSD * rng.NormFloat64()
				return either(m.count == 1, z/2, z)
			}
		}),
		add("Laplace noise by inversion", "of 20 bits", plain, func(m *sum) {
			m.claim = event(accountant.Laplace(accountant.Substitute, 1))
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				z := -noiseSD * math.Log((float64(rng.IntN(1<<20))+0.5)/(1<<20))
				return math.Copysign(z, rng.Float64()-0.5)
			}
		}),
		bit("after five ones comes a zero", "1 in 32", bits{scale: 1, ones: 5}),
		noise("the second number without noise now and then", "1 in 1000", form{"of two numbers", 2, 0, true},
			func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				z := noiseSD * rng.NormFloat64()
				m.kept = append(m.kept, z)
				return either(len(m.kept)%2 == 0 && rng.IntN(1000) == 0, 0, z)
			}),
		add("an error when every record is NaN", "error", bare, func(m *sum) {
			m.check = func(r curator.Records) error {
				if !slices.ContainsFunc(r.X, func(x float64) bool { return !math.IsNaN(x) }) {
					return errors.New("no record is a number")
				}
				return nil
			}
		}),
		noise("less noise with many records", "10% from 100 on", plain,
			func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				z := noiseSD * rng.NormFloat64()
				return either(len(m.x) >= 100, 0.9*z, z)
			}),
	}
}
