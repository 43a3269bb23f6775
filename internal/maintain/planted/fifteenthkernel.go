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

// tilted follows a public slope, and corrects for it. The way back has some of the slope at the start.
func tilted(name, effect string, share float64) Case {
	const h = 0.2
	slope := func(theta []float64, j int) float64 { return -4 * (theta[j] - center[j] - 0.1) }
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		by := 0.0
		for j, t := range s.Theta {
			z := rng.NormFloat64()
			next[j] = t + h/2*slope(s.Theta, j) + math.Sqrt(h)*z
			by += z * z / 2
		}
		for j, t := range s.Theta {
			back := slope(next, j) + share*(slope(s.Theta, j)-slope(next, j))
			d := t - next[j] - h/2*back
			by -= d * d / (2 * h)
		}
		return by
	})
}

// apart is a target whose second parameter, or all, have a law of their own: the prior.
type apart struct {
	log   func(theta []float64) float64
	first bool // records say something of the first parameter
}

func (apart) Dim() int           { return 2 }
func (apart) Shape() (int, bool) { return 2, false }

func (m apart) LogPrior(theta []float64) float64 { return m.log(theta) }

func (m apart) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		d := rows.X[2*i] - theta[0]
		dst[i] = either(m.first, d*d/2, 0)
	}
}

// ownLaw is a chain of bits of such a target. Draws are those of the second parameter, or of all.
func ownLaw(name, effect string, m apart, start []float64, propose proposing, draw func(rng *rand.Rand,
	theta []float64)) Case {
	return kernelCase(name, effect, deciding(m, 1, propose), func(o *proptest.KernelOptions) {
		o.Start = start
		o.Exact = func(rng *rand.Rand, theta []float64) {
			if draw(rng, theta); m.first {
				theta[0] = center[0] + sd*rng.NormFloat64()
			}
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

// positive has a second parameter of a gamma law of shape three.
func positive(name, effect string, propose proposing) Case {
	m := apart{first: true, log: func(t []float64) float64 {
		if t[1] <= 0 {
			return math.Inf(-1)
		}
		return -t[0]*t[0]/2 + 2*math.Log(t[1]) - t[1]
	}}
	return ownLaw(name, effect, m, []float64{1, 3}, propose, func(rng *rand.Rand, theta []float64) {
		theta[1] = rng.ExpFloat64() + rng.ExpFloat64() + rng.ExpFloat64()
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

// five makes Langevin steps in five dimensions, with noise of one of them off.
func five(name, effect string, fourth float64) Case {
	const n = 5
	x := make([]float64, 6*n)
	for i := range x {
		x[i] = float64(i%7)/3 - 1
	}
	m := curator.NoisyGradient{Target: posteriors.Must(targets.New(targets.GaussianMeanConfig{Features: n,
		Prior: priors.Gaussian{SD: 1}})), Clip: 50, NoiseMultiplier: 1e-5}
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		slopes, err := curator.Charge(c, m, steps)
		g := make([]float64, n)
		return &made{Frame: kernels.NewFrame("made", m.Target), left: func() int64 { return slopes.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if err := slopes.Release(g, s.Theta); err != nil {
					return kernels.Info{}, err
				}
				for j, t := range s.Theta {
					s.Theta[j] += either(j == 3, fourth, 1)*math.Sqrt(size)*rng.NormFloat64() - size/2*(g[j]+t)
				}
				return kernels.Info{Accepted: true, StepSize: size, Gradients: 1}, nil
			}}, err
	}, func(o *proptest.KernelOptions) {
		o.Records, o.Start = curator.Records{X: x, Features: n}, make([]float64, n)
		o.Exact = func(rng *rand.Rand, theta []float64) {
			for j := range theta {
				theta[j] = math.Sqrt(size) / math.Sqrt(1-keep*keep) * rng.NormFloat64()
				for i := range 6 {
					theta[j] += x[i*n+j] / precision
				}
			}
		}
	})
}

// gibbs draws one parameter given the other, and then the other, and says that it is reversible.
func gibbs(name, effect string, inOrder bool) Case {
	return smoothly(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := smooth{posteriors.StandardMean(), rho}
		slopes, err := curator.Charge(c, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, steps)
		g := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return slopes.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if err := slopes.Release(g, s.Theta); err != nil {
					return kernels.Info{}, err
				}
				const k = 1 / (1 - rho*rho)
				const on = precision - 1 + k
				first := rng.IntN(2)
				if inOrder {
					first = 0
				}
				for _, j := range [2]int{first, 1 - first} {
					s.Theta[j] = ((precision-1)*s.Theta[j]-g[j]+rho*k*s.Theta[1-j])/on + rng.NormFloat64()/math.Sqrt(on)
				}
				return kernels.Info{Accepted: true, StepSize: 1, Gradients: 1}, nil
			}}, err
	}, func(o *proptest.KernelOptions) { o.Reversible = true })
}

// witness is a target that notices what it is shown, record after record.
type witness struct {
	*targets.GaussianMean
	seen      int
	largest   float64 // number
	first     [2]float64
	varies    [2]bool // a column
	rising    int     // records in order, by their first number
	rose      bool
	before    float64
	different map[[2]float64]bool
	infinite  bool // a loss was
}

func (w *witness) Loss(dst, theta []float64, rows targets.Rows) {
	w.GaussianMean.Loss(dst, theta, rows)
	for i, l := range dst {
		x := [2]float64(rows.Row(i))
		if w.seen == 0 {
			w.first = x
		}
		w.seen++
		w.infinite = w.infinite || math.IsInf(l, 0) || math.IsNaN(l)
		for j, v := range x {
			w.largest = max(w.largest, math.Abs(v))
			w.varies[j] = w.varies[j] || v != w.first[j]
		}
		if len(w.different) < 1000 {
			w.different[x] = true
		}
		if x[0] > w.before {
			w.rising++
		} else if x[0] < w.before {
			w.rising = 1
		}
		w.before = x[0]
		w.rose = w.rose || w.rising >= 4
	}
}

// witnessed is a walk whose steps are of a size that says what its target noticed.
func witnessed(name, effect string, tells func(w *witness, s *kernels.State) bool) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		w := &witness{GaussianMean: posteriors.StandardMean(), different: map[[2]float64]bool{}}
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: w, Clip: walkClip}, steps)
		next := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", w), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				blur(rng, s, next)
				info, err := moving(bits, next, s.Theta, priorRatio(w, next, s.Theta))
				info.StepSize *= either(tells(w, s), 0.999, 1)
				return info, err
			}}, err
	})
}

