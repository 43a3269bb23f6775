package planted

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/dpmcmc/dpmcmc/targets"
)

// passing takes its losses at θ for those at θ′ of the last ratios, where θ is that θ′.
type passing struct {
	*own
	lock    *sync.Mutex
	at      *[]float64 // θ′, and the records where they are compared
	kept    *[]float64
	records bool
}

func (m passing) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	key := func(t []float64) []float64 {
		k := append([]float64{float64(rows.Len())}, t...)
		for i := 0; m.records && i < rows.Len(); i++ {
			k = append(append(k, rows.Row(i)...), rows.Y[i])
		}
		return k
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	now, then := make([]float64, len(dst)), make([]float64, len(dst))
	if slices.Equal(key(theta), *m.at) {
		copy(now, *m.kept)
	} else {
		m.Loss(now, theta, rows)
	}
	m.Loss(then, next, rows)
	*m.at, *m.kept = key(next), then
	for i := range dst {
		dst[i] = now[i] - then[i]
	}
}

func passed(records bool) func() targets.Target {
	return func() targets.Target {
		return passing{robust(2, 1.5), &sync.Mutex{}, &[]float64{}, &[]float64{}, records}
	}
}

// clipping writes to the predictors that it is asked for.
type clipping struct{ *planted }

func (p clipping) LossAt(dst, eta, y []float64) {
	for i, e := range eta {
		eta[i] = min(e, 30)
	}
	p.planted.LossAt(dst, eta, y)
}

// halfSums adds up in single precision.
type halfSums struct{ *own }

func (m halfSums) SumLossGrad(grad, theta []float64, rows targets.Rows) float64 {
	loss, g := float32(0), make([]float64, m.dim)
	sums := make([]float32, m.dim)
	for i := range rows.Len() {
		loss += float32(m.loss(theta, rows.Row(i), rows.Y[i]))
		m.grad(g, theta, rows.Row(i), rows.Y[i])
		for j, v := range g {
			sums[j] += float32(v)
		}
	}
	for j, v := range sums {
		grad[j] = float64(v)
	}
	return float64(loss)
}

// stationary has a prior of an autoregressive series of four, drawn from a first number of some sd.
func stationary(first float64) func() targets.Target {
	const phi = 0.3
	return func() targets.Target {
		m := robust(4, 1.5)
		m.logPrior = func(t []float64) float64 {
			sum := t[0] * t[0] * (1 - phi*phi)
			for j := 1; j < 4; j++ {
				sum += (t[j] - phi*t[j-1]) * (t[j] - phi*t[j-1])
			}
			return -sum / 2
		}
		m.gradPrior = func(g, t []float64) {
			clear(g)
			g[0] = -t[0] * (1 - phi*phi)
			for j := 1; j < 4; j++ {
				d := t[j] - phi*t[j-1]
				g[j], g[j-1] = g[j]-d, g[j-1]+phi*d
			}
		}
		return drawn{m, func(t []float64, rng *rand.Rand) {
			t[0] = first * rng.NormFloat64()
			for j := 1; j < 4; j++ {
				t[j] = phi*t[j-1] + rng.NormFloat64()
			}
		}}
	}
}

// humps has a prior of two normal laws for each parameter, whose slope is of both or of the nearer.
func humps(nearer bool) func() targets.Target {
	return priorOf(func(t float64) float64 { return -(t-1.5)*(t-1.5)/2 + softplus(-3*t) },
		func(t float64) float64 {
			share := sigmoid(3 * t) // of the upper one
			if nearer {
				share = either(t > 0, 1, 0)
			}
			return share*(1.5-t) - (1-share)*(1.5+t)
		}, func(rng *rand.Rand) float64 { return rng.NormFloat64() + either(rng.IntN(2) == 0, 1.5, -1.5) })
}

