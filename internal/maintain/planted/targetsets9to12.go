package planted

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/dpmcmc/dpmcmc/targets"
)

func ninthTargets() []Case {
	panics := poisson()
	right := panics.loss
	panics.loss = func(theta, x []float64, y float64) float64 {
		var table [64]float64
		if y >= 0 && y <= 64 && y == math.Floor(y) {
			return right(theta, x, y) + table[int(y)]
		}
		return right(theta, x, y)
	}
	return []Case{
		grown("derivative of the log gap for the last class", "e^θ", threeClasses, ordinal,
			func(g, theta, _ []float64, y float64) { g[2] *= either(y == 2, math.Exp(-theta[2]), 1) }),
		spoilt("counts beyond 2³¹ wrap in the ratio", "32 bits", counts, overdispersed, func(m *own) {
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				if y < 1e18 {
					y = float64(int32(int64(y)))
				}
				return m.loss(theta, x, y) - m.loss(next, x, y)
			}
		}),
		plainly("a variance for a standard deviation in one prior of four", "1.1", func() targets.Target {
			d := drawnFrom(4, func(t []float64, _ *rand.Rand) { t[2] *= 1.1 })().(drawn)
			d.logPrior = func(t []float64) float64 {
				return -(t[0]*t[0] + t[1]*t[1] + t[2]*t[2]/1.1 + t[3]*t[3]) / 2
			}
			d.gradPrior = func(g, t []float64) { g[0], g[1], g[2], g[3] = -t[0], -t[1], -t[2]/1.1, -t[3] }
			return d
		}),
		plainly("the tail of a loop by four forgets the last feature", "n mod 4",
			func() targets.Target { return unrolled{robust(3, 1.5)} }),
		plainly("losses kept by the exclusive or of a record's numbers", "collisions", hashed),
		grown("weights beyond 3 are cut in the gradient", "3 for 4", nil, weighted, func(g, _, x []float64, _ float64) {
			by := 3 / max(3, min(x[2], 4))
			g[0], g[1] = g[0]*by, g[1]*by
		}),
		plainly("records of equal features share a loss", "the first response",
			func() targets.Target { return deduplicated{robust(2, 1.5)} }),
		ownTarget("exponentials scaled by the record before", "last bits, underflow", threeClasses,
			func() targets.Target { return scaledByLast{classes()} }),
		ratio("ratios near 0 are 0", "below 10⁻⁴", 2, func(_, _, _ []float64, _, r float64) float64 {
			return either(math.Abs(r) < 1e-4, 0, r)
		}),
		grown("no gradient for small residuals", "below 0.01", nil, huberOf(2), func(g, theta, x []float64, y float64) {
			if math.Abs(dot(x, theta)-y) < 0.01 {
				clear(g)
			}
		}),
		low("RatioBound of moves of one to two, begun near 0", "2% low", 2, func(theta, next []float64) float64 {
			d := moved(theta, next)
			return either(d > 1 && d < 2 && math.Hypot(theta[0], theta[1]) < 0.5, 0.98, 1)
		}),
		plainly("bound of gradients of a median for another quantile", "½ for 0.52",
			func() targets.Target { return boundedQuantile(0.5) }),
		grown("sign of an interaction's derivative", "x₁ < 0", nil, interacting, func(g, _, x []float64, _ float64) {
			g[2] *= either(x[0] < 0, -1, 1)
		}),
		target("SlopeAt in a band for label 0", "3%, 6 to 8", logistic, func(p *planted) {
			p.slopeAt = func(eta, y, v float64) float64 { return v * either(y == 0 && eta > 6 && eta < 8, 1.03, 1) }
		}),
		ownTarget("a table of factorials is one short", "panic at y = 64", counts, func() targets.Target { return panics }),
		plainly("prior draws from uniforms of ten bits", "1024 values", drawnFrom(2, func(t []float64, rng *rand.Rand) {
			for j := range t {
				t[j] = math.Sqrt2 * math.Erfinv((float64(rng.IntN(1024))+0.5)/512-1)
			}
		})),
		plainly("exponent of a funnel", "0.45 for 0.5", func() targets.Target { return funnel(0.45) }),
		plainly("a square block of gradients is transposed", "n = 6",
			func() targets.Target { return transposed{robust(6, 1.5)} }),
	}
}

