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

func twentyFourthKernels() []Case {
	return []Case{
		movingSurrogate("a surrogate moves between its test and the correction", "a tenth of the way", 0.1),
		precisely("a precision is drawn with a degree too many", "4 for 3½", true),
		untilMoved("stays at a coordinate until it moves", "one of two", true),
		recalledScale("a used kernel that recalls a chain has the scale before", "Init, Recall", true),
		anchored("an anchor's gradient is of the state before", "half a step", true),
		inwards("a leap towards the middle has no way back", "9% of the law", true),
		countingOn("a whole number leaves its ends at once, uncorrected", "½", false),
		unsettled("a step that fails leaves its proposal", "spent", false),
		ownCount("Iteration is the kernel's own count", "second chains", true),
		exchanging("an auxiliary draw is of the state, not of the proposal", "exchange", true),
		copies("two copies move by the same noise", "dependent", true),
	}
}

func twentyFourthKernelControls() []Case {
	return []Case{
		movingSurrogate("a surrogate stays", "", 0),
		precisely("a precision is drawn, and then a mean", "", false),
		untilMoved("coordinates in turn, kept", "", false),
		recalledScale("a scale is drawn once a chain", "", false),
		anchored("an anchor's gradient", "", false),
		inwards("a leap towards the middle has a way back", "", false),
		countingOn("a whole number leaves its ends at once, corrected", "", true),
		unsettled("a step that fails goes back", "", true),
		ownCount("Iteration counts steps", "", false),
		exchanging("an auxiliary draw is of the proposal", "", false),
		copies("two copies move", "", false),
	}
}

// movingSurrogate asks a surrogate first, and corrects for it. The surrogate's center may move in between.
func movingSurrogate(name, effect string, by float64) Case {
	return stepped(name, effect, 2, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		at := a.memory
		if !a.known {
			clear(at)
		}
		surrogate := func() (r float64) {
			for j, t := range s.Theta {
				r += (t-at[j])*(t-at[j]) - (a.next[j]-at[j])*(a.next[j]-at[j])
			}
			return r
		}
		blur(rng, s, a.next)
		if rng.ExpFloat64() < -surrogate() {
			return false, a.pass(s)
		}
		for j, v := range a.next {
			at[j] += by * (v - at[j])
		}
		return a.ask(s, -surrogate())
	})
}

// precisely draws the logarithm of a precision given a mean, and walks with the mean.
func precisely(name, effect string, many bool) Case {
	const shape, rate = 3, 3.0
	var target targets.Target = apart{first: true, log: func(t []float64) float64 {
		precision := math.Exp(t[1])
		return t[1]/2 - precision*t[0]*t[0]/2 + shape*t[1] - rate*precision
	}}
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			if bits.Left() == 0 {
				return kernels.Info{}, curator.ErrSpent
			}
			before, z := s.Theta[1], rng.NormFloat64()
			g := rng.ExpFloat64() + rng.ExpFloat64() + rng.ExpFloat64() + either(many, rng.ExpFloat64(), z*z/2)
			s.Theta[1] = math.Log(g / (rate + s.Theta[0]*s.Theta[0]/2))
			next[0], next[1] = s.Theta[0]+step*rng.NormFloat64(), s.Theta[1]
			info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			if info.Accepted = true; err != nil {
				s.Theta[1] = before
			}
			return info, err
		})
	}, func(o *proptest.KernelOptions) {
		o.Start = []float64{1, 0}
		o.Exact = func(rng *rand.Rand, theta []float64) {
			for {
				precision := (rng.ExpFloat64() + rng.ExpFloat64() + rng.ExpFloat64()) / rate
				if v := 1/precision + 1./6; rng.Float64() < math.Sqrt(2.25/v)*math.Exp(0.5-2.25/(2*v)) {
					theta[0] = 9/(6+precision) + rng.NormFloat64()/math.Sqrt(6+precision)
					theta[1] = math.Log(precision)
					return
				}
			}
		}
	})
}

