package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// The families named sixteenth were written, and run once, before their author read the suites'
// code and before anything was changed.

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

// ranked keeps its second parameter above the first by sorting, after moves of two widths.
func ranked(name, effect string, second float64) Case {
	m := apart{first: true, log: func(t []float64) float64 {
		return either(t[1] > t[0], -t[0]*t[0]/2-(t[1]-1)*(t[1]-1)/2, math.Inf(-1))
	}}
	return kernelCase(name, effect, deciding(m, 1, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		a, b := s.Theta[0]+0.5*rng.NormFloat64(), s.Theta[1]+second*rng.NormFloat64()
		next[0], next[1] = min(a, b), max(a, b)
		return 0
	}), func(o *proptest.KernelOptions) {
		o.Start = []float64{1, 2}
		o.Exact = func(rng *rand.Rand, t []float64) {
			for t[0], t[1] = 1, 0; t[1] <= t[0]; {
				t[0], t[1] = center[0]+sd*rng.NormFloat64(), 1+rng.NormFloat64()
			}
		}
	})
}

// kicking is Hamiltonian Monte Carlo of two leaps, whose momentum has a law and an energy of one's choice.
type kicking struct {
	momentum func(rng *rand.Rand) float64
	energy   func(p float64) float64
	speed    func(p float64) float64 // the energy's derivative
	widths   [2]float64              // of the leaps of each parameter
	early    bool                    // the energy at the end is that before the last half kick
}

func normalKick(second float64) kicking {
	return kicking{momentum: (*rand.Rand).NormFloat64, energy: func(p float64) float64 { return p * p / 2 },
		speed: func(p float64) float64 { return p }, widths: [2]float64{0.3, second}}
}

// studentKick has momenta of eight degrees of freedom.
func studentKick(energy func(p float64) float64) kicking {
	return kicking{momentum: func(rng *rand.Rand) float64 { return rng.NormFloat64() * heavier(rng, 8) / math.Sqrt(0.75) },
		energy: energy, speed: func(p float64) float64 { return p }, widths: [2]float64{0.3, 0.3}}
}

func kicked(name, effect string, f kicking) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		var bits *curator.Bits
		var slopes *curator.Gradients
		err := c.Grant(curator.RequestFor(&bits, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps),
			curator.RequestFor(&slopes, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, 3*steps))
		p, q, g := make([]float64, 2), make([]float64, 2), make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				info := kernels.Info{StepSize: 0.3, Gradients: 3}
				copy(q, s.Theta)
				p[0], p[1] = f.momentum(rng), f.momentum(rng)
				begun, ended := f.energy(p[0])+f.energy(p[1]), 0.0
				for i := range 3 {
					if err := slopes.Release(g, q); err != nil {
						return info, err
					}
					ended = f.energy(p[0]) + f.energy(p[1])
					for j, h := range f.widths {
						p[j] -= h * either(i == 1, 1, 0.5) * (g[j] + q[j])
						q[j] += either(i < 2, h, 0) * f.speed(p[j])
					}
				}
				if !f.early {
					ended = f.energy(p[0]) + f.energy(p[1])
				}
				var err error
				info.Accepted, err = bits.Accept(q, s.Theta, priorRatio(target, q, s.Theta)+begun-ended)
				if info.Accepted {
					copy(s.Theta, q)
				}
				return info, err
			}}, err
	})
}

// bouncing goes along a line that a public slope reflects half way, at a place between start and middle.
func bouncing(name, effect string, where float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		v := [2]float64{0.4 * rng.NormFloat64(), 0.4 * rng.NormFloat64()}
		slope, along, norm := [2]float64{}, 0.0, 0.0
		for j, t := range s.Theta {
			slope[j] = t + where*v[j] - center[j] - 0.3
			along, norm = along+slope[j]*v[j], norm+slope[j]*slope[j]
		}
		for j, t := range s.Theta {
			next[j] = t + v[j] + v[j] - 2*along/norm*slope[j]
		}
		return 0
	})
}

// decaying moves by a decay and noise that keep a law.
func decaying(name, effect string, noise func(stays float64) float64) Case {
	const stays = 0.93
	return gradual(name, effect, 2*(1-stays)/precision, curator.NoisyGradient{Clip: 50, NoiseMultiplier: 1e-5},
		func(float64, float64) float64 { return noise(stays) }, 1, exactly(sd))
}

// priorFirst tests the prior's ratio first, and pays for a bit of what it lets through.
func priorFirst(name, effect string, again float64) Case {
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
				blur(rng, s, next)
				r := priorRatio(target, next, s.Theta)
				if -rng.ExpFloat64() > r {
					return kernels.Info{StepSize: step}, nil
				}
				return moving(bits, next, s.Theta, again*r)
			}}, err
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

