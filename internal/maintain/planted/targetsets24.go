package planted

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/dpmcmc/dpmcmc/targets"
)

func twentyFourthTargets() []Case {
	return []Case{
		plainly("losses of weight 0 are not written", "what dst held", weighed(true)),
		plainly("a time of 0 times its logarithm", "NaN", logLogistic(false)),
		plainly("ratio of survival chances that both underflow", "beyond 745", surviving(true)),
		ownTarget("a share and a chance that both underflow, in the gradient", "NaN", counts, zeroInflated(true)),
		plainly("a truncated prior is folded", "mean ½", truncatedPrior(true)),
		plainly("a prior that ends at another parameter, without the chance of it", "1 − Φ", endsAtOther(false)),
		plainly("log prior of a correlation is lost where its tanh is 1", "beyond 19", correlation(func(t float64) float64 {
			return math.Log(1 - math.Tanh(t)*math.Tanh(t))
		})),
		plainly("a prior's generator is seeded with a number below a million", "pairs", seeded(1_000_000)),
		plainly("bounds by the weight at the radius", "beyond 1", leverages(true)),
		plainly("GradBound of radius 0 is 0", "the intercept", ofRadius(0)),
		plainly("range without the records' own scale", "9% low", ownScales(0)),
		plainly("draws of broken sticks without their offset", "log 2", sticks(0)),
		plainly("a walk of effects is drawn from the last to the first", "sd 1 and 1.17", walkOfEffects(true)),
		plainly("scratch is as long as the first batch", "longer ones", scratched(false)),
		ownTarget("successes beyond the trials are the trials, in the gradient", "y > n", notNegative, trials(true)),
	}
}

func twentyFourthTargetControls() []Case {
	return []Case{
		plainly("losses of weight 0 are 0", "", weighed(false)),
		plainly("a time of 0", "", logLogistic(true)),
		plainly("ratio of cumulative hazards", "", surviving(false)),
		ownTarget("a share of zeros", "", counts, zeroInflated(false)),
		plainly("a truncated prior", "", truncatedPrior(false)),
		plainly("a prior that ends at another parameter", "", endsAtOther(true)),
		plainly("a correlation, uniform", "", correlation(func(t float64) float64 {
			return -2 * (math.Abs(t) + math.Log1p(math.Exp(-2*math.Abs(t))))
		})),
		plainly("a prior's generator is seeded with 64 bits", "", seeded(math.MaxInt64)),
		plainly("bounds by the largest weight", "", leverages(false)),
		plainly("GradBound with an intercept", "", ofRadius(-1)),
		plainly("range with the records' own scale", "", ownScales(1)),
		plainly("draws of broken sticks", "", sticks(math.Ln2)),
		plainly("a walk of effects", "", walkOfEffects(false)),
		plainly("scratch grows", "", scratched(true)),
		ownTarget("successes beyond the trials", "", notNegative, trials(false)),
		plainly("a ratio of squares by factors", "", func() targets.Target {
			return &own{dim: 1, loss: func(t, _ []float64, y float64) float64 { return (t[0] - y) * (t[0] - y) / 2 },
				grad: func(g, t, _ []float64, y float64) { g[0] = t[0] - y },
				ratio: func(t, next, _ []float64, y float64) float64 {
					return (t[0] - next[0]) * ((t[0]-y)/2 + (next[0]-y)/2)
				}}
		}),
	}
}

func notNegative(u float64) float64 { return max(0, u) }

// skipping may write no loss of a record that does not count.
type skipping struct {
	*own
	counts func(x []float64) bool
}

func (m skipping) Loss(dst, theta []float64, rows targets.Rows) {
	each(rows, theta, nil, func(a at) {
		if m.counts(a.x) {
			dst[a.i] = m.loss(a.theta, a.x, a.y)
		}
	})
}

// weighed is Huber's regression whose second column is a weight between 0 and 3.
func weighed(skips bool) func() targets.Target {
	weight := func(x []float64) float64 { return max(0, min(x[1], 3)) }
	return func() targets.Target {
		m := &own{dim: 2, features: 2, loss: func(t, x []float64, y float64) float64 {
			return weight(x) * huber.loss(t[0]+t[1]*x[0], y)
		}, grad: func(g, t, x []float64, y float64) {
			g[0] = weight(x) * huber.slope(t[0]+t[1]*x[0], y)
			g[1] = g[0] * x[0]
		}}
		return skipping{m, func(x []float64) bool { return !skips || weight(x) != 0 }}
	}
}

