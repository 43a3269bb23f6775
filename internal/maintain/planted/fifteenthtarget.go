package planted

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named fifteenth were written, and run once, before their author read the suites'
// code and before anything was changed.

// labelled is a logistic model of two features, whose loss and gradient have a label of their own.
func labelled(ofLoss, ofGradient func(y float64) float64) *own {
	return &own{dim: 2, features: 2,
		loss: func(theta, x []float64, y float64) float64 { return softplus(-ofLoss(y) * dot(theta, x)) },
		grad: func(g, theta, x []float64, y float64) {
			s := ofGradient(y)
			by := -s * sigmoid(-s*dot(theta, x))
			g[0], g[1] = by*x[0], by*x[1]
		}}
}

func positiveLabel(y float64) float64 { return either(math.IsNaN(y), y, either(y > 0, 1, -1)) }

// recalling keeps the losses at θ of the last batch that began and ended with the same records.
type recalling struct {
	*own
	lock  *sync.Mutex
	key   *[]float64
	kept  *[]float64
	whole bool // the key is the whole batch
}

func (m recalling) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	n := rows.Len()
	key := append([]float64{float64(n)}, theta...)
	for i := range n {
		if m.whole || i == 0 || i == n-1 {
			key = append(append(key, rows.Row(i)...), rows.Y[i])
		}
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	if !slices.Equal(key, *m.key) {
		*m.key, *m.kept = key, make([]float64, n)
		m.Loss(*m.kept, theta, rows)
	}
	m.Loss(dst, next, rows)
	for i, v := range *m.kept {
		dst[i] = v - dst[i]
	}
}

func recalled(whole bool) func() targets.Target {
	return func() targets.Target {
		return recalling{robust(2, 1.5), &sync.Mutex{}, &[]float64{}, &[]float64{}, whole}
	}
}

// sparse skips parameters that are 0, in its losses or in its ratios too.
func sparse(ratios bool) *own {
	m, base := robust(3, 1.5), robust(3, 1.5)
	skip := func(theta, x []float64) []float64 {
		out := slices.Clone(x)
		for j, t := range theta {
			out[j] = either(t == 0, 0, out[j])
		}
		return out
	}
	m.loss = func(theta, x []float64, y float64) float64 { return base.loss(theta, skip(theta, x), y) }
	if !ratios {
		m.ratio = func(theta, next, x []float64, y float64) float64 {
			return base.loss(theta, x, y) - base.loss(next, x, y)
		}
	}
	return m
}

// responsesWithin bounds moves by the slopes of records whose responses are within a bound.
func responsesWithin(most float64) func() targets.Target {
	return func() targets.Target {
		return bounded{robust(2, 1.5), func(theta, next []float64, radius float64) float64 {
			far := max(math.Hypot(theta[0], theta[1]), math.Hypot(next[0], next[1]))
			return min(1.5, most+radius*far) * radius * moved(theta, next) * (1 + 1e-12)
		}, slope}
	}
}

// hinge is a smoothed hinge loss whose slope is 2% steeper between two margins.
func hinge(lipschitz float64) model {
	return model{labels: true, lipschitz: lipschitz, span: math.Inf(1),
		loss: func(eta, y float64) float64 {
			switch m := sign(y) * eta; {
			case m >= 1.95:
				return 0
			case m >= 0.95:
				return (1.95 - m) * (1.95 - m) / 2
			case m >= 0.9:
				return 0.5 + 1.02*(0.95-m)
			default:
				return 0.551 + 0.9 - m
			}
		},
		slope: func(eta, y float64) float64 {
			s := sign(y)
			switch m := s * eta; {
			case m >= 1.95:
				return 0
			case m >= 0.95:
				return -s * (1.95 - m)
			case m >= 0.9:
				return -s * 1.02
			default:
				return -s
			}
		}}
}

// totalled sums losses and gradients, and keeps the sums at the last parameters.
type totalled struct {
	*own
	lock *sync.Mutex
	at   *[]float64
	sums *[]float64
}

func (m totalled) SumLossGrad(grad, theta []float64, rows targets.Rows) float64 {
	m.lock.Lock()
	defer m.lock.Unlock()
	if !slices.Equal(*m.at, theta) {
		loss := summed{m.own, true}.SumLossGrad(grad, theta, rows)
		*m.at, *m.sums = slices.Clone(theta), append(slices.Clone(grad), loss)
	}
	copy(grad, *m.sums)
	return (*m.sums)[len(grad)]
}

// leftover takes predictors of the block of 64 before for a last one of fewer than sixteen.
type leftover struct{ *own }

func (m leftover) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	m.own.LossRatio(dst, theta, next, rows)
	n := rows.Len()
	if left := n % 64; n > 64 && left < 16 {
		for i := n - left; i < n; i++ {
			dst[i] = m.loss(theta, rows.Row(i), rows.Y[i]) - m.loss(next, rows.Row(i-64), rows.Y[i])
		}
	}
}

// imputing sets missing features to 0, in place, or to the mean of the others in the batch.
type imputing struct {
	*own
	mean bool
}

