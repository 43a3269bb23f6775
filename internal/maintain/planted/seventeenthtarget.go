package planted

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/dpmcmc/dpmcmc/targets"
)

// normalBelow is the standard normal distribution function.
func normalBelow(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// probit has its probabilities lifted by a floor in the loss, and in the slope if it is said so.
func probit(floor, inSlope float64) func() targets.Target {
	return func() targets.Target {
		return &own{dim: 2, features: 2,
			loss: func(theta, x []float64, y float64) float64 {
				return -math.Log(normalBelow(sign(y)*dot(x, theta)) + floor)
			},
			grad: func(g, theta, x []float64, y float64) {
				z := sign(y) * dot(x, theta)
				by := -sign(y) * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / (normalBelow(z) + inSlope)
				g[0], g[1] = by*x[0], by*x[1]
			}}
	}
}

// exposed counts events at a rate times an exposure, whose logarithm is the second feature.
func exposed(inSlope func(log float64) float64) func() targets.Target {
	return func() targets.Target {
		return &own{dim: 1, features: 2,
			loss: func(theta, x []float64, y float64) float64 {
				return math.Exp(x[1]+theta[0]*x[0]) - y*theta[0]*x[0]
			},
			grad: func(g, theta, x []float64, y float64) {
				g[0] = (math.Exp(inSlope(x[1])+theta[0]*x[0]) - y) * x[0]
			}}
	}
}

// gammaShape is gamma regression with the logarithm of the shape as second parameter.
func gammaShape(by func(v float64) float64) func() targets.Target {
	return func() targets.Target {
		return &own{dim: 2, features: 1,
			loss: func(theta, x []float64, y float64) float64 {
				v, eta := math.Exp(theta[1]), theta[0]*x[0]
				lg, _ := math.Lgamma(v)
				return lg - v*theta[1] - (v-1)*math.Log(y) + v*(eta+y*math.Exp(-eta))
			},
			grad: func(g, theta, x []float64, y float64) {
				v, eta := math.Exp(theta[1]), theta[0]*x[0]
				g[0] = v * (1 - y*math.Exp(-eta)) * x[0]
				g[1] = v * (by(v) - theta[1] - 1 - math.Log(y) + eta + y*math.Exp(-eta))
			}}
	}
}

// threeTerms and psi are the digamma function, for large arguments and for all.
func threeTerms(v float64) float64 { return math.Log(v) - 1/(2*v) - 1/(12*v*v) }

func psi(v float64) (sum float64) {
	if !(v > 0) {
		return math.NaN()
	}
	for ; v < 30; v++ {
		sum -= 1 / v
	}
	return sum + threeTerms(v) + 1/(120*v*v*v*v) - 1/(252*math.Pow(v, 6))
}

func positiveResponse(u float64) float64 {
	return either(!(math.Abs(u) < 1e6), 1, max(0.01, math.Abs(u)))
}

// studentErrors is regression with errors of Student's law of four degrees of freedom.
func studentErrors() *own {
	return &own{dim: 2, features: 2,
		loss: func(theta, x []float64, y float64) float64 {
			r := dot(x, theta) - y
			return 2.5 * math.Log1p(r*r/4)
		},
		grad: func(g, theta, x []float64, y float64) {
			r := dot(x, theta) - y
			for j, v := range x {
				g[j] = 5 * r / (4 + r*r) * v
			}
		}}
}

// wrapped is a residual on a circle, by one remainder in the loss and by another in its slope.
func wrapped(inSlope func(r, turn float64) float64) func() targets.Target {
	return func() targets.Target {
		return &own{dim: 1, features: 1,
			loss: func(theta, x []float64, y float64) float64 {
				return 1 - math.Cos(math.Remainder(y-theta[0]*x[0], 2*math.Pi)/2)
			},
			grad: func(g, theta, x []float64, y float64) {
				g[0] = -math.Sin(inSlope(y-theta[0]*x[0], 2*math.Pi)/2) / 2 * x[0]
			}}
	}
}

// whole counts by whole responses, made so in two ways.
func whole(inLoss, inSlope func(y float64) float64) func() targets.Target {
	return func() targets.Target {
		return &own{dim: 2, features: 2,
			loss: func(theta, x []float64, y float64) float64 {
				return math.Exp(dot(x, theta)) - inLoss(y)*dot(x, theta)
			},
			grad: func(g, theta, x []float64, y float64) {
				by := math.Exp(dot(x, theta)) - inSlope(y)
				g[0], g[1] = by*x[0], by*x[1]
			}}
	}
}

// spread is a mean and a log scale, whose loss is cut above.
type spread struct {
	*own
	span float64
}

func (s spread) LossRange() float64 { return s.span }

func cutAt(most, span float64) func() targets.Target {
	return func() targets.Target {
		return spread{&own{dim: 2, features: 0,
			loss: func(theta, _ []float64, y float64) float64 {
				z := (y - theta[0]) * math.Exp(-max(-1.5, theta[1]))
				return min(z*z/2+max(-1.5, theta[1]), most)
			},
			grad: func(g, theta, _ []float64, y float64) {
				s := max(-1.5, theta[1])
				z := (y - theta[0]) * math.Exp(-s)
				if g[0], g[1] = 0, 0; z*z/2+s < most {
					g[0] = -z * math.Exp(-s)
					g[1] = either(theta[1] > -1.5, 1-z*z, 0)
				}
			}}, span}
	}
}

// intercept is Huber's regression with one, whose gradients' bound takes so much for it.
func intercept(square float64) func() targets.Target {
	return func() targets.Target {
		m := robust(3, 1.5)
		long := func(x []float64) []float64 { return []float64{x[0], x[1], 1} }
		return bounded{&own{dim: 3, features: 2,
			loss: func(theta, x []float64, y float64) float64 { return m.loss(theta, long(x), y) },
			grad: func(g, theta, x []float64, y float64) { m.grad(g, theta, long(x), y) }},
			func(theta, next []float64, radius float64) float64 {
				return slope(math.Sqrt(radius*radius+1)) * moved(theta, next)
			}, func(radius float64) float64 { return slope(math.Sqrt(radius*radius + square)) }}
	}
}

// halfCauchy has the logarithm of a scale as second parameter, with that prior.
func halfCauchy(slope func(t float64) float64) func() targets.Target {
	return func() targets.Target {
		m := robust(2, 1.5)
		m.logPrior = func(t []float64) float64 { return -t[0]*t[0]/2 + t[1] - softplus(2*t[1]) }
		m.gradPrior = func(g, t []float64) { g[0], g[1] = -t[0], 1-2*slope(2*t[1]) }
		return m
	}
}

// addressed keeps its predictors for the parameters and the records that lie where they lay.
type addressed struct {
	*own
	lock  *sync.Mutex
	kept  *[]float64
	theta **float64
	x     **float64
}

func (m addressed) Loss(dst, theta []float64, rows targets.Rows) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if len(dst) == 0 {
		return
	}
	if *m.theta != &theta[0] || *m.x != &rows.X[0] || len(*m.kept) != len(dst) {
		m.own.Loss(dst, theta, rows)
		*m.theta, *m.x, *m.kept = &theta[0], &rows.X[0], append([]float64{}, dst...)
	}
	copy(dst, *m.kept)
}

