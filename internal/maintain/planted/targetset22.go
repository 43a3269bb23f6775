package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/targets"
)

func twentySecondTargets() []Case {
	return []Case{
		plainly("a softplus from a table, its slope exact", "0.8%", tabled(false)),
		plainly("a response at the limit counts as observed in the gradient", "y = 3", cutResponses(false)),
		plainly("records with missing features keep what a buffer of 128 held", "NaN", inBuffer(false)),
		plainly("prior draws are the fifteenth state of a chain from the mode", "shape", fromChain(15)),
		ownTarget("GradBound of three classes by equal chances", "2/√3 for √2", threeClasses,
			softmaxBound(2/math.Sqrt(3))),
		ownTarget("no derivative of a focal weight beyond chances of 0.9", "p > 0.9", label, focal(false)),
		plainly("a compensated sum of losses makes NaN of infinity", "+Inf", compensated(false)),
		ownTarget("losses are summed as the log of a product of 64 chances", "underflow", label, byProducts(64)),
		plainly("RatioBound of a square by the mean of two eigenvalues", "1 to √2 low", squareBound(false)),
		plainly("range of a mixture with outliers by a larger scale", "0.12 for 0.1", outlying(0.12)),
		plainly("a gamma prior of shape 2.5 as two and a half exponentials", "10% of a variance", halves(false)),
		plainly("a correlation is drawn as the hyperbolic tangent of a normal", "kurtosis", correlationDraws(false)),
		ownTarget("shares are kept off 0 and 1 in the gradient", "0.01", ofTenTrials, trials(0.01)),
		plainly("a huge response passes a guard of whole numbers", "panic", guarded(false)),
		plainly("basis functions beyond three widths have no gradient", "1%", bases(3)),
		ownTarget("a time of 0 is guarded in the loss alone", "y = 0", positiveTime, timed(false)),
		plainly("ratio by the slope half way on short moves", "below ½", halfWay(0.5)),
		plainly("effects are drawn with the scale of the draw before", "0.2", effectsOf(false)),
		plainly("RatioBound of a hidden unit by a geometric mean", "1 to 2 low", unitBound(false)),
		ownTarget("a table of log factorials ends at the first batch's largest", "stale", counts, growingTable(false)),
		plainly("a Bessel ratio by two terms beyond 5", "0.5%", circular(5)),
		ownTarget("a probit's slope is the predictor below −5", "4%", label, farProbit(-5)),
		plainly("prior draws have a jitter that the density has not", "3% of a variance", jittered(0.03)),
		plainly("directions shorter than 0.1 are not projected", "|θ| < 0.1", direction(0.1)),
	}
}

func twentySecondTargetControls() []Case {
	return []Case{
		plainly("a softplus and its slope from a table", "", tabled(true)),
		plainly("censored responses", "", cutResponses(true)),
		plainly("a buffer of 128", "", inBuffer(true)),
		plainly("prior draws are the 200th state of a chain from the mode", "", fromChain(200)),
		ownTarget("GradBound of three classes", "", threeClasses, softmaxBound(math.Sqrt2)),
		ownTarget("a focal loss", "", label, focal(true)),
		plainly("a sum of losses that may be infinite", "", compensated(true)),
		ownTarget("losses are summed", "", label, byProducts(1)),
		plainly("RatioBound of a square", "", squareBound(true)),
		plainly("range of a mixture with outliers", "", outlying(0.1)),
		plainly("a gamma prior of shape 2.5", "", halves(true)),
		plainly("a correlation is uniform", "", correlationDraws(true)),
		ownTarget("ten trials", "", ofTenTrials, trials(0)),
		plainly("a guard of whole numbers", "", guarded(true)),
		plainly("basis functions", "", bases(math.Inf(1))),
		ownTarget("a time of 0 is guarded", "", positiveTime, timed(true)),
		plainly("effects are drawn with their scale", "", effectsOf(true)),
		plainly("RatioBound of a hidden unit", "", unitBound(true)),
		ownTarget("log factorials", "", counts, growingTable(true)),
		plainly("a Bessel ratio", "", circular(math.Inf(1))),
		ownTarget("a probit far out", "", label, farProbit(math.Inf(-1))),
		plainly("prior draws of a correlation of a half", "", jittered(0)),
		plainly("a direction", "", direction(0)),
	}
}

