package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/targets"
)

func twentyFifthTargets() []Case {
	return []Case{
		ownTarget("a focal weight is a constant in the gradient", "(1 − p)²", nil, focal(false)),
		ownTarget("counts without zeros have no normaliser in the gradient", "rates beyond 4", positiveCounts,
			zeroTruncated(4)),
		plainly("a gradient is set, not added to, where both items of a pair are one", "1 in 12", itemPairs(false)),
		plainly("SumLossGrad of no records leaves what grad held", "n = 0", sumsOfNone(false)),
		plainly("RatioBound takes an angle the shorter way round", "features between", angular(true)),
		ratio("ratio of moves to the mirrored state", "3%", 2, func(t, next, _ []float64, _, r float64) float64 {
			return r * either(t[0] == -next[0] && t[1] == -next[1], 1.03, 1)
		}),
		grown("no gradient where the response is the first feature", "y = x₁", nil, huberOf(2), func(g, _, x []float64,
			y float64) {
			if y == x[0] {
				clear(g)
			}
		}),
		plainly("no gradient where the angle to the record is small", "below 0.05", smallAngles(true)),
		grown("no gradient where the first two of three features are 0", "x₃ alone", nil, huberOf(3), func(g, _,
			x []float64, _ float64) {
			if x[0] == 0 && x[1] == 0 {
				clear(g)
			}
		}),
		ownTarget("RatioBound of classes compares all but the reference", "moves alike", threeClasses, scores(true)),
		plainly("a variance's prior is drawn by its rate for its scale", "1.1", inverseGamma(1/1.1)),
		plainly("prior draws are refused under an envelope that is too low", "8% near 1", underEnvelope(1.4)),
		ownTarget("a small dispersion is none in the gradient", "below 0.1", counts, dispersed(0.1)),
		plainly("slopes are read from a table at the nearest place", "cells of 0.04", tabled(false)),
		plainly("GradBound of three capped coordinates is that of one", "√3 low", cappedCoordinates(1)),
	}
}

func twentyFifthTargetControls() []Case {
	return []Case{
		ownTarget("a focal weight", "", nil, focal(true)),
		ownTarget("counts without zeros", "", positiveCounts, zeroTruncated(math.Inf(1))),
		plainly("both items of a pair are one", "", itemPairs(true)),
		plainly("SumLossGrad of no records clears", "", sumsOfNone(true)),
		plainly("RatioBound of an angle", "", angular(false)),
		plainly("a loss of the angle to the record", "", smallAngles(false)),
		ownTarget("RatioBound of classes compares all", "", threeClasses, scores(false)),
		plainly("a variance's prior", "", inverseGamma(1.1)),
		plainly("prior draws are refused under an envelope", "", underEnvelope(1.53)),
		ownTarget("a small dispersion", "", counts, dispersed(0)),
		plainly("slopes are computed", "", tabled(true)),
		plainly("GradBound of three capped coordinates", "", cappedCoordinates(math.Sqrt(3))),
		plainly("a loss that is the same at mirrored states has no ratio there", "", evenLoss()),
	}
}

func positiveCounts(u float64) float64 { return max(1, counts(u)) }

// focal is a logistic loss of labels that weighs what is well predicted less.
func focal(derives bool) func() targets.Target {
	return func() targets.Target {
		return labelledLosses(func(m float64) float64 {
			miss := sigmoid(-m)
			return miss * miss * softplus(-m)
		}, func(m float64) float64 {
			miss, hit := sigmoid(-m), sigmoid(m)
			by := -miss * miss * miss
			if derives {
				by -= 2 * miss * miss * hit * softplus(-m)
			}
			return by
		})
	}
}

// labelledLosses is a loss of the margin, and its slope.
func labelledLosses(loss, slope func(margin float64) float64) *own {
	return &own{dim: 2, features: 2, loss: func(t, x []float64, y float64) float64 { return loss(sign(y) * dot(t, x)) },
		grad: func(g, t, x []float64, y float64) {
			by := sign(y) * slope(sign(y)*dot(t, x))
			g[0], g[1] = by*x[0], by*x[1]
		}}
}