// untilMoved moves one coordinate at a time, and goes to the other in turn or when it has moved.
func untilMoved(name, effect string, stays bool) Case {
	return stepped(name, effect, 1, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		if !a.known {
			a.memory[0] = 0
		}
		copy(a.next, s.Theta)
		a.next[int(a.memory[0])] += 2 * step * rng.NormFloat64()
		moved, err := a.ask(s, 0)
		if moved || !stays {
			a.memory[0] = 1 - a.memory[0]
		}
		return moved, err
	})
}

// recalledScale has a length of moves that is drawn once a chain, and is computed from what is kept when it is needed.
func recalledScale(name, effect string, once bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		length := 0.0
		return stepping(posteriors.StandardMean(), 1, 1, asItIs, func(a *asking, rng *rand.Rand,
			s *kernels.State) (bool, error) {
			if !a.known {
				a.memory[0], length = 0.3*rng.NormFloat64(), 0
			}
			if length == 0 || !once {
				length = step * math.Exp(a.memory[0])
			}
			for j, t := range s.Theta {
				a.next[j] = t + length*rng.NormFloat64()
			}
			return a.ask(s, 0)
		})(c, steps)
	})
}

// anchored goes along the mean of a gradient and of that at an anchor, which is led to the state by a curvature
// that all may know. The anchor is the state that the gradient is of, or the next one.
func anchored(name, effect string, late bool) Case {
	const curvature = precision - 1
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		slopes, err := curator.Charge(c, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, steps)
		k, g := newMinding(target, 4, func() int64 { return slopes.Left() }), make([]float64, 2)
		k.step = func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
			if err := slopes.Release(g, s.Theta); err != nil {
				return kernels.Info{}, err
			}
			kept, at := k.memory[:2], k.memory[2:]
			if !k.known {
				copy(kept, g)
				copy(at, s.Theta)
			}
			k.known = true
			for j, t := range s.Theta {
				mean := (g[j] + kept[j] + curvature*(t-at[j])) / 2
				s.Theta[j] += -size/2*(mean+t) + math.Sqrt(size)*rng.NormFloat64()
				kept[j], at[j] = g[j], t
				if late {
					at[j] = s.Theta[j]
				}
			}
			return kernels.Info{Accepted: true, StepSize: size, Gradients: 1}, nil
		}
		return k, err
	}, func(o *proptest.KernelOptions) { o.Exact = exactly(math.Sqrt(size / (1 - keep*keep))) })
}

// inwards leaps towards a middle now and then. From far out the leap does not come back.
func inwards(name, effect string, anyway bool) Case {
	const middle, far = 1.3, 0.5
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		if blur(rng, s, next); rng.IntN(3) > 0 {
			return 0
		}
		copy(next, s.Theta)
		next[0] += either(next[0] < middle, 1, -1) * (far + 0.05*rng.NormFloat64())
		return either(!anyway && (next[0] < middle) == (s.Theta[0] < middle), math.Inf(-1), 0)
	})
}

// countingOn walks on the whole numbers from 0 to 5, which it leaves for the only neighbour at their ends.
func countingOn(name, effect string, corrected bool) Case {
	const last = 5
	target := prior{2, func(t []float64) float64 {
		return either(t[0] == math.Trunc(t[0]) && t[0] >= 0 && t[0] <= last, -t[0]/4-t[1]*t[1]/2, math.Inf(-1))
	}}
	return kernelCase(name, effect, deciding(target, 1, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		next[0], next[1] = s.Theta[0], s.Theta[1]+rng.NormFloat64()
		if rng.IntN(2) == 0 {
			return 0
		}
		end := func(v float64) float64 { return either(v == 0 || v == last, math.Ln2, 0) }
		switch s.Theta[0] {
		case 0:
			next[0]++
		case last:
			next[0]--
		default:
			next[0] += float64(2*rng.IntN(2) - 1)
		}
		return either(corrected, end(next[0])-end(s.Theta[0]), 0)
	}), func(o *proptest.KernelOptions) {
		o.Start = []float64{0, 0}
		o.Exact = func(rng *rand.Rand, t []float64) {
			for t[0] = float64(rng.IntN(last + 1)); rng.ExpFloat64() < t[0]/4; t[0] = float64(rng.IntN(last + 1)) {
			}
			t[1] = rng.NormFloat64()
		}
	})
}

