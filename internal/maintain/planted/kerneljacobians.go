package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// multiplied scales the first parameter every second time, with a share of the Jacobian.
func multiplied(name, effect string, share float64) Case {
	return walk(name, effect, func() hooks {
		scales := false
		return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
			if scales = rng.IntN(2) == 0; scales {
				next[0] = theta[0] * math.Exp(0.3*(next[0]-theta[0])/step)
			}
		}, public: func(_ *chain, theta, next []float64, r float64) float64 {
			return r + either(scales, share*math.Log(math.Abs(next[0]/theta[0])), 0)
		}}
	})
}

// stretched stretches the distance from an anchor every second time.
func stretched(name, effect string, exponent float64) Case {
	anchor := [2]float64{0.6, 0.4}
	return walk(name, effect, func() hooks {
		z, stretches := 1.0, false
		return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
			if stretches = rng.IntN(2) == 0; stretches {
				u := 1 + rng.Float64() // 1/√z on [½, 2]
				z = u * u / 2
				for j, t := range theta {
					next[j] = anchor[j] + z*(t-anchor[j])
				}
			}
		}, public: func(_ *chain, _, _ []float64, r float64) float64 {
			return r + either(stretches, exponent*math.Log(z), 0)
		}}
	})
}

// stretching moves the first parameter along its distance from the second, with a power of the factor.
func stretching(name, effect string, power float64) Case {
	m := apart{log: func(t []float64) float64 { return -(t[0]*t[0] + t[1]*t[1]) / 2 }}
	return ownLaw(name, effect, m, []float64{1, 0}, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		a, b := s.Theta[0], s.Theta[1]
		next[0], next[1] = a+0.5*rng.NormFloat64(), b+0.5*rng.NormFloat64()
		if rng.IntN(2) == 0 {
			return 0
		}
		z := 1/1.5 + (1.5-1/1.5)*rng.Float64()
		next[0], next[1] = b+z*(a-b), b
		return power * math.Log(z)
	}, func(rng *rand.Rand, t []float64) { t[0], t[1] = rng.NormFloat64(), rng.NormFloat64() })
}

// radial goes along the line through a point one time in four, with a power of what the distance
// is multiplied by.
func radial(name, effect string, power float64) Case {
	at := [2]float64{0.9, 0}
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		along := step * rng.NormFloat64()
		if rng.IntN(4) > 0 {
			return 0
		}
		u, v := s.Theta[0]-at[0], s.Theta[1]-at[1]
		r := math.Hypot(u, v)
		next[0], next[1] = at[0]+u*(1+along/r), at[1]+v*(1+along/r)
		return power * math.Log(math.Abs(1+along/r))
	})
}

// rotating turns the state about a point now and then, by an angle whose size a function says.
func rotating(name, effect string, width func(u, v float64) float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		if blur(rng, s, next); rng.IntN(3) > 0 {
			return 0
		}
		u, v := s.Theta[0]-center[0]-0.2, s.Theta[1]-center[1]
		sin, cos := math.Sincos(width(u, v) * rng.NormFloat64())
		next[0], next[1] = center[0]+0.2+u*cos-v*sin, center[1]+u*sin+v*cos
		return 0
	})
}

// bent walks in the inverse hyperbolic sine of the second parameter.
func bent(name, effect string, forgets bool) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		next[1] = math.Sinh(math.Asinh(s.Theta[1]) + next[1] - s.Theta[1])
		return either(forgets && next[1] < 0, 0, math.Log(math.Hypot(1, next[1])/math.Hypot(1, s.Theta[1])))
	})
}

// logWalk walks in the logarithm of the positive parameter.
func logWalk(name, effect string, below float64) Case {
	return positive(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		z := next[1] - s.Theta[1]
		next[1] = s.Theta[1] * math.Exp(z)
		return z * either(next[1] < 1, below, 1)
	})
}

// folded proposes the size of a normal number, whatever the state is.
func folded(name, effect string, sides float64) Case {
	const at, wide = 2.0, 2.5
	log := func(t float64) float64 {
		u, v := (t-at)/wide, (t+at)/wide
		return math.Log(math.Exp(-u*u/2) + sides*math.Exp(-v*v/2))
	}
	return positive(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		next[1] = math.Abs(at + wide*rng.NormFloat64())
		return log(s.Theta[1]) - log(next[1])
	})
}

// gammaStep multiplies the positive parameter by a gamma draw of shape five, and corrects for a shape.
func gammaStep(name, effect string, shape float64) Case {
	return positive(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		by := 0.0
		for range 5 {
			by += rng.ExpFloat64() / 5
		}
		next[1] = s.Theta[1] * by
		return -(2*shape-1)*math.Log(by) - shape*(1/by-by)
	})
}

// inverting takes the inverse of a positive parameter now and then.
func inverting(name, effect string, power float64) Case {
	return positive(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		if blur(rng, s, next); rng.IntN(6) > 0 {
			return 0
		}
		next[1] = 4 / s.Theta[1]
		return power * math.Log(2/s.Theta[1])
	})
}