// squared has a term of the square of its second parameter.
func squared(factor func(t float64) float64) func() *own {
	return func() *own {
		return &own{dim: 2, features: 2,
			loss: func(theta, x []float64, y float64) float64 {
				return logCosh(theta[0]*x[0] + theta[1]*theta[1]*x[1] - y)
			},
			grad: func(g, theta, x []float64, y float64) {
				r := math.Tanh(theta[0]*x[0] + theta[1]*theta[1]*x[1] - y)
				g[0], g[1] = r*x[0], factor(theta[1])*r*theta[1]*x[1]
			}}
	}
}

// ratioed is Huber's regression whose ratios are spoilt.
func ratioed(spoil func(theta, next, x []float64, y, r float64) float64) func() targets.Target {
	return func() targets.Target {
		m := robust(2, 1.5)
		m.ratio = func(theta, next, x []float64, y float64) float64 {
			return spoil(theta, next, x, y, m.loss(theta, x, y)-m.loss(next, x, y))
		}
		return m
	}
}

func sixteenthTargets() []Case {
	plainly := func(name, effect string, make func() targets.Target) Case { return ownTarget(name, effect, nil, make) }
	bound := func(name, effect string, move func(theta, next []float64, radius float64) float64) Case {
		return plainly(name, effect, func() targets.Target { return bounded{robust(3, 1.5), move, slope} })
	}
	ratio := func(name, effect string, spoil func(theta, next, x []float64, y, r float64) float64) Case {
		return plainly(name, effect, ratioed(spoil))
	}
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
		bound("RatioBound without parameters that end at 0", "thresholds", func(theta, next []float64,
			radius float64) float64 {
			sum := 0.0
			for j, t := range theta {
				sum += either(next[j] == 0, 0, (next[j]-t)*(next[j]-t))
			}
			return slope(radius) * math.Sqrt(sum)
		}),
		bound("RatioBound of two like moves beside a small third", "3% low",
			func(theta, next []float64, radius float64) float64 {
				d := []float64{math.Abs(next[0] - theta[0]), math.Abs(next[1] - theta[1]), math.Abs(next[2] - theta[2])}
				slices.Sort(d)
				return slope(radius) * moved(theta, next) * either(d[2]-d[1] < 0.03*d[2] && d[0] < d[2]/2, 0.97, 1)
			}),
		plainly("minus zero is a label of its own in the gradient", "−0", func() targets.Target {
			return labelled(positiveLabel, func(y float64) float64 {
				return either(y == 0 && math.Signbit(y), 1, positiveLabel(y))
			})
		}),
		ratio("ratio in single precision for long moves", "beyond 6",
			func(theta, next, _ []float64, _, r float64) float64 {
				return either(moved(theta, next) > 6, float64(float32(r)), r)
			}),
		ratio("ratio is 0 from below one threshold to above the other", "long moves",
			func(theta, next, x []float64, y, r float64) float64 {
				a, b := dot(x, theta)-y, dot(x, next)-y
				return either(a < -1.5 && b > 1.5, 0, r)
			}),
		plainly("losses of three thousand records less their mean", "batches", func() targets.Target {
			m := robust(2, 1.5)
			m.batch = func(dst []float64, _ targets.Rows) {
				mean := 0.0
				for _, v := range dst {
					mean += v / float64(len(dst))
				}
				for i := range dst {
					dst[i] -= either(len(dst) >= 3000, mean, 0)
				}
			}
			return m
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
	plainly := func(name string, make func() targets.Target) Case { return ownTarget(name, "", nil, make) }
	return []Case{
		plainly("losses at θ′ serve for the next θ of the same records", passed(true)),
		plainly("an autoregressive prior", stationary(1/math.Sqrt(1-0.09))),
		plainly("a prior of two humps", humps(false)),
		plainly("an infinite response, which is clipped to nothing, has no ratio", ratioed(func(_, _, _ []float64,
			y, r float64) float64 {
			return either(math.IsInf(y, 0), 0, r)
		})),
		plainly("a square of a parameter", func() targets.Target { return squared(func(float64) float64 { return 2 })() }),
	}
}