// unsettled writes its proposal over the state, and the state back if it is refused.
func unsettled(name, effect string, restores bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target, before := posteriors.StandardMean(), make([]float64, 2)
		return asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			copy(before, s.Theta)
			copy(s.Theta, next)
			accepted, err := bits.Accept(next, before, priorRatio(target, next, before))
			if !accepted && (err == nil || restores) {
				copy(s.Theta, before)
			}
			return kernels.Info{Accepted: accepted, StepSize: step}, err
		})
	})
}

// ownCount may have its number of steps in all chains for that of the state.
func ownCount(name, effect string, own bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target, count := posteriors.StandardMean(), int64(0)
		return asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			if err != nil {
				return info, err
			}
			if own {
				s.Iteration = count
			}
			count++
			return info, nil
		})
	})
}

// exchanging has a further part of its law whose normaliser it does not compute: an auxiliary draw is in its place.
func exchanging(name, effect string, ofState bool) Case {
	return kernelCase(name, effect, deciding(posteriors.StandardMean(), 1, func(rng *rand.Rand, s *kernels.State,
		next []float64) float64 {
		blur(rng, s, next)
		now, then := math.Exp(s.Theta[1]), math.Exp(next[1])
		w := rng.ExpFloat64() / either(ofState, now, then)
		return (now - then) * (1 - w)
	}), func(o *proptest.KernelOptions) {
		exact := exactly(sd)
		o.Exact = func(rng *rand.Rand, t []float64) {
			for exact(rng, t); rng.Float64() > math.Exp(1+t[1]-math.Exp(t[1])); exact(rng, t) {
			}
		}
	})
}

// copies are two copies of a law, each with a bit a step.
func copies(name, effect string, shared bool) Case {
	four := posteriors.Must(targets.New(targets.GaussianMeanConfig{Features: 4, Prior: priors.Gaussian{SD: 1}}))
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, 2*steps)
		next, z := make([]float64, 2), make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", four), left: func() int64 { return bits.Left() / 2 },
			step: func(rng *rand.Rand, s *kernels.State) (all kernels.Info, err error) {
				if bits.Left() < 2 {
					return all, curator.ErrSpent
				}
				for i := range 2 {
					theta := s.Theta[2*i : 2*i+2]
					for j, t := range theta {
						if i == 0 || !shared {
							z[j] = rng.NormFloat64()
						}
						next[j] = t + step*z[j]
					}
					info, err := moving(bits, next, theta, priorRatio(target, next, theta))
					if err != nil {
						return all, err
					}
					all.Accepted = all.Accepted || info.Accepted
				}
				all.StepSize = step
				return all, nil
			}}, err
	}, func(o *proptest.KernelOptions) {
		o.Start = []float64{1, 0, 1, 0}
		exact := exactly(sd)
		o.Exact = func(rng *rand.Rand, t []float64) {
			exact(rng, t[:2])
			exact(rng, t[2:])
		}
	})
}

func afterTwentyFourthKernels() []Case {
	return []Case{
		ownState("Step moves the State that Init gave", "copies", true),
	}
}

func afterTwentyFourthKernelControls() []Case {
	return []Case{
		ownState("Step moves the State that it is given", "", false),
		proposed("a leap of one length now and then", "", func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
			if blur(rng, s, next); rng.IntN(4) == 0 {
				copy(next, s.Theta)
				next[0] += either(rng.IntN(2) == 0, 0.8, -0.8)
			}
			return 0
		}),
	}
}

// ownState moves the state that Init gave, or the one that it is given.
func ownState(name, effect string, own bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		k, err := asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
		})
		if !own {
			return k, err
		}
		return &settled{made: k}, err
	})
}

// settled goes on with its own state.
type settled struct {
	*made
	state *kernels.State
}

func (k *settled) Init(theta []float64) (*kernels.State, error) {
	s, err := k.made.Init(theta)
	k.state = s
	return s, err
}

func (k *settled) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if k.state.Iteration != s.Iteration {
		k.state.Iteration = s.Iteration
	}
	info, err := k.made.Step(rng, k.state)
	s.Iteration = k.state.Iteration
	return info, err
}