func label(u float64) float64 { return either(u > 0.5, 1, 0) }

// tabled is a logistic regression by lines between the nodes of a table.
func tabled(slopeToo bool) func() targets.Target {
	const spacing, end = 0.0625, 20.0
	var nodes []float64
	for v := -end; v <= end+spacing; v += spacing {
		nodes = append(nodes, softplus(v))
	}
	at := func(v float64) (value, slope float64) {
		if !(math.Abs(v) < end) {
			return max(0, v), either(math.IsNaN(v), v, either(v > 0, 1, 0))
		}
		k := int((v + end) / spacing)
		slope = (nodes[k+1] - nodes[k]) / spacing
		return nodes[k] + slope*(v+end-float64(k)*spacing), slope
	}
	return madeOf(func() *own {
		return along(func(eta, y float64) float64 {
			v, _ := at(-sign(y) * eta)
			return v
		}, func(eta, y float64) float64 {
			if _, s := at(-sign(y) * eta); slopeToo {
				return -sign(y) * s
			}
			return -sign(y) / (1 + math.Exp(sign(y)*eta))
		})
	})
}

// cutResponses are responses above 3 that are known to be above it.
func cutResponses(limit bool) func() targets.Target {
	above := func(eta float64) float64 { return softplus(3 - eta) }
	return madeOf(func() *own {
		return along(func(eta, y float64) float64 {
			return either(y >= 3, above(eta), huber.loss(eta, y))
		}, func(eta, y float64) float64 {
			if y > 3 || limit && y == 3 {
				return -1 / (1 + math.Exp(eta-3))
			}
			return huber.slope(eta, y)
		})
	})
}

// buffering evaluates losses in a buffer, which records with a missing feature may leave as it is.
type buffering struct {
	*own
	writes bool
}

func (m buffering) Loss(dst, theta []float64, rows targets.Rows) {
	var buf [128]float64
	for lo := 0; lo < rows.Len(); lo += len(buf) {
		n := min(len(buf), rows.Len()-lo)
		for i := range n {
			x := rows.Row(lo + i)
			if math.IsNaN(x[0]) || math.IsNaN(x[1]) {
				if m.writes {
					buf[i] = 0
				}
				continue
			}
			buf[i] = m.loss(theta, x, rows.Y[lo+i])
		}
		copy(dst[lo:], buf[:n])
	}
}

func inBuffer(writes bool) func() targets.Target {
	return func() targets.Target {
		base, m := robust(2, 1.5), robust(2, 1.5)
		missing := func(x []float64) bool { return math.IsNaN(x[0]) || math.IsNaN(x[1]) }
		m.loss = func(theta, x []float64, y float64) float64 {
			if missing(x) {
				return 0
			}
			return base.loss(theta, x, y)
		}
		m.grad = func(g, theta, x []float64, y float64) {
			if clear(g); !missing(x) {
				base.grad(g, theta, x, y)
			}
		}
		return buffering{m, writes}
	}
}

// fromChain draws a logistic prior by a chain of so many steps.
func fromChain(steps int) func() targets.Target {
	log := func(t float64) float64 { return -t - 2*softplus(-t) }
	return priorOf(log, func(t float64) float64 { return -math.Tanh(t / 2) }, func(rng *rand.Rand) (at float64) {
		for range steps {
			next := at + 5*(rng.Float64()+rng.Float64()-1)*2
			if rng.Float64() < math.Exp(log(next)-log(at)) {
				at = next
			}
		}
		return at
	})
}

// ofGradients is an own target with a bound of its gradients.
type ofGradients struct {
	*own
	per float64
}

func (m ofGradients) GradBound(radius float64) float64 { return m.per * radius * (1 + 1e-12) }

func softmaxBound(per float64) func() targets.Target {
	return func() targets.Target { return ofGradients{softmaxOf(true), per} }
}

// focal weighs the log loss by the square of the chance of the other label.
func focal(everywhere bool) func() targets.Target {
	return madeOf(func() *own {
		return along(func(eta, y float64) float64 {
			v := sign(y) * eta
			q := 1 / (1 + math.Exp(v))
			return q * q * softplus(-v)
		}, func(eta, y float64) float64 {
			v := sign(y) * eta
			p, q := 1/(1+math.Exp(-v)), 1/(1+math.Exp(v))
			slope := -q * q * q
			if everywhere || p <= 0.9 {
				slope -= 2 * q * q * p * softplus(-v)
			}
			return sign(y) * slope
		})
	})
}

