package planted

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

func twentyEighthTargets() []Case {
	return []Case{
		heldFeatures("features are held within 4 in the loss alone", "beyond 4", true),
		softplusRate("a softplus rate's slope is 1 beyond 5", "0.7% at 5", 5),
		sortedCuts("cuts are put in order in the loss alone", "θ₁ > θ₂", true),
		target("RatioBound of moves by the larger and the smaller part", "4% low along one", huber, func(p *planted) {
			p.bound = func(theta, next []float64, radius, _ float64) float64 {
				a, b := math.Abs(next[0]-theta[0]), math.Abs(next[1]-theta[1])
				return radius * (0.96*max(a, b) + 0.398*min(a, b))
			}
		}),
		target("GradBound is rounded to tenths", "0.05", huber, func(p *planted) {
			p.gradBound = func(_, b float64) float64 { return math.Round(10*b) / 10 }
		}),
		plainly("directions of a round prior are drawn from a square", "corners", func() targets.Target {
			return roundPrior{square: true}
		}),
		rowsAlike("a row like the one before has its gradient", "x₁ and y alike"),
		quadraticRatio("a ratio of second order where the predictor hardly moves", "10⁻⁵, below 0.05", 0.05),
		gammaTimes("the slope of a log gamma function is a forward difference", "10⁻⁴ wide", 1e-4),
		expectile("an expectile's ratio weighs both residuals alike", "signs differ", true),
		rolling("predictors are updated from row to row", "rounding", true),
		filling("a missing response is made 0 in the records", "writes"),
		sumOfDistinct("SumLossGrad leaves out a row like the one before", "repeats", true),
		boxCox("a power near 0 is a logarithm without a slope", "within 10⁻³", 1e-3),
	}
}

func twentyEighthTargetControls() []Case {
	return []Case{
		heldFeatures("features are held within 4", "", false),
		softplusRate("a softplus rate", "", math.Inf(1)),
		sortedCuts("cuts are put in order", "", false),
		plainly("directions of a round prior", "", func() targets.Target { return roundPrior{} }),
		gammaTimes("the slope of a log gamma function", "", 0),
		expectile("an expectile's ratio", "", false),
		rolling("predictors are made anew", "", false),
		sumOfDistinct("SumLossGrad has each row", "", false),
		boxCox("a power near 0", "", 0),
	}
}

// heldFeatures is Huber's regression on features that are held within 4.
func heldFeatures(name, effect string, lossAlone bool) Case {
	held := func(x []float64) []float64 {
		return []float64{max(-4, min(x[0], 4)), max(-4, min(x[1], 4))}
	}
	return spoilt(name, effect, nil, huberOf(2), func(m *own) {
		loss, grad := m.loss, m.grad
		m.loss = func(theta, x []float64, y float64) float64 { return loss(theta, held(x), y) }
		m.grad = func(g, theta, x []float64, y float64) {
			grad(g, theta, held(x), y)
			if lossAlone { // the chain rule by what came in
				for j, v := range held(x) {
					if v != 0 {
						g[j] *= x[j] / v
					}
				}
			}
		}
	})
}

// softplusRate has counts of the rate log(1 + e^η).
func softplusRate(name, effect string, from float64) Case {
	return ownTarget(name, effect, counts, func() targets.Target {
		rate := func(eta float64) float64 { return max(softplus(eta), 1e-300) }
		return along(func(eta, y float64) float64 { return rate(eta) - y*math.Log(rate(eta)) },
			func(eta, y float64) float64 {
				if eta < -30 { // where the rate is e^η
					return math.Exp(eta) - either(eta > -690, y, 0)
				}
				return either(eta > from, 1, logistically(eta)) * (1 - y/rate(eta))
			})
	})
}