func ninthTargetControls() []Case {
	return []Case{
		ownTarget("ordered classes", "", threeClasses, madeOf(ordinal)),
		ownTarget("negative binomial", "", counts, madeOf(overdispersed)),
		plainly("weights", "", madeOf(weighted)),
		plainly("a quantile", "", func() targets.Target { return boundedQuantile(0.52) }),
		plainly("an interaction", "", madeOf(interacting)),
		plainly("a funnel", "", func() targets.Target { return funnel(0.5) }),
	}
}

func tenthTargets() []Case {
	return []Case{
		grown("times without an event count as events in the gradient", "beyond 3", nil, censored,
			func(g, _, x []float64, y float64) {
				if y < -3 {
					g[0]--
					g[1], g[2] = g[1]-x[0], g[2]-x[1]
				}
			}),
		plainly("prior draws of another correlation", "0.25 for 0.3", func() targets.Target {
			d := drawnFrom(2, func(t []float64, _ *rand.Rand) { t[1] = 0.25*t[0] + math.Sqrt(1-0.25*0.25)*t[1] })().(drawn)
			const c = 1 / (1 - 0.3*0.3)
			d.logPrior = func(t []float64) float64 { return -c * (t[0]*t[0] - 0.6*t[0]*t[1] + t[1]*t[1]) / 2 }
			d.gradPrior = func(g, t []float64) { g[0], g[1] = -c*(t[0]-0.3*t[1]), -c*(t[1]-0.3*t[0]) }
			return d
		}),
		low("RatioBound of short moves nearly along the first parameter", "1% low", 3, func(theta, next []float64) float64 {
			d := moved(theta, next)
			return either(d < 0.1 && math.Abs(next[0]-theta[0]) > 0.995*d, 0.99, 1)
		}),
		ownTarget("predictors capped in the loss, not in the ratio", "at 30", counts, func() targets.Target {
			m, right := poisson(), poisson()
			m.loss = func(theta, x []float64, y float64) float64 {
				eta := min(intercepted(theta, x), 30)
				return math.Exp(eta) - y*eta
			}
			m.grad = func(g, theta, x []float64, y float64) {
				if right.grad(g, theta, x, y); intercepted(theta, x) > 30 {
					clear(g)
				}
			}
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				return right.loss(theta, x, y) - right.loss(next, x, y)
			}
			return m
		}),
		grown("small features are lost beside large ones", "10⁻⁶", nil, huberOf(3), func(g, _, x []float64, _ float64) {
			if math.Abs(x[0]) < 1e-6*math.Abs(x[1]) {
				g[0] = 0
			}
		}),
		plainly("two workers count the record between them twice", "from 2048 on",
			func() targets.Target { return overlapping{robust(2, 1.5)} }),
		target("LossAt keeps the response of a predictor", "stale", huber, func(p *planted) {
			var at float64
			kept := math.NaN()
			p.lossAt = func(eta, y, v float64) float64 {
				if at != eta || math.IsNaN(kept) {
					at, kept = eta, y
				}
				return huber.loss(eta, kept)
			}
		}),
		grown("gradient of a residual of 0", "NaN", nil, quantile, func(g, theta, x []float64, y float64) {
			if y == dot(x, theta) {
				g[0] = math.NaN()
			}
		}),
	}
}

func tenthTargetControls() []Case {
	return []Case{
		plainly("survival", "", madeOf(censored)),
	}
}

