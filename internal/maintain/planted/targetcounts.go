package planted

import (
	"math"

	"github.com/dpmcmc/dpmcmc/targets"
)

func poisson() *own {
	return &own{dim: 3, features: 2,
		loss: func(theta, x []float64, y float64) float64 {
			eta := intercepted(theta, x)
			return math.Exp(eta) - y*eta
		},
		grad: func(g, theta, x []float64, y float64) {
			g[0] = math.Exp(intercepted(theta, x)) - y
			g[1], g[2] = g[0]*x[0], g[0]*x[1]
		}}
}

// inflated is a Poisson model whose zeros have a probability of their own.
func inflated() *own {
	share := func(theta []float64) float64 { return 1 / (1 + math.Exp(-theta[1])) }
	return &own{dim: 2,
		loss: func(theta, _ []float64, y float64) float64 {
			w, rate := share(theta), math.Exp(theta[0])
			return either(y == 0, -math.Log(w+(1-w)*math.Exp(-rate)), rate-y*theta[0]+softplus(theta[1]))
		},
		grad: func(g, theta, _ []float64, y float64) {
			w, rate := share(theta), math.Exp(theta[0])
			if y == 0 {
				p := w + (1-w)*math.Exp(-rate)
				g[0] = (1 - w) * math.Exp(-rate) * rate / p
				g[1] = -w * (1 - w) * (1 - math.Exp(-rate)) / p
				return
			}
			g[0], g[1] = rate-y, w
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

// overdispersed is a negative binomial regression of size 2.
func overdispersed() *own {
	eta := func(theta, x []float64) float64 { return intercepted(theta, x) }
	return &own{dim: 3, features: 2,
		loss: func(theta, x []float64, y float64) float64 {
			e := eta(theta, x)
			return (y+2)*softplus(e-math.Ln2) - y*e
		},
		grad: func(g, theta, x []float64, y float64) {
			g[0] = (y+2)*sigmoid(eta(theta, x)-math.Ln2) - y
			g[1], g[2] = g[0]*x[0], g[0]*x[1]
		}}
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
