package planted

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/dpmcmc/dpmcmc/targets"
)

func thirteenthTargets() []Case {
	return []Case{
		grown("the gap between two cuts has no chain rule", "exp(θ₂) beyond 1", threeClasses, ordered,
			func(g, theta, _ []float64, _ float64) {
				if theta[1] > 1 {
					g[1] *= math.Exp(1 - theta[1])
				}
			}),
		grown("a digamma of three terms", "10⁻³ below 3", nil, gamma, func(g, theta, _ []float64, _ float64) {
			if k := math.Exp(theta[0]); k < 3 {
				g[0] += k * (math.Log(k+1) - 1/(2*(k+1)) - 1/k - 1/(12*(k+1)*(k+1)) - digamma(k, 12))
			}
		}),
		ratio("a ratio of predictors of unlike signs", "0.5%", 2, func(theta, next, x []float64, _, r float64) float64 {
			return r * either(dot(theta, x) > 1 && dot(next, x) < -1, 1.005, 1)
		}),
		plainly("GradBound without the intercept", "R for √(1 + R²)", func() targets.Target { return based(slope) }),
		low("RatioBound of moves along the diagonal", "3% low", 2, func(theta, next []float64) float64 {
			a, b := next[0]-theta[0], next[1]-theta[1]
			return either(a*b > 0 && a/b > 0.9 && a/b < 1.1, 0.97, 1)
		}),
		plainly("one chi for all parameters of a prior", "Student", func() targets.Target {
			return tailed(func(t []float64, rng *rand.Rand) {
				by := rootChi(rng)
				for j := range t {
					t[j] = rng.NormFloat64() / by
				}
			})
		}),
		plainly("losses kept by the sum of the parameters", "θ₁ + θ₂", func() targets.Target {
			type key [4]float64
			return keyed(func(theta, x []float64, y float64) (k key, has bool) {
				return key{theta[0] + theta[1], x[0], x[1], y}, x[0] == 0
			})
		}),
	}
}

func thirteenthTargetControls() []Case {
	return []Case{
		ownTarget("ordered classes between cuts", "", threeClasses, madeOf(ordered)),
		plainly("gamma responses", "", madeOf(gamma)),
		plainly("an intercept's bounds", "", func() targets.Target {
			return based(func(radius float64) float64 { return 1.5 * math.Sqrt(1+radius*radius) * (1 + 1e-12) })
		}),
		plainly("a prior of Student's distribution", "", func() targets.Target {
			return tailed(func(t []float64, rng *rand.Rand) {
				for j := range t {
					t[j] = rng.NormFloat64() / rootChi(rng)
				}
			})
		}),
	}
}

func fourteenthTargets() []Case {
	return []Case{
		grown("residuals below 0 are clamped later in the gradient", "3%", nil, huberOf(2),
			func(g, theta, x []float64, y float64) {
				if dot(theta, x)-y < -1.5 {
					g[0], g[1] = 1.03*g[0], 1.03*g[1]
				}
			}),
		spoilt("a count of 0 costs nothing", "one response", counts, poisson, func(m *own) {
			right := m.loss
			m.loss = func(theta, x []float64, y float64) float64 { return either(y == 0, 0, right(theta, x, y)) }
		}),
		plainly("prior draws too wide", "3%", func() targets.Target {
			return tailed(func(t []float64, rng *rand.Rand) {
				for j := range t {
					t[j] = 1.03 * rng.NormFloat64() / rootChi(rng)
				}
			})
		}),
		low("RatioBound of moves across both zeros", "3% low", 2, func(theta, next []float64) float64 {
			return either(next[0]*theta[0] < 0 && next[1]*theta[1] < 0, 0.97, 1)
		}),
		spoilt("responses are cut off in place", "beyond 100", nil, huberOf(2), func(m *own) {
			m.batch = func(_ []float64, rows targets.Rows) {
				for i, y := range rows.Y {
					if y > 100 {
						rows.Y[i] = 100
					}
				}
			}
		}),
		ratio("a ratio of first order", "moves below 10⁻³", 2, func(theta, next, x []float64, y, r float64) float64 {
			eta := dot(theta, x)
			return either(moved(theta, next) < 1e-3, max(-1.5, min(eta-y, 1.5))*(eta-dot(next, x)), r)
		}),
	}
}

