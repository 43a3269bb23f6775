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

// The families named thirteenth were written, and run once, before their author read the suites'
// code and before anything was changed.

// made is a kernel of functions.
type made struct {
	kernels.Frame
	step  func(rng *rand.Rand, s *kernels.State) (kernels.Info, error)
	left  func() int64
	begin func() // what Init forgets; nil for nothing
}

func (k *made) Name() string { return "made" }
func (k *made) Left() int64  { return k.left() }

func (k *made) Init(theta []float64) (*kernels.State, error) {
	if k.begin != nil {
		k.begin()
	}
	return k.Frame.Init(theta)
}

func (k *made) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	info, err := k.step(rng, s)
	if err != nil {
		return kernels.Info{}, err
	}
	s.Iteration++
	return info, nil
}

// remembered is what a kernel keeps between steps, of nothing before the first.
type remembered struct {
	memory []float64
	known  bool
}

func (r *remembered) Keep(dst []float64) []float64 {
	if r.known {
		dst = append(dst, r.memory...)
	}
	return dst
}

func (r *remembered) Recall(memory []float64) error {
	r.known = copy(r.memory, memory) > 0
	return nil
}

// minding is made with a memory.
type minding struct {
	made
	remembered
}

func (k *minding) Init(theta []float64) (*kernels.State, error) {
	k.known = false
	return k.made.Init(theta)
}

// moving takes a proposal if the bit says so.
func moving(bits *curator.Bits, next, theta []float64, ratio float64) (kernels.Info, error) {
	accepted, err := bits.Accept(next, theta, ratio)
	if accepted {
		copy(theta, next)
	}
	return kernels.Info{Accepted: accepted, StepSize: step}, err
}

func priorRatio(target targets.Target, next, theta []float64) float64 {
	return target.LogPrior(next) - target.LogPrior(theta)
}

// penalised is a walk with a penalty for the noise of its ratios, which grows with moves.
func penalised(name, effect string, penalty func(now, last float64) float64) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		ratios, err := curator.Charge(c, curator.NoisyRatio{Target: target, Clip: 50, PerLength: true,
			NoiseMultiplier: 0.013}, steps)
		if err != nil {
			return nil, err
		}
		next := make([]float64, 2)
		k := &minding{remembered: remembered{memory: make([]float64, 1)}, made: made{
			Frame: kernels.NewFrame("made", target), left: ratios.Left}}
		k.step = func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
			for j, t := range s.Theta {
				next[j] = t + step*rng.NormFloat64()
			}
			noisy, err := ratios.Release(next, s.Theta)
			if err != nil {
				return kernels.Info{}, err
			}
			now := ratios.NoiseSD()
			if !k.known {
				k.memory[0] = now
			}
			accepted := -rng.ExpFloat64() < noisy+priorRatio(target, next, s.Theta)-penalty(now, k.memory[0])
			if k.known, k.memory[0] = true, now; accepted {
				copy(s.Theta, next)
			}
			return kernels.Info{Accepted: accepted, StepSize: step}, nil
		}
		return k, nil
	})
}

// heat is the temperature of a second chain, whose parameters are the last two of four.
const heat = 0.4

type swapFlaws struct {
	prior, hot, halfway bool
}

func tempered(name, effect string, f swapFlaws) Case {
	four := posteriors.Must(targets.New(targets.GaussianMeanConfig{Features: 4, Prior: priors.Gaussian{SD: 1}}))
	factory := func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		var cold, hot, swap *curator.Bits
		bit := func(temperature float64) curator.AcceptanceBit {
			return curator.AcceptanceBit{Target: target, Clip: walkClip, Temperature: temperature}
		}
		err := c.Grant(curator.RequestFor(&cold, bit(1), steps), curator.RequestFor(&hot, bit(heat), steps),
			curator.RequestFor(&swap, bit(either(f.hot, heat, 1-heat)), steps))
		next := make([]float64, 2)
		walk := func(rng *rand.Rand, bits *curator.Bits, theta []float64) (kernels.Info, error) {
			for j, t := range theta {
				next[j] = t + step*rng.NormFloat64()
			}
			return moving(bits, next, theta, priorRatio(target, next, theta))
		}
		return &made{Frame: kernels.NewFrame("made", four), left: func() int64 { return cold.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				a, b := s.Theta[:2], s.Theta[2:]
				first, err := walk(rng, cold, a)
				if err != nil {
					return first, err
				}
				second, err := walk(rng, hot, b)
				if err != nil {
					return second, err
				}
				ratio := 0.0
				if f.prior {
					ratio = priorRatio(target, b, a)
				}
				swapped, err := swap.Accept(b, a, ratio)
				if swapped {
					copy(next, a)
					copy(a, b)
					if f.halfway {
						copy(next, a)
					}
					copy(b, next)
				}
				first.Accepted = first.Accepted || second.Accepted || swapped
				return first, err
			}}, err
	}
	return kernelCase(name, effect, factory, func(o *proptest.KernelOptions) {
		o.Start = []float64{1, 0, 1, 0}
		o.Exact = func(rng *rand.Rand, theta []float64) {
			hot := 1 + heat*(precision-1)
			for j, c := range center {
				theta[j] = c + sd*rng.NormFloat64()
				theta[2+j] = heat*c*precision/hot + rng.NormFloat64()/math.Sqrt(hot)
			}
		}
	})
}

