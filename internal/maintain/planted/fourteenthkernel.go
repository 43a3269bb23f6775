package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named fourteenth were written, and run once, before their author read the suites'
// code and before anything was changed.

// proposing draws a proposal for a state, and returns what the log-ratio is corrected by.
type proposing func(rng *rand.Rand, s *kernels.State, next []float64) (correction float64)

// deciding is a chain of proposals, each with a bit of a target.
func deciding(target targets.Target, temperature float64, propose proposing) proptest.Factory {
	return func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip,
			Temperature: temperature}, steps)
		next := make([]float64, target.Dim())
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				by := propose(rng, s, next)
				return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta)+by)
			}}, err
	}
}

func proposed(name, effect string, propose proposing) Case {
	return sampled(name, effect, true, deciding(posteriors.StandardMean(), 1, propose))
}

// blur is a plain walk.
func blur(rng *rand.Rand, s *kernels.State, next []float64) float64 {
	for j, t := range s.Theta {
		next[j] = t + step*rng.NormFloat64()
	}
	return 0
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

// blended proposes from one of two normal laws, whatever the state is; which says whose densities
// are compared.
func blended(name, effect string, which func(drawn int, theta []float64) int) Case {
	place, width := [2]float64{-0.7, 0.7}, [2]float64{1.3, 1} // normalised
	log := func(k int, theta []float64) float64 {
		u, v := (normalised(theta, 0)-place[k])/width[k], normalised(theta, 1)/width[k]
		return -(u*u+v*v)/2 - 2*math.Log(width[k])
	}
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		k := rng.IntN(2)
		next[0] = center[0] + sd*(place[k]+width[k]*rng.NormFloat64())
		next[1] = center[1] + sd*width[k]*rng.NormFloat64()
		return log(which(k, s.Theta), s.Theta) - log(which(k, next), next)
	})
}

// several proposes three places, chooses one by a public surrogate, and weighs three from there:
// the state is one of them.
func several(name, effect string, forgets bool) Case {
	weight := func(x, y float64) float64 {
		return 1e-300 + math.Exp(-2*((x-1.1)*(x-1.1)+(y+0.2)*(y+0.2)))
	}
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		const wide = 1.5 * step
		forth, chosen := 0.0, 0.0
		for range 3 {
			x, y := s.Theta[0]+wide*rng.NormFloat64(), s.Theta[1]+wide*rng.NormFloat64()
			w := weight(x, y)
			if forth += w; rng.Float64()*forth <= w {
				next[0], next[1], chosen = x, y, w
			}
		}
		own := weight(s.Theta[0], s.Theta[1])
		back := own
		for i := range 3 {
			w := weight(next[0]+wide*rng.NormFloat64(), next[1]+wide*rng.NormFloat64())
			switch {
			case i < 2:
				back += w
			case forgets:
				back += w - own
			}
		}
		return math.Log(forth/back) + math.Log(own/chosen)
	})
}

// informed turns each number's move by a public slope, and corrects for it.
func informed(name, effect string, second float64) Case {
	slope := func(theta []float64, j int) float64 { return -4 * (theta[j] - center[j] - 0.1) }
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		by := 0.0
		for j, t := range s.Theta {
			z := step * rng.NormFloat64()
			if rng.Float64() > 1/(1+math.Exp(-z*slope(s.Theta, j))) {
				z = -z
			}
			next[j] = t + z
			there := slope(s.Theta, j) + either(j == 0, 1, second)*(slope(next, j)-slope(s.Theta, j))
			by += softplus(-z*slope(s.Theta, j)) - softplus(z*there)
		}
		return by
	})
}

// turned moves the sum and the difference of parameters, or one of the two. The sum's moves are
// longer where the difference is above its middle.
func turned(name, effect string, by float64, both bool) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		a, b := step*rng.NormFloat64(), step*rng.NormFloat64()
		a *= either(normalised(s.Theta, 0) > normalised(s.Theta, 1), 1+by, 1)
		if one := rng.IntN(2); !both {
			a, b = either(one == 0, a, 0), either(one == 0, 0, b)
		}
		next[0], next[1] = s.Theta[0]+(a+b)/math.Sqrt2, s.Theta[1]+(a-b)/math.Sqrt2
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

// warm is a chain of the posterior of half the log-likelihood.
func warm(name, effect string, ofPrior float64) Case {
	target := posteriors.StandardMean()
	propose := func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		return (ofPrior - 1) * priorRatio(target, next, s.Theta)
	}
	return kernelCase(name, effect, deciding(target, 0.5, propose), func(o *proptest.KernelOptions) {
		o.Exact = func(rng *rand.Rand, theta []float64) {
			const half = (precision + 1) / 2
			for j, c := range center {
				theta[j] = c*precision/2/half + rng.NormFloat64()/math.Sqrt(half)
			}
		}
	})
}