// compensating adds up losses with what rounding took.
type compensating struct {
	*own
	infinite bool // what is infinite ends the sum
}

func (m compensating) SumLossGrad(grad, theta []float64, rows targets.Rows) float64 {
	clear(grad)
	g, sum, lost := make([]float64, m.dim), 0.0, 0.0
	for i := range rows.Len() {
		m.grad(g, theta, rows.Row(i), rows.Y[i])
		for j, v := range g {
			grad[j] += v
		}
		v := m.loss(theta, rows.Row(i), rows.Y[i])
		if m.infinite && math.IsInf(sum+v, 0) {
			sum, lost = sum+v, 0
			continue
		}
		add := v - lost
		next := sum + add
		sum, lost = next, (next-sum)-add
	}
	return sum
}

func compensated(infinite bool) func() targets.Target {
	return func() targets.Target {
		return compensating{along(func(eta, y float64) float64 { return (eta - y) * (eta - y) / 2 },
			func(eta, y float64) float64 { return eta - y }), infinite}
	}
}

// multiplying takes one logarithm for so many chances.
type multiplying struct {
	*own
	many int
}

func (m multiplying) SumLossGrad(grad, theta []float64, rows targets.Rows) (sum float64) {
	clear(grad)
	g, product := make([]float64, m.dim), 1.0
	for i := range rows.Len() {
		m.grad(g, theta, rows.Row(i), rows.Y[i])
		for j, v := range g {
			grad[j] += v
		}
		if m.many == 1 {
			sum += m.loss(theta, rows.Row(i), rows.Y[i])
			continue
		}
		product /= 1 + math.Exp(-sign(rows.Y[i])*dot(rows.Row(i), theta))
		if (i+1)%m.many == 0 || i == rows.Len()-1 {
			sum -= math.Log(product)
			product = 1
		}
	}
	return sum
}

func byProducts(many int) func() targets.Target {
	return func() targets.Target { return multiplying{along(logistic.loss, logistic.slope), many} }
}

// squareBound is a regression of the size of a response on the square of a predictor, for responses of 0 to 1,
// whose bound has the eigenvalues of a difference of two matrices.
func squareBound(largest bool) func() targets.Target {
	return func() targets.Target {
		m := along(func(eta, y float64) float64 { return math.Hypot(1, eta*eta-y) - 1 },
			func(eta, y float64) float64 { return 2 * eta * (eta*eta - y) / math.Hypot(1, eta*eta-y) })
		return bounded{m, func(theta, next []float64, radius float64) float64 {
			sum := []float64{next[0] + theta[0], next[1] + theta[1]}
			along := (next[0]-theta[0])*sum[0] + (next[1]-theta[1])*sum[1]
			root := moved(theta, next) * math.Sqrt(dot(sum, sum))
			one, two := math.Abs(along+root)/2, math.Abs(along-root)/2
			most := math.Sqrt((one*one + two*two) / 2)
			if largest {
				most = max(one, two)
			}
			return most*radius*radius*(1+1e-9) + 1e-12
		}, func(float64) float64 { return math.Inf(1) }}
	}
}

// outlying is a normal law of a scale of at least 0.1 among outliers.
func outlying(by float64) func() targets.Target {
	chance := func(r, s float64) (normal, other float64) {
		return 0.9 / (s * math.Sqrt(2*math.Pi)) * math.Exp(-r*r/(2*s*s)), 0.1 / 20
	}
	scale := func(theta []float64) float64 { return 0.1 + math.Exp(theta[1]) }
	m := func() *own {
		return &own{dim: 2, features: 1,
			loss: func(theta, x []float64, y float64) float64 {
				normal, other := chance(theta[0]*x[0]-y, scale(theta))
				return -math.Log(normal + other)
			},
			grad: func(g, theta, x []float64, y float64) {
				r, s := theta[0]*x[0]-y, scale(theta)
				normal, other := chance(r, s)
				if g[0], g[1] = 0, 0; normal > 0 || math.IsNaN(normal) {
					w := normal / (normal + other)
					g[0], g[1] = w*r/(s*s)*x[0], w*(1/s-r*r/(s*s*s))*math.Exp(theta[1])
				}
			}}
	}
	return func() targets.Target {
		normal, other := chance(0, by)
		return spread{m(), math.Log((normal+other)/other) * (1 + 1e-9)}
	}
}