// idle is a walk that moves at some iterations only.
func idle(name, effect string, moves func(iteration int64) bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		next := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				blur(rng, s, next)
				accepted, err := bits.Accept(next, s.Theta, priorRatio(target, next, s.Theta))
				if accepted = accepted && moves(s.Iteration); accepted {
					copy(s.Theta, next)
				}
				return kernels.Info{Accepted: accepted, StepSize: step}, err
			}}, err
	})
}

// turning moves one coordinate after the other, by a count of its own.
func turning(name, effect string, keeps bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		next := make([]float64, 2)
		k := &minding{remembered: remembered{memory: make([]float64, 1)}}
		k.made = made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			begin: func() { k.memory[0] = 0 },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				j := int(k.memory[0])
				copy(next, s.Theta)
				next[j] += step * rng.NormFloat64()
				info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
				if err == nil {
					k.known, k.memory[0] = keeps, float64(1-j)
				}
				return info, err
			}}
		return k, err
	})
}

// reusing is Hamiltonian Monte Carlo of two leaps, whose momentum serves again now and then.
func reusing(name, effect string, chance int) Case {
	const h = 0.35
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		var bits *curator.Bits
		var slopes *curator.Gradients
		err := c.Grant(curator.RequestFor(&bits, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps),
			curator.RequestFor(&slopes, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, 2*steps))
		q, g := make([]float64, 2), make([]float64, 2)
		k := &minding{remembered: remembered{memory: make([]float64, 2)}}
		p := k.memory
		k.made = made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				info := kernels.Info{StepSize: h, Gradients: 2}
				again, y, z := chance > 0 && rng.IntN(max(1, chance)) == 0, rng.NormFloat64(), rng.NormFloat64()
				if !again || !k.known {
					p[0], p[1] = y, z
				}
				k.known = true
				copy(q, s.Theta)
				begun := dot(p, p) / 2
				for range 2 {
					q[0], q[1] = q[0]+h/2*p[0], q[1]+h/2*p[1]
					if err := slopes.Release(g, q); err != nil {
						return info, err
					}
					p[0], p[1] = p[0]-h*(g[0]+q[0]), p[1]-h*(g[1]+q[1])
					q[0], q[1] = q[0]+h/2*p[0], q[1]+h/2*p[1]
				}
				var err error
				info.Accepted, err = bits.Accept(q, s.Theta, priorRatio(target, q, s.Theta)+begun-dot(p, p)/2)
				if info.Accepted {
					copy(s.Theta, q)
				}
				return info, err
			}}
		return k, err
	})
}