// loose has a second parameter that records say nothing of, with Student's distribution.
type loose struct {
	freedom, lowest float64 // of the prior, and where its logarithm ends
}

func (loose) Dim() int           { return 2 }
func (loose) Shape() (int, bool) { return 2, false }

func (m loose) LogPrior(t []float64) float64 {
	return -t[0]*t[0]/2 + max(m.lowest, -(m.freedom+1)/2*math.Log1p(t[1]*t[1]/m.freedom))
}

func (loose) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		d := rows.X[2*i] - theta[0]
		dst[i] = d * d / 2
	}
}

// farther walks under that prior, by moves that grow with the parameter, whose density is corrected
// for up to some place.
func farther(name, effect string, prior loose, by, upTo float64) Case {
	width := func(t float64) float64 { return 1.5 * math.Sqrt(1+by*t*t) }
	return kernelCase(name, effect, deciding(prior, 1, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		z, t := rng.NormFloat64(), s.Theta[1]
		next[0], next[1] = s.Theta[0]+step*rng.NormFloat64(), t+width(t)*z
		back := width(t) * z / width(next[1])
		if math.Abs(t) > upTo || math.Abs(next[1]) > upTo {
			return 0
		}
		return math.Log(width(t)/width(next[1])) + (z*z-back*back)/2
	}), func(o *proptest.KernelOptions) {
		o.Exact = func(rng *rand.Rand, theta []float64) {
			chi := 0.0
			for range 3 {
				z := rng.NormFloat64()
				chi += z * z
			}
			theta[0] = center[0] + sd*rng.NormFloat64()
			theta[1] = rng.NormFloat64() / math.Sqrt(chi/3)
		}
	})
}

// leaping is Hamiltonian Monte Carlo whose leaps begin and end with a half move of the parameters.
func leaping(name, effect string, last float64, count func(rng *rand.Rand, p float64) int) Case {
	const h = 0.3
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		var bits *curator.Bits
		var slopes *curator.Gradients
		err := c.Grant(curator.RequestFor(&bits, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps),
			curator.RequestFor(&slopes, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, 3*steps))
		p, q, g := make([]float64, 2), make([]float64, 2), make([]float64, 2)
		drift := func(by float64) { q[0], q[1] = q[0]+by*p[0], q[1]+by*p[1] }
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				info := kernels.Info{StepSize: h, Gradients: 3}
				copy(q, s.Theta)
				p[0], p[1] = rng.NormFloat64(), rng.NormFloat64()
				begun, n := dot(p, p)/2, count(rng, p[0])
				for i := range 3 {
					if i < n {
						drift(either(i == 0, h/2, h))
					}
					if err := slopes.Release(g, q); err != nil {
						return info, err
					}
					for j, t := range q {
						p[j] -= either(i < n, h, 0) * (g[j] + t)
					}
				}
				drift(h / 2 * last)
				var err error
				info.Accepted, err = bits.Accept(q, s.Theta, priorRatio(target, q, s.Theta)+begun-dot(p, p)/2)
				if info.Accepted {
					copy(s.Theta, q)
				}
				return info, err
			}}, err
	})
}

func three(*rand.Rand, float64) int { return 3 }

// gradual makes Langevin steps along released gradients, with noise that a function of the
// step's size and of the releases' noise says, by a share of the prior's slope.
func gradual(name, effect string, h float64, m curator.NoisyGradient, noise func(h, sd float64) float64, prior float64,
	exact func(rng *rand.Rand, theta []float64)) Case {
	m.Target = posteriors.StandardMean()
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		slopes, err := curator.Charge(c, m, steps)
		g := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", m.Target), left: func() int64 { return slopes.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if err := slopes.Release(g, s.Theta); err != nil {
					return kernels.Info{}, err
				}
				by := noise(h, slopes.NoiseSD())
				for j, t := range s.Theta {
					s.Theta[j] += by*rng.NormFloat64() - h/2*(g[j]+prior*t)
				}
				return kernels.Info{Accepted: true, StepSize: h, Gradients: 1}, nil
			}}, err
	}, func(o *proptest.KernelOptions) { o.Exact = exact })
}

// subtracting takes the releases' noise off what a step adds, so that both make the step's.
func subtracting(name, effect string, share float64) Case {
	return gradual(name, effect, size, curator.NoisyGradient{Clip: 10, NoiseMultiplier: 0.1},
		func(h, sd float64) float64 { return math.Sqrt(h - share*h*h*sd*sd) }, 1,
		exactly(math.Sqrt(size)/math.Sqrt(1-keep*keep)))
}

// halved follows gradients of three records in six, with a share of the prior's.
func halved(name, effect string, prior float64) Case { return halvedBy(name, effect, prior, 1) }