// zeroTruncated counts are at least one. The chance of none is left out of the gradient beyond a rate.
func zeroTruncated(beyond float64) func() targets.Target {
	const few = 1e-5
	return func() targets.Target {
		return along(func(eta, y float64) float64 {
			rate := math.Exp(eta)
			if rate < few {
				return (1-y)*eta + rate/2 + rate*rate/24
			}
			return rate - y*eta + math.Log(-math.Expm1(-rate))
		}, func(eta, y float64) float64 {
			rate := math.Exp(eta)
			switch {
			case rate < few:
				return 1 - y + rate/2 + rate*rate/12
			case rate <= beyond && rate < 700:
				return rate - y + rate/math.Expm1(rate)
			}
			return rate - y
		})
	}
}

// itemPairs has a parameter of each of twelve items. A record is the difference of two, and a margin.
func itemPairs(adds bool) func() targets.Target {
	const items = 12
	item := func(v float64) int {
		k := math.Mod(math.Floor(3*v), items)
		if !(k >= 0) {
			k += items
		}
		return int(either(k >= 0 && k < items, k, 0))
	}
	gap := func(t, x []float64) (by float64, i, j int) {
		i, j = item(x[0]), item(x[1])
		return t[i] - t[j], i, j
	}
	return func() targets.Target {
		return &own{dim: items, features: 2, loss: func(t, x []float64, y float64) float64 {
			by, _, _ := gap(t, x)
			return huber.loss(by, y)
		}, grad: func(g, t, x []float64, y float64) {
			clear(g)
			by, i, j := gap(t, x)
			s := huber.slope(by, y)
			g[i] = s
			if adds {
				g[j] -= s
			} else {
				g[j] = -s
			}
		}}
	}
}

// summing adds up losses and gradients.
type summing struct {
	*own
	clears bool
}

func (m summing) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	if rows.Len() == 0 && !m.clears {
		return 0
	}
	return ending{m.own, math.Inf(1)}.SumLossGrad(grad, theta, rows)
}

func sumsOfNone(clears bool) func() targets.Target {
	return func() targets.Target { return summing{robust(2, 1.5), clears} }
}

// angular has a frequency and a phase. A bound may take the frequency's move for an angle.
func angular(wraps bool) func() targets.Target {
	return func() targets.Target {
		m := &own{dim: 2, features: 1, loss: func(t, x []float64, y float64) float64 {
			return 1 - math.Cos(t[0]*x[0]+t[1]-math.Remainder(y, 2*math.Pi))
		}, grad: func(g, t, x []float64, y float64) {
			g[1] = math.Sin(t[0]*x[0] + t[1] - math.Remainder(y, 2*math.Pi))
			g[0] = g[1] * x[0]
		}}
		return bounded{m, func(t, next []float64, radius float64) float64 {
			d := math.Abs(next[0] - t[0])
			if wraps {
				d = math.Mod(d, 2*math.Pi)
				d = min(d, 2*math.Pi-d)
			}
			return min(2, d*radius+math.Abs(next[1]-t[1])) * (1 + 1e-9)
		}, func(radius float64) float64 { return math.Hypot(1, radius) * (1 + 1e-9) }}
	}
}

// smallAngles is the square of the angle between parameters and a record of five numbers.
func smallAngles(guards bool) func() targets.Target {
	cosine := func(t, x []float64) (c, long, far float64) {
		long, far = math.Sqrt(1e-4+dot(t, t)), distanceTo(x)
		far = either(far == 0, 1, far)
		return dot(t, x) / far / long, long, far
	}
	return func() targets.Target {
		return &own{dim: 5, features: 5, loss: func(t, x []float64, _ float64) float64 {
			c, _, _ := cosine(t, x)
			return 1 - c
		}, grad: func(g, t, x []float64, _ float64) {
			c, long, far := cosine(t, x)
			for j := range g {
				g[j] = -(x[j]/far - c*t[j]/long) / long
				if guards && 1-c*c < 0.05*0.05 {
					g[j] = 0
				}
			}
		}}
	}
}