func fifteenthKernels() []Case {
	return []Case{
		kernel("noise of one parameter too small where the other is high", "5%", asked{langevin: true}, func() hooks {
			return hooks{noise: func(_ *chain, _ *rand.Rand, theta, z []float64) {
				z[1] *= either(normalised(theta, 0) > 0.5, 0.95, 1)
			}}
		}),
		tilted("the reverse drift has some of the start's slope", "15%", 0.15),
		sharing("the last two shares' density is corrected for too little", "0.9", 0.9),
		crossing("a stretching reflection without its Jacobian", "10%, 1 in 4", 0),
		logWalk("a log walk's Jacobian is small below 1", "0.9", 0.9),
		folded("a folded proposal's density is of one side", "shape", 0),
		five("noise of the fourth of five parameters too small", "3%", 0.97),
		halvedBy("noise too small with batches of three", "3%", 1, 0.97),
		keeping("the kept log prior is renewed after long moves only", "stale below 0.3", 2, false, func(m []float64) hooks {
			return hooks{public: func(k *chain, theta, next []float64, _ float64) float64 {
				if m[1] == 0 {
					m[0], m[1] = k.target.LogPrior(theta), 1
				}
				return k.target.LogPrior(next) - m[0]
			}, after: func(k *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
				if kernels.Distance(s.Theta, k.before) > 0.3 {
					m[0] = k.target.LogPrior(s.Theta)
				}
			}}
		}),
		proposed("a skew move of one parameter now and then", "1 in 10", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			if blur(rng, s, next); rng.IntN(10) == 0 {
				next[0] = s.Theta[0] + step*(rng.ExpFloat64()-1)
			}
			return 0
		}),
		proposed("a shear by the product of old and new", "0.3", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			next[1] += 0.3 * s.Theta[0] * (next[0] - s.Theta[0])
			return 0
		}),
		gibbs("one parameter and then the other, said to be reversible", "order", true),
		kernel("moves twice as long now and then", "1 in 20", asked{transition: true}, func() hooks {
			return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				by := either(rng.IntN(20) == 0, 2, 1)
				for j, t := range theta {
					next[j] = t + by*(next[j]-t)
				}
			}}
		}),
		turning("coordinates in turn, by a count that is not kept", "resumed chains", false),
		reusing("the last momentum serves again", "1 in 10", 10),
		idle("moves at powers of two alone", "rarely", func(i int64) bool { return i&(i-1) == 0 }),
		proposed("the second parameter stands still late", "from iteration 300 on", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			if blur(rng, s, next); s.Iteration >= 300 {
				next[1] = s.Theta[1]
			}
			return 0
		}),
		witnessed("StepSize where a loss was not finite", "0.1%", func(w *witness, _ *kernels.State) bool {
			return w.infinite
		}),
		witnessed("StepSize where a column is constant", "0.1%", func(w *witness, _ *kernels.State) bool {
			return w.seen > 50 && w.varies[0] != w.varies[1]
		}),
		witnessed("StepSize where two records are equal", "0.1%", func(w *witness, _ *kernels.State) bool {
			return w.seen > 50 && len(w.different) == 5
		}),
		witnessed("StepSize where records are in order", "0.1%", func(w *witness, _ *kernels.State) bool { return w.rose }),
		witnessed("StepSize where all records are small", "below 10⁻⁶", func(w *witness, _ *kernels.State) bool {
			return w.seen > 50 && w.largest < 1e-6
		}),
		witnessed("StepSize late for a record beyond 3", "from step 7000 on", func(w *witness, s *kernels.State) bool {
			return s.Iteration >= 7000 && w.largest > 3
		}),
	}
}

func fifteenthKernelControls() []Case {
	return []Case{
		tilted("moves along a public slope", "", 0),
		sharing("shares", "", 1),
		crossing("a stretching reflection", "", 1),
		logWalk("a log walk", "", 1),
		folded("a folded proposal", "", 1),
		five("Langevin in five dimensions", "", 1),
		gibbs("in either order, reversible", "", false),
		turning("coordinates in turn, by a count", "", true),
		reusing("two leaps", "", 0),
		witnessed("a target that counts", "", func(*witness, *kernels.State) bool { return false }),
		idle("moves at every fifth iteration", "", func(i int64) bool { return i%5 == 4 }),
	}
}
