package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/targets"
)

func priorDefects() []Case {
	add := func(name, effect string, plant func(p *planted)) Case {
		return target(name, effect, logistic, plant)
	}
	gradient := func(name, effect string, cond func(theta []float64) bool, j int, by float64) Case {
		return add(name, effect, func(p *planted) {
			p.gradPrior = func(theta, g []float64) {
				if cond(theta) {
					g[j] *= by
				}
			}
		})
	}
	return []Case{
		gradient("gradient for θ₁ > 2", "1%", func(t []float64) bool { return t[0] > 2 }, 0, 1.01),
		gradient("gradient far out", "sign", func(t []float64) bool { return t[1] < -6 }, 1, -1),
		gradient("gradient of one coordinate", "10⁻⁵", func(t []float64) bool { return true }, 1, 1+1e-5),
		gradient("gradient beyond 50", "half", func(t []float64) bool { return math.Abs(t[0]) > 50 }, 0, 0.5),
		add("LogPrior NaN in a corner", "region", func(p *planted) {
			p.prior = func(t []float64, lp float64) float64 {
				return either(t[0] > 3 && t[1] > 3, math.NaN(), lp)
			}
		}),
		add("SamplePrior too wide", "5%", func(p *planted) { p.draw = func(t []float64, _ *rand.Rand) { t[0] *= 1.05 } }),
		add("SamplePrior shifted", "0.1 sd", func(p *planted) {
			p.draw = func(t []float64, _ *rand.Rand) { t[1] += 0.1 * priorSD }
		}),
		add("SamplePrior cut off", "at 2 sd", func(p *planted) {
			p.draw = func(t []float64, rng *rand.Rand) {
				for math.Abs(t[0]) > 2*priorSD {
					t[0] = priorSD * rng.NormFloat64()
				}
			}
		}),
		add("SamplePrior correlated", "0.2", func(p *planted) {
			p.draw = func(t []float64, _ *rand.Rand) { t[1] = math.Sqrt(0.96)*t[1] + 0.2*t[0] }
		}),
		add("SamplePrior has randomness of its own", "one in 10", func(p *planted) {
			p.draw = func(t []float64, rng *rand.Rand) {
				if rng.IntN(10) == 0 {
					t[0] = priorSD * rand.NormFloat64()
				}
			}
		}),
		add("LogPrior counts calls", "10⁻⁶ a call", func(p *planted) {
			n := 0.0
			p.prior = func(_ []float64, lp float64) float64 { n++; return lp + 1e-6*n }
		}),
	}
}

// drawn is an own target with draws of its prior, bounded one with a bound of moves.
type drawn struct {
	*own
	draw func(theta []float64, rng *rand.Rand)
}

func (d drawn) SamplePrior(theta []float64, rng *rand.Rand) { d.draw(theta, rng) }

// drawnFrom is Huber's regression whose draws of its prior are spoilt.
func drawnFrom(dim int, spoil func(t []float64, rng *rand.Rand)) func() targets.Target {
	return func() targets.Target {
		return drawn{robust(dim, 1.5), func(t []float64, rng *rand.Rand) {
			for j := range t {
				t[j] = rng.NormFloat64()
			}
			spoil(t, rng)
		}}
	}
}

// drawnOf has a normal prior of one deviation and draws of another.
func drawnOf(sd, drawn float64) func() targets.Target {
	return priorOf(func(t float64) float64 { return -t * t / (2 * sd * sd) },
		func(t float64) float64 { return -t / (sd * sd) },
		func(rng *rand.Rand) float64 { return drawn * rng.NormFloat64() })
}

// priorOf is Huber's regression with a prior of independent parameters, and its draws.
func priorOf(log, slope func(t float64) float64, draw func(rng *rand.Rand) float64) func() targets.Target {
	return func() targets.Target {
		m := robust(2, 1.5)
		m.logPrior = func(t []float64) float64 { return log(t[0]) + log(t[1]) }
		m.gradPrior = func(g, t []float64) { g[0], g[1] = slope(t[0]), slope(t[1]) }
		return drawn{m, func(t []float64, rng *rand.Rand) { t[0], t[1] = draw(rng), draw(rng) }}
	}
}

// hierarchical has a prior whose second parameter is the log scale of the first.
func hierarchical() *own {
	m := located()
	m.logPrior = func(t []float64) float64 {
		z := t[0] * math.Exp(-t[1])
		return -z*z/2 - t[1] - t[1]*t[1]/2
	}
	m.gradPrior = func(g, t []float64) {
		z := t[0] * math.Exp(-t[1])
		g[0], g[1] = -z*math.Exp(-t[1]), z*z-1-t[1]
	}
	return m
}

func drawHierarchical(t []float64, rng *rand.Rand) {
	t[1] = rng.NormFloat64()
	t[0] = math.Exp(t[1]) * rng.NormFloat64()
}

// related has a prior with covariance L·Lᵀ, L being ((1, 0), (0.9, 0.5)).
func related() *own {
	m := located()
	whiten := func(t []float64) (u, v float64) { return t[0], (t[1] - 0.9*t[0]) / 0.5 }
	m.logPrior = func(t []float64) float64 {
		u, v := whiten(t)
		return -(u*u + v*v) / 2
	}
	m.gradPrior = func(g, t []float64) {
		u, v := whiten(t)
		g[0], g[1] = -u+1.8*v, -2*v
	}
	return m
}

func drawRelated(t []float64, rng *rand.Rand) {
	u, v := rng.NormFloat64(), rng.NormFloat64()
	t[0], t[1] = u, 0.9*u+0.5*v
}