// singlePredictors is Huber's regression, with predictors in single precision in its losses.
func singlePredictors(ratioToo bool) func() targets.Target {
	return func() targets.Target {
		right, m := robust(2, 1.5), robust(2, 1.5)
		m.loss = func(theta, x []float64, y float64) float64 {
			eta := float32(0)
			for j, v := range x {
				eta += float32(v) * float32(theta[j])
			}
			return right.loss([]float64{1, 0}, []float64{float64(eta), 0}, y)
		}
		if !ratioToo {
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				return right.loss(theta, x, y) - right.loss(next, x, y)
			}
		}
		return m
	}
}

// imputed takes 0 for a missing feature.
func imputed(inSlope bool) func() targets.Target {
	return func() targets.Target {
		right := robust(2, 1.5)
		fill := func(x []float64) []float64 {
			return []float64{either(math.IsNaN(x[0]), 0, x[0]), either(math.IsNaN(x[1]), 0, x[1])}
		}
		return &own{dim: 2, features: 2,
			loss: func(theta, x []float64, y float64) float64 { return right.loss(theta, fill(x), y) },
			grad: func(g, theta, x []float64, y float64) {
				if inSlope {
					x = fill(x)
				}
				right.grad(g, theta, x, y)
			}}
	}
}

func seventeenthTargets() []Case {
	plainly := func(name, effect string, make func() targets.Target) Case { return ownTarget(name, effect, nil, make) }
	most := func(theta, next []float64) (most float64) {
		for j, t := range theta {
			most = max(most, math.Abs(next[j]-t))
		}
		return most
	}
	return []Case{
		plainly("a floor under probabilities, in the loss alone", "10⁻¹²", probit(1e-12, 0)),
		plainly("exposures below one are one in the slope", "the offset",
			exposed(func(e float64) float64 { return max(0, e) })),
		ownTarget("the digamma function by three terms", "0.01 at shape 1", positiveResponse, gammaShape(threeTerms)),
		plainly("ratio's branch for one large residual has no degrees of freedom", "log 4", func() targets.Target {
			m := studentErrors()
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				a, b := dot(x, theta)-y, dot(x, next)-y
				if math.Abs(a) > 1000 && math.Abs(b) < 1000 {
					return 5*math.Log(math.Abs(a)) - 2.5*math.Log1p(b*b/4)
				}
				return m.loss(theta, x, y) - m.loss(next, x, y)
			}
			return m
		}),
		plainly("responses are cut off in the loss and rounded in the slope", "½", whole(math.Trunc, math.Round)),
		plainly("ratio takes the first of two changed coordinates of three", "one is left", func() targets.Target {
			m := robust(3, 1.5)
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				to, changed := append([]float64{}, theta...), 0
				for j := range theta {
					if next[j] != theta[j] {
						changed++
					}
				}
				for j := range theta {
					if to[j] = next[j]; changed == 2 && next[j] != theta[j] {
						break
					}
				}
				return m.loss(theta, x, y) - m.loss(to, x, y)
			}
			return m
		}),
		plainly("range from zero to the cut, of a density above one", "5 for 6.5", cutAt(5, 5)),
		plainly("a bound of gradients without the intercept", "√2 low", intercept(0)),
		plainly("RatioBound by the largest of three coordinates", "√2 for √3", func() targets.Target {
			return bounded{robust(3, 1.5), func(theta, next []float64, radius float64) float64 {
				return slope(radius) * min(math.Sqrt2*most(theta, next), moved(theta, next)*(1+1e-12))
			}, slope}
		}),
		plainly("a log prior's slope divides infinities", "beyond 355", halfCauchy(func(t float64) float64 {
			return math.Exp(t) / (1 + math.Exp(t))
		})),
		plainly("prior draws have the variance for the standard deviation", "1.05²", drawnOf(1.05, 1.05*1.05)),
		plainly("losses are kept by the address of parameters and records", "stale", func() targets.Target {
			return addressed{robust(2, 1.5), &sync.Mutex{}, &[]float64{}, new(*float64), new(*float64)}
		}),
		plainly("gradients are added to what dst held", "not cleared", func() targets.Target {
			m, right := robust(2, 1.5), robust(2, 1.5).grad
			m.grad = func(g, theta, x []float64, y float64) {
				var its [2]float64
				right(its[:], theta, x, y)
				g[0], g[1] = g[0]+its[0], g[1]+its[1]
			}
			return m
		}),
		plainly("predictors in single precision, not in the ratio", "10⁻⁷", singlePredictors(false)),
		plainly("missing features are zero in the loss alone", "NaN", imputed(false)),
		plainly("prior draws use the global generator now and then", "1 in 100", drawnFrom(2,
			func(t []float64, rng *rand.Rand) {
				if rng.IntN(100) == 0 {
					t[1] = rand.NormFloat64()
				}
			})),
		plainly("an angle's other remainder in the slope", "Mod", wrapped(math.Mod)),
	}
}

// drawnOf has a normal prior of one deviation and draws of another.
func drawnOf(sd, drawn float64) func() targets.Target {
	return priorOf(func(t float64) float64 { return -t * t / (2 * sd * sd) },
		func(t float64) float64 { return -t / (sd * sd) },
		func(rng *rand.Rand) float64 { return drawn * rng.NormFloat64() })
}

func seventeenthTargetControls() []Case {
	plainly := func(name string, make func() targets.Target) Case { return ownTarget(name, "", nil, make) }
	return []Case{
		plainly("a floor under probabilities", probit(1e-12, 1e-12)),
		plainly("counts with an exposure", exposed(func(e float64) float64 { return e })),
		ownTarget("gamma regression", "", positiveResponse, gammaShape(psi)),
		plainly("responses are rounded", whole(math.Round, math.Round)),
		plainly("a cut loss of a density above one", cutAt(5, 6.5*(1+1e-12))),
		plainly("a bound of gradients with an intercept", intercept(1)),
		plainly("a half-Cauchy scale", halfCauchy(func(t float64) float64 { return 1 / (1 + math.Exp(-t)) })),
		plainly("missing features are zero", imputed(true)),
		plainly("an angle", wrapped(math.Remainder)),
	}
}