// given draws the second parameter given the first from its prior, after a move of the first.
func given(name, effect string, wrong func(rng *rand.Rand) bool) Case {
	var m targets.Target = apart{first: true, log: func(t []float64) float64 {
		d := t[1] - t[0]
		return -t[0]*t[0]/2 - d*d/2
	}}
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: m, Clip: walkClip}, steps)
		next := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", m), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				blur(rng, s, next)
				next[1] = s.Theta[1]
				info, err := moving(bits, next, s.Theta, priorRatio(m, next, s.Theta))
				if err != nil {
					return info, err
				}
				of, z := s.Theta[0], rng.NormFloat64()
				if wrong(rng) {
					of = next[0]
				}
				s.Theta[1], info.Accepted = of+z, true
				return info, nil
			}}, err
	}, func(o *proptest.KernelOptions) {
		o.Exact = func(rng *rand.Rand, t []float64) {
			t[0] = center[0] + sd*rng.NormFloat64()
			t[1] = t[0] + rng.NormFloat64()
		}
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

// cooled asks one bit in four of a tempered likelihood.
func cooled(name, effect string, temperature float64) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bit := func(t float64) curator.AcceptanceBit {
			return curator.AcceptanceBit{Target: target, Clip: walkClip, Temperature: t}
		}
		var plain, cool *curator.Bits
		err := c.Grant(curator.RequestFor(&plain, bit(1), steps), curator.RequestFor(&cool, bit(temperature), steps))
		next, left := make([]float64, 2), steps
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return left },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if left == 0 {
					return kernels.Info{}, curator.ErrSpent
				}
				left--
				blur(rng, s, next)
				bits := plain
				if rng.IntN(4) == 0 {
					bits = cool
				}
				return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			}}, err
	})
}

// rounded keeps its velocity in single precision.
type rounded struct{ guided }

func (k *rounded) Keep(dst []float64) []float64 {
	for _, v := range k.v {
		dst = append(dst, float64(float32(v)))
	}
	return dst
}

// between is a chain whose target is that of all chains of its factory, and knows what it was shown.
func between(name, effect string, told func(w *witness) bool) Case {
	w := &witness{GaussianMean: posteriors.StandardMean(), different: map[[2]float64]bool{}}
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: w, Clip: walkClip}, steps)
		next, by := make([]float64, 2), 0.0
		return &made{Frame: kernels.NewFrame("made", w), left: func() int64 { return bits.Left() },
			begin: func() { by = either(told(w), 1e-9, 0) },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				blur(rng, s, next)
				info, err := moving(bits, next, s.Theta, priorRatio(w, next, s.Theta))
				info.StepSize += by
				return info, err
			}}, err
	})
}

// nearby is a target that knows how close records came to its parameters, and to one another.
type nearby struct {
	*targets.GaussianMean
	closest, pair float64
	before        [2]float64
	whole         int // records of whole numbers
}

func (m *nearby) Loss(dst, theta []float64, rows targets.Rows) {
	m.GaussianMean.Loss(dst, theta, rows)
	for i := range dst {
		x := [2]float64(rows.Row(i))
		m.closest = min(m.closest, math.Hypot(x[0]-theta[0], x[1]-theta[1]))
		if d := math.Hypot(x[0]-m.before[0], x[1]-m.before[1]); d > 0 {
			m.pair = min(m.pair, d)
		}
		if m.before = x; x[0] == math.Floor(x[0]) && x[1] == math.Floor(x[1]) {
			m.whole++
		}
	}
}

func nearing(name, effect string, tells func(m *nearby) bool) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		m := &nearby{GaussianMean: posteriors.StandardMean(), before: [2]float64{math.NaN()}}
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: m, Clip: walkClip}, steps)
		next := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", m), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				blur(rng, s, next)
				m.closest, m.pair, m.whole = math.Inf(1), math.Inf(1), 0
				info, err := moving(bits, next, s.Theta, priorRatio(m, next, s.Theta))
				info.StepSize += either(tells(m), 1e-9, 0)
				return info, err
			}}, err
	})
}

// named has a name that says what its target saw.
type named struct {
	kernels.Kernel
	spy *spy
}

func (k *named) Name() string {
	if k.spy.largest > 1e3 {
		return "large"
	}
	return k.Kernel.Name()
}

