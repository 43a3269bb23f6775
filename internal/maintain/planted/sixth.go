package planted

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named sixth were written from the issue, the document and the public interfaces,
// before the suites' code was read, and run once before anything was changed.

func sixthTargets() []Case {
	return []Case{
		ownTarget("bound of moves of the first 32 of 40 parameters", "a fifth of a move", nil, func() targets.Target {
			return bounded{robust(40, 1.5), func(theta, next []float64, radius float64) float64 {
				return slope(radius) * moved(theta[:32], next[:32])
			}, slope}
		}),
		grown("the 17th of 30 gradients for two signs", "2%", nil, huberOf(30), func(g, _, x []float64, y float64) {
			g[16] *= either(x[3] < 0 && y > 0, 1.02, 1)
		}),
		ownTarget("directions by the root of squares", "under- and overflow", nil, func() targets.Target {
			m := robust(2, 1.5)
			right := m.loss
			along := func(x []float64, norm float64) []float64 {
				by := either(norm == 0, 0, 1/norm)
				return []float64{x[0] * by, x[1] * by}
			}
			m.loss = func(theta, x []float64, y float64) float64 {
				return right(theta, along(x, math.Hypot(x[0], x[1])), y)
			}
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				u := along(x, math.Sqrt(x[0]*x[0]+x[1]*x[1]))
				return right(theta, u, y) - right(next, u, y)
			}
			m.grad = func(g, theta, x []float64, y float64) {
				robust(2, 1.5).grad(g, theta, along(x, math.Hypot(x[0], x[1])), y)
			}
			return m
		}),
		ownTarget("clears what follows its losses", "beyond len(dst)", nil, func() targets.Target {
			m := robust(2, 1.5)
			m.batch = func(dst []float64, _ targets.Rows) { clear(dst[len(dst):cap(dst)]) }
			return m
		}),
		ownTarget("what is left of gradients in eights", "the seventh", nil, func() targets.Target {
			return inEights{robust(2, 1.5)}
		}),
		ownTarget("the 37th of 50 prior draws", "sd 5% small", nil,
			drawnFrom(50, func(t []float64, _ *rand.Rand) { t[36] *= 0.95 })),
		ownTarget("prior draws more often positive", "51%", nil, drawnFrom(2, func(t []float64, rng *rand.Rand) {
			if t[1] < 0 && rng.IntN(50) == 0 {
				t[1] = -t[1]
			}
		})),
		ownTarget("bound of a location by the larger scale", "17% low on long moves", nil, func() targets.Target {
			return bounded{cauchy(), func(theta, next []float64, _ float64) float64 {
				return math.Hypot((next[0]-theta[0])*math.Exp(-max(theta[1], next[1])), next[1]-theta[1]) * (1 + 1e-12)
			}, func(float64) float64 { return math.Inf(1) }}
		}),
		ownTarget("losses kept by θ in single precision", "stale below 6·10⁻⁸", nil, func() targets.Target {
			return remembering(func(a, b [2]float64) bool {
				return float32(a[0]) == float32(b[0]) && float32(a[1]) == float32(b[1])
			})
		}),
		ownTarget("ratio of moves out of a ball", "2%, radius 3", nil, func() targets.Target {
			m := robust(2, 1.5)
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				v := m.loss(theta, x, y) - m.loss(next, x, y)
				v *= either(dot(theta, theta) < 9 && dot(next, next) > 9, 1.02, 1)
				return v
			}
			return m
		}),
		grown("gradient where class 2 is the likeliest", "2%", threeClasses, classes, func(g, theta, x []float64, _ float64) {
			if b := dot(x, theta[2:]); b > 0 && b > dot(x, theta[:2]) {
				g[3] *= 1.02
			}
		}),
		grown("gradient of residuals just beyond the threshold", "3%, 1.5 to 1.55", nil, huberOf(3),
			func(g, theta, x []float64, y float64) {
				if r := math.Abs(dot(x, theta) - y); r > 1.5 && r < 1.55 {
					g[0] *= 1.03
				}
			}),
	}
}

// remembering takes the losses at θ for those at parameters that it holds to be the same.
func remembering(same func(a, b [2]float64) bool) targets.Target {
	m := robust(2, 1.5)
	right, kept, lock := m.loss, [2]float64{}, &sync.Mutex{}
	m.loss = func(theta, x []float64, y float64) float64 {
		lock.Lock()
		if !same([2]float64(theta), kept) {
			kept = [2]float64(theta)
		}
		at := kept
		lock.Unlock()
		return right(at[:], x, y)
	}
	m.ratio = func(theta, next, x []float64, y float64) float64 { return m.loss(theta, x, y) - m.loss(next, x, y) }
	return m
}

