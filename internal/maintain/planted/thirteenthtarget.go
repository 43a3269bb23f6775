package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/targets"
)

// ordered has three ordered classes between two cuts: the first, and it and the exponential of the second.
func ordered() *own {
	sigmoid := func(u float64) float64 { return 1 / (1 + math.Exp(-u)) }
	cuts := func(theta, x []float64) (low, high float64) {
		eta := theta[2] * x[0]
		return theta[0] - eta, theta[0] + math.Exp(theta[1]) - eta
	}
	return &own{dim: 3, features: 1,
		loss: func(theta, x []float64, y float64) float64 {
			low, high := cuts(theta, x)
			switch {
			case y == 0:
				return softplus(-low)
			case y == 1: // log of σ(high) − σ(low), which is the product of both with 1 − exp(low − high)
				return softplus(-high) + softplus(low) - math.Log(-math.Expm1(-math.Exp(theta[1])))
			default:
				return softplus(high)
			}
		},
		grad: func(g, theta, x []float64, y float64) {
			low, high := cuts(theta, x)
			gap := math.Exp(theta[1])
			both, b := 0.0, 0.0 // the derivatives by both cuts, and by the higher one
			switch {
			case y == 0:
				both = -sigmoid(-low)
			case y == 1:
				both, b = sigmoid(low)-sigmoid(-high), -sigmoid(-high)-1/math.Expm1(gap)
			default:
				both = sigmoid(high)
				b = both
			}
			g[0], g[1], g[2] = both, b*gap, -both*x[0]
		}}
}

// digamma is the derivative of the logarithm of the gamma function, from a place on where the series is good.
func digamma(x, from float64) float64 {
	sum := 0.0
	for ; x < from; x++ {
		sum -= 1 / x
	}
	u := 1 / (x * x)
	return sum + math.Log(x) - 1/(2*x) - u*(1.0/12-u*(1.0/120-u*(1.0/252-u/240)))
}

// gamma is a model of positive responses, of a log shape and a log mean.
func gamma() *own {
	positive := func(y float64) float64 { return math.Abs(y) + 0.1 }
	return &own{dim: 2, features: 1,
		loss: func(theta, x []float64, y float64) float64 {
			k, eta := math.Exp(theta[0]), theta[1]*x[0]
			l, _ := math.Lgamma(k)
			return l - k*theta[0] + k*eta - (k-1)*math.Log(positive(y)) + k*positive(y)*math.Exp(-eta)
		},
		grad: func(g, theta, x []float64, y float64) {
			k, eta, v := math.Exp(theta[0]), theta[1]*x[0], positive(y)
			g[0] = k * (digamma(k, 12) - theta[0] - 1 + eta - math.Log(v) + v*math.Exp(-eta))
			g[1] = k * (1 - v*math.Exp(-eta)) * x[0]
		}}
}

// tailed has a prior of Student's distribution of four degrees of freedom for each parameter.
func tailed(draw func(t []float64, rng *rand.Rand)) targets.Target {
	m := robust(2, 1.5)
	m.logPrior = func(t []float64) float64 { return -2.5 * (math.Log1p(t[0]*t[0]/4) + math.Log1p(t[1]*t[1]/4)) }
	m.gradPrior = func(g, t []float64) {
		for j, v := range t {
			g[j] = -5 * v / (4 + v*v)
		}
	}
	return drawn{m, draw}
}

func rootChi(rng *rand.Rand) float64 { // what divides a normal draw
	chi := 2 * (rng.ExpFloat64() + rng.ExpFloat64())
	return math.Sqrt(chi / 4)
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

func thirteenthTargets() []Case {
	return []Case{
		grown("the gap between two cuts has no chain rule", "exp(θ₂) beyond 1", threeClasses, ordered,
			func(g, theta, _ []float64, _ float64) {
				if theta[1] > 1 {
					g[1] *= math.Exp(1 - theta[1])
				}
			}),
		grown("a digamma of three terms", "10⁻³ below 3", nil, gamma, func(g, theta, _ []float64, _ float64) {
			if k := math.Exp(theta[0]); k < 3 {
				g[0] += k * (math.Log(k+1) - 1/(2*(k+1)) - 1/k - 1/(12*(k+1)*(k+1)) - digamma(k, 12))
			}
		}),
		ownTarget("a ratio of predictors of unlike signs", "0.5%", nil, func() targets.Target {
			m := robust(2, 1.5)
			m.ratio = func(theta, next, x []float64, y float64) float64 {
				r := m.loss(theta, x, y) - m.loss(next, x, y)
				return r * either(dot(theta, x) > 1 && dot(next, x) < -1, 1.005, 1)
			}
			return m
		}),
		ownTarget("GradBound without the intercept", "R for √(1 + R²)", nil, func() targets.Target { return based(slope) }),
		ownTarget("RatioBound of moves along the diagonal", "3% low", nil, func() targets.Target {
			return bounded{robust(2, 1.5), func(theta, next []float64, radius float64) float64 {
				a, b := next[0]-theta[0], next[1]-theta[1]
				return slope(radius) * moved(theta, next) * either(a*b > 0 && a/b > 0.9 && a/b < 1.1, 0.97, 1)
			}, slope}
		}),
		ownTarget("one chi for all parameters of a prior", "Student", nil, func() targets.Target {
			return tailed(func(t []float64, rng *rand.Rand) {
				by := rootChi(rng)
				for j := range t {
					t[j] = rng.NormFloat64() / by
				}
			})
		}),
		ownTarget("losses kept by the sum of the parameters", "θ₁ + θ₂", nil, func() targets.Target {
			type key [4]float64
			return keyed(func(theta, x []float64, y float64) (k key, has bool) {
				return key{theta[0] + theta[1], x[0], x[1], y}, x[0] == 0
			})
		}),
	}
}

func thirteenthTargetControls() []Case {
	return []Case{
		ownTarget("ordered classes between cuts", "", threeClasses, func() targets.Target { return ordered() }),
		ownTarget("gamma responses", "", nil, func() targets.Target { return gamma() }),
		ownTarget("an intercept's bounds", "", nil, func() targets.Target {
			return based(func(radius float64) float64 { return 1.5 * math.Sqrt(1+radius*radius) * (1 + 1e-12) })
		}),
		ownTarget("a prior of Student's distribution", "", nil, func() targets.Target {
			return tailed(func(t []float64, rng *rand.Rand) {
				for j := range t {
					t[j] = rng.NormFloat64() / rootChi(rng)
				}
			})
		}),
	}
}