// halves draws a gamma law of shape 2.5 as the sum of two exponentials and half a square, or half an exponential.
func halves(square bool) func() targets.Target {
	log := func(t float64) float64 { return 2.5*t - math.Exp(t) }
	return priorOf(log, func(t float64) float64 { return 2.5 - math.Exp(t) }, func(rng *rand.Rand) float64 {
		z := rng.NormFloat64()
		return math.Log(rng.ExpFloat64() + rng.ExpFloat64() + either(square, z*z/2, rng.ExpFloat64()/2))
	})
}

// correlationDraws has a uniform prior of a correlation, as its inverse hyperbolic tangent.
func correlationDraws(uniform bool) func() targets.Target {
	return priorOf(func(t float64) float64 { return 2*t - 2*softplus(2*t) },
		func(t float64) float64 { return -2 * math.Tanh(t) }, func(rng *rand.Rand) float64 {
			if uniform {
				u := rng.Float64()
				return math.Log(u/(1-u)) / 2
			}
			return math.Pi / math.Sqrt(12) * rng.NormFloat64()
		})
}

func ofTenTrials(u float64) float64 { return max(0, min(counts(u), 10)) }

// trials is a share of ten, which may be kept off its ends in the gradient.
func trials(off float64) func() targets.Target {
	return madeOf(func() *own {
		return along(func(eta, y float64) float64 { return softplus(eta) - y/10*eta },
			func(eta, y float64) float64 { return 1/(1+math.Exp(-eta)) - max(off, min(y/10, 1-off)) })
	})
}

// guarded has a weight for each of eight whole responses, and 1 for what is none of them.
func guarded(below bool) func() targets.Target {
	weights := []float64{1, 2, 1, 3, 1, 2, 1, 2}
	return func() targets.Target {
		base, m := robust(2, 1.5), robust(2, 1.5)
		weight := func(y float64) float64 {
			if y == math.Floor(y) && y >= 0 && int(y) < len(weights) && (!below || y < 8) {
				return weights[int(y)]
			}
			return 1
		}
		m.loss = func(theta, x []float64, y float64) float64 { return weight(y) * base.loss(theta, x, y) }
		m.grad = func(g, theta, x []float64, y float64) {
			base.grad(g, theta, x, y)
			g[0], g[1] = weight(y)*g[0], weight(y)*g[1]
		}
		return m
	}
}

// bases is a regression on three humps whose places are parameters, and whose gradients may end.
func bases(end float64) func() targets.Target {
	hump := func(x, at float64) float64 { return math.Exp(-(x - at) * (x - at) / 2) }
	eta := func(theta, x []float64) float64 { return theta[2]*hump(x[0], theta[0]) + theta[3]*hump(x[0], theta[1]) }
	return madeOf(func() *own {
		return &own{dim: 4, features: 1,
			loss: func(theta, x []float64, y float64) float64 { return huber.loss(eta(theta, x), y) },
			grad: func(g, theta, x []float64, y float64) {
				by := huber.slope(eta(theta, x), y)
				for k := range 2 {
					d := x[0] - theta[k]
					if g[k], g[k+2] = 0, 0; !(math.Abs(d) > end) {
						g[k], g[k+2] = by*theta[k+2]*hump(x[0], theta[k])*d, by*hump(x[0], theta[k])
					}
				}
			}}
	})
}

func positiveTime(u float64) float64 { return either(u > 0, u, 0) }

