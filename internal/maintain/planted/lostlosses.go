package planted

import (
	"math"

	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named nineteenth are those of 60 defects that passed at first, and those of kinds that no
// family had. All were written, and run once, before their author read the suites' code and before
// anything was changed. Their targets lose a loss, a gradient or a sum at the ends of numbers.

// along is a loss of x·θ and the response.
func along(loss, slope func(eta, y float64) float64) *own {
	return &own{dim: 2, features: 2,
		loss: func(theta, x []float64, y float64) float64 { return loss(dot(x[:2], theta), y) },
		grad: func(g, theta, x []float64, y float64) {
			by := slope(dot(x[:2], theta), y)
			g[0], g[1] = by*x[0], by*x[1]
		}}
}

func madeOf(make func() *own) func() targets.Target { return func() targets.Target { return make() } }

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

// ending adds up until a loss is infinite, or to the end.
type ending struct {
	*own
	early bool
}

func (m ending) SumLossGrad(grad, theta []float64, rows targets.Rows) (loss float64) {
	clear(grad)
	g := make([]float64, m.dim)
	for i := range rows.Len() {
		loss += m.loss(theta, rows.Row(i), rows.Y[i])
		m.grad(g, theta, rows.Row(i), rows.Y[i])
		for j, v := range g {
			grad[j] += v
		}
		if m.early && math.IsInf(loss, 1) {
			break
		}
	}
	return loss
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

func nineteenthTargets() []Case {
	return []Case{
		ownTarget("a softmax is shifted by its first score", "beyond 709", threeClasses, madeOf(func() *own {
			return softmaxOf(false)
		})),
		ownTarget("a cauchit's tail by subtraction", "10⁻¹⁶", nil, madeOf(func() *own { return cauchit(false) })),
		ownTarget("the log of a product of three chances", "below 10⁻³⁰⁸", eightCodes, madeOf(func() *own {
			return codes(true)
		})),
		ownTarget("sums end at the first infinite loss", "what follows", nil, func() targets.Target {
			return ending{robust(2, 1.5), true}
		}),
		ownTarget("a slope by the root of a square that underflows", "10⁻¹⁶²", nil, madeOf(func() *own {
			return absolute(true)
		})),
	}
}

func nineteenthTargetControls() []Case {
	return []Case{
		ownTarget("a softmax is shifted by its largest score", "", threeClasses, madeOf(func() *own { return softmaxOf(true) })),
		ownTarget("a cauchit", "", nil, madeOf(func() *own { return cauchit(true) })),
		ownTarget("three labels in a code", "", eightCodes, madeOf(func() *own { return codes(false) })),
		ownTarget("sums of infinite losses", "", nil, func() targets.Target { return ending{robust(2, 1.5), false} }),
		ownTarget("a slope by the sign", "", nil, madeOf(func() *own { return absolute(false) })),
	}
}
