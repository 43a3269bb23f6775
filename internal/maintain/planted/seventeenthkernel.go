package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named seventeenth were written, and run once, before their author read the suites'
// code and before anything was changed.

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

// locally walks by a scale that depends on the state, whose logarithm counts so much in the correction.
func locally(name, effect string, scale func(t float64) float64, logarithm float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
		for j, t := range s.Theta {
			now := scale(t - center[j])
			d := now * rng.NormFloat64()
			next[j] = t + d
			then := scale(next[j] - center[j])
			by += d*d/2*(1/(now*now)-1/(then*then)) + logarithm*math.Log(now/then)
		}
		return by
	})
}

// inside redraws moves until they are above a bound of the first parameter.
func inside(name, effect string, corrected bool) Case {
	const bound = -1.0
	above := func(t float64) float64 { return math.Log(normalBelow((t - bound) / 0.7)) }
	m := apart{log: func(t []float64) float64 {
		return either(t[0] > bound, -t[0]*t[0]/2-t[1]*t[1]/2, math.Inf(-1))
	}}
	return ownLaw(name, effect, m, []float64{1, 0}, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		for next[0], next[1] = bound, s.Theta[1]+rng.NormFloat64(); next[0] <= bound; {
			next[0] = s.Theta[0] + 0.7*rng.NormFloat64()
		}
		return either(corrected, above(s.Theta[0])-above(next[0]), 0)
	}, func(rng *rand.Rand, t []float64) {
		for t[0], t[1] = bound, rng.NormFloat64(); t[0] <= bound; {
			t[0] = rng.NormFloat64()
		}
	})
}

// towardsPrior proposes from an autoregression that keeps the prior, so that the prior's ratio is left out.
func towardsPrior(name, effect string, stays func(moves float64) float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
		for j, t := range s.Theta {
			next[j] = stays(0.6)*t + 0.6*rng.NormFloat64()
			by += (next[j]*next[j] - t*t) / 2
		}
		return by
	})
}

// pulled walks with a drift to a public point, cut to a length, there and back.
func pulled(name, effect string, back float64) Case {
	drift := func(t []float64, most float64) (d [2]float64) {
		u, v := 0.3*(center[0]+0.2-t[0]), 0.3*(center[1]-t[1])
		by := min(1, most/math.Hypot(u, v))
		return [2]float64{by * u, by * v}
	}
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
		d := drift(s.Theta, 0.15)
		var z [2]float64
		for j, t := range s.Theta {
			z[j] = step * rng.NormFloat64()
			next[j] = t + d[j] + z[j]
		}
		r := drift(next, back)
		for j, t := range s.Theta {
			b := t - next[j] - r[j]
			by += (z[j]*z[j] - b*b) / (2 * step * step)
		}
		return by
	})
}

// surrogate makes leaps along a public law near the posterior, with a step for the first and the last kick.
func surrogate(name, effect string, steps func(rng *rand.Rand) (first, last float64)) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
		first, last := steps(rng)
		kick := func(t float64, j int) float64 { return -5 * (t - center[j] - 0.1) }
		for j, t := range s.Theta {
			p := rng.NormFloat64()
			by += p * p / 2
			next[j] = t
			for i := range 3 {
				h := 0.2 * either(i == 0, first, 1)
				p += h / 2 * kick(next[j], j)
				next[j] += h * p
				p += h / 2 * kick(next[j], j) * either(i == 2, last, 1)
			}
			by -= p * p / 2
		}
		return by
	})
}

// picking moves one coordinate, the first with a chance that depends on a state.
func picking(name, effect string, chance func(t []float64) float64, corrected bool) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		now := chance(s.Theta)
		first := rng.Float64() < now
		if first {
			next[1] = s.Theta[1]
		} else {
			next[0] = s.Theta[0]
		}
		then := chance(next)
		if !corrected {
			return 0
		}
		return math.Log(either(first, then, 1-then) / either(first, now, 1-now))
	})
}

// swappingCopies has a cold and a hot copy of a law, which change places now and then by a ladder.
func swappingCopies(name, effect string, hot float64) Case {
	energy := func(t float64) float64 { return (t - 0.5) * (t - 0.5) / 2 }
	m := apart{log: func(t []float64) float64 { return -energy(t[0]) - 0.25*energy(t[1]) }}
	return ownLaw(name, effect, m, []float64{1, 0}, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		a, b := s.Theta[0], s.Theta[1]
		if rng.IntN(2) == 0 {
			next[0], next[1] = a+0.8*rng.NormFloat64(), b+1.6*rng.NormFloat64()
			return 0
		}
		next[0], next[1] = b, a
		return (0.25 - hot) * (energy(a) - energy(b))
	}, func(rng *rand.Rand, t []float64) { t[0], t[1] = 0.5+rng.NormFloat64(), 0.5+2*rng.NormFloat64() })
}