// mala corrects Langevin moves along released gradients, each of which serves twice.
type malaFlaws struct {
	wholeBack, plainBack bool // in the reverse density
	refused              bool // the gradient where a refused move ended is kept
	keeps                bool // what is kept is that
}

func mala(name, effect string, law bool, f malaFlaws) Case {
	const h = 0.12
	by := [2]float64{1, 1.6}
	return sampled(name, effect, law, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		var bits *curator.Bits
		var slopes *curator.Gradients
		err := c.Grant(curator.RequestFor(&bits, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps),
			curator.RequestFor(&slopes, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, steps+1))
		next, there, here := make([]float64, 2), make([]float64, 2), make([]float64, 2)
		k := &minding{remembered: remembered{memory: make([]float64, 2)}, made: made{Frame: kernels.NewFrame("made", target),
			left: func() int64 { return bits.Left() }}}
		current := k.memory
		if f.keeps {
			current = here
		}
		started := false
		k.begin = func() { started = false }
		release := func(g, theta []float64) error {
			if err := slopes.Release(g, theta); err != nil {
				return err
			}
			for j, t := range theta {
				g[j] = -g[j] - t
			}
			return nil
		}
		k.step = func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
			info := kernels.Info{StepSize: h, Gradients: 1}
			if f.keeps && k.known && !started {
				copy(here, k.memory)
			}
			if !k.known {
				if bits.Left() == 0 {
					return info, curator.ErrSpent
				}
				if err := release(current, s.Theta); err != nil {
					return info, err
				}
				info.Gradients++
			}
			forward := 0.0
			for j, t := range s.Theta {
				z := rng.NormFloat64()
				forward -= z * z / 2
				next[j] = t + h*by[j]/2*current[j] + math.Sqrt(h*by[j])*z
			}
			if bits.Left() == 0 {
				return info, curator.ErrSpent
			}
			if err := release(there, next); err != nil {
				return info, err
			}
			back := 0.0
			for j, t := range s.Theta {
				d := t - next[j] - either(f.wholeBack, 0.55, 0.5)*h*by[j]*there[j]
				back -= d * d / (2 * h * either(f.plainBack && j == 1, 1.5, by[j]))
			}
			var err error
			info.Accepted, err = bits.Accept(next, s.Theta, priorRatio(target, next, s.Theta)+back-forward)
			if err != nil {
				return info, err
			}
			if started, k.known = true, true; info.Accepted {
				copy(s.Theta, next)
			}
			if info.Accepted || f.refused {
				copy(current, there)
			}
			if f.keeps {
				copy(k.memory, there)
			}
			return info, nil
		}
		return k, err
	})
}

// dense is Hamiltonian Monte Carlo with a mass matrix LLᵀ, and a bit for its test.
type denseFlaws struct {
	transposed, diagonal bool
}

