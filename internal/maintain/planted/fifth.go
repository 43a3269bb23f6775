package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named fifth were written by one who knew the suites' code, after the fourth
// ones were dealt with, and run once before anything was changed.

func fifthTargets() []Case {
	tilted := func(radius float64) float64 { return slope(math.Hypot(1, radius)) }
	return []Case{
		ownTarget("an empty batch", "panic", nil, func() targets.Target {
			m := robust(2, 1.5)
			m.batch = func(_ []float64, rows targets.Rows) { _ = rows.X[0] }
			return m
		}),
		ownTarget("RatioBound larger upwards", "10%", nil, func() targets.Target {
			return bounded{robust(1, 1.5), func(theta, next []float64, radius float64) float64 {
				b := 1.5 * radius * math.Abs(next[0]-theta[0]) * (1 + 1e-12)
				b *= either(next[0] > theta[0], 1.1, 1)
				return b
			}, tilted}
		}),
		grown("last of twenty gradients for large features", "3% beyond 2", nil, huberOf(20),
			func(g, _, x []float64, _ float64) {
				g[19] *= either(math.Abs(x[19]) > 2, 1.03, 1)
			}),
		grown("gradient where two features are large", "5% beyond 1.5", nil, huberOf(5), func(g, _, x []float64, _ float64) {
			g[2] *= either(x[1] > 1.5 && x[4] > 1.5, 1.05, 1)
		}),
		ownTarget("losses relative to the batch's largest", "underflow", counts, func() targets.Target {
			m := poisson()
			m.batch = func(dst []float64, _ targets.Rows) {
				most := slices.Max(dst)
				for i, v := range dst {
					dst[i] = (v + most) - most
				}
			}
			return m
		}),
		ownTarget("single precision beyond 32 records", "6·10⁻⁸", nil, func() targets.Target {
			m := robust(2, 1.5)
			m.batch = func(dst []float64, _ targets.Rows) {
				for i, v := range dst {
					if len(dst) > 32 {
						dst[i] = float64(float32(v))
					}
				}
			}
			return m
		}),
		ownTarget("two of six prior draws correlated", "0.1", nil, drawnFrom(6, func(t []float64, _ *rand.Rand) {
			t[5] = 0.1*t[2] + math.Sqrt(0.99)*t[5]
		})),
		grown("gradient of a log scale clipped", "at 30", nil, located,
			func(g, _, _ []float64, _ float64) { g[1] = max(g[1], -30) }),
		ownTarget("bound of gradients without the intercept beyond radius 1", "√2", nil, func() targets.Target {
			m := robust(2, 1.5)
			m.features = 1
			m.loss = func(theta, x []float64, y float64) float64 {
				return robust(2, 1.5).loss(theta, []float64{1, x[0]}, y)
			}
			m.grad = func(g, theta, x []float64, y float64) { robust(2, 1.5).grad(g, theta, []float64{1, x[0]}, y) }
			return bounded{m, func(theta, next []float64, radius float64) float64 {
				return tilted(radius) * math.Hypot(next[0]-theta[0], next[1]-theta[1])
			}, func(radius float64) float64 {
				return either(radius > 1, 1.5*radius, tilted(radius))
			}}
		}),
		grown("gradients in the order of the parameters", "θ₁ > θ₂", nil, huberOf(3), func(g, theta, _ []float64, _ float64) {
			if theta[0] > theta[1] {
				g[0], g[1] = g[1], g[0]
			}
		}),
	}
}

func fifthKernels() []Case {
	walk := func(name, effect string, h hooks) Case {
		return kernel(name, effect, asked{}, func() hooks { return h })
	}
	var apart [2]float64 // of the proposal from the law's middle
	return []Case{
		flawed("gradient of the prior where the trajectory began", "stale", true, flaws{oldPrior: true}),
		flawed("the step's scale and the test from one number", "±20%", true, flaws{jitter: true}),
		flawed("counts one gradient for four", "Info", false, flaws{miscounts: true}),
		flawed("momentum not reversed after a refusal", "0.7", true, flaws{persistence: 0.7, noFlip: true}),
		flawed("generator by the iteration", "one seed", true, flaws{byIteration: true}),
		byIteration("first step accepted", "iteration 0", func(iteration int64, k *chain, rng *rand.Rand, s *kernels.State) {
			if iteration == 1 {
				for j := range s.Theta {
					s.Theta[j] = k.before[j] + step*rng.NormFloat64()
				}
			}
		}),
		walk("proposals of the law, corrected for a narrower one", "1 in 5, sd 10%", hooks{
			propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				apart = [2]float64{}
				if rng.IntN(5) == 0 {
					for j := range next {
						next[j] = center[j] + 1.1*sd*rng.NormFloat64()
						a, b := next[j]-center[j], theta[j]-center[j]
						apart[0] += (a*a - b*b) * precision / 2
					}
				}
			},
			public: func(_ *chain, _, _ []float64, r float64) float64 { return r + apart[0] }}),
		byIteration("goes to a draw of the prior", "every 777 steps", func(iteration int64, _ *chain, rng *rand.Rand,
			s *kernels.State) {
			if iteration%777 == 0 {
				s.Theta[0], s.Theta[1] = rng.NormFloat64(), rng.NormFloat64()
			}
		}),
		walk("direct and reverse swapped uphill of the prior", "sign", hooks{
			public: func(_ *chain, _, _ []float64, r float64) float64 { return -math.Abs(r) }}),
		sampled("one coordinate in two, twice as often the first", "scan by the last answer", true,
			func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
				return newChain(c, steps, true, false, hooks{
					propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
						if theta[0] > center[0] && rng.IntN(3) > 0 {
							next[1] = theta[1]
						} else {
							next[0] = theta[0]
						}
					}})
			}),
	}
}