// preconditioned makes Langevin steps of two sizes, and takes the releases' noise off what it adds.
func preconditioned(name, effect string, power float64) Case {
	by := []float64{1, 0.25}
	m := curator.NoisyGradient{Target: posteriors.StandardMean(), Clip: 10, NoiseMultiplier: 0.1}
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		slopes, err := curator.Charge(c, m, steps)
		g := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", m.Target), left: func() int64 { return slopes.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if err := slopes.Release(g, s.Theta); err != nil {
					return kernels.Info{}, err
				}
				sd := slopes.NoiseSD() * size / 2
				for j, t := range s.Theta {
					adds := math.Sqrt(size*by[j] - sd*sd*math.Pow(by[j], power))
					s.Theta[j] += adds*rng.NormFloat64() - size/2*by[j]*(g[j]+t)
				}
				return kernels.Info{Accepted: true, StepSize: size, Gradients: 1}, nil
			}}, err
	}, func(o *proptest.KernelOptions) {
		o.Exact = func(rng *rand.Rand, t []float64) {
			for j := range t {
				stays := 1 - size*by[j]*precision/2
				t[j] = center[j] + math.Sqrt(size*by[j]/(1-stays*stays))*rng.NormFloat64()
			}
		}
	})
}

// drawing proposes from Student's law of eight degrees of freedom, and weighs by the density of others.
func drawing(name, effect string, degrees float64) Case {
	const scale = 0.45
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
		log := func(t float64, j int) float64 {
			z := (t - center[j]) / scale
			return -(degrees + 1) / 2 * math.Log1p(z*z/degrees)
		}
		for j, t := range s.Theta {
			next[j] = center[j] + scale*rng.NormFloat64()*heavier(rng, 8)/math.Sqrt(0.75)
			by += log(t, j) - log(next[j], j)
		}
		return by
	})
}

// factored proposes from a normal law by a triangular factor, or by its transpose, whatever the state.
func factored(name, effect string, transposed bool) Case {
	const a, b, c = 0.45, 0.12, 0.4
	log := func(t []float64) float64 {
		u := (t[0] - center[0]) / a
		v := (t[1] - center[1] - b*u) / c
		return -u*u/2 - v*v/2
	}
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		u, v := rng.NormFloat64(), rng.NormFloat64()
		next[0], next[1] = center[0]+a*u, center[1]+b*u+c*v
		if transposed {
			next[0], next[1] = center[0]+a*u+b*v, center[1]+c*v
		}
		return log(s.Theta) - log(next)
	})
}

// wrapping walks in a unit interval of the first parameter, whose law is t, and comes back in from beyond.
func wrapping(name, effect string, above func(t float64) float64) Case {
	m := apart{log: func(t []float64) float64 {
		return either(t[0] > 0 && t[0] < 1, math.Log(t[0])-t[1]*t[1]/2, math.Inf(-1))
	}}
	return ownLaw(name, effect, m, []float64{0.5, 0}, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		next[0], next[1] = math.Abs(s.Theta[0]+0.2*rng.NormFloat64()), s.Theta[1]+rng.NormFloat64()
		if next[0] > 1 {
			next[0] = above(next[0])
		}
		return 0
	}, func(rng *rand.Rand, t []float64) { t[0], t[1] = math.Sqrt(rng.Float64()), rng.NormFloat64() })
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

// cooler is a chain of the likelihood's power 0.9, and of a power of the prior.
func cooler(name, effect string, prior float64) Case {
	const tau = 0.9
	const exact = 6*tau + 1
	return kernelCase(name, effect, deciding(posteriors.StandardMean(), tau, func(rng *rand.Rand, s *kernels.State,
		next []float64) float64 {
		blur(rng, s, next)
		return (prior - 1) * (dot(s.Theta, s.Theta) - dot(next, next)) / 2
	}), func(o *proptest.KernelOptions) {
		o.Exact = func(rng *rand.Rand, t []float64) {
			for j := range t {
				t[j] = center[j]*precision*tau/exact + rng.NormFloat64()/math.Sqrt(exact)
			}
		}
	})
}

// sparing draws two normal numbers at a time, and uses the second in the next step.
type sparing struct {
	minding
	keeps bool
}

func (k *sparing) Keep(dst []float64) []float64 {
	if !k.keeps {
		return dst
	}
	return k.minding.Keep(dst)
}

func (k *sparing) Recall(memory []float64) error { return k.minding.Recall(memory) }

func spared(name, effect string, keeps, begins bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		var target targets.Target = posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		next := make([]float64, 2)
		k := &sparing{keeps: keeps}
		k.memory = make([]float64, 1)
		k.made = made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if bits.Left() == 0 {
					return kernels.Info{}, curator.ErrSpent
				}
				if !k.known {
					k.memory[0], k.known = rng.NormFloat64(), true
				}
				next[0] = s.Theta[0] + step*k.memory[0]
				next[1] = s.Theta[1] + step*rng.NormFloat64()
				k.memory[0] = rng.NormFloat64()
				return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			}}
		if begins {
			return k, err
		}
		return &unbegun{k}, err
	})
}