// logLogistic has the survival beyond a time, with a shape that has a parameter.
func logLogistic(minds bool) func() targets.Target {
	shape := func(t float64) float64 { return 0.5 + 2*sigmoid(t) }
	return func() targets.Target {
		return &own{dim: 2, features: 1, loss: func(t, x []float64, _ float64) float64 {
			return softplus(t[0] + shape(t[1])*math.Log(math.Abs(x[0])))
		}, grad: func(g, t, x []float64, _ float64) {
			log := math.Log(math.Abs(x[0]))
			g[0] = sigmoid(t[0] + shape(t[1])*log)
			if g[1] = 2 * sigmoid(t[1]) * sigmoid(-t[1]) * log * g[0]; minds && x[0] == 0 {
				g[1] = 0
			}
		}}
	}
}

// surviving has a hazard for a time of 1, and a ratio of chances or the difference of hazards.
func surviving(divides bool) func() targets.Target {
	return func() targets.Target {
		hazard := func(eta, _ float64) float64 { return math.Exp(eta) }
		m := along(hazard, hazard)
		if divides {
			m.ratio = func(t, next, x []float64, _ float64) float64 {
				return math.Log(math.Exp(-math.Exp(dot(x[:2], next))) / math.Exp(-math.Exp(dot(x[:2], t))))
			}
		}
		return m
	}
}

// zeroInflated counts have zeros of their own, with a share whose logit is the first parameter.
func zeroInflated(divides bool) func() targets.Target {
	return func() targets.Target {
		return &own{dim: 2, loss: func(t, _ []float64, y float64) float64 {
			rate := math.Exp(t[1])
			if y == 0 {
				most := max(t[0], -rate)
				return softplus(t[0]) - most - math.Log1p(math.Exp(min(t[0], -rate)-most))
			}
			return softplus(t[0]) + rate - y*t[1]
		}, grad: func(g, t, _ []float64, y float64) {
			rate, share := math.Exp(t[1]), sigmoid(t[0])
			if y > 0 {
				g[0], g[1] = share, rate-y
				return
			}
			of := sigmoid(t[0] + rate)
			none := sigmoid(-t[0] - rate)
			if divides {
				of = share / (share + (1-share)*math.Exp(-rate))
				none = 1 - of
			}
			g[0], g[1] = share-of, none*rate
			if none == 0 {
				g[1] = 0
			}
		}}
	}
}

// truncatedPrior is a normal law of mean ½ that is positive, or the size of one that is not.
func truncatedPrior(folds bool) func() targets.Target {
	return priorOf(func(t float64) float64 { return either(t < 0, math.Inf(-1), -(t-0.5)*(t-0.5)/2) },
		func(t float64) float64 { return 0.5 - t },
		func(rng *rand.Rand) float64 {
			for {
				if v := 0.5 + rng.NormFloat64(); folds || v >= 0 {
					return math.Abs(v)
				}
			}
		})
}

// above is the chance that a normal number is above a, in logarithms, and its slope.
func above(a float64) (log, slope float64) {
	if a < 30 {
		q := math.Erfc(a/math.Sqrt2) / 2
		return math.Log(q), -math.Exp(-a*a/2) / math.Sqrt(2*math.Pi) / q
	}
	w := 1 / (a * a)
	series := 1 + w*(-1+w*(3+w*(-15+w*105)))
	return -a*a/2 - math.Log(a*math.Sqrt(2*math.Pi)) + math.Log(series), -a / series
}

// endsAtOther has a second parameter that is a normal number above the first.
func endsAtOther(counts bool) func() targets.Target {
	return func() targets.Target {
		m := robust(2, 1.5)
		m.logPrior = func(t []float64) float64 {
			log, _ := above(t[0])
			return either(t[1] > t[0], -dot(t, t)/2-either(counts, log, 0), math.Inf(-1))
		}
		m.gradPrior = func(g, t []float64) {
			_, slope := above(t[0])
			g[0], g[1] = -t[0]-either(counts, slope, 0), -t[1]
		}
		return drawn{m, func(t []float64, rng *rand.Rand) {
			t[0] = rng.NormFloat64()
			for {
				if t[0] < 1 {
					t[1] = rng.NormFloat64()
				} else {
					t[1] = t[0] + rng.ExpFloat64()/t[0]
				}
				d := t[1] - t[0]
				if t[0] < 1 && d > 0 || t[0] >= 1 && rng.ExpFloat64() > d*d/2 {
					return
				}
			}
		}}
	}
}