// byIteration is a walk whose state a flaw changes at some iterations.
func byIteration(name, effect string, flaw func(iteration int64, k *chain, rng *rand.Rand, s *kernels.State)) Case {
	return kernel(name, effect, asked{}, func() hooks {
		return hooks{after: func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info) {
			was := [2]float64{s.Theta[0], s.Theta[1]}
			flaw(s.Iteration, k, rng, s)
			info.Accepted = info.Accepted || was[0] != s.Theta[0]
		}}
	})
}

// ten are vectors of ten numbers in the unit ball, as the first and only record.
func ten(sign float64) []float64 {
	v := make([]float64, 10)
	for j := range v {
		v[j] = sign / math.Sqrt(10)
	}
	return v
}

// ofTen is a case of ten numbers whose noise is spoilt.
func ofTen(name, effect string, spoil func(noise []float64)) Case {
	return mechanismCase(name, effect, vectors(spoil), 10, ten(1), ten(-1))
}

// vectors releases the sum of vectors of ten numbers, shortened, with noise of sd 2.
func vectors(spoil func(noise []float64)) answers {
	return answers{claim: gaussian(1), begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		out := make([]float64, 10)
		for j := range out {
			out[j] = noiseSD * rng.NormFloat64()
		}
		spoil(out)
		for ; len(x) > 0; x = x[10:] {
			for j, v := range shorten(x[:10], euclidean) {
				out[j] += v
			}
		}
		return out
	})}
}

func fifthMechanisms() []Case {
	removed := func(epsilon float64) accountant.Event { return event(accountant.Pure(accountant.AddRemove, epsilon)) }
	return []Case{
		ofTen("half the noise in the eighth of ten numbers", "½", func(z []float64) { z[7] /= 2 }),
		ofTen("two of ten numbers share their noise", "opposite signs", func(z []float64) { z[9] = -z[3] }),
		one("whole noise of a rounded sd", "2 for 2.4", shared{answers{claim: gaussian(1.2),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				return []float64{math.Round(clip1(x)) + math.Round(2*rng.NormFloat64())}
			})}, 2}, []float64{1, 0}, []float64{-1, 0}),
		one("the mean by the number of records", "exact count", answers{
			claim: event(accountant.Gaussian(accountant.AddRemove, 1)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				return []float64{(clip1(x) + rng.NormFloat64()) / float64(len(x))}
			})}, []float64{0.2, 0.3, 0.5, 0.1}, []float64{0.3, 0.5, 0.1}),
		one("no noise in empty bins", "0", answers{claim: removed(1),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				count := histogram(x)
				for j, c := range count {
					if c > 0 {
						count[j] += laplace(rng, 1)
					}
				}
				return count[:]
			})}, []float64{0, 1, 1}, []float64{1, 1}),
		one("a median by its rank without the half", "ε for ε/2", answers{
			claim: event(accountant.Pure(accountant.Substitute, 1)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				best, most := 0, math.Inf(-1)
				for k := range 11 { // the exponential mechanism, by Gumbel noise
					below := 0.0
					for _, v := range x {
						if v < float64(k) {
							below++
						}
					}
					if v := -math.Abs(below-float64(len(x))/2) - math.Log(rng.ExpFloat64()); v > most {
						best, most = k, v
					}
				}
				return []float64{float64(best)}
			})}, []float64{0, 5, 5, 5, 5}, []float64{10, 5, 5, 5, 5}),
		mechanismCase("the whole price for each of five answers", "5ε", answers{
			claim: event(accountant.RandomizedResponse(accountant.Substitute, 1.0987, 2)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				out := make([]float64, 5)
				for j := range out {
					if (x[j] > 0.5) != (rng.Float64() < 0.25) {
						out[j] = 1
					}
				}
				return out
			})}, 5, []float64{1, 0, 0, 0, 0}, []float64{0, 0, 0, 0, 0}),
		one("a clip of twice the median", "data", answers{claim: gaussian(1),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				sizes := make([]float64, 0, len(x))
				for _, v := range x {
					if !math.IsNaN(v) && !math.IsInf(v, 0) {
						sizes = append(sizes, math.Abs(v))
					}
				}
				slices.Sort(sizes)
				clip, total := 1.0, noiseSD*rng.NormFloat64()
				if len(sizes) > 0 {
					clip = 2 * sizes[len(sizes)/2]
				}
				for _, v := range x {
					total += either(!math.IsNaN(v), max(-clip, min(v, clip)), 0)
				}
				return []float64{total}
			})}, []float64{1, 0.3, 0.5}, []float64{-1, 0.3, 0.5}),
		one("what is missing does not count", "NaN", answers{claim: gaussian(1),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				n := 0.0
				for _, v := range x {
					if !math.IsNaN(v) {
						n++
					}
				}
				return []float64{(clip1(x) + noiseSD*rng.NormFloat64()) / max(1, n)}
			})}, plus, minus),
		one("the answer for a sum that came before", "kept in a call", answers{claim: gaussian(1),
			begin: func(x []float64, rng *rand.Rand) func() []float64 {
				calls, kept := 0, 0.0
				return func() []float64 {
					if calls++; calls%500 != 0 {
						kept = clip1(x) + noiseSD*rng.NormFloat64()
					}
					return []float64{kept}
				}
			}}, plus, minus),
	}
}