func fifteenthTargets() []Case {
	return []Case{
		grown("a gradient's exponentials overflow", "NaN beyond 709", threeClasses, classes,
			func(g, theta, x []float64, _ float64) {
				if max(dot(x, theta[:2]), dot(x, theta[2:])) > 709 {
					for j := range g {
						g[j] = math.NaN()
					}
				}
			}),
		plainly("the gradient's label begins at a half, the loss's at 0", "0 < y < ½", func() targets.Target {
			return labelled(positiveLabel, func(y float64) float64 { return positiveLabel(y - 0.5) })
		}),
		plainly("losses at θ kept by a batch's ends", "first and last record", recalled(false)),
		plainly("an infinite feature of a parameter that is 0", "NaN in the ratio",
			func() targets.Target { return sparse(false) }),
		ratio("a panic for features infinite both ways", "+Inf and −Inf", 3,
			func(_, _, x []float64, _, r float64) float64 {
				if math.IsInf(slices.Max(x), 1) && math.IsInf(slices.Min(x), -1) {
					panic("the difference of infinities")
				}
				return r
			}),
		plainly("RatioBound of the smallest radius so far", "kept", func() targets.Target {
			var lock sync.Mutex
			least := math.Inf(1)
			return bounded{robust(2, 1.5), func(theta, next []float64, radius float64) float64 {
				lock.Lock()
				defer lock.Unlock()
				least = min(least, radius)
				return slope(least) * moved(theta, next)
			}, slope}
		}),
		plainly("RatioBound of responses within 1", "near 0", responsesWithin(1)),
		target("Lipschitz constant of a hinge that overshoots", "2%, margins 0.9 to 0.95", hinge(1), func(*planted) {}),
		plainly("sums kept by the parameters", "other records", func() targets.Target {
			return totalled{robust(2, 1.5), &sync.Mutex{}, &[]float64{}, &[]float64{}}
		}),
		spoilt("a record that came two to eight before costs nothing", "repeats", nil, huberOf(2), func(m *own) {
			m.batch = func(dst []float64, rows targets.Rows) {
				for i := range dst {
					for k := max(0, i-8); k <= i-2; k++ {
						if slices.Equal(rows.Row(i), rows.Row(k)) && rows.Y[i] == rows.Y[k] {
							dst[i] = 0
						}
					}
				}
			}
		}),
		ratio("ratio where the response is 1 and a feature 0", "3%", 2, func(_, _, x []float64, y, r float64) float64 {
			return r * either(y == 1 && x[0] == 0, 1.03, 1)
		}),
		grown("gradient where the response is 1 and the predictor beyond 6", "10%", nil, huberOf(2),
			func(g, theta, x []float64, y float64) {
				if y == 1 && dot(theta, x) > 6 {
					g[0] *= 1.1
				}
			}),
		plainly("a Cauchy prior's draws end", "at 20", cauchyPrior(20)),
		plainly("a gamma prior's draws too large", "3%", logGamma(1.03)),
		plainly("the last short block takes the predictors before", "fewer than 16 after 64",
			func() targets.Target { return leftover{robust(2, 1.5)} }),
		spoilt("softplus is its argument beyond 4", "a jump of 0.018", nil,
			func() *own { return labelled(positiveLabel, positiveLabel) }, func(m *own) {
				m.loss = func(theta, x []float64, y float64) float64 {
					v := -positiveLabel(y) * dot(theta, x)
					return either(v > 4, v, softplus(v))
				}
				m.grad = func(g, theta, x []float64, y float64) {
					s := positiveLabel(y)
					by := -s * either(-s*dot(theta, x) > 4, 1, sigmoid(-s*dot(theta, x)))
					g[0], g[1] = by*x[0], by*x[1]
				}
			}),
		target("Lipschitz constant of counts", "e^η beyond 50", model{lipschitz: 50, span: math.Inf(1),
			loss:  func(eta, y float64) float64 { return math.Exp(eta) - max(0, min(y, 20))*eta },
			slope: func(eta, y float64) float64 { return math.Exp(eta) - max(0, min(y, 20)) }}, func(*planted) {}),
		plainly("parameters scaled in place, and back", "last bits", func() targets.Target {
			return rescaled{robust(2, 1.5)}
		}),
		plainly("missing features are set to 0 in place", "writes", func() targets.Target {
			return imputing{robust(2, 1.5), false}
		}),
		plainly("missing features are the batch's mean", "NaN", func() targets.Target {
			return imputing{robust(2, 1.5), true}
		}),
		plainly("the prior's slope grows where its density is linear", "beyond 5", robustPrior(math.Inf(1))),
		spoilt("NaN where both parameters are large", "beyond 2.5", nil, huberOf(2), func(m *own) {
			right := m.loss
			m.loss = func(theta, x []float64, y float64) float64 {
				return either(theta[0] > 2.5 && theta[1] > 2.5, math.NaN(), right(theta, x, y))
			}
		}),
	}
}