// timed is a law of times of an unknown shape, in which a time of 0 may be taken for a short one.
func timed(slopeToo bool) func() targets.Target {
	short := func(y float64) float64 { return either(y < 1e-6, 1e-6, y) }
	return madeOf(func() *own {
		return &own{dim: 2, features: 1,
			loss: func(theta, x []float64, y float64) float64 {
				l, k := math.Log(short(y))-theta[0]*x[0], math.Exp(theta[1])
				return math.Exp(k*l) - k*l - theta[1]
			},
			grad: func(g, theta, x []float64, y float64) {
				if slopeToo {
					y = short(y)
				}
				l, k := math.Log(y)-theta[0]*x[0], math.Exp(theta[1])
				e := math.Exp(k * l)
				g[0], g[1] = -k*x[0]*(e-1), k*l*(e-1)-1
			}}
	})
}

// halfWay takes the slope half way times the move for the ratio of moves that are shorter than some length.
func halfWay(shorter float64) func() targets.Target {
	return func() targets.Target {
		m := along(huber.loss, huber.slope)
		m.ratio = func(theta, next, x []float64, y float64) float64 {
			if moved(theta, next) < shorter {
				now, then := dot(x, theta), dot(x, next)
				return huber.slope((now+then)/2, y) * (now - then)
			}
			return m.loss(theta, x, y) - m.loss(next, x, y)
		}
		return m
	}
}

// effectsOf are two effects and their log scale, drawn in either order.
func effectsOf(scaleFirst bool) func() targets.Target {
	return func() targets.Target {
		m := robust(3, 1.5)
		m.logPrior = func(t []float64) float64 {
			s := math.Exp(-2 * t[2])
			return -(t[0]*t[0]+t[1]*t[1])*s/2 - 2*t[2] - t[2]*t[2]/(2*0.04)
		}
		m.gradPrior = func(g, t []float64) {
			s := math.Exp(-2 * t[2])
			g[0], g[1], g[2] = -t[0]*s, -t[1]*s, (t[0]*t[0]+t[1]*t[1])*s-2-t[2]/0.04
		}
		before := 0.0
		return drawn{m, func(t []float64, rng *rand.Rand) {
			scale := 0.2 * rng.NormFloat64()
			by := either(scaleFirst, scale, before)
			t[0], t[1], t[2] = math.Exp(by)*rng.NormFloat64(), math.Exp(by)*rng.NormFloat64(), scale
			before = scale
		}}
	}
}

// unitBound is a regression on one hidden unit, whose bound has a mean of two sizes.
func unitBound(arithmetic bool) func() targets.Target {
	return func() targets.Target {
		eta := func(theta, x []float64) float64 { return theta[1] * math.Tanh(theta[0]*x[0]) }
		m := &own{dim: 2, features: 1,
			loss: func(theta, x []float64, y float64) float64 { return huber.loss(eta(theta, x), y) },
			grad: func(g, theta, x []float64, y float64) {
				by, h := huber.slope(eta(theta, x), y), math.Tanh(theta[0]*x[0])
				g[0], g[1] = by*theta[1]*(1-h*h)*x[0], by*h
			}}
		return bounded{m, func(theta, next []float64, radius float64) float64 {
			a, b := math.Abs(theta[1]), math.Abs(next[1])
			v := either(arithmetic, (a+b)/2, math.Sqrt(a*b))
			h := min(1, radius*(math.Abs(theta[0])+math.Abs(next[0]))/2)
			return (v*radius*math.Abs(next[0]-theta[0]) + h*math.Abs(next[1]-theta[1])) * (1 + 1e-9)
		}, func(float64) float64 { return math.Inf(1) }}
	}
}

// growingTable is a regression of counts, with log factorials from a table that the first batch makes.
func growingTable(grows bool) func() targets.Target {
	return func() targets.Target {
		var table []float64
		m := along(func(eta, y float64) float64 { return math.Exp(eta) - y*eta },
			func(eta, y float64) float64 { return math.Exp(eta) - y })
		m.batch = nil
		return tabling{m, &table, grows}
	}
}

type tabling struct {
	*own
	table *[]float64
	grows bool
}

func (m tabling) Loss(dst, theta []float64, rows targets.Rows) {
	m.own.Loss(dst, theta, rows)
	if !m.grows && *m.table == nil && rows.Len() > 0 {
		most := min(170, slices.Max(rows.Y))
		for k := 0.0; k <= most; k++ {
			v, _ := math.Lgamma(k + 1)
			*m.table = append(*m.table, v)
		}
	}
	for i, y := range rows.Y {
		v, _ := math.Lgamma(y + 1)
		if !m.grows && y >= 0 && y < 170 {
			v = (*m.table)[min(int(y), len(*m.table)-1)]
		}
		dst[i] += v
	}
}