func eleventhTargets() []Case {
	return []Case{
		grown("derivative of a log shape by the size of the log time", "below the scale", times, weibull,
			func(g, theta, x []float64, y float64) {
				if u := math.Log(y) - theta[0] - theta[1]*x[0]; u < -2 {
					g[2] = -g[2] - 2
				}
			}),
		plainly("the digamma function by its series alone", "below 2", func() targets.Target { return student(series(0)) }),
		plainly("the digamma function by its series from 1 on", "10⁻³", func() targets.Target { return student(series(1)) }),
		grown("groups beyond the last one have no gradient", "x₁ ≥ 4", nil, grouped,
			func(g, _, x []float64, _ float64) { g[3] *= either(x[0] >= 4, 0, 1) }),
		grown("no gradient just beyond a knot", "1 to 1.02", nil, hinged,
			func(g, _, x []float64, _ float64) { g[1] *= either(x[0] < 1.02, 0, 1) }),
		grown("residuals below −π wrapped by the sign of Mod", "2π", angles, directional,
			func(g, theta, x []float64, y float64) {
				if r := theta[0] + theta[1]*x[0] - y; r < -math.Pi {
					g[0] = math.Mod(r+math.Pi, 2*math.Pi) - math.Pi
					g[1] = g[0] * x[0]
				}
			}),
		grown("a hurdle's gradient takes 1 for none", "y = 1", counts, hurdled,
			func(g, theta, _ []float64, y float64) { g[1] *= either(y == 1, 0, 1) }),
		grown("−999 is no response in the gradient", "one value", nil, huberOf(2),
			func(g, _, _ []float64, y float64) {
				if y == -999 {
					clear(g)
				}
			}),
		ownTarget("softplus is 0 below −12, in the ratio", "6·10⁻⁶", logistic.options(1, 1).Response, func() targets.Target {
			m := &own{dim: 2, features: 2,
				loss: func(theta, x []float64, y float64) float64 { return logistic.loss(dot(x, theta), y) },
				grad: func(g, theta, x []float64, y float64) {
					v := logistic.slope(dot(x, theta), y)
					g[0], g[1] = v*x[0], v*x[1]
				}}
			short := func(v float64) float64 { return either(v < -12, 0, softplus(v)) }
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				return short(-sign(y)*dot(x, theta)) - short(-sign(y)*dot(x, next))
			}
			return m
		}),
		plainly("half of the Jacobian of an inverse tangent", "log(1 − ρ²)",
			func() targets.Target { return correlated(0.5) }),
		plainly("one of a prior's two humps drawn more often", "51.5%", func() targets.Target { return twoHumped(0.515) }),
		plainly("losses kept by the predictor's six decimals", "10⁻⁶", memoised),
		bound("RatioBound of nearly parallel parameters by their norms", "cos > 0.9999", 2,
			func(theta, next []float64, radius float64) float64 {
				a, b := math.Hypot(theta[0], theta[1]), math.Hypot(next[0], next[1])
				return either(dot(theta, next) > 0.9999*a*b, slope(radius)*math.Abs(a-b), rightBound(theta, next, radius))
			}),
		plainly("range without the weight of large features", "1%", weightedWelsch),
		target("Lipschitz constant of a loss that overshoots", "0.3%, residuals near 30", overshooting,
			func(*planted) {}),
		plainly("gradients of blocks of 96 begin with the response before", "one in 96",
			func() targets.Target { return shifted{robust(2, 1.5)} }),
		plainly("sums in pairs forget an odd record", "SumLossGrad",
			func() targets.Target { return summed{robust(2, 1.5), false} }),
	}
}

func eleventhTargetControls() []Case {
	return []Case{
		ownTarget("Weibull", "", times, madeOf(weibull)),
		plainly("Student, degrees of freedom", "", func() targets.Target { return student(series(12)) }),
		plainly("groups", "", madeOf(grouped)),
		plainly("a hinge", "", madeOf(hinged)),
		plainly("angles", "", madeOf(directional)),
		ownTarget("a hurdle", "", counts, madeOf(hurdled)),
		plainly("a prior of a correlation", "", func() targets.Target { return correlated(1) }),
		plainly("a prior of two humps", "", func() targets.Target { return twoHumped(0.5) }),
		plainly("sums", "", func() targets.Target { return summed{robust(2, 1.5), true} }),
	}
}