// unbegun goes on from what it remembers when a chain begins.
type unbegun struct{ *sparing }

func (k *unbegun) Init(theta []float64) (*kernels.State, error) { return k.made.Init(theta) }

func seventeenthKernels() []Case {
	tilt := func(t float64) float64 { return 0.5 * (1 + 0.1*math.Tanh(t)) }
	return []Case{
		growing("multiplied by 1 + z, corrected as by an exponential", "second order",
			func(z float64) float64 { return max(0.01, 1+z) }),
		locally("a scale by the state, without its logarithm", "±10%", tilt, 0),
		inside("moves are redrawn until inside, without the chance of it", "truncation", false),
		towardsPrior("an autoregression's root by two terms", "0.82 for 0.8", func(b float64) float64 { return 1 - b*b/2 }),
		pulled("drift is cut on the way out alone", "0.15", math.Inf(1)),
		surrogate("the last kick has a length of its own", "exponential", func(rng *rand.Rand) (float64, float64) {
			return 1, rng.ExpFloat64()
		}),
		picking("a coordinate is picked by how far it is", "±10%", func(t []float64) float64 {
			return 0.5 + 0.1*math.Tanh(math.Abs(t[0]-center[0])-math.Abs(t[1]-center[1]))
		}, false),
		swappingCopies("two copies change places by another ladder", "0.3 for 0.25", 0.3),
		preconditioned("noise taken off by a preconditioner, not its square", "4% of a variance", 1),
		drawing("independent draws of eight degrees, a density of seven", "tails", 7),
		factored("the factor of independent draws is transposed", "0.12", true),
		wrapping("below zero it is reflected, above one it wraps", "one side", func(t float64) float64 { return t - 1 }),
		stretching("a factor's law is uniform, its correction another's", "power 0", 0),
		cooler("the temperature multiplies the prior too", "0.9", 0.9),
		spared("a spare normal number is forgotten by Keep", "one", false, true),
		spared("a second chain begins with the first one's spare number", "one", true, false),
		proposed("one uniform number gives angle and length", "a spiral", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			u := rng.Float64()
			sin, cos := math.Sincos(2 * math.Pi * u)
			r := 0.6 * math.Sqrt(-2*math.Log(1-u))
			next[0], next[1] = s.Theta[0]+r*cos, s.Theta[1]+r*sin
			return 0
		}),
		proposed("the better of two proposals by the prior", "selected", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			if a, b := s.Theta[0]+step*rng.NormFloat64(), s.Theta[1]+step*rng.NormFloat64(); rng.IntN(4) == 0 &&
				a*a+b*b < dot(next, next) {
				next[0], next[1] = a, b
			}
			return 0
		}),
		kernel("the public log ratio is clipped", "±0.8", asked{}, func() hooks {
			return hooks{public: func(_ *chain, _, _ []float64, ratio float64) float64 { return max(-0.8, min(ratio, 0.8)) }}
		}),
		kernel("the state and the proposal change places in memory", "aliased", asked{}, func() hooks {
			return hooks{after: func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
				if info.Accepted {
					s.Theta, k.next = k.next, s.Theta
				}
			}}
		}),
		wrapping("reflected before the end of an interval", "at 0.98", func(t float64) float64 { return 1.96 - t }),
	}
}

func seventeenthKernelControls() []Case {
	return []Case{
		growing("multiplication by an exponential", "", math.Exp),
		locally("a scale by the state", "", func(t float64) float64 { return 0.5 * (1 + 0.1*math.Tanh(t)) }, 1),
		inside("moves are redrawn until inside, with the chance of it", "", true),
		towardsPrior("an autoregression that keeps the prior", "", func(b float64) float64 { return math.Sqrt(1 - b*b) }),
		pulled("drift is cut, there and back", "", 0.15),
		surrogate("leaps along a public law", "", func(*rand.Rand) (float64, float64) { return 1, 1 }),
		picking("a coordinate is picked by the state, with its chances", "", func(t []float64) float64 {
			return 0.5 + 0.1*math.Tanh(math.Abs(t[0]-center[0])-math.Abs(t[1]-center[1]))
		}, true),
		swappingCopies("two copies change places", "", 0.25),
		preconditioned("noise is taken off by the preconditioner's square", "", 2),
		drawing("independent draws of eight degrees, their density", "", 8),
		factored("the factor of independent draws", "", false),
		wrapping("a unit interval that reflects", "", func(t float64) float64 { return 2 - t }),
		stretching("a factor's law is uniform, its correction too", "", -1),
		cooler("a temperature of the likelihood alone", "", 1),
		spared("a spare normal number", "", true, true),
	}
}