// logBessel is log I₀, and besselRatio I₁/I₀, by Simpson's rule.
func bessels(k float64) (log, ratio float64) {
	const n = 64
	sum, cosines := 0.0, 0.0
	for i := range n {
		c := math.Cos(2 * math.Pi * float64(i) / n)
		e := math.Exp(k * (c - 1))
		sum, cosines = sum+e, cosines+e*c
	}
	return k + math.Log(sum/n), cosines / sum
}

// circular is a law of angles with a concentration of at most 30, whose slope may be that for large ones.
func circular(beyond float64) func() targets.Target {
	concentration := func(t float64) (k, slope float64) {
		s := 1 / (1 + math.Exp(-t))
		return 30 * s, 30 * s * (1 - s)
	}
	return madeOf(func() *own {
		return &own{dim: 2, features: 1,
			loss: func(theta, x []float64, y float64) float64 {
				k, _ := concentration(theta[1])
				log, _ := bessels(k)
				return log - k*math.Cos(y-theta[0]*x[0])
			},
			grad: func(g, theta, x []float64, y float64) {
				k, slope := concentration(theta[1])
				_, ratio := bessels(k)
				if k > beyond {
					ratio = 1 - 1/(2*k)
				}
				sin, cos := math.Sincos(y - theta[0]*x[0])
				g[0], g[1] = -k*sin*x[0], (ratio-cos)*slope
			}}
	})
}

// farProbit is a probit regression whose slope may be the predictor below some value.
func farProbit(below float64) func() targets.Target {
	log := func(v float64) float64 {
		if v < -30 {
			return -v*v/2 - math.Log(-v*math.Sqrt(2*math.Pi)) - 1/(v*v)
		}
		return math.Log(math.Erfc(-v/math.Sqrt2) / 2)
	}
	return madeOf(func() *own {
		return along(func(eta, y float64) float64 { return -log(sign(y) * eta) }, func(eta, y float64) float64 {
			v := sign(y) * eta
			switch {
			case v < below:
				return -sign(y) * -v
			case v < -30:
				return -sign(y) * (-v - 1/v + 2/(v*v*v))
			}
			return -sign(y) * math.Exp(-v*v/2-log(v)) / math.Sqrt(2*math.Pi)
		})
	})
}

// jittered draws two related parameters with a larger variance than they have.
func jittered(by float64) func() targets.Target {
	return func() targets.Target {
		m := robust(2, 1.5)
		m.logPrior = func(t []float64) float64 { return -(t[0]*t[0] - t[0]*t[1] + t[1]*t[1]) / 1.5 }
		m.gradPrior = func(g, t []float64) { g[0], g[1] = -(2*t[0]-t[1])/1.5, -(2*t[1]-t[0])/1.5 }
		return drawn{m, func(t []float64, rng *rand.Rand) {
			a := math.Sqrt(1 + by)
			b := 0.5 / a
			u, v := rng.NormFloat64(), rng.NormFloat64()
			t[0], t[1] = a*u, b*u+math.Sqrt(1+by-b*b)*v
		}}
	}
}

// direction is a regression on the direction of two parameters, whose gradient may lack what its length does.
func direction(shorter float64) func() targets.Target {
	unit := func(theta []float64) (u, v, r float64) {
		if r = math.Hypot(theta[0], theta[1]); r == 0 {
			return 1, 0, 0
		}
		return theta[0] / r, theta[1] / r, r
	}
	return madeOf(func() *own {
		return &own{dim: 2, features: 2,
			loss: func(theta, x []float64, y float64) float64 {
				u, v, _ := unit(theta)
				return huber.loss(u*x[0]+v*x[1], y)
			},
			grad: func(g, theta, x []float64, y float64) {
				u, v, r := unit(theta)
				by := huber.slope(u*x[0]+v*x[1], y)
				switch across := v*x[0] - u*x[1]; {
				case r == 0:
					g[0], g[1] = 0, 0
				case r < shorter:
					g[0], g[1] = by*x[0]/r, by*x[1]/r
				default:
					g[0], g[1] = by*across*v/r, -by*across*u/r
				}
			}}
	})
}