func moved(theta, next []float64) float64 {
	sum := 0.0
	for j, t := range theta {
		sum += (next[j] - t) * (next[j] - t)
	}
	return math.Sqrt(sum)
}

// inEights copies the sixth gradient that is left over into the seventh.
type inEights struct{ *own }

func (m inEights) LossGrad(dst, theta []float64, rows targets.Rows) {
	m.own.LossGrad(dst, theta, rows)
	if n := rows.Len(); n > 8 && n%8 == 7 {
		copy(dst[(n-1)*m.dim:n*m.dim], dst[(n-2)*m.dim:])
	}
}

func sixthKernels() []Case {
	walk := func(name, effect string, q asked, h hooks) Case {
		return kernel(name, effect, q, func() hooks { return h })
	}
	var made atomic.Int64
	return []Case{
		kernel("every second kernel shifts its proposals", "10% of their sd", asked{}, func() hooks {
			if made.Add(1)%2 == 0 {
				return hooks{}
			}
			return hooks{propose: func(_ *chain, _ *rand.Rand, _, next []float64) { next[0] += 0.1 * step }}
		}),
		walk("a parameter that is 0 stays 0", "the second at the start", asked{}, hooks{
			propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				if theta[1] == 0 {
					next[1] = 0
				}
			}}),
		flawed("first half step is short", "5%", true, flaws{shortKick: true}),
		walk("the prior is tested twice now and then", "1 in 5", asked{}, hooks{
			propose: func(k *chain, rng *rand.Rand, theta, next []float64) {
				if rng.IntN(5) == 0 && math.Log(rng.Float64()) > k.target.LogPrior(next)-k.target.LogPrior(theta) {
					copy(next, theta)
				}
			}}),
		kernel("scale adapts during the first twenty steps", "10% an answer", asked{}, func() hooks {
			scale := 1.0
			return hooks{
				init: func(k *chain, theta []float64) (*kernels.State, error) {
					scale = 1
					return kernels.NewState(k.target, theta)
				},
				propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
					for j, t := range theta {
						next[j] = t + scale*(next[j]-t)
					}
				},
				after: func(_ *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
					switch {
					case s.Iteration > 20:
					case info.Accepted:
						scale *= 1.1
					default:
						scale /= 1.1
					}
				}}
		}),
		flawed("remembers the largest record", "Keep", false, flaws{persistence: 0.7, tells: true}),
		walk("Gradients counts a negative record", "from step 200 on", asked{noLaw: true}, hooks{
			after: func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
				if s.Iteration > 200 && k.spy.last < -3 {
					info.Gradients++
				}
			}}),
		flawed("momentum cut off", "at 2 sd", true, flaws{cut: true}),
		flawed("half the noise of the ratio corrected for", "σ²/4", true, flaws{halfPenalty: true}),
		byIteration("mirrored through a point beside the center", "0.1 sd, 1 in 20", func(_ int64, _ *chain, rng *rand.Rand,
			s *kernels.State) {
			if rng.IntN(20) == 0 {
				for j := range s.Theta {
					s.Theta[j] = 2*(center[j]+0.1*sd) - s.Theta[j]
				}
			}
		}),
		walk("noise repeated at every tenth step", "repeat", asked{langevin: true}, hooks{
			noise: func(k *chain, _ *rand.Rand, _, z []float64) {
				if k.steps%10 == 0 {
					copy(z, k.last)
				}
				copy(k.last, z)
			}}),
		wideWalk("the last of ten parameters shifted", "5% of its sd", 10,
			func(_, next []float64) { next[9] += 0.05 * wideStep }),
	}
}

const wideStep = 0.2 // of walks in several dimensions

// wideWalk is a walk in n dimensions, whose proposals are spoilt.
func wideWalk(name, effect string, n int, spoil func(theta, next []float64)) Case {
	return widely(name, effect, n, false, spoil)
}