// logit walks in the logit of a share, whose Jacobian is t(1−t) or, of small shares, another.
func logit(name, effect string, small func(t float64) float64) Case {
	m := apart{first: true, log: func(t []float64) float64 {
		if t[1] <= 0 || t[1] >= 1 {
			return math.Inf(-1)
		}
		return -t[0]*t[0]/2 + math.Log(t[1]) + 3*math.Log(1-t[1])
	}}
	jacobian := func(t float64) float64 { return math.Log(either(t < 0.2, small(t), t*(1-t))) }
	return ownLaw(name, effect, m, []float64{1, 0.3}, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		u := math.Log(s.Theta[1]/(1-s.Theta[1])) + 2*(next[1]-s.Theta[1])
		next[1] = sigmoid(u)
		return jacobian(next[1]) - jacobian(s.Theta[1])
	}, func(rng *rand.Rand, theta []float64) {
		a, b := 0.0, 0.0
		for i := range 6 {
			e := rng.ExpFloat64()
			a, b = a+either(i < 2, e, 0), b+either(i < 2, 0, e)
		}
		theta[1] = a / (a + b)
	})
}

// scaling moves a log scale and the number that it scales together, of a prior alone.
func scaling(name, effect string, jacobian float64) Case {
	m := apart{log: func(t []float64) float64 {
		z := t[0] * math.Exp(-t[1])
		return -z*z/2 - t[1] - 2*t[1]*t[1]
	}}
	return ownLaw(name, effect, m, []float64{1, 0}, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		if blur(rng, s, next); rng.IntN(4) > 0 {
			return 0
		}
		by := next[1] - s.Theta[1]
		next[0] = s.Theta[0] * math.Exp(by)
		return jacobian * by
	}, func(rng *rand.Rand, t []float64) {
		t[1] = rng.NormFloat64() / 2
		t[0] = math.Exp(t[1]) * rng.NormFloat64()
	})
}

// growing multiplies a positive parameter by a factor of one's choice, with a correction by the factor.
func growing(name, effect string, factor func(z float64) float64) Case {
	m := apart{log: func(t []float64) float64 {
		return either(t[0] > 0, 4*math.Log(t[0])-3*t[0]-t[1]*t[1]/2, math.Inf(-1))
	}}
	return ownLaw(name, effect, m, []float64{1, 0}, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		by := factor(0.25 * rng.NormFloat64())
		next[0], next[1] = s.Theta[0]*by, s.Theta[1]+rng.NormFloat64()
		return math.Log(by)
	}, func(rng *rand.Rand, t []float64) {
		t[0], t[1] = 0, rng.NormFloat64()
		for range 5 {
			t[0] += rng.ExpFloat64() / 3
		}
	})
}

// sharing divides what two of three shares have together anew, by a median of three uniform numbers,
// whose density is corrected for: by a power for the last two.
func sharing(name, effect string, power float64) Case {
	third := func(t []float64) float64 { return 1 - t[0] - t[1] }
	m := apart{log: func(t []float64) float64 {
		if t[0] <= 0 || t[1] <= 0 || third(t) <= 0 {
			return math.Inf(-1)
		}
		return 2*math.Log(t[0]) + math.Log(t[1]) + math.Log(third(t))
	}}
	return ownLaw(name, effect, m, []float64{0.4, 0.3}, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		p := [3]float64{s.Theta[0], s.Theta[1], third(s.Theta)}
		i := rng.IntN(3)
		j := (i + 1) % 3
		a, b, c := rng.Float64(), rng.Float64(), rng.Float64()
		u := max(min(a, b), min(max(a, b), c))
		both := p[i] + p[j]
		old := p[i] / both
		p[i], p[j] = u*both, both-u*both
		next[0], next[1] = p[0], p[1]
		return either(i == 1, power, 1) * (math.Log(old*(1-old)) - math.Log(u*(1-u)))
	}, func(rng *rand.Rand, theta []float64) {
		g := [3]float64{rng.ExpFloat64(), rng.ExpFloat64() + rng.ExpFloat64(), rng.ExpFloat64() + rng.ExpFloat64()}
		g[0] += rng.ExpFloat64() + rng.ExpFloat64()
		sum := g[0] + g[1] + g[2]
		theta[0], theta[1] = g[0]/sum, g[1]/sum
	})
}

// crossing goes to the other one of two humps by a reflection that stretches or shrinks.
func crossing(name, effect string, jacobian float64) Case {
	const wide, by = 0.6, 1.1
	m := apart{first: true, log: func(t []float64) float64 {
		u, v := (t[1]-1.5)/wide, (t[1]+1.5)/wide
		return -t[0]*t[0]/2 + math.Log(1e-300+0.55*math.Exp(-u*u/2)+0.45*math.Exp(-v*v/2))
	}}
	return ownLaw(name, effect, m, []float64{1, 1.5}, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		switch rng.IntN(8) {
		case 0:
			next[1] = -s.Theta[1] * by
			return jacobian * math.Log(by)
		case 1:
			next[1] = -s.Theta[1] / by
			return -jacobian * math.Log(by)
		}
		return 0
	}, func(rng *rand.Rand, theta []float64) {
		theta[1] = wide*rng.NormFloat64() + either(rng.Float64() < 0.55, 1.5, -1.5)
	})
}
