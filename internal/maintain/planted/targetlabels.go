package planted

import (
	"math"

	"github.com/dpmcmc/dpmcmc/targets"
)

// classes is a model of three classes, of two features, class 0 being the base.
func classes() *own {
	known := func(y float64) bool { return y == 0 || y == 1 || y == 2 }
	logits := func(theta, x []float64) (a, b, logsum float64) {
		a, b = dot(x, theta[:2]), dot(x, theta[2:])
		most := max(0, a, b)
		return a, b, most + math.Log(math.Exp(-most)+math.Exp(a-most)+math.Exp(b-most))
	}
	return &own{dim: 4, features: 2,
		loss: func(theta, x []float64, y float64) float64 {
			if !known(y) {
				return math.NaN()
			}
			a, b, sum := logits(theta, x)
			return sum - []float64{0, a, b}[int(y)]
		},
		grad: func(g, theta, x []float64, y float64) {
			a, b, sum := logits(theta, x)
			for j, v := range x {
				g[j], g[2+j] = math.Exp(a-sum)*v, math.Exp(b-sum)*v
				switch {
				case !known(y):
					g[j], g[2+j] = math.NaN(), math.NaN()
				case y > 0:
					g[2*int(y-1)+j] -= v
				}
			}
		}}
}

// softmaxOf shifts three scores by the first one, or the largest.
func softmaxOf(largest bool) *own {
	known := func(y float64) bool { return y == 0 || y == 1 || y == 2 }
	scores := func(theta, x []float64) (s [3]float64, sum float64) {
		for k := range s {
			s[k] = dot(x, theta[2*k:2*k+2])
		}
		by := s[0]
		if largest {
			by = max(s[0], s[1], s[2])
		}
		for _, v := range s {
			sum += math.Exp(v - by)
		}
		return s, by + math.Log(sum)
	}
	return &own{dim: 6, features: 2,
		loss: func(theta, x []float64, y float64) float64 {
			if !known(y) {
				return math.NaN()
			}
			s, sum := scores(theta, x)
			return sum - s[int(y)]
		},
		grad: func(g, theta, x []float64, y float64) {
			s, sum := scores(theta, x)
			for j := range g {
				by := math.Exp(s[j/2]-sum) - either(y == float64(j/2), 1, 0)
				g[j] = either(known(y), by*x[j%2], math.NaN())
			}
		}}
}

// ordinal has three ordered classes: θ is a slope, the first cut and the log gap to the second.
func ordinal() *own {
	return &own{dim: 3, features: 1,
		loss: func(theta, x []float64, y float64) float64 {
			gap := math.Exp(theta[2])
			v := theta[1] - theta[0]*x[0]
			switch y {
			case 0:
				return softplus(-v)
			case 1:
				return softplus(-v-gap) + softplus(v) - math.Log(-math.Expm1(-gap))
			case 2:
				return softplus(v + gap)
			}
			return math.NaN()
		},
		grad: func(g, theta, x []float64, y float64) {
			gap := math.Exp(theta[2])
			v := theta[1] - theta[0]*x[0]
			switch y {
			case 0:
				g[1], g[2] = -sigmoid(-v), 0
			case 1:
				g[1], g[2] = sigmoid(v)-sigmoid(-v-gap), -gap*(sigmoid(-v-gap)+1/math.Expm1(gap))
			case 2:
				g[1], g[2] = sigmoid(v+gap), gap*sigmoid(v+gap)
			default:
				g[1], g[2] = math.NaN(), math.NaN()
			}
			g[0] = -x[0] * g[1]
		}}
}

// ordered has three ordered classes between two cuts: the first, and it and the exponential of the second.
func ordered() *own {
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

func sigmoid(u float64) float64 { return 1 / (1 + math.Exp(-u)) }

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

// normalBelow is the standard normal distribution function.
func normalBelow(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// cauchit has a chance by an inverse tangent, whose tail is a difference or not.
func cauchit(tail bool) *own {
	at := func(m float64) float64 {
		if m < -1 {
			return math.Atan(-1/m) / math.Pi
		}
		return 0.5 + math.Atan(m)/math.Pi
	}
	loss := func(eta, y float64) float64 { return -math.Log(at(sign(y) * eta)) }
	if !tail {
		loss = func(eta, y float64) float64 { return -math.Log(0.5 + math.Atan(sign(y)*eta)/math.Pi) }
	}
	return along(loss, func(eta, y float64) float64 {
		m := sign(y) * eta
		return -sign(y) / (math.Pi * (1 + m*m) * at(m))
	})
}

// coded is logistic regression of labels −1 and 1.
func coded(inSlope func(y float64) float64) func() targets.Target {
	return func() targets.Target {
		return &own{dim: 2, features: 2,
			loss: func(theta, x []float64, y float64) float64 { return softplus(-plusMinus(y) * dot(x, theta)) },
			grad: func(g, theta, x []float64, y float64) {
				by := sigmoid(dot(x, theta)) - (inSlope(y)+1)/2
				g[0], g[1] = by*x[0], by*x[1]
			}}
	}
}

func plusMinus(u float64) float64 { return either(u > 0, 1, -1) }

// codes are three labels in a number, each with a chance of its own.
func codes(product bool) *own {
	up := func(y float64, k int) float64 { return either(int(y)>>k&1 == 1, 1, -1) }
	known := func(y float64) bool { return y >= 0 && y < 8 && y == math.Floor(y) }
	return &own{dim: 3, features: 1,
		loss: func(t, x []float64, y float64) float64 {
			if !known(y) {
				return math.NaN()
			}
			sum, chance := 0.0, 1.0
			for k, v := range t {
				sum += softplus(-up(y, k) * v * x[0])
				chance *= sigmoid(up(y, k) * v * x[0])
			}
			return either(product, -math.Log(chance), sum)
		},
		grad: func(g, t, x []float64, y float64) {
			for k, v := range t {
				g[k] = either(known(y), (sigmoid(v*x[0])-max(0, up(y, k)))*x[0], math.NaN())
			}
		}}
}

func eightCodes(u float64) float64 { return max(0, min(counts(u), 7)) }