func fifteenthTargetControls() []Case {
	return []Case{
		plainly("labels of any response", "", func() targets.Target { return labelled(positiveLabel, positiveLabel) }),
		plainly("losses at θ kept by the batch", "", recalled(true)),
		plainly("parameters that are 0 are skipped", "", func() targets.Target { return sparse(true) }),
		plainly("RatioBound of every response", "", responsesWithin(1.5)),
		target("a hinge that overshoots", "", hinge(1.02), func(*planted) {}),
		plainly("a Cauchy prior", "", cauchyPrior(math.Inf(1))),
		plainly("a gamma prior", "", logGamma(1)),
	}
}

func sixteenthTargets() []Case {
	return []Case{
		plainly("losses at θ′ serve for the next θ", "other records", passed(false)),
		plainly("LossAt clips its predictors in place", "beyond 30", func() targets.Target {
			return clipping{&planted{model: huber}}
		}),
		plainly("sums in single precision", "6·10⁻⁸", func() targets.Target { return halfSums{robust(2, 1.5)} }),
		plainly("the first of an autoregressive prior is drawn too narrow", "1 for 1.048", stationary(1)),
		plainly("the slope of a prior of two humps is the nearer one's", "mixture", humps(true)),
		grown("half of a square's chain rule for small parameters", "below 0.05", nil,
			squared(func(t float64) float64 { return either(math.Abs(t) < 0.05, 1, 2) }), func(_, _, _ []float64, _ float64) {}),
		bound("RatioBound without parameters that end at 0", "thresholds", 3,
			func(theta, next []float64, radius float64) float64 {
				sum := 0.0
				for j, t := range theta {
					sum += either(next[j] == 0, 0, (next[j]-t)*(next[j]-t))
				}
				return slope(radius) * math.Sqrt(sum)
			}),
		low("RatioBound of two like moves beside a small third", "3% low", 3, func(theta, next []float64) float64 {
			d := []float64{math.Abs(next[0] - theta[0]), math.Abs(next[1] - theta[1]), math.Abs(next[2] - theta[2])}
			slices.Sort(d)
			return either(d[2]-d[1] < 0.03*d[2] && d[0] < d[2]/2, 0.97, 1)
		}),
		plainly("minus zero is a label of its own in the gradient", "−0", func() targets.Target {
			return labelled(positiveLabel, func(y float64) float64 {
				return either(y == 0 && math.Signbit(y), 1, positiveLabel(y))
			})
		}),
		ratio("ratio in single precision for long moves", "beyond 6", 2,
			func(theta, next, _ []float64, _, r float64) float64 {
				return either(moved(theta, next) > 6, float64(float32(r)), r)
			}),
		ratio("ratio is 0 from below one threshold to above the other", "long moves", 2,
			func(theta, next, x []float64, y, r float64) float64 {
				a, b := dot(x, theta)-y, dot(x, next)-y
				return either(a < -1.5 && b > 1.5, 0, r)
			}),
		spoilt("losses of three thousand records less their mean", "batches", nil, huberOf(2), func(m *own) {
			m.batch = func(dst []float64, _ targets.Rows) {
				mean := 0.0
				for _, v := range dst {
					mean += v / float64(len(dst))
				}
				for i := range dst {
					dst[i] -= either(len(dst) >= 3000, mean, 0)
				}
			}
		}),
		grown("gradient where the features' product is small and their sum large", "4%", nil, huberOf(3),
			func(g, _, x []float64, _ float64) {
				g[2] *= either(math.Abs(x[0]*x[1]) < 0.1 && x[0]+x[1] > 2, 1.04, 1)
			}),
		target("SlopeAt at a predictor of 0", "0", logistic, func(p *planted) {
			p.slopeAt = func(eta, _, v float64) float64 { return either(eta == 0, 0, v) }
		}),
		plainly("prior draws leave gaps between twenty strata", "20%",
			priorOf(func(t float64) float64 { return -t * t / 2 }, func(t float64) float64 { return -t },
				func(rng *rand.Rand) float64 {
					return math.Sqrt2 * math.Erfinv(2*(float64(rng.IntN(20))+0.1+0.8*rng.Float64())/20-1)
				})),
	}
}

func sixteenthTargetControls() []Case {
	return []Case{
		plainly("losses at θ′ serve for the next θ of the same records", "", passed(true)),
		plainly("an autoregressive prior", "", stationary(1/math.Sqrt(1-0.09))),
		plainly("a prior of two humps", "", humps(false)),
		ratio("an infinite response, which is clipped to nothing, has no ratio", "", 2,
			func(_, _, _ []float64, y, r float64) float64 { return either(math.IsInf(y, 0), 0, r) }),
		plainly("a square of a parameter", "", madeOf(squared(func(float64) float64 { return 2 }))),
	}
}

func afterSixteenthTargets() []Case {
	return []Case{
		ratio("a move onto the record has no ratio", "θ′ = x", 2,
			func(_, next, x []float64, _, r float64) float64 { return either(slices.Equal(next, x), 0, r) }),
	}
}