// widely is wideWalk, which is said to be reversible or not.
func widely(name, effect string, n int, reversible bool, spoil func(theta, next []float64)) Case {
	x := make([]float64, 6*n)
	for i := range x {
		x[i] = float64(i%7)/3 - 1
	}
	target := posteriors.Must(targets.New(targets.GaussianMeanConfig{Features: n,
		Prior: priors.Gaussian{SD: 1}}))
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		return &chain{target: target, bits: bits, next: make([]float64, n), before: make([]float64, n),
			hooks: hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] = t + wideStep/step*(next[j]-t)
				}
				spoil(theta, next)
			}}}, err
	}, func(o *proptest.KernelOptions) {
		o.Records, o.Start, o.Reversible = curator.Records{X: x, Features: n}, make([]float64, n), reversible
		o.Exact = func(rng *rand.Rand, theta []float64) {
			for j := range theta {
				theta[j] = sd * rng.NormFloat64()
				for i := j; i < len(x); i += n {
					theta[j] += x[i] / precision
				}
			}
		}
	})
}

func sixthMechanisms() []Case {
	return []Case{
		mechanism("no noise is drawn again", "0, grid 0.02", form{"on a grid", 1, 0.02, false}, func(m *sum) {
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				for {
					if z := noiseSD * rng.NormFloat64(); math.Abs(z) > 0.01 {
						return z
					}
				}
			}
		}),
		ofTen("the seventh of ten noises is small", "3%", func(z []float64) { z[6] *= 0.97 }),
		ofTen("noise is small along one direction", "20%", func(z []float64) {
			along := 0.0
			for j, v := range z {
				along += v * float64(1-j%2*2) / 10
			}
			for j := range z {
				z[j] -= 0.2 * along * float64(1-j%2*2)
			}
		}),
		one("the last of five records counts more", "20%", shared{answers{claim: gaussian(1),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				return []float64{clip1(x) + 0.2*clipped(0, x[len(x)-1]) + noiseSD*rng.NormFloat64()}
			})}, 2}, []float64{1, 0.3, 0.2, -0.1, 0.5}, []float64{-1, 0.3, 0.2, -0.1, 0.5}),
		{Name: "less noise from the tenth call on", Effect: "10%",
			Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
				var calls atomic.Int64
				one("", "", answers{claim: gaussian(1), begin: func(x []float64, rng *rand.Rand) func() []float64 {
					sd := noiseSD
					sd *= either(calls.Add(1) > 10, 0.9, 1)
					return func() []float64 { return []float64{clip1(x) + sd*rng.NormFloat64()} }
				}}, plus, minus).Check(t, seed, effort)
			}},
		mechanism("tails cut off", "at 3.5 sd", bare, func(m *sum) {
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				return noiseSD * max(-3.5, min(3.5, rng.NormFloat64()))
			}
		}),
		mechanism("the third release repeats the second in calls of three", "count 3", plain, func(m *sum) {
			m.noise = func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
				if m.count != 3 || i != 2 {
					m.kept = []float64{noiseSD * rng.NormFloat64()}
				}
				return m.kept[0]
			}
		}),
		mechanism("a subnormal record counts for five", "below 10⁻³⁰⁸", plain, func(m *sum) {
			m.clip = func(_ int, x float64) float64 {
				return either(x != 0 && math.Abs(x) < 2e-308, 5, clipped(0, x))
			}
		}),
		one("one side of Laplace noise is small", "3%", shared{answers{
			claim: event(accountant.Laplace(accountant.Substitute, 1)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				return []float64{clip1(x) + 2*(rng.ExpFloat64()-0.97*rng.ExpFloat64())}
			})}, 2}, plus, minus),
		one("lies prefer the first answer", "40% for a third", response(func(truth int, rng *rand.Rand) int {
			if lie := rng.IntN(5); truth > 0 && lie > 2 {
				return 0
			}
			return (truth + 1 + rng.IntN(3)) % 4
		}), []float64{0, 1}, []float64{1, 1}),
		one("neighbours share the coin of a sample", "pairs", batches(func(x []float64, rng *rand.Rand) func() []float64 {
			return func() []float64 {
				in := false
				return []float64{batched(x, func(i int) bool {
					if i%2 == 0 {
						in = rng.IntN(2) == 0
					}
					return in
				}) + rng.NormFloat64()}
			}
		}), []float64{1, 1, 1, 1}, []float64{1, 1, 1}),
		one("one number more for a huge record", "length", answers{claim: gaussian(1),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				out := []float64{clip1(x) + noiseSD*rng.NormFloat64()}
				for _, v := range x {
					if math.Abs(v) > 1e6 {
						return append(out, 0)
					}
				}
				return out
			})}, plus, minus),
	}
}