func dense(name, effect string, f denseFlaws) Case {
	const h, n = 0.35, 2
	a, b, d := 1.4, 0.6, 0.9 // L is a, 0; b, d
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		var bits *curator.Bits
		var slopes *curator.Gradients
		err := c.Grant(curator.RequestFor(&bits, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps),
			curator.RequestFor(&slopes, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, (n+1)*steps))
		p, q, g := make([]float64, 2), make([]float64, 2), make([]float64, 2)
		solve := func() (u, v float64) { // M⁻¹p
			y := p[0] / a
			w := (p[1] - b*y) / d
			v = w / d
			return (y - b*v) / a, v
		}
		energy := func() float64 {
			if f.diagonal {
				return p[0]*p[0]/(2*a*a) + p[1]*p[1]/(2*(b*b+d*d))
			}
			u, v := solve()
			return (u*p[0] + v*p[1]) / 2
		}
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				info := kernels.Info{StepSize: h, Gradients: n + 1}
				y, z := rng.NormFloat64(), rng.NormFloat64()
				p[0], p[1] = a*y, b*y+d*z
				if f.transposed {
					p[0], p[1] = a*y+b*z, d*z
				}
				copy(q, s.Theta)
				begun := energy()
				for i := range n + 1 {
					if i > 0 {
						u, v := solve()
						q[0], q[1] = q[0]+h*u, q[1]+h*v
					}
					if err := slopes.Release(g, q); err != nil {
						return info, err
					}
					for j, t := range q {
						p[j] -= h * either(i == 0 || i == n, 0.5, 1) * (g[j] + t)
					}
				}
				var err error
				info.Accepted, err = bits.Accept(q, s.Theta, priorRatio(target, q, s.Theta)+begun-energy())
				if info.Accepted {
					copy(s.Theta, q)
				}
				return info, err
			}}, err
	})
}

// lifted moves one parameter in its direction, which turn changes.
func lifted(name, effect string, turn func(v []float64, moved int, accepted bool)) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip,
			Proposal: curator.Proposal{Scale: step, OneComponent: true}}, steps)
		next := make([]float64, 2)
		k := &minding{remembered: remembered{memory: make([]float64, 2)}, made: made{Frame: kernels.NewFrame("made", target),
			left: func() int64 { return bits.Left() }}}
		var theta []float64
		ratio := func(next []float64) float64 { return priorRatio(target, next, theta) }
		k.step = func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
			for j := range k.memory {
				if up := rng.IntN(2) == 0; !k.known {
					k.memory[j] = either(up, 1, -1)
				}
			}
			theta = s.Theta
			accepted, err := bits.MoveAlong(next, theta, k.memory, ratio)
			if err != nil {
				return kernels.Info{}, err
			}
			moved := 0
			if next[1] != theta[1] {
				moved = 1
			}
			if k.known = true; accepted {
				copy(theta, next)
			}
			turn(k.memory, moved, accepted)
			return kernels.Info{Accepted: accepted, StepSize: step}, nil
		}
		return k, err
	})
}

var sharedPrior float64 // of the last state of whatever chain