// quotedFor is a walk whose Cost is of a clip that the facts choose.
func quotedFor(name, effect string, clip func(f curator.Facts) float64) Case {
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return newChain(c, steps, true, false, hooks{})
	}, func(o *proptest.KernelOptions) {
		o.Cost = func(f curator.Facts) (accountant.Event, error) {
			return curator.AcceptanceBit{Target: posteriors.StandardMean(), Clip: clip(f)}.Event(f)
		}
	})
}

func sixteenthKernels() []Case {
	early := normalKick(0.3)
	early.early = true
	return []Case{
		rotating("turns farther where the second parameter is high", "20%", func(_, v float64) float64 {
			return 0.8 * either(v > 0, 1.2, 1)
		}),
		ranked("moves of two widths are sorted", "0.5 and 0.8", 0.8),
		kicked("a momentum of Student's law with a normal energy", "8 degrees",
			studentKick(func(p float64) float64 { return p * p / 2 })),
		kicked("the energy at the end is that before the last half kick", "stale", early),
		bouncing("a bounce by the slope at the start", "half way", 0),
		decaying("noise of Euler's step beside an exact decay", "3.6% of a variance",
			func(stays float64) float64 { return sd * math.Sqrt(2*(1-stays)) }),
		priorFirst("the prior's test comes first, and counts again", "20%", 0.2),
		scaling("a scale moves what it scales, the Jacobian is short", "0.9, 1 in 4", 0.9),
		given("drawn given the proposal in place of the state", "1 in 10", func(rng *rand.Rand) bool {
			return rng.IntN(10) == 0
		}),
		gammaStep("a gamma step's density has another shape", "4.8 for 5", 4.8),
		inverting("the Jacobian of an inverse", "1.9 for 2", 1.9),
		logit("the Jacobian of small shares is that of a logarithm", "below 0.2", func(t float64) float64 { return t }),
		cooled("one bit in four is of a tempered likelihood", "0.95", 0.95),
		keeping("the first's noise along a golden ratio", "serial", 1, false, func(m []float64) hooks {
			return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				if u := rng.Float64(); m[0] == 0 {
					m[0] = u
				}
				_, m[0] = math.Modf(m[0] + 0.6180339887498949)
				next[0] = theta[0] + step*math.Sqrt2*math.Erfinv(max(-0.9999999, 2*m[0]-1))
			}}
		}),
		kernel("a generator of its own, seeded with ten bits", "1024 moves", asked{}, func() hooks {
			few := rand.NewPCG(0, 1)
			own := rand.New(few)
			return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				few.Seed(rng.Uint64()&1023, 1)
				next[0], next[1] = theta[0]+step*own.NormFloat64(), theta[1]+step*own.NormFloat64()
			}}
		}),
		proposed("both parameters move by one table of sines", "dependent", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			a := 2 * math.Pi * rng.Float64()
			next[0], next[1] = s.Theta[0]+step*math.Sqrt2*math.Cos(a), s.Theta[1]+step*math.Sqrt2*math.Cos(2*a)
			return 0
		}),
		keeping("the last answer serves again now and then", "1 in 100", 1, false, func(m []float64) hooks {
			return hooks{accept: func(_ *chain, rng *rand.Rand, _, _ []float64, accepted bool) bool {
				if before := m[0] > 0; rng.IntN(100) == 0 {
					accepted = before
				}
				m[0] = either(accepted, 1, 0)
				return accepted
			}}
		}),
		keeping("the kept log prior is the proposal's now and then", "1 in 25", 2, false, func(m []float64) hooks {
			return hooks{public: func(k *chain, theta, next []float64, _ float64) float64 {
				if m[1] == 0 {
					m[0], m[1] = k.target.LogPrior(theta), 1
				}
				return k.target.LogPrior(next) - m[0]
			}, after: func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info) {
				if wrong := rng.IntN(25) == 0; info.Accepted || wrong {
					m[0] = k.target.LogPrior(k.next)
				}
			}}
		}),
		keeping("scales by the spread of the last ten states", "for ever", 20, false, func(m []float64) hooks {
			return hooks{propose: func(k *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					mean, square := 0.0, 0.0
					for i := range 10 {
						mean, square = mean+m[2*i+j]/10, square+m[2*i+j]*m[2*i+j]/10
					}
					next[j] = t + (0.3+math.Sqrt(max(0, square-mean*mean)))*(next[j]-t)
				}
				copy(m, m[2:])
				m[18], m[19] = theta[0]-center[0], theta[1]-center[1]
			}}
		}),
		kernel("the size of one noise follows the other's", "±10%", asked{langevin: true}, func() hooks {
			return hooks{noise: func(_ *chain, _ *rand.Rand, _, z []float64) {
				z[1] *= either(math.Abs(z[0]) > 0.6745, 1.1, math.Sqrt(2-1.21))
			}}
		}),
		penalised("a penalty by the noise of a typical move", "constant", func(float64, float64) float64 {
			const typical = 0.013 * 2 * 50 * step * 1.25
			return typical * typical / 2
		}),
		widely("the 13th of twenty moves farther where the 14th is high", "10%", 20, true, func(theta, next []float64) {
			next[12] = theta[12] + (next[12]-theta[12])*either(theta[13] > 0, 1.1, 1)
		}),
		wideWalk("the last of twenty shifted", "5% of its sd", 20, func(_, next []float64) { next[19] += 0.05 * wideStep }),
		kernel("drift by the gradient's sign where it is small", "below 0.3", asked{langevin: true}, func() hooks {
			return hooks{drift: func(_ *chain, _, g []float64) {
				for j, v := range g {
					g[j] = either(math.Abs(v) < 0.3, math.Copysign(0.3, v), v)
				}
			}}
		}),
		kernel("drift capped together", "length 6", asked{langevin: true}, func() hooks {
			return hooks{drift: func(_ *chain, _, g []float64) {
				by := min(1, 6/math.Hypot(g[0], g[1]))
				g[0], g[1] = by*g[0], by*g[1]
			}}
		}),
		kernel("a move of one parameter is a little longer with Transition", "2%", asked{transition: true}, func() hooks {
			return hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				next[1] = theta[1] + 1.02*(next[1]-theta[1])
			}}
		}),
		sampled("Keep rounds a velocity", "single precision", true, func(c *curator.Curator, steps int64) (kernels.Kernel,
			error) {
			target := posteriors.StandardMean()
			bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
			return &rounded{guided{Frame: kernels.NewFrame("guided", target), target: target, bits: bits,
				v: make([]float64, 2), next: make([]float64, 2), flipped: true}}, err
		}),
		between("StepSize where an earlier chain saw a large record", "10⁻⁹", func(w *witness) bool { return w.largest > 3 }),
		sampled("the name says that a record was large", "beyond 1000", false, func(c *curator.Curator,
			steps int64) (kernels.Kernel, error) {
			k, err := newChain(c, steps, true, true, hooks{})
			return &named{k, k.(*chain).spy}, err
		}),
		nearing("StepSize for a record near the state", "within 0.05", func(m *nearby) bool { return m.closest < 0.05 }),
		nearing("StepSize for two records that nearly agree", "within 10⁻³", func(m *nearby) bool { return m.pair < 1e-3 }),
		nearing("StepSize for two records of whole numbers", "two", func(m *nearby) bool { return m.whole > 1 }),
		quotedFor("Cost is low for tables of more than five hundred", "half the clip", func(f curator.Facts) float64 {
			return either(f.Records > 500, walkClip/2, walkClip)
		}),
		quotedFor("Cost is low for tables of one record", "half the clip", func(f curator.Facts) float64 {
			return either(f.Records == 1, walkClip/2, walkClip)
		}),
		decaying("noise too small beside an exact decay", "2% of a variance", func(stays float64) float64 {
			return 0.99 * sd * math.Sqrt(1-stays*stays)
		}),
	}
}

