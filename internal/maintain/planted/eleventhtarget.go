package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named eleventh were written, and run once, before their author read the suites' code
// and before anything was changed.

// times are positive responses.
func times(u float64) float64 { return math.Exp(max(-30, min(u, 30))) }

// weibull is a survival model of an intercept, a slope and a log shape, without censoring.
func weibull() *own {
	return &own{dim: 3, features: 1,
		loss: func(theta, x []float64, y float64) float64 {
			k, u := math.Exp(theta[2]), math.Log(y)-theta[0]-theta[1]*x[0]
			return math.Exp(k*u) - k*u - theta[2]
		},
		grad: func(g, theta, x []float64, y float64) {
			k, u := math.Exp(theta[2]), math.Log(y)-theta[0]-theta[1]*x[0]
			g[0], g[2] = k*(1-math.Exp(k*u)), k*u*(math.Exp(k*u)-1)-1
			g[1] = x[0] * g[0]
		}}
}

// student is a location model of Student's law with unknown degrees of freedom, from ½ to 10½.
func student(digamma func(x float64) float64) *own {
	lgamma := func(x float64) float64 {
		v, _ := math.Lgamma(x)
		return v
	}
	return &own{dim: 2,
		loss: func(theta, _ []float64, y float64) float64 {
			nu, r := 0.5+10*sigmoid(theta[1]), y-theta[0]
			return lgamma(nu/2) - lgamma(nu/2+0.5) + math.Log(nu)/2 + (nu+1)/2*math.Log1p(r*r/nu)
		},
		grad: func(g, theta, _ []float64, y float64) {
			nu, r := 0.5+10*sigmoid(theta[1]), y-theta[0]
			q := r * r / nu
			g[0] = -(nu + 1) * r / nu / (1 + q)
			rise := 10 * sigmoid(theta[1]) * sigmoid(-theta[1])
			g[1] = rise * (digamma(nu/2)/2 - digamma(nu/2+0.5)/2 + 1/(2*nu) + math.Log1p(q)/2 -
				(nu+1)/2*q/nu/(1+q))
		}}
}

// series is the digamma function by its series, from a number on.
func series(from float64) func(x float64) float64 {
	return func(x float64) float64 {
		below := 0.0
		for ; x < from; x++ {
			below += 1 / x
		}
		w := 1 / (x * x)
		return math.Log(x) - 1/(2*x) - w*(1./12-w*(1./120-w*(1./252-w*(1./240-w/132)))) - below
	}
}

// grouped has an intercept for each of four groups, the first feature, and a slope of the second.
func grouped() *own {
	base := robust(5, 1.5)
	with := func(x []float64) []float64 {
		d := make([]float64, 5)
		d[int(max(0, min(math.Floor(either(math.IsNaN(x[0]), 0, x[0])), 3)))] = 1
		d[4] = x[1]
		return d
	}
	return &own{dim: 5, features: 2,
		loss: func(theta, x []float64, y float64) float64 { return base.loss(theta, with(x), y) },
		grad: func(g, theta, x []float64, y float64) { base.grad(g, theta, with(x), y) }}
}

// hinged is Huber's regression on a feature and on what of it exceeds 1.
func hinged() *own {
	base := robust(2, 1.5)
	with := func(x []float64) []float64 { return []float64{x[0], max(0, x[0]-1)} }
	return &own{dim: 2, features: 1,
		loss: func(theta, x []float64, y float64) float64 { return base.loss(theta, with(x), y) },
		grad: func(g, theta, x []float64, y float64) { base.grad(g, theta, with(x), y) }}
}

// angles are responses on a circle.
func angles(u float64) float64 { return either(math.Abs(u) < 1e15, math.Mod(u, math.Pi), 0) }

// directional is a model of angles: half the square of the residual, wrapped round the circle.
func directional() *own {
	wrapped := func(d float64) float64 { return d - 2*math.Pi*math.Round(d/(2*math.Pi)) }
	return &own{dim: 2, features: 1,
		loss: func(theta, x []float64, y float64) float64 {
			r := wrapped(theta[0] + theta[1]*x[0] - y)
			return r * r / 2
		},
		grad: func(g, theta, x []float64, y float64) {
			g[0] = wrapped(theta[0] + theta[1]*x[0] - y)
			g[1] = g[0] * x[0]
		}}
}

// hurdled is a model of counts: whether there are any, and a rate of those, not truncated.
func hurdled() *own {
	return &own{dim: 2,
		loss: func(theta, _ []float64, y float64) float64 {
			return either(y > 0, softplus(-theta[0])+math.Exp(theta[1])-(y-1)*theta[1], softplus(theta[0]))
		},
		grad: func(g, theta, _ []float64, y float64) {
			if g[0], g[1] = sigmoid(theta[0]), 0; y > 0 {
				g[0], g[1] = -sigmoid(-theta[0]), math.Exp(theta[1])-(y-1)
			}
		}}
}

// spanned is a bounded loss, weighted by up to 1% more where its second feature is large.
type spanned struct{ *own }

func (spanned) LossRange() float64 { return 1 }

