package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/targets"
)

// located is a normal model of the response, of a mean and a log scale.
func located() *own {
	return &own{dim: 2,
		loss: func(theta, _ []float64, y float64) float64 {
			z := (y - theta[0]) * math.Exp(-theta[1])
			return z*z/2 + theta[1]
		},
		grad: func(g, theta, _ []float64, y float64) {
			z := (y - theta[0]) * math.Exp(-theta[1])
			g[0], g[1] = -z*math.Exp(-theta[1]), 1-z*z
		}}
}

// cauchy has heavier tails than located.
func cauchy() *own {
	m := located()
	m.loss = func(theta, _ []float64, y float64) float64 {
		z := (y - theta[0]) * math.Exp(-theta[1])
		return math.Log1p(z*z) + theta[1]
	}
	m.grad = func(g, theta, _ []float64, y float64) {
		z := (y - theta[0]) * math.Exp(-theta[1])
		g[0], g[1] = -2*z/(1+z*z)*math.Exp(-theta[1]), 1-2*z*z/(1+z*z)
	}
	return m
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

// digamma is the derivative of the logarithm of the gamma function, from a place on where the series is good.
func digamma(x, from float64) float64 {
	sum := 0.0
	for ; x < from; x++ {
		sum -= 1 / x
	}
	u := 1 / (x * x)
	return sum + math.Log(x) - 1/(2*x) - u*(1.0/12-u*(1.0/120-u*(1.0/252-u/240)))
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

// censored is an exponential survival model, whose negative responses are times without an event.
func censored() *own {
	return &own{dim: 3, features: 2,
		loss: func(theta, x []float64, y float64) float64 {
			eta := intercepted(theta, x)
			return math.Abs(y)*math.Exp(eta) - either(y > 0, eta, 0)
		},
		grad: func(g, theta, x []float64, y float64) {
			g[0] = math.Abs(y)*math.Exp(intercepted(theta, x)) - either(y > 0, 1, 0)
			g[1], g[2] = g[0]*x[0], g[0]*x[1]
		}}
}

// heavier is what makes a normal number one of Student's law, of the same variance.
func heavier(rng *rand.Rand, degrees int) float64 {
	s := 0.0
	for range degrees {
		z := rng.NormFloat64()
		s += z * z
	}
	return math.Sqrt(float64(degrees-2) / s)
}
