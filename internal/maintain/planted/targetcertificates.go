package planted

import (
	"math"

	"github.com/dpmcmc/dpmcmc/targets"
)

func certificateDefects() []Case {
	bound := func(name, effect string, m model, cond func(theta, next []float64, radius float64) bool, by float64) Case {
		return target(name, effect, m, func(p *planted) {
			p.bound = func(theta, next []float64, radius, b float64) float64 {
				return either(cond(theta, next, radius), b*by, b)
			}
		})
	}
	length := func(a, b []float64) float64 { return math.Hypot(a[0]-b[0], a[1]-b[1]) }
	one := func(name, effect string, m model, plant func(p *planted)) Case {
		return target(name, effect, m, plant)
	}
	return []Case{
		bound("RatioBound on moves of one coordinate", "5% low", logistic,
			func(a, b []float64, _ float64) bool { return a[0] == b[0] }, 0.95),
		bound("RatioBound on moves of the first coordinate", "3% low", huber,
			func(a, b []float64, _ float64) bool { return a[1] == b[1] }, 0.97),
		bound("RatioBound on moves shorter than 0.01", "5% low", logistic,
			func(a, b []float64, _ float64) bool { return length(a, b) < 0.01 }, 0.95),
		bound("RatioBound on moves longer than 4", "10% low", huber,
			func(a, b []float64, _ float64) bool { return length(a, b) > 4 }, 0.9),
		bound("RatioBound at other radii", "5% low", logistic, func(_, _ []float64, r float64) bool { return r > 1 }, 0.95),
		bound("RatioBound forgets small radii", "radius 0.3", logistic,
			func(_, _ []float64, r float64) bool { return r < 0.3 }, 0.3),
		bound("RatioBound in a half space", "3% low", welsch,
			func(a, b []float64, _ float64) bool { return a[0] > 0 && b[0] > 0 }, 0.97),
		bound("RatioBound near the origin", "4% low", welsch,
			func(a, b []float64, _ float64) bool { return math.Hypot(a[0], a[1]) < 1 }, 0.96),
		bound("RatioBound NaN for no move", "NaN", logistic,
			func(a, b []float64, _ float64) bool { return a[0] == b[0] && a[1] == b[1] }, math.NaN()),
		bound("RatioBound negative backwards", "sign", huber,
			func(a, b []float64, _ float64) bool { return b[0] < a[0]-1 }, -1),
		one("Lipschitz constant", "1% low", welsch,
			func(p *planted) { p.lip = func() float64 { return 0.99 * p.lipschitz } }),
		one("Lipschitz constant of the logistic", "0.5% low", logistic,
			func(p *planted) { p.lip = func() float64 { return 0.995 } }),
		one("GradBound", "1% low", welsch, func(p *planted) { p.gradBound = func(_, b float64) float64 { return 0.99 * b } }),
		one("GradBound at large radii", "10% low", logistic, func(p *planted) {
			p.gradBound = func(r, b float64) float64 {
				return either(r > 2, 0.9*b, b)
			}
		}),
		one("LossRange", "1% low", welsch, func(p *planted) { p.spans = func() float64 { return 0.99 } }),
		one("LossRange of an unbounded loss", "no bound", huber, func(p *planted) { p.spans = func() float64 { return 10 } }),
	}
}

type bounded struct {
	*own
	move func(theta, next []float64, radius float64) float64
	grad func(radius float64) float64
}

func (b bounded) RatioBound(theta, next []float64, radius float64) float64 {
	return b.move(theta, next, radius)
}
func (b bounded) GradBound(radius float64) float64 { return b.grad(radius) }

// rightBound is one of moves of Huber's regression, up to rounding.
func rightBound(theta, next []float64, radius float64) float64 {
	return slope(radius) * moved(theta, next)
}

// bound is a case of that regression with another bound of moves, and low one that is too low.
func bound(name, effect string, features int, move func(theta, next []float64, radius float64) float64) Case {
	return plainly(name, effect, func() targets.Target { return bounded{robust(features, 1.5), move, slope} })
}

func low(name, effect string, features int, by func(theta, next []float64) float64) Case {
	return bound(name, effect, features, func(theta, next []float64, radius float64) float64 {
		return rightBound(theta, next, radius) * by(theta, next)
	})
}

func boundedQuantile(gradients float64) targets.Target {
	return bounded{quantile(), func(theta, next []float64, radius float64) float64 {
		return 0.52 * radius * moved(theta, next) * (1 + 1e-12)
	}, func(radius float64) float64 { return gradients * radius * (1 + 1e-12) }}
}

// based is Huber's regression with a parameter before those of the features.
func based(gradBound func(radius float64) float64) targets.Target {
	m, base := &own{dim: 3, features: 2}, robust(2, 1.5)
	m.loss = func(theta, x []float64, y float64) float64 { return base.loss(theta[1:], x, y-theta[0]) }
	m.grad = func(g, theta, x []float64, y float64) {
		base.grad(g[1:], theta[1:], x, y-theta[0])
		g[0] = max(-1.5, min(intercepted(theta, x)-y, 1.5))
	}
	return bounded{m, func(theta, next []float64, radius float64) float64 {
		return 1.5 * math.Sqrt(1+radius*radius) * moved(theta, next) * (1 + 1e-12)
	}, gradBound}
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

// responsesWithin bounds moves by the slopes of records whose responses are within a bound.
func responsesWithin(most float64) func() targets.Target {
	return func() targets.Target {
		return bounded{robust(2, 1.5), func(theta, next []float64, radius float64) float64 {
			far := max(math.Hypot(theta[0], theta[1]), math.Hypot(next[0], next[1]))
			return min(1.5, most+radius*far) * radius * moved(theta, next) * (1 + 1e-12)
		}, slope}
	}
}

// kept takes the bound of a move for that of the one before if both end in the same slice.
type keptBound struct {
	bounded
	last  *float64
	start [2]float64
	value float64
}

func (b *keptBound) RatioBound(theta, next []float64, radius float64) float64 {
	if b.last != &next[0] || b.start != [2]float64(theta) {
		b.last, b.start, b.value = &next[0], [2]float64(theta), b.bounded.RatioBound(theta, next, radius)
	}
	return b.value
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