// sortedCuts has three classes between two cuts, which are put in order.
func sortedCuts(name, effect string, lossAlone bool) Case {
	return plainly(name, effect, func() targets.Target {
		return &own{dim: 2, features: 1,
			loss: func(theta, x []float64, _ float64) float64 {
				low, high := min(theta[0], theta[1]), max(theta[0], theta[1])
				return softplus(low-x[0]) + 0.5*softplus(x[0]-high)
			},
			grad: func(g, theta, x []float64, _ float64) {
				low, high := 0, 1
				if theta[0] > theta[1] && !lossAlone {
					low, high = 1, 0
				}
				g[low], g[high] = logistically(theta[low]-x[0]), -0.5*logistically(x[0]-theta[high])
			}}
	})
}

// roundPrior has a density that falls with the distance from 0.
type roundPrior struct {
	scaled
	square bool
}

func (roundPrior) LogPrior(t []float64) float64 { return -(t[0]*t[0] + t[1]*t[1]) / 2 }

func (roundPrior) GradLogPrior(dst, t []float64) { dst[0], dst[1] = -t[0], -t[1] }

func (m roundPrior) SamplePrior(theta []float64, rng *rand.Rand) {
	r := math.Sqrt(2 * rng.ExpFloat64())
	sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
	if m.square {
		sin, cos = 2*rng.Float64()-1, 2*rng.Float64()-1
		length := math.Hypot(sin, cos)
		sin, cos = sin/length, cos/length
	}
	theta[0], theta[1] = r*cos, r*sin
}

// alike is Huber's regression that keeps the gradient of the row before.
type alike struct{ *own }

func (m alike) LossGrad(dst, theta []float64, rows targets.Rows) {
	m.own.LossGrad(dst, theta, rows)
	for i := 1; i < rows.Len(); i++ {
		if rows.Row(i)[0] == rows.Row(i - 1)[0] && rows.Y[i] == rows.Y[i-1] {
			copy(dst[2*i:2*i+2], dst[2*i-2:2*i])
		}
	}
}

func rowsAlike(name, effect string) Case {
	return plainly(name, effect, func() targets.Target { return alike{robust(2, 1.5)} })
}

// quadraticRatio is a logistic loss whose ratio is of second order on short moves.
func quadraticRatio(name, effect string, below float64) Case {
	loss := func(eta, y float64) float64 { return softplus(-sign(y) * eta) }
	return spoilt(name, effect, func(u float64) float64 { return either(u > 0.5, 1, 0) }, func() *own {
		return along(loss, func(eta, y float64) float64 { return -sign(y) / (1 + math.Exp(sign(y)*eta)) })
	}, func(m *own) {
		m.ratio = func(theta, next, x []float64, y float64) float64 {
			eta, to := dot(x, theta), dot(x, next)
			if d := to - eta; math.Abs(d) < below {
				p := logistically(eta)
				return d*sign(y)/(1+math.Exp(sign(y)*eta)) - d*d/2*p*(1-p)
			}
			return loss(eta, y) - loss(to, y)
		}
	})
}

func lgamma(v float64) float64 {
	l, _ := math.Lgamma(v)
	return l
}

// gammaTimes has positive responses of the shape e^θ₂, held within bounds, and the rate e^θ₁.
func gammaTimes(name, effect string, wide float64) Case {
	return ownTarget(name, effect, func(u float64) float64 { return min(math.Abs(u), 50) + 0.01 }, func() targets.Target {
		return &own{dim: 2, features: 1,
			loss: func(theta, _ []float64, y float64) float64 {
				k := 0.2 + softplus(theta[1])
				return lgamma(k) - k*theta[0] - (k-1)*math.Log(y) + y*math.Exp(theta[0])
			},
			grad: func(g, theta, _ []float64, y float64) {
				k := 0.2 + softplus(theta[1])
				psi := digamma(k, 12)
				if wide > 0 {
					psi = (lgamma(k+wide) - lgamma(k)) / wide
				}
				g[0], g[1] = y*math.Exp(theta[0])-k, (psi-theta[0]-math.Log(y))*logistically(theta[1])
			}}
	})
}

