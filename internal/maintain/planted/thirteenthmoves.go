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

// smooth has a prior under which its two parameters are correlated.
type smooth struct {
	*targets.GaussianMean
	rho float64
}

func (m smooth) LogPrior(t []float64) float64 {
	return -(t[0]*t[0] - 2*m.rho*t[0]*t[1] + t[1]*t[1]) / (2 * (1 - m.rho*m.rho))
}

func (m smooth) GradLogPrior(dst, t []float64) {
	c := 1 / (1 - m.rho*m.rho)
	dst[0], dst[1] = -c*(t[0]-m.rho*t[1]), -c*(t[1]-m.rho*t[0])
}

const rho = 0.8

// smoothly is a kernel of the posterior with that prior.
func smoothly(name, effect string, factory proptest.Factory, options ...func(o *proptest.KernelOptions)) Case {
	return kernelCase(name, effect, factory, func(o *proptest.KernelOptions) {
		for _, option := range options {
			option(o)
		}
		o.Exact = func(rng *rand.Rand, theta []float64) {
			c := 1 / (1 - rho*rho)
			on, off := precision-1+c, rho*c
			det := on*on - off*off
			x, y := precision*center[0], precision*center[1]
			z, w := rng.NormFloat64(), rng.NormFloat64()
			a := math.Sqrt(on / det)
			theta[0] = (on*x+off*y)/det + a*z
			theta[1] = (off*x+on*y)/det + off/det/a*z + w/math.Sqrt(on)
		}
	})
}

// conditional draws each parameter given the other and a released gradient.
func conditional(name, effect string, atOnce bool) Case {
	return smoothly(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := smooth{posteriors.StandardMean(), rho}
		slopes, err := curator.Charge(c, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, steps)
		g, old := make([]float64, 2), make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return slopes.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if err := slopes.Release(g, s.Theta); err != nil {
					return kernels.Info{}, err
				}
				const k = 1 / (1 - rho*rho)
				copy(old, s.Theta)
				for j, t := range old {
					other := s.Theta[1-j]
					if atOnce {
						other = old[1-j]
					}
					const on = precision - 1 + k
					s.Theta[j] = ((precision-1)*t-g[j]+rho*k*other)/on + rng.NormFloat64()/math.Sqrt(on)
				}
				return kernels.Info{Accepted: true, StepSize: 1, Gradients: 1}, nil
			}}, err
	})
}

// heavy proposes from Student's distribution about the center, of five degrees of freedom.
func heavy(name, effect string, exponent float64) Case {
	const scale = 1.1
	log := func(theta []float64) float64 {
		u, v := normalised(theta, 0)/scale, normalised(theta, 1)/scale
		return -exponent * math.Log1p((u*u+v*v)/5)
	}
	return kernel(name, effect, asked{}, func() hooks {
		return hooks{propose: func(_ *chain, rng *rand.Rand, _, next []float64) {
			chi := 0.0
			for range 5 {
				z := rng.NormFloat64()
				chi += z * z
			}
			for j := range next {
				next[j] = center[j] + scale*sd*rng.NormFloat64()*math.Sqrt(5/chi)
			}
		}, public: func(_ *chain, theta, next []float64, r float64) float64 { return r + log(theta) - log(next) }}
	})
}

// twofold asks a public surrogate first, and pays for no bit of what that refuses.
func twofold(name, effect string, correction func(surrogate float64) float64) Case {
	surrogate := func(t []float64) float64 {
		return -2.5 * ((t[0]-1.2)*(t[0]-1.2) + (t[1]+0.3)*(t[1]+0.3))
	}
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		next, left := make([]float64, 2), steps
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return left },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if left == 0 {
					return kernels.Info{}, curator.ErrSpent
				}
				left--
				for j, t := range s.Theta {
					next[j] = t + step*rng.NormFloat64()
				}
				first := surrogate(next) - surrogate(s.Theta)
				if -rng.ExpFloat64() > first {
					return kernels.Info{StepSize: step}, nil
				}
				return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta)+correction(first))
			}}, err
	})
}

// walled has no prior mass below a wall of the first parameter.
type walled struct{ *targets.GaussianMean }

const wall = 0.9

func (m walled) LogPrior(t []float64) float64 {
	if t[0] < wall {
		return math.Inf(-1)
	}
	return m.GaussianMean.LogPrior(t)
}

// against proposes a place for the first parameter beside a wall, with a correction.
func against(name, effect string, propose func(rng *rand.Rand, at float64) (next float64),
	correct func(next, theta float64) float64) Case {
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := walled{posteriors.StandardMean()}
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		next := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				next[0], next[1] = propose(rng, s.Theta[0]), s.Theta[1]+step*rng.NormFloat64()
				return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta)+correct(next[0], s.Theta[0]))
			}}, err
	}, func(o *proptest.KernelOptions) {
		exact := exactly(sd)
		o.Exact = func(rng *rand.Rand, theta []float64) {
			for exact(rng, theta); theta[0] < wall; exact(rng, theta) {
			}
		}
	})
}

// below is the mass of a move from a place that a wall leaves, in logarithms.
func below(at float64) float64 { return math.Log(math.Erfc(-(at-wall)/(step*math.Sqrt2)) / 2) }

func truncate(rng *rand.Rand, at float64) float64 {
	for {
		if next := at + step*rng.NormFloat64(); !(next < wall) { // NaN too
			return next
		}
	}
}

// splitting is Langevin's diffusion with a velocity, in small parts: their letters say which.
func splitting(name, effect, order string, noise func(alpha float64) float64) Case {
	const h, friction = 0.15, 2.0
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		slopes, err := curator.Charge(c, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, 2*steps)
		g, q := make([]float64, 2), make([]float64, 2)
		k := &minding{remembered: remembered{memory: make([]float64, 2)}, made: made{Frame: kernels.NewFrame("made", target),
			left: func() int64 { return slopes.Left() / 2 }}}
		v := k.memory
		parts := map[rune]int{}
		for _, part := range order {
			parts[part]++
		}
		letters := []rune(order)
		k.step = func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
			copy(q, s.Theta)
			for j := range v {
				if z := rng.NormFloat64(); !k.known {
					v[j] = math.Sqrt(1-h*h*precision/4) * z
				}
			}
			for _, part := range letters {
				by := h / float64(parts[part])
				switch part {
				case 'A':
					q[0], q[1] = q[0]+by*v[0], q[1]+by*v[1]
				case 'B':
					if err := slopes.Release(g, q); err != nil {
						return kernels.Info{}, err
					}
					v[0], v[1] = v[0]-by*(g[0]+q[0]), v[1]-by*(g[1]+q[1])
				case 'O':
					alpha := math.Exp(-friction * by)
					for j := range v {
						v[j] = alpha*v[j] + noise(alpha)*rng.NormFloat64()
					}
				}
			}
			k.known = true
			copy(s.Theta, q)
			return kernels.Info{Accepted: true, StepSize: h, Gradients: 2}, nil
		}
		return k, err
	})
}

// stretched stretches the distance from an anchor every second time.
func stretched(name, effect string, exponent float64) Case {
	anchor := [2]float64{0.6, 0.4}
	return kernel(name, effect, asked{}, func() hooks {
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