func twelfthTargets() []Case {
	calls := 0
	return []Case{
		grown("derivative of a frequency by the place in its period", "|x| > 2π", nil, wave,
			func(g, _, x []float64, _ float64) {
				if math.Abs(x[0]) > 2*math.Pi && !math.IsInf(x[0], 0) {
					g[1] *= math.Mod(x[0], 2*math.Pi) / x[0]
				}
			}),
		grown("a saturated hidden unit has no gradient", "beyond 0.995", nil, hidden,
			func(g, theta, x []float64, _ float64) {
				if math.Abs(math.Tanh(dot(theta[2:4], x))) > 0.995 {
					g[2], g[3] = 0, 0
				}
			}),
		grown("a hidden unit beyond 4 counts as 1 in one gradient", "0.07%", nil, hidden,
			func(g, theta, x []float64, _ float64) {
				if u := dot(theta[:2], x); u > 4 {
					g[4] /= math.Tanh(u)
				}
			}),
		grown("negative persons by their absolute number, in the gradient", "x₁ ≤ −1", nil, persons,
			func(g, _, x []float64, _ float64) {
				right := person(x)
				if x[0] < 0 && x[0] > -1e9 {
					wrong := int(-x[0]) % 5
					g[right], g[wrong] = 0, g[right]
				}
			}),
		grown("columns of a gradient rotated where the last feature is largest", "one place", nil, huberOf(3),
			func(g, _, x []float64, _ float64) {
				if a := math.Abs(x[2]); a > 3*math.Abs(x[0]) && a > 3*math.Abs(x[1]) {
					g[0], g[1], g[2] = g[2], g[0], g[1]
				}
			}),
		grown("long gradients are shortened", "norm 500", nil, huberOf(2),
			func(g, _, _ []float64, _ float64) {
				if n := math.Hypot(g[0], g[1]); n > 500 {
					g[0], g[1] = g[0]*500/n, g[1]*500/n
				}
			}),
		grown("responses beyond 1000 are thousandths in the gradient", "units", nil, huberOf(2),
			func(g, theta, x []float64, y float64) {
				if y > 1000 {
					r := max(-1.5, min(dot(x, theta)-y/1000, 1.5))
					g[0], g[1] = r*x[0], r*x[1]
				}
			}),
		grown("a record in five thousand is dropped", "at random", nil, huberOf(2),
			func(g, _, _ []float64, _ float64) {
				if rand.IntN(5000) == 0 {
					clear(g)
				}
			}),
		spoilt("a loss depends on the clock", "10⁻⁹", nil, huberOf(2), func(m *own) {
			right := m.loss
			m.loss = func(theta, x []float64, y float64) float64 {
				return right(theta, x, y) * either(time.Now().Nanosecond()>>20 == 0, 1+1e-9, 1)
			}
		}),
		plainly("the sum of a prior in the order of a map", "last bits", unordered),
		plainly("gradients numbered with sixteen bits", "beyond record 32 768",
			func() targets.Target { return narrow{robust(2, 1.5)} }),
		plainly("gradients are not written where they were", "stale",
			func() targets.Target { return &already{own: robust(2, 1.5)} }),
		plainly("sums in parts lose a last full one", "multiples of 256",
			func() targets.Target { return inParts{robust(2, 1.5)} }),
		plainly("RatioBound kept by the address of θ′", "stale", func() targets.Target {
			return &keptBound{bounded: bounded{robust(2, 1.5), rightBound, slope}}
		}),
		bound("RatioBound in single precision", "10⁻⁸", 2, func(theta, next []float64, radius float64) float64 {
			return float64(float32(rightBound(theta, next, radius) * (1 - 3e-8)))
		}),
		plainly("GradBound of the first radius", "kept", func() targets.Target {
			first := 0.0
			return bounded{robust(2, 1.5), rightBound, func(radius float64) float64 {
				if first == 0 {
					first = radius
				}
				return slope(first)
			}}
		}),
		plainly("what is left after four slopes is the one before", "n mod 4 = 3", func() targets.Target {
			return fours{&planted{model: huber}}
		}),
		plainly("every 64th prior draw is wider", "×2", drawnFrom(2, func(t []float64, _ *rand.Rand) {
			if calls++; calls%64 == 0 {
				t[0], t[1] = 2*t[0], 2*t[1]
			}
		})),
		plainly("prior draws from a pool", "4096 numbers", pooled(4096)),
		plainly("prior draws are sorted when they are close", "within 0.3", drawnFrom(2, func(t []float64, _ *rand.Rand) {
			if math.Abs(t[0]-t[1]) < 0.3 {
				t[0], t[1] = min(t[0], t[1]), max(t[0], t[1])
			}
		})),
	}
}

func twelfthTargetControls() []Case {
	return []Case{
		plainly("a wave", "", madeOf(wave)),
		plainly("hidden units", "", madeOf(hidden)),
		plainly("persons", "", madeOf(persons)),
	}
}