// correlation has the inverse hyperbolic tangents of correlations that are uniform.
func correlation(log func(t float64) float64) func() targets.Target {
	return priorOf(log, func(t float64) float64 { return -2 * math.Tanh(t) },
		func(rng *rand.Rand) float64 { return math.Atanh(2*rng.Float64() - 1) })
}

// seeded draws its prior from a generator of its own, which the given one seeds.
func seeded(below int64) func() targets.Target {
	return func() targets.Target {
		return drawn{robust(2, 1.5), func(t []float64, rng *rand.Rand) {
			own := rand.New(rand.NewPCG(uint64(rng.Int64N(below)), 1))
			for j := range t {
				t[j] = own.NormFloat64()
			}
		}}
	}
}

// leverages is a regression in which long features weigh less, so that those of length 1 have the longest gradients.
func leverages(atRadius bool) func() targets.Target {
	weight := func(x []float64) float64 { return 1 / (1 + dot(x, x)) }
	return func() targets.Target {
		m := &own{dim: 2, features: 2, loss: func(t, x []float64, y float64) float64 {
			return weight(x) * huber.loss(dot(x, t), y)
		}, grad: func(g, t, x []float64, y float64) {
			by := weight(x) * huber.slope(dot(x, t), y)
			g[0], g[1] = by*x[0], by*x[1]
		}}
		longest := func(radius float64) float64 {
			r := either(atRadius, radius, min(radius, 1))
			return r / (1 + r*r) * (1 + 1e-9)
		}
		return bounded{m, func(t, next []float64, radius float64) float64 {
			return longest(radius) * moved(t, next)
		}, longest}
	}
}

// ofRadius is a regression with an intercept, whose gradients are said to vanish at one radius.
func ofRadius(none float64) func() targets.Target {
	return func() targets.Target {
		m := &own{dim: 2, features: 1, loss: func(t, x []float64, y float64) float64 {
			return huber.loss(t[0]+t[1]*x[0], y)
		}, grad: func(g, t, x []float64, y float64) {
			g[0] = huber.slope(t[0]+t[1]*x[0], y)
			g[1] = g[0] * x[0]
		}}
		longest := func(radius float64) float64 { return math.Hypot(1, radius) * (1 + 1e-9) }
		return bounded{m, func(t, next []float64, radius float64) float64 { return longest(radius) * moved(t, next) },
			func(radius float64) float64 { return either(radius == none, 0, longest(radius)) }}
	}
}

// ownScales is a loss that is cut off, of records that have a scale of their own, whose share of the range counts or
// not.
func ownScales(share float64) func() targets.Target {
	return func() targets.Target {
		of := func(x []float64) float64 { return max(-0.2, min(x[0], 0.2)) }
		return spread{&own{dim: 1, features: 1, loss: func(t, x []float64, y float64) float64 {
			z := (y - t[0]) * math.Exp(-of(x))
			return of(x) + min(z*z/2, 4)
		}, grad: func(g, t, x []float64, y float64) {
			z := (y - t[0]) * math.Exp(-of(x))
			g[0] = either(z*z/2 < 4, -z*math.Exp(-of(x)), 0)
		}}, 4 + 0.4*share + 1e-9}
	}
}

// sticks are the logits of shares of what is left of a Dirichlet law of 1, 2 and 3, the first with an offset in the
// density, and in draws or not.
func sticks(offset float64) func() targets.Target {
	return func() targets.Target {
		m := robust(2, 1.5)
		m.logPrior = func(t []float64) float64 {
			u := t[0] - math.Ln2
			return u - 6*softplus(u) + 2*t[1] - 5*softplus(t[1])
		}
		m.gradPrior = func(g, t []float64) {
			g[0], g[1] = 1-6*sigmoid(t[0]-math.Ln2), 2-5*sigmoid(t[1])
		}
		return drawn{m, func(t []float64, rng *rand.Rand) {
			var part [3]float64
			for k := range part {
				for range k + 1 {
					part[k] += rng.ExpFloat64()
				}
			}
			t[0], t[1] = math.Log(part[0]/(part[1]+part[2]))+offset, math.Log(part[1]/part[2])
		}}
	}
}