// expectile weighs squares by the residual's sign.
func expectile(name, effect string, alike bool) Case {
	weight := func(r float64) float64 { return either(r > 0, 0.8, 0.2) }
	return spoilt(name, effect, nil, func() *own {
		return along(func(eta, y float64) float64 { return weight(eta-y) * (eta - y) * (eta - y) / 2 },
			func(eta, y float64) float64 { return weight(eta-y) * (eta - y) })
	}, func(m *own) {
		if alike {
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				r, to := dot(x, theta)-y, dot(x, next)-y
				return weight(r) * (r*r - to*to) / 2
			}
		}
	})
}

// updated takes a row's predictor from that of the row before.
type updated struct {
	*own
	rolls bool
}

func (m updated) Loss(dst, theta []float64, rows targets.Rows) {
	if !m.rolls {
		m.own.Loss(dst, theta, rows)
		return
	}
	eta := 0.0
	for i := range rows.Len() {
		x := rows.Row(i)
		if i == 0 || math.IsNaN(eta) || math.IsInf(eta, 0) {
			eta = dot(x, theta)
		} else {
			before := rows.Row(i - 1)
			eta += (x[0]-before[0])*theta[0] + (x[1]-before[1])*theta[1]
		}
		dst[i] = math.Hypot(1, eta-rows.Y[i]) - 1
	}
}

func rolling(name, effect string, rolls bool) Case {
	return plainly(name, effect, func() targets.Target { return updated{along(huber.loss, huber.slope), rolls} })
}

// filled makes missing responses 0 in the caller's rows.
type filled struct{ *own }

func (m filled) LossGrad(dst, theta []float64, rows targets.Rows) {
	for i, y := range rows.Y {
		if math.IsNaN(y) {
			rows.Y[i] = 0
		}
	}
	m.own.LossGrad(dst, theta, rows)
}

func filling(name, effect string) Case {
	return plainly(name, effect, func() targets.Target {
		none := withoutResponse(huber)
		return filled{along(none.loss, none.slope)}
	})
}

// unlikeBefore adds losses and gradients of rows up, of all or of those unlike the row before.
type unlikeBefore struct {
	*planted
	all bool
}

func (m unlikeBefore) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	clear(grad)
	for i := range rows.Len() {
		x, y := rows.Row(i), rows.Y[i]
		if i > 0 && !m.all && y == rows.Y[i-1] && x[0] == rows.Row(i - 1)[0] && x[1] == rows.Row(i - 1)[1] {
			continue
		}
		eta := dot(x, theta)
		loss += m.model.loss(eta, y)
		for j, v := range x {
			grad[j] += m.model.slope(eta, y) * v
		}
	}
	return loss
}

func sumOfDistinct(name, effect string, leaves bool) Case {
	return Case{Name: name, Effect: effect, Check: func(t rapid.TB, seed uint64, effort proptest.Effort) {
		proptest.CheckTarget(t, unlikeBefore{&planted{model: huber}, !leaves}, huber.options(seed, effort))
	}}
}

// boxCox has the mean θ₁ of responses that are transformed by the power θ₂.
func boxCox(name, effect string, near float64) Case {
	power := func(l, y float64) float64 {
		if log := math.Log(y); l != 0 && !(math.Abs(l) < near) {
			return math.Expm1(l*log) / l
		}
		return math.Log(y)
	}
	slope := func(l, y float64) float64 {
		log := math.Log(y)
		u := l * log
		switch {
		case math.Abs(l) < near:
			return 0
		case math.Abs(u) < 0.01:
			return log * log * (0.5 + u/3 + u*u/8 + u*u*u/30 + u*u*u*u/144)
		}
		return log * log * (u*math.Exp(u) - math.Expm1(u)) / (u * u)
	}
	return ownTarget(name, effect, func(u float64) float64 { return min(math.Abs(u), 20) + 0.1 }, func() targets.Target {
		return &own{dim: 2, features: 1,
			loss: func(theta, _ []float64, y float64) float64 {
				return math.Hypot(1, power(theta[1], y)-theta[0]) - (theta[1]-1)*math.Log(y)
			},
			grad: func(g, theta, _ []float64, y float64) {
				r := power(theta[1], y) - theta[0]
				by := r / math.Hypot(1, r)
				g[0], g[1] = -by, by*slope(theta[1], y)-math.Log(y)
			}}
	})
}