// scores are of three classes, the first of which has a score of 0. A bound compares the moves of all, or of all but
// that.
func scores(scored bool) func() targets.Target {
	return func() targets.Target {
		m := &own{dim: 2, features: 1, loss: func(t, x []float64, y float64) float64 {
			a, b := t[0]*x[0], t[1]*x[0]
			most := max(0, a, b)
			return most + math.Log(math.Exp(-most)+math.Exp(a-most)+math.Exp(b-most)) -
				either(y == 1, a, either(y == 2, b, 0))
		}, grad: func(g, t, x []float64, y float64) {
			a, b := t[0]*x[0], t[1]*x[0]
			most := max(0, a, b)
			all := math.Exp(-most) + math.Exp(a-most) + math.Exp(b-most)
			g[0] = (math.Exp(a-most)/all - either(y == 1, 1, 0)) * x[0]
			g[1] = (math.Exp(b-most)/all - either(y == 2, 1, 0)) * x[0]
		}}
		return bounded{m, func(t, next []float64, radius float64) float64 {
			a, b := next[0]-t[0], next[1]-t[1]
			most := math.Abs(a - b)
			if !scored {
				most = max(most, math.Abs(a), math.Abs(b))
			}
			return radius * most * (1 + 1e-9)
		}, func(radius float64) float64 { return radius * math.Sqrt2 * (1 + 1e-9) }}
	}
}

// inverseGamma has logarithms of variances, whose precisions have a gamma law of shape 3 and rate 1.1.
func inverseGamma(rate float64) func() targets.Target {
	return priorOf(func(t float64) float64 { return -3*t - 1.1*math.Exp(-t) },
		func(t float64) float64 { return -3 + 1.1*math.Exp(-t) },
		func(rng *rand.Rand) float64 {
			return -math.Log((rng.ExpFloat64() + rng.ExpFloat64() + rng.ExpFloat64()) / rate)
		})
}

// underEnvelope draws normal numbers among Cauchy ones, as many times likelier at most.
func underEnvelope(most float64) func() targets.Target {
	return priorOf(func(t float64) float64 { return -t * t / 2 }, func(t float64) float64 { return -t },
		func(rng *rand.Rand) float64 {
			for {
				v := math.Tan(math.Pi * (rng.Float64() - 0.5))
				if rng.Float64()*most < math.Sqrt(math.Pi/2)*(1+v*v)*math.Exp(-v*v/2) {
					return v
				}
			}
		})
}

// dispersed counts have a rate and a dispersion that is a parameter, which counts for nothing in the gradient below
// a value.
func dispersed(below float64) func() targets.Target {
	const near = -12
	last := func(y float64) int { return int(either(y > 0, min(y, 100), 0)) }
	return func() targets.Target {
		return &own{dim: 2, loss: func(t, _ []float64, y float64) float64 {
			u := t[0] + t[1]
			l := math.Exp(-t[1])*softplus(u) + y*softplus(u) - y*t[0]
			if e := math.Exp(u); u < near {
				l = math.Exp(t[0])*(1-e/2+e*e/3) + y*e - y*t[0]
			}
			for i := 1; i < last(y); i++ {
				l -= softplus(t[1] + math.Log(float64(i)))
			}
			return l
		}, grad: func(g, t, _ []float64, y float64) {
			u := t[0] + t[1]
			g[0] = (y+math.Exp(-t[1]))*sigmoid(u) - y
			g[1] = y*sigmoid(u) + math.Exp(-t[1])*(sigmoid(u)-softplus(u))
			if e := math.Exp(u); u < near {
				g[0] = math.Exp(t[0])*(1-e+e*e) + y*e - y
				g[1] = y*e + math.Exp(t[0])*(-e/2+2*e*e/3)
			}
			for i := 1; i < last(y); i++ {
				g[1] -= sigmoid(t[1] + math.Log(float64(i)))
			}
			if math.Exp(t[1]) < below {
				g[1] = 0
			}
		}}
	}
}

