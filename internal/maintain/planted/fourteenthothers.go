package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/targets"
)

func fourteenthTargets() []Case {
	return []Case{
		grown("residuals below 0 are clamped later in the gradient", "3%", nil, huberOf(2),
			func(g, theta, x []float64, y float64) {
				if dot(theta, x)-y < -1.5 {
					g[0], g[1] = 1.03*g[0], 1.03*g[1]
				}
			}),
		ownTarget("a count of 0 costs nothing", "one response", counts, func() targets.Target {
			m := poisson()
			right := m.loss
			m.loss = func(theta, x []float64, y float64) float64 { return either(y == 0, 0, right(theta, x, y)) }
			return m
		}),
		ownTarget("prior draws too wide", "3%", nil, func() targets.Target {
			return tailed(func(t []float64, rng *rand.Rand) {
				for j := range t {
					t[j] = 1.03 * rng.NormFloat64() / rootChi(rng)
				}
			})
		}),
		ownTarget("RatioBound of moves across both zeros", "3% low", nil, func() targets.Target {
			return bounded{robust(2, 1.5), func(theta, next []float64, radius float64) float64 {
				both := next[0]*theta[0] < 0 && next[1]*theta[1] < 0
				return slope(radius) * moved(theta, next) * either(both, 0.97, 1)
			}, slope}
		}),
		ownTarget("responses are cut off in place", "beyond 100", nil, func() targets.Target {
			m := robust(2, 1.5)
			m.batch = func(_ []float64, rows targets.Rows) {
				for i, y := range rows.Y {
					if y > 100 {
						rows.Y[i] = 100
					}
				}
			}
			return m
		}),
		ownTarget("a ratio of first order", "moves below 10⁻³", nil, func() targets.Target {
			m := robust(2, 1.5)
			g := func(theta, x []float64, y float64) float64 { return max(-1.5, min(dot(theta, x)-y, 1.5)) }
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				if d := moved(theta, next); d < 1e-3 {
					return g(theta, x, y) * (dot(theta, x) - dot(next, x))
				}
				return m.loss(theta, x, y) - m.loss(next, x, y)
			}
			return m
		}),
	}
}

func fourteenthMechanisms() []Case {
	five := []float64{1, 0.3, -0.2, 0.5, -1}
	other := []float64{-1, 0.3, -0.2, 0.5, -1}
	lies := func(p float64) answers {
		return answers{claim: event(accountant.Pure(accountant.Substitute, math.Log(3))),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				out := make([]float64, len(x))
				for i, v := range x {
					out[i] = either(v > 0 != (rng.Float64() < p), 1, 0)
				}
				return out
			})}
	}
	return []Case{
		mechanism("noise of twelve uniform numbers", "kurtosis 2.9", plain, func(m *sum) {
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				z := -6.0
				for range 12 {
					z += rng.Float64()
				}
				return noiseSD * z
			}
		}),
		mechanism("noise smaller for totals below 0", "3%", bare, func(m *sum) {
			m.noise = func(_ *sum, rng *rand.Rand, _ int, total float64) float64 {
				return either(total < 0, 0.97, 1) * noiseSD * rng.NormFloat64()
			}
		}),
		one("answers lie too seldom", "23.5% for 25%", lies(0.235), five, other),
		one("a mean is divided by the number of records", "n", answers{
			claim: event(accountant.Pure(accountant.AddRemove, 1)),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				return []float64{(clip1(x) + laplace(rng, 1)) / float64(max(1, len(x)))}
			})}, five, five[1:]),
	}
}
