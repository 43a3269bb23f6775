package planted

import (
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/targets"
)

// quantile is a regression of the 0.52 quantile.
func quantile() *own {
	return &own{dim: 2, features: 2,
		loss: func(theta, x []float64, y float64) float64 {
			r := y - dot(x, theta)
			return max(0.52*r, -0.48*r)
		},
		grad: func(g, theta, x []float64, y float64) {
			by := either(y > dot(x, theta), -0.52, 0.48)
			g[0], g[1] = by*x[0], by*x[1]
		}}
}

// weighted is Huber's regression on two features, where a third is the record's weight, at most 4.
func weighted() *own {
	weight := func(x []float64) float64 { return max(0, min(x[2], 4)) }
	base := robust(2, 1.5)
	return &own{dim: 2, features: 3,
		loss: func(theta, x []float64, y float64) float64 {
			if w := weight(x); w > 0 {
				return w * base.loss(theta, x[:2], y)
			}
			return 0
		},
		grad: func(g, theta, x []float64, y float64) {
			clear(g)
			if w := weight(x); w > 0 {
				base.grad(g, theta, x[:2], y)
				g[0], g[1] = w*g[0], w*g[1]
			}
		}}
}

// interacting is Huber's regression on two features and their product.
func interacting() *own {
	base := robust(3, 1.5)
	with := func(x []float64) []float64 { return []float64{x[0], x[1], x[0] * x[1]} }
	return &own{dim: 3, features: 2,
		loss: func(theta, x []float64, y float64) float64 { return base.loss(theta, with(x), y) },
		grad: func(g, theta, x []float64, y float64) { base.grad(g, theta, with(x), y) }}
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

// persons has an intercept for each of five persons, numbered by whole parts modulo 5.
func persons() *own {
	base := robust(5, 1.5)
	with := func(x []float64) []float64 {
		d := make([]float64, 5)
		d[person(x)] = 1
		return d
	}
	return &own{dim: 5, features: 1,
		loss: func(theta, x []float64, y float64) float64 { return base.loss(theta, with(x), y) },
		grad: func(g, theta, x []float64, y float64) { base.grad(g, theta, with(x), y) }}
}

func person(x []float64) int {
	if !(math.Abs(x[0]) < 1e9) {
		return 0
	}
	return (int(x[0])%5 + 5) % 5
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

// wave is Huber's regression on a wave of unknown frequency.
func wave() *own {
	base := robust(1, 1.5)
	return &own{dim: 2, features: 1,
		loss: func(theta, x []float64, y float64) float64 {
			return base.loss(theta[:1], []float64{math.Sin(theta[1] * x[0])}, y)
		},
		grad: func(g, theta, x []float64, y float64) {
			s, c := math.Sincos(theta[1] * x[0])
			base.grad(g[:1], theta[:1], []float64{s}, y)
			r := max(-1.5, min(theta[0]*s-y, 1.5))
			g[1] = r * theta[0] * c * x[0]
		}}
}

// hidden is Huber's regression on two hidden units.
func hidden() *own {
	base := robust(2, 1.5)
	units := func(theta, x []float64) []float64 {
		return []float64{math.Tanh(dot(theta[:2], x)), math.Tanh(dot(theta[2:4], x))}
	}
	return &own{dim: 6, features: 2,
		loss: func(theta, x []float64, y float64) float64 { return base.loss(theta[4:], units(theta, x), y) },
		grad: func(g, theta, x []float64, y float64) {
			h := units(theta, x)
			base.grad(g[4:], theta[4:], h, y)
			r := max(-1.5, min(dot(theta[4:], h)-y, 1.5))
			for u, v := range h {
				for j, w := range x {
					g[2*u+j] = r * theta[4+u] * (1 - v*v) * w
				}
			}
		}}
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

// absolute is median regression with a slope by a root.
func absolute(root bool) *own {
	return along(func(eta, y float64) float64 { return math.Abs(eta - y) }, func(eta, y float64) float64 {
		r := eta - y
		switch {
		case r == 0 || math.IsNaN(r):
			return r
		case root:
			return r / math.Sqrt(r*r)
		}
		return math.Copysign(1, r)
	})
}

// differenced is pseudo-Huber regression with gradients by differences of some length; 0 for exact ones.
func differenced(h float64) func() targets.Target {
	return func() targets.Target {
		m := &own{dim: 2, features: 2,
			loss: func(theta, x []float64, y float64) float64 { return huber.loss(dot(x, theta), y) }}
		m.grad = func(g, theta, x []float64, y float64) {
			for j := range g {
				if g[j] = huber.slope(dot(x, theta), y) * x[j]; h > 0 {
					to := slices.Clone(theta)
					to[j] += h
					g[j] = (m.loss(to, x, y) - m.loss(theta, x, y)) / h
				}
			}
		}
		return m
	}
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

func logCosh(v float64) float64 {
	return math.Abs(v) + math.Log1p(math.Exp(-2*math.Abs(v))) - math.Ln2
}