// walkOfEffects has five effects, each near the one before, which are drawn in order or the other way round.
func walkOfEffects(back bool) func() targets.Target {
	const near = 0.3
	return func() targets.Target {
		m := robust(5, 1.5)
		m.logPrior = func(t []float64) float64 {
			log := -t[0] * t[0] / 2
			for j := range 4 {
				d := (t[j+1] - t[j]) / near
				log -= d * d / 2
			}
			return log
		}
		m.gradPrior = func(g, t []float64) {
			clear(g)
			g[0] = -t[0]
			for j := range 4 {
				d := (t[j+1] - t[j]) / (near * near)
				g[j], g[j+1] = g[j]+d, g[j+1]-d
			}
		}
		return drawn{m, func(t []float64, rng *rand.Rand) {
			at := 0.0
			for j := range t {
				at += either(j == 0, 1, near) * rng.NormFloat64()
				if back {
					t[4-j] = at
				} else {
					t[j] = at
				}
			}
		}}
	}
}

// scratchpad computes losses in memory of its own.
type scratchpad struct {
	*own
	lock    sync.Mutex
	scratch []float64
	grows   bool
}

func (m *scratchpad) Loss(dst, theta []float64, rows targets.Rows) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if n := rows.Len(); m.scratch == nil || m.grows && len(m.scratch) < n {
		m.scratch = make([]float64, n)
	}
	each(rows, theta, nil, func(a at) {
		if a.i < len(m.scratch) {
			m.scratch[a.i] = m.loss(a.theta, a.x, a.y)
		}
	})
	copy(dst, m.scratch)
}

func scratched(grows bool) func() targets.Target {
	return func() targets.Target { return &scratchpad{own: robust(2, 1.5), grows: grows} }
}

// trials has a number of trials in its second column, of which the response is how many had success.
func trials(cuts bool) func() targets.Target {
	return func() targets.Target {
		return &own{dim: 2, features: 2, loss: func(t, x []float64, y float64) float64 {
			eta := t[0] + t[1]*x[0]
			return math.Abs(x[1])*softplus(eta) - y*eta
		}, grad: func(g, t, x []float64, y float64) {
			if cuts {
				y = min(y, math.Abs(x[1]))
			}
			g[0] = math.Abs(x[1])*sigmoid(t[0]+t[1]*x[0]) - y
			g[1] = g[0] * x[0]
		}}
	}
}

func afterTwentyFourthTargets() []Case {
	return []Case{
		plainly("GradLogPrior clears all that dst has room for", "memory", roomyPrior(true)),
		plainly("SamplePrior appends to theta", "memory", func() targets.Target {
			return drawn{robust(2, 1.5), func(t []float64, rng *rand.Rand) {
				t[0], t[1] = rng.NormFloat64(), rng.NormFloat64()
				_ = append(t, t[0]*t[1])
			}}
		}),
		plainly("SumLossGrad has its work in what grad has room for", "memory", workRoom(true)),
	}
}

func afterTwentyFourthTargetControls() []Case {
	return []Case{
		plainly("GradLogPrior clears dst", "", roomyPrior(false)),
		plainly("SumLossGrad has its own work", "", workRoom(false)),
	}
}

// roomyPrior clears its gradient first, or all that it has room for.
func roomyPrior(all bool) func() targets.Target {
	return func() targets.Target {
		m := robust(2, 1.5)
		m.gradPrior = func(g, t []float64) {
			if all {
				g = g[:cap(g)]
			}
			clear(g)
			for j, v := range t {
				g[j] -= v
			}
		}
		return m
	}
}

// working adds up gradients in memory of its own, or behind the sum.
type working struct {
	*own
	behind bool
}

func (m working) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	clear(grad)
	work := make([]float64, m.dim)
	if m.behind && cap(grad) >= 2*m.dim {
		work = grad[m.dim : 2*m.dim]
	}
	for i := range rows.Len() {
		loss += m.loss(theta, rows.Row(i), rows.Y[i])
		m.grad(work, theta, rows.Row(i), rows.Y[i])
		for j, v := range work {
			grad[j] += v
		}
	}
	return loss
}

func workRoom(behind bool) func() targets.Target {
	return func() targets.Target { return working{robust(2, 1.5), behind} }
}