func weightedWelsch() targets.Target {
	weight := func(x []float64) float64 { return 1 + 0.01*sigmoid(x[1]-6) }
	return spanned{&own{dim: 1, features: 2,
		loss: func(theta, x []float64, y float64) float64 {
			r := theta[0]*x[0] - y
			return -weight(x) * math.Expm1(-r*r/2)
		},
		grad: func(g, theta, x []float64, y float64) {
			r := theta[0]*x[0] - y
			g[0] = weight(x) * r * math.Exp(-r*r/2) * x[0]
		}}}
}

// summed sums losses and gradients, in pairs of records.
type summed struct {
	*own
	tail bool // what is left after the pairs counts
}

func (m summed) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	clear(grad)
	g, n := make([]float64, m.dim), rows.Len()
	for i := range n {
		loss += m.loss(theta, rows.Row(i), rows.Y[i])
		if m.grad(g, theta, rows.Row(i), rows.Y[i]); i < n-n%2 || m.tail {
			for j, v := range g {
				grad[j] += v
			}
		}
	}
	return loss
}

// memoised keeps losses by the predictor's first six decimals, and the response.
func memoised() targets.Target {
	return keyed(func(theta, x []float64, y float64) (key [2]float64, has bool) {
		eta := dot(x, theta)
		return [2]float64{math.Round(eta * 1e6), y}, math.Abs(eta) <= 1e6 && !math.IsNaN(y)
	})
}

// shifted gives the first record of each block of 96 the response of the one before, in gradients.
type shifted struct{ *own }

func (m shifted) LossGrad(dst, theta []float64, rows targets.Rows) {
	m.own.LossGrad(dst, theta, rows)
	for i := 96; i < rows.Len(); i += 96 {
		m.grad(dst[i*m.dim:(i+1)*m.dim], theta, rows.Row(i), rows.Y[i-1])
	}
}

// overshooting is a smoothed loss whose slope exceeds 1 where the residual is about 30.
var overshooting = func() model {
	m := huber
	m.loss = func(eta, y float64) float64 {
		return huber.loss(eta, y) + 0.004*math.Sqrt(math.Pi)/2*math.Erf(eta-y-30)
	}
	m.slope = func(eta, y float64) float64 {
		return huber.slope(eta, y) + 0.004*math.Exp(-(eta-y-30)*(eta-y-30))
	}
	return m
}()

// correlated has the inverse hyperbolic tangent of a uniform for its second parameter.
func correlated(share float64) targets.Target {
	m := located()
	m.logPrior = func(t []float64) float64 { return -t[0]*t[0]/2 - 2*share*logCosh(t[1]) }
	m.gradPrior = func(g, t []float64) { g[0], g[1] = -t[0], -2*share*math.Tanh(t[1]) }
	return drawn{m, func(t []float64, rng *rand.Rand) {
		t[0], t[1] = rng.NormFloat64(), math.Atanh(2*rng.Float64()-1)
	}}
}

func logCosh(v float64) float64 {
	return math.Abs(v) + math.Log1p(math.Exp(-2*math.Abs(v))) - math.Ln2
}

// twoHumped has two normal laws about −2 and 2 for the prior of its second parameter.
func twoHumped(share float64) targets.Target {
	d := drawnFrom(2, func(t []float64, rng *rand.Rand) { t[1] += either(rng.Float64() < share, 2, -2) })().(drawn)
	d.logPrior = func(t []float64) float64 { return -dot(t, t)/2 + logCosh(2*t[1]) }
	d.gradPrior = func(g, t []float64) { g[0], g[1] = -t[0], 2*math.Tanh(2*t[1])-t[1] }
	return d
}

func eleventhTargets() []Case {
	plainly := func(name, effect string, make func() targets.Target) Case { return ownTarget(name, effect, nil, make) }
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
		plainly("RatioBound of nearly parallel parameters by their norms", "cos > 0.9999", func() targets.Target {
			return bounded{robust(2, 1.5), func(theta, next []float64, radius float64) float64 {
				a, b := math.Hypot(theta[0], theta[1]), math.Hypot(next[0], next[1])
				if dot(theta, next) > 0.9999*a*b {
					return slope(radius) * math.Abs(a-b)
				}
				return slope(radius) * moved(theta, next)
			}, slope}
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
		ownTarget("Weibull", "", times, func() targets.Target { return weibull() }),
		ownTarget("Student, degrees of freedom", "", nil, func() targets.Target { return student(series(12)) }),
		ownTarget("groups", "", nil, func() targets.Target { return grouped() }),
		ownTarget("a hinge", "", nil, func() targets.Target { return hinged() }),
		ownTarget("angles", "", nil, func() targets.Target { return directional() }),
		ownTarget("a hurdle", "", counts, func() targets.Target { return hurdled() }),
		ownTarget("a prior of a correlation", "", nil, func() targets.Target { return correlated(1) }),
		ownTarget("a prior of two humps", "", nil, func() targets.Target { return twoHumped(0.5) }),
		ownTarget("sums", "", nil, func() targets.Target { return summed{robust(2, 1.5), true} }),
	}
}