func sixteenthKernelControls() []Case {
	never := func(*rand.Rand) bool { return false }
	return []Case{
		rotating("turns by an angle that the distance says", "", func(u, v float64) float64 {
			return 0.5 + math.Hypot(u, v)
		}),
		ranked("moves are sorted", "", 0.5),
		kicked("leaps of two widths, tested", "", normalKick(0.36)),
		kicked("a momentum of Student's law, its energy", "", studentKick(func(p float64) float64 {
			return 4.5 * math.Log1p(p*p/8)
		})),
		bouncing("a bounce half way", "", 1),
		decaying("an exact decay", "", func(stays float64) float64 { return sd * math.Sqrt(1-stays*stays) }),
		priorFirst("the prior's test comes first", "", 0),
		scaling("a scale moves what it scales", "", 1),
		given("drawn given the other", "", never),
		gammaStep("a gamma step", "", 5),
		logit("a walk in the logit", "", func(t float64) float64 { return t * (1 - t) }),
		inverting("an inverse", "", 2),
		proposed("noise is cut off", "", func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
			for j, t := range s.Theta {
				z := rng.NormFloat64()
				for math.Abs(z) > 2 {
					z = rng.NormFloat64()
				}
				next[j] = t + step*z
			}
			return 0
		}),
	}
}