// halvedBy does so with a share of the noise.
func halvedBy(name, effect string, prior, noise float64) Case {
	const h, stays = 8.0 / 35, 0.2 // 1 − 7h/2
	posterior, _ := posteriors.Conjugate()
	var sums [][2]float64 // of all batches, less their mean
	for i := range 64 {
		at, n := [2]float64{-4.5, 1}, 0
		for r := range 6 {
			if i>>r&1 == 1 {
				n++
				at[0], at[1] = at[0]+posterior.X[2*r], at[1]+posterior.X[2*r+1]
			}
		}
		if n == 3 {
			sums = append(sums, at)
		}
	}
	return gradual(name, effect, h, curator.NoisyGradient{Clip: 50, NoiseMultiplier: 1e-5, Batch: curator.Batch{Size: 3}},
		func(h, _ float64) float64 { return noise * math.Sqrt(h) }, prior, func(rng *rand.Rand, theta []float64) {
			by := h / 2 * 2
			for j, c := range center {
				theta[j] = c + math.Sqrt(h/(1-stays*stays))*rng.NormFloat64()
			}
			for range 23 {
				at := sums[rng.IntN(len(sums))]
				theta[0], theta[1], by = theta[0]+by*at[0], theta[1]+by*at[1], by*stays
			}
		})
}

// herd has three walkers, each of which is moved along the distance between two others.
func herd(name, effect string, itself bool) Case {
	six := posteriors.Must(targets.New(targets.GaussianMeanConfig{Features: 6, Prior: priors.Gaussian{SD: 1}}))
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		next := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", six), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				i := rng.IntN(3)
				a := (i + 1 + rng.IntN(2)) % 3
				b := 3 - i - a
				if itself {
					a = rng.IntN(3)
					b = (a + 1 + rng.IntN(2)) % 3
				}
				for j := range next {
					next[j] = s.Theta[2*i+j] + 0.6*(s.Theta[2*a+j]-s.Theta[2*b+j]) + 0.3*rng.NormFloat64()
				}
				theta := s.Theta[2*i : 2*i+2]
				return moving(bits, next, theta, priorRatio(target, next, theta))
			}}, err
	}, func(o *proptest.KernelOptions) {
		o.Start = make([]float64, 6)
		o.Exact = func(rng *rand.Rand, theta []float64) {
			for j := range theta {
				theta[j] = center[j%2] + sd*rng.NormFloat64()
			}
		}
	})
}

// single walks in one parameter of its own.
func single(name, effect string, up float64) Case {
	target := posteriors.Must(targets.New(targets.GaussianMeanConfig{Features: 1, Prior: priors.Gaussian{SD: 1}}))
	x := []float64{0.5, -1, 2, 0, 1.5, 0.5}
	propose := func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		z := rng.NormFloat64()
		next[0] = s.Theta[0] + step*z*either(z > 0, up, 1)
		return 0
	}
	return kernelCase(name, effect, deciding(target, 1, propose), func(o *proptest.KernelOptions) {
		o.Records, o.Start = curator.Records{X: x, Features: 1}, []float64{0}
		o.Exact = func(rng *rand.Rand, theta []float64) { theta[0] = 3.5/precision + sd*rng.NormFloat64() }
	})
}

// relaxed draws each parameter beyond its mean given the other, which a released gradient tells.
func relaxed(name, effect string, above float64) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		slopes, err := curator.Charge(c, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, steps)
		g := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return slopes.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if err := slopes.Release(g, s.Theta); err != nil {
					return kernels.Info{}, err
				}
				for j, t := range s.Theta {
					away := (g[j] + t) / precision // from the mean
					s.Theta[j] = t - away - either(away > 0, above, 0.9)*away + math.Sqrt(1-0.81)*sd*rng.NormFloat64()
				}
				return kernels.Info{Accepted: true, StepSize: 1, Gradients: 1}, nil
			}}, err
	})
}