func thirteenthKernels() []Case {
	walk := func(name, effect string, plant func() hooks) Case { return kernel(name, effect, asked{}, plant) }
	tells := func(name, effect string, after func(k *chain, s *kernels.State, info *kernels.Info)) Case {
		return kernel(name, effect, asked{noLaw: true}, func() hooks {
			return hooks{after: func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) { after(k, s, info) }}
		})
	}
	zero := func(float64, float64) float64 { return 0 }
	return []Case{
		penalised("penalty by the noise of the move before", "stale",
			func(_, last float64) float64 { return last * last / 2 }),
		penalised("penalty of at most a half", "cut off", func(now, _ float64) float64 { return min(now*now/2, 0.5) }),
		tempered("a swap counts the prior", "prior ratio", swapFlaws{prior: true}),
		tempered("a swap at the hot temperature", "0.4 for 0.6", swapFlaws{hot: true}),
		tempered("a swap overwrites what it swaps", "one way", swapFlaws{halfway: true}),
		mala("the reverse drift is too long", "10%", true, malaFlaws{wholeBack: true}),
		mala("the reverse density of one parameter is wider", "1.5 for 1.6", true, malaFlaws{plainBack: true}),
		mala("a refusal leaves the gradient of the proposal", "stale", true, malaFlaws{refused: true}),
		mala("Keep returns the gradient of a refused proposal", "resumed chains", false, malaFlaws{keeps: true}),
		dense("momentum by the transposed factor", "LᵀL", denseFlaws{transposed: true}),
		dense("kinetic energy of the mass's diagonal", "off-diagonal", denseFlaws{diagonal: true}),
		lifted("a refusal turns the other direction", "1 − j", func(v []float64, moved int, accepted bool) {
			if !accepted {
				v[1-moved] *= -1
			}
		}),
		conditional("both parameters given the old ones", "at once", true),
		heavy("a density of one dimension for two", "exponent 3", 3),
		twofold("the second test knows nothing of the first", "no correction", func(float64) float64 { return 0 }),
		twofold("only what the surrogate refuses is corrected for", "one sign",
			func(first float64) float64 { return -min(first, 0) }),
		against("proposals beyond a wall are put on it", "an atom", func(rng *rand.Rand, at float64) float64 {
			return max(wall, at+step*rng.NormFloat64())
		}, zero),
		against("the mass beside a wall, the wrong way round", "sign", truncate,
			func(next, theta float64) float64 { return below(next) - below(theta) }),
		splitting("friction at both ends of a step", "variance 4%", "OBABO",
			func(alpha float64) float64 { return math.Sqrt(1 - alpha*alpha) }),
		splitting("the noise of half a step's friction", "α for α²", "BAOAB",
			func(alpha float64) float64 { return math.Sqrt(1 - alpha) }),
		stretched("a stretch with a power too many", "z² for z", 2),
		walk("log prior of the state in a package variable", "several chains", func() hooks {
			begun := false
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				begun = false
				return kernels.NewState(k.target, theta)
			}, public: func(k *chain, theta, next []float64, _ float64) float64 {
				if !begun {
					begun, sharedPrior = true, k.target.LogPrior(theta)
				}
				return k.target.LogPrior(next) - sharedPrior
			}, after: func(k *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
				sharedPrior = k.target.LogPrior(s.Theta)
			}}
		}),
		walk("a ratio of densities that vanish far away", "exp(−745)", func() hooks {
			return hooks{public: func(k *chain, theta, next []float64, _ float64) float64 {
				return math.Log(math.Exp(k.target.LogPrior(next)) / math.Exp(k.target.LogPrior(theta)))
			}}
		}),
		sampled("Accepted is of the last of two moves", "Info", false, lastOfTwo(false)),
		wideWalk("the third of three moves too long where two agree", "10%", 3, func(theta, next []float64) {
			mean := func(j int) float64 { // of the posterior
				sum := 0.0
				for i := j; i < 18; i += 3 {
					sum += float64(i%7)/3 - 1
				}
				return sum / precision
			}
			if (theta[1]-mean(1))*(theta[2]-mean(2)) > 0 {
				next[2] += 0.1 * (next[2] - theta[2])
			}
		}),
		smoothly("prior of another correlation", "0.77 for 0.8", correlatedWalk(0.77)),
		walk("the prior's tail is heavier", "beyond 2.5 sd", func() hooks {
			log := func(theta []float64) float64 {
				far := math.Abs(normalised(theta, 0)) - 2.5
				return either(far > 0, 2*far, 0)
			}
			return hooks{public: func(_ *chain, theta, next []float64, r float64) float64 {
				return r + log(next) - log(theta)
			}}
		}),
		walk("longer after a move, shorter after a refusal", "±20%, for ever", func() hooks {
			by := 1.0
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				by = 1
				return kernels.NewState(k.target, theta)
			}, propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] = t + by*(next[j]-t)
				}
			}, after: func(_ *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				by = either(info.Accepted, 1.2, 0.8)
			}}
		}),
		walk("mirrored at the running mean", "1 in 2", func() hooks {
			var mean [2]float64
			n := 0.0
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				n = 0
				return kernels.NewState(k.target, theta)
			}, propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				n++
				mirrored := rng.IntN(2) == 0
				for j, t := range theta {
					mean[j] += (t - mean[j]) / n
					next[j] += either(mirrored, 2*(mean[j]-t), 0)
				}
			}}
		}),
		tells("StepSize for a record of minus zero", "10⁻⁹", func(k *chain, _ *kernels.State, info *kernels.Info) {
			info.StepSize += either(k.spy.last == 0 && math.Signbit(k.spy.last), 1e-9, 0)
		}),
		tells("StepSize by the fraction of the last record", "within 10⁻³ of a half",
			func(k *chain, _ *kernels.State, info *kernels.Info) {
				_, part := math.Modf(math.Abs(k.spy.last))
				info.StepSize += either(math.Abs(part-0.5) < 1e-3, 1e-9, 0)
			}),
		kernel("StepSize after ten moves in a row, by the largest record", "10⁻⁹", asked{noLaw: true}, func() hooks {
			row := 0
			return hooks{after: func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				if row++; !info.Accepted {
					row = 0
				}
				info.StepSize += either(row == 10 && k.spy.largest > 2.5, 1e-9, 0)
			}}
		}),
		tells("Iteration counts twice at step 2500 for large records", "1",
			func(k *chain, s *kernels.State, _ *kernels.Info) {
				if k.steps == 2500 && k.spy.largest > 1e3 {
					s.Iteration++
				}
			}),
		halfBatch("Cost is of half the records, rounded up", "odd tables", 1),
	}
}