// funnel is hierarchical with an exponent for half the log scale.
func funnel(exponent float64) targets.Target {
	m := located()
	m.logPrior = func(t []float64) float64 {
		z := t[1] * math.Exp(-exponent*t[0])
		return -z*z/2 - exponent*t[0] - t[0]*t[0]/2
	}
	m.gradPrior = func(g, t []float64) {
		z := t[1] * math.Exp(-exponent*t[0])
		g[0], g[1] = exponent*(z*z-1)-t[0], -z*math.Exp(-exponent*t[0])
	}
	return drawn{m, func(t []float64, rng *rand.Rand) {
		t[0] = rng.NormFloat64()
		t[1] = math.Exp(t[0]/2) * rng.NormFloat64()
	}}
}

// correlated has the inverse hyperbolic tangent of a uniform for its second parameter.
func correlated(share float64) targets.Target {
	m := located()
	m.logPrior = func(t []float64) float64 { return -t[0]*t[0]/2 - 2*share*logCosh(t[1]) }
	m.gradPrior = func(g, t []float64) { g[0], g[1] = -t[0], -2*share*math.Tanh(t[1]) }
	return drawn{m, func(t []float64, rng *rand.Rand) {
		t[0], t[1] = rng.NormFloat64(), math.Atanh(2*rng.Float64()-1)
	}}
}

// twoHumped has two normal laws about −2 and 2 for the prior of its second parameter.
func twoHumped(share float64) targets.Target {
	d := drawnFrom(2, func(t []float64, rng *rand.Rand) { t[1] += either(rng.Float64() < share, 2, -2) })().(drawn)
	d.logPrior = func(t []float64) float64 { return -dot(t, t)/2 + logCosh(2*t[1]) }
	d.gradPrior = func(g, t []float64) { g[0], g[1] = -t[0], 2*math.Tanh(2*t[1])-t[1] }
	return d
}

// humps has a prior of two normal laws for each parameter, whose slope is of both or of the nearer.
func humps(nearer bool) func() targets.Target {
	return priorOf(func(t float64) float64 { return -(t-1.5)*(t-1.5)/2 + softplus(-3*t) },
		func(t float64) float64 {
			share := sigmoid(3 * t) // of the upper one
			if nearer {
				share = either(t > 0, 1, 0)
			}
			return share*(1.5-t) - (1-share)*(1.5+t)
		}, func(rng *rand.Rand) float64 { return rng.NormFloat64() + either(rng.IntN(2) == 0, 1.5, -1.5) })
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

func cauchyPrior(most float64) func() targets.Target {
	return priorOf(func(t float64) float64 { return -math.Log1p(t * t) },
		func(t float64) float64 { return -2 * t / (1 + t*t) },
		func(rng *rand.Rand) float64 {
			for {
				if t := math.Tan(math.Pi * (rng.Float64() - 0.5)); math.Abs(t) < most {
					return t
				}
			}
		})
}

// logGamma is a prior of logarithms of sums of two exponentials of a scale.
func logGamma(scale float64) func() targets.Target {
	return priorOf(func(t float64) float64 { return 2*t - math.Exp(t) },
		func(t float64) float64 { return 2 - math.Exp(t) },
		func(rng *rand.Rand) float64 { return math.Log(scale * (rng.ExpFloat64() + rng.ExpFloat64())) })
}

// robustPrior has a prior whose logarithm is linear beyond 5, and its slope beyond some place.
func robustPrior(beyond float64) func() targets.Target {
	return priorOf(func(t float64) float64 { return either(math.Abs(t) < 5, -t*t/2, 12.5-5*math.Abs(t)) },
		func(t float64) float64 { return -max(-beyond, min(t, beyond)) },
		func(rng *rand.Rand) float64 { return rng.NormFloat64() })
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

// stationary has a prior of an autoregressive series of four, drawn from a first number of some sd.
func stationary(first float64) func() targets.Target {
	const phi = 0.3
	return func() targets.Target {
		m := robust(4, 1.5)
		m.logPrior = func(t []float64) float64 {
			sum := t[0] * t[0] * (1 - phi*phi)
			for j := 1; j < 4; j++ {
				sum += (t[j] - phi*t[j-1]) * (t[j] - phi*t[j-1])
			}
			return -sum / 2
		}
		m.gradPrior = func(g, t []float64) {
			clear(g)
			g[0] = -t[0] * (1 - phi*phi)
			for j := 1; j < 4; j++ {
				d := t[j] - phi*t[j-1]
				g[j], g[j-1] = g[j]-d, g[j-1]+phi*d
			}
		}
		return drawn{m, func(t []float64, rng *rand.Rand) {
			t[0] = first * rng.NormFloat64()
			for j := 1; j < 4; j++ {
				t[j] = phi*t[j-1] + rng.NormFloat64()
			}
		}}
	}
}

// unordered sums the squares of its prior in the order of a map.
func unordered() targets.Target {
	m := robust(8, 1.5)
	m.logPrior = func(theta []float64) float64 {
		all, sum := map[int]float64{}, 0.0
		for j, t := range theta {
			all[j] = t
		}
		for _, t := range all {
			sum += t * t
		}
		return -sum / 2
	}
	return m
}

// pooled draws its prior from so many numbers.
func pooled(n int) func() targets.Target {
	pool, rng := make([]float64, n), rand.New(rand.NewPCG(5, 5))
	for i := range pool {
		pool[i] = rng.NormFloat64()
	}
	return drawnFrom(2, func(t []float64, rng *rand.Rand) {
		for j := range t {
			t[j] = pool[rng.IntN(n)]
		}
	})
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