func fourteenthSamplers() []Case {
	var everywhere int
	box := map[int]bool{0: true, 1: true}
	cut := math.Inf(-1)
	return []Case{
		radial("moves along a line through a point, no Jacobian", "1 in 4", 0),
		blended("a density of the nearer of two parts", "mixture", func(_ int, theta []float64) int {
			if normalised(theta, 0) > 0 {
				return 1
			}
			return 0
		}),
		several("the state is not among the tries from the proposal", "3 tries", true),
		informed("the second number's slope is not that of the proposal", "one of two", 0),
		turned("the sum's scale follows the difference, which moves too", "20%", 0.2, true),
		bent("no Jacobian for proposals below 0", "asinh", true),
		proposed("the prior counts more in the first fifty iterations", "1.3", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			return either(s.Iteration < 50, 0.3, 0) * (dot(s.Theta, s.Theta) - dot(next, next)) / 2
		}),
		proposed("wide moves a little more often above the middle", "52% for 48%", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			by := either(rng.Float64() < either(normalised(s.Theta, 0) > 0, 0.52, 0.48), 2, 1)
			for j, t := range s.Theta {
				next[j] = t + by*(next[j]-t)
			}
			return 0
		}),
		proposed("coordinates in the order of a map", "no stream", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			for j := range box {
				next[j] = s.Theta[j]
				break
			}
			return 0
		}),
		proposed("coordinates in turn, by a package's counter", "chains", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			everywhere++
			next[everywhere%2] = s.Theta[everywhere%2]
			return 0
		}),
		relaxed("over-relaxed less above the mean, with the same noise", "0.85 for 0.9", 0.85),
		warm("the prior is tempered too", "half", 0.5),
		farther("the prior has more degrees of freedom", "3.3 for 3", loose{3.3, cut}, 0, 1e300),
		farther("the log prior ends", "at −8", loose{3, -8}, 0, 1e300),
		farther("the proposal's density is left out far away", "beyond 5", loose{3, cut}, 0.1, 5),
		leaping("the last half move of the parameters is long", "5%", 1.05, three),
		leaping("as many leaps as the momentum's sign says", "2 or 3", 1, func(_ *rand.Rand, p float64) int {
			if p > 0 {
				return 3
			}
			return 2
		}),
		subtracting("the releases' noise is taken off twice", "5% of a variance", 0.5),
		halved("the prior's slope is scaled as a batch", "half", 0.5),
		herd("a walker may be one of the two that it follows", "1 in 3", true),
		single("the only parameter goes farther up", "3%", 1.03),
		wideWalk("the last of seven shifted where the second is high", "5%", 7, func(theta, next []float64) {
			if mean := 0.0; theta[1] > mean {
				next[6] += 0.05 * wideStep
			}
		}),
		kernel("noise of twelve uniform numbers", "kurtosis 2.9", asked{langevin: true}, func() hooks {
			return hooks{noise: func(_ *chain, rng *rand.Rand, _, z []float64) {
				for j := range z {
					z[j] = -6
					for range 12 {
						z[j] += rng.Float64()
					}
				}
			}}
		}),
		keeping("noise has some of the other's last", "5%", 2, true, func(m []float64) hooks {
			return hooks{noise: func(_ *chain, _ *rand.Rand, _, z []float64) {
				a, b := 0.05*m[1], 0.05*m[0]
				for j, last := range [2]float64{a, b} {
					z[j] = last + math.Sqrt(1-0.05*0.05)*z[j]
					m[j] = z[j]
				}
			}}
		}),
		sampled("a refusal far out is tried again", "beyond 2 sd", true, patient),
		flawed("a refusal reverses one momentum of two", "0.7", true, flaws{persistence: 0.7, halfFlip: true}),
	}
}

// patient asks again where a move from far out is refused.
func patient(c *curator.Curator, steps int64) (kernels.Kernel, error) {
	target := posteriors.StandardMean()
	more, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
	if err != nil {
		return nil, err
	}
	return newChain(c, steps, true, false, hooks{
		accept: func(_ *chain, _ *rand.Rand, theta, next []float64, accepted bool) bool {
			if accepted || math.Hypot(normalised(theta, 0), normalised(theta, 1)) < 2 {
				return accepted
			}
			again, err := more.Accept(next, theta, priorRatio(target, next, theta))
			return err == nil && again
		}})
}

func fourteenthKernelControls() []Case {
	cut := math.Inf(-1)
	return append(keptControls(),
		radial("moves along a line through a point", "", 1),
		blended("one of two laws, its own density", "", func(drawn int, _ []float64) int { return drawn }),
		several("several tries", "", false),
		informed("moves turned by a slope", "", 1),
		turned("the sum's scale follows the difference, which stays", "", 0.2, false),
		bent("walk in asinh", "", false),
		warm("half the log-likelihood", "", 1),
		farther("a prior of Student's distribution", "", loose{3, cut}, 0, 1e300),
		farther("moves that grow with a heavy tail", "", loose{3, cut}, 0.1, 1e300),
		leaping("leaps that begin with half a move", "", 1, three),
		leaping("as many leaps as a coin says", "", 1, func(rng *rand.Rand, _ float64) int { return 2 + rng.IntN(2) }),
		subtracting("the releases' noise is taken off", "", 0.25),
		halved("batches of three in six", "", 1),
		herd("walkers along two others", "", false),
		single("one parameter", "", 1),
		relaxed("over-relaxed", "", 0.9),
		proposed("coordinates in turn, by the iteration", "", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			next[s.Iteration%2] = s.Theta[s.Iteration%2]
			return 0
		}),
	)
}