func (m imputing) Loss(dst, theta []float64, rows targets.Rows) {
	if m.mean {
		total, n := 0.0, 0.0
		for i := range rows.Len() {
			if v := rows.Row(i)[0]; !math.IsNaN(v) && !math.IsInf(v, 0) {
				total, n = total+v, n+1
			}
		}
		for i := range dst {
			x := slices.Clone(rows.Row(i))
			x[0] = either(math.IsNaN(x[0]), total/max(n, 1), x[0])
			dst[i] = m.loss(theta, x, rows.Y[i])
		}
		return
	}
	for i := range rows.Len() {
		for j, v := range rows.Row(i) {
			rows.Row(i)[j] = either(math.IsNaN(v), 0, v)
		}
	}
	m.own.Loss(dst, theta, rows)
}

func (m imputing) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	m.Loss(dst, theta, rows)
	then := make([]float64, len(dst))
	m.Loss(then, next, rows)
	for i, v := range then {
		dst[i] -= v
	}
}

// rescaled divides its parameters by their norm, and multiplies them again.
type rescaled struct{ *own }

func (m rescaled) Loss(dst, theta []float64, rows targets.Rows) {
	m.own.Loss(dst, theta, rows)
	if n := math.Hypot(theta[0], theta[1]); n > 0 {
		for j := range theta {
			theta[j] /= n
			theta[j] *= n
		}
	}
}

// priorOf is Huber's regression with a prior of independent parameters, and its draws.
func priorOf(log, slope func(t float64) float64, draw func(rng *rand.Rand) float64) func() targets.Target {
	return func() targets.Target {
		m := robust(2, 1.5)
		m.logPrior = func(t []float64) float64 { return log(t[0]) + log(t[1]) }
		m.gradPrior = func(g, t []float64) { g[0], g[1] = slope(t[0]), slope(t[1]) }
		return drawn{m, func(t []float64, rng *rand.Rand) { t[0], t[1] = draw(rng), draw(rng) }}
	}
}

func cauchyPrior(most float64) func() targets.Target {
	return priorOf(func(t float64) float64 { return -math.Log1p(t * t) },
		func(t float64) float64 { return -2 * t / (1 + t*t) },
		func(rng *rand.Rand) float64 {
			for {
				if t := math.Tan(math.Pi * (rng.Float64() - 0.5)); math.Abs(t) < most {
					return t
				}
			}
		})
}

// logGamma is a prior of logarithms of sums of two exponentials of a scale.
func logGamma(scale float64) func() targets.Target {
	return priorOf(func(t float64) float64 { return 2*t - math.Exp(t) },
		func(t float64) float64 { return 2 - math.Exp(t) },
		func(rng *rand.Rand) float64 { return math.Log(scale * (rng.ExpFloat64() + rng.ExpFloat64())) })
}

// robustPrior has a prior whose logarithm is linear beyond 5, and its slope beyond some place.
func robustPrior(beyond float64) func() targets.Target {
	return priorOf(func(t float64) float64 { return either(math.Abs(t) < 5, -t*t/2, 12.5-5*math.Abs(t)) },
		func(t float64) float64 { return -max(-beyond, min(t, beyond)) },
		func(rng *rand.Rand) float64 { return rng.NormFloat64() })
}

func fifteenthTargets() []Case {
	plainly := func(name, effect string, make func() targets.Target) Case { return ownTarget(name, effect, nil, make) }
	spoilt := func(name, effect string, base func() *own, spoil func(m *own)) Case {
		return plainly(name, effect, func() targets.Target {
			m := base()
			spoil(m)
			return m
		})
	}
	ratio := func(name, effect string, features int, spoil func(theta, next, x []float64, y, r float64) float64) Case {
		return spoilt(name, effect, huberOf(features), func(m *own) {
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				return spoil(theta, next, x, y, m.loss(theta, x, y)-m.loss(next, x, y))
			}
		})
	}
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
		spoilt("a record that came two to eight before costs nothing", "repeats", huberOf(2), func(m *own) {
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
		spoilt("softplus is its argument beyond 4", "a jump of 0.018",
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
		spoilt("NaN where both parameters are large", "beyond 2.5", huberOf(2), func(m *own) {
			right := m.loss
			m.loss = func(theta, x []float64, y float64) float64 {
				return either(theta[0] > 2.5 && theta[1] > 2.5, math.NaN(), right(theta, x, y))
			}
		}),
	}
}

func fifteenthTargetControls() []Case {
	plainly := func(name string, make func() targets.Target) Case { return ownTarget(name, "", nil, make) }
	return []Case{
		plainly("labels of any response", func() targets.Target { return labelled(positiveLabel, positiveLabel) }),
		plainly("losses at θ kept by the batch", recalled(true)),
		plainly("parameters that are 0 are skipped", func() targets.Target { return sparse(true) }),
		plainly("RatioBound of every response", responsesWithin(1.5)),
		target("a hinge that overshoots", "", hinge(1.02), func(*planted) {}),
		plainly("a Cauchy prior", cauchyPrior(math.Inf(1))),
		plainly("a gamma prior", logGamma(1)),
	}
}