// looked is a linear target.
type looked struct {
	*own
	loss1, slope1 func(r float64) float64
}

func (looked) PredictorLipschitz() float64 { return 1 }

func (m looked) LossAt(dst, eta, y []float64) {
	for i, e := range eta {
		dst[i] = m.loss1(e - y[i])
	}
}

func (m looked) SlopeAt(dst, eta, y []float64) {
	for i, e := range eta {
		dst[i] = m.slope1(e - y[i])
	}
}

// tabled is a regression with the logarithm of a hyperbolic cosine for a loss. Slopes may come from a table.
func tabled(exact bool) func() targets.Target {
	const cell = 0.04
	loss := func(r float64) float64 {
		r = math.Abs(r)
		return r + math.Log1p(math.Exp(-2*r)) - math.Ln2
	}
	slope := func(r float64) float64 {
		if !exact && math.Abs(r) < 20 {
			r = cell * math.Round(r/cell)
		}
		return math.Tanh(r)
	}
	return func() targets.Target {
		return looked{along(func(eta, y float64) float64 { return loss(eta - y) },
			func(eta, y float64) float64 { return slope(eta - y) }), loss, slope}
	}
}

// cappedCoordinates has three locations, each with a slope of at most 1.
func cappedCoordinates(bound float64) func() targets.Target {
	return func() targets.Target {
		m := &own{dim: 3, features: 3, loss: func(t, x []float64, _ float64) (l float64) {
			for j, v := range x {
				l += huber.loss(t[j], v)
			}
			return l
		}, grad: func(g, t, x []float64, _ float64) {
			for j, v := range x {
				g[j] = huber.slope(t[j], v)
			}
		}}
		return bounded{m, func(t, next []float64, _ float64) (b float64) {
			for j, v := range t {
				b += math.Abs(next[j] - v)
			}
			return b * (1 + 1e-9)
		}, func(float64) float64 { return bound * (1 + 1e-9) }}
	}
}

// evenLoss is a part of a mixture at either of two mirrored locations, with a ratio that knows it.
func evenLoss() func() targets.Target {
	return func() targets.Target {
		m := along(func(eta, y float64) float64 { return math.Log1p(eta * eta * (1 + y*y/(1+y*y))) },
			func(eta, y float64) float64 {
				by := 1 + y*y/(1+y*y)
				return 2 * by * eta / (1 + by*eta*eta)
			})
		m.ratio = func(t, next, x []float64, y float64) float64 {
			if l := m.loss(t, x, y); t[0] == -next[0] && t[1] == -next[1] && !math.IsNaN(l) && !math.IsInf(l, 0) {
				return 0
			}
			return m.loss(t, x, y) - m.loss(next, x, y)
		}
		return m
	}
}

func afterTwentyFifthTargets() []Case {
	more := func(cond func(t, x []float64) bool) func(g, t, x []float64, y float64) {
		return func(g, t, x []float64, _ float64) { g[0] *= either(cond(t, x), 1.05, 1) }
	}
	return []Case{
		grown("gradient where one parameter is twice the other", "5%", nil, huberOf(2), more(func(t, _ []float64) bool {
			return t[0] == 2*t[1] && t[1] != 0
		})),
		grown("gradient of features of length 1", "5%", nil, huberOf(2), more(func(_, x []float64) bool {
			return math.Abs(dot(x, x)-1) < 1e-12 && x[0]*x[1] != 0
		})),
		ratio("ratio of moves by whole numbers", "3%", 2, func(t, next, _ []float64, _, r float64) float64 {
			whole := func(j int) bool { return next[j] != t[j] && next[j]-t[j] == math.Trunc(next[j]-t[j]) }
			return r * either(whole(0) && whole(1), 1.03, 1)
		}),
		bound("RatioBound of moves to the mirrored state", "3% low", 2, func(t, next []float64, radius float64) float64 {
			return rightBound(t, next, radius) * either(t[0] == -next[0] && t[1] == -next[1], 0.97, 1)
		}),
	}
}
