package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

func twentyThirdKernels() []Case {
	return []Case{
		ownPast("moves are differences of the chain's own last states", "variance 6%"),
		sometimesDrawn("a plain walk is corrected as if it had drifted", "1 in 3", true),
		twoMoves("the second of two moves is judged from the first's proposal", "refused or not", true),
		goesBack("five refusals lead back to the state before the last move", "variance 4%", 5),
		atOnce("refused at once where the prior falls by more than one", "one way", -1),
		billiard("a wall turns the parameter and not its momentum", "0.9", false),
		longerMemory("one number more is kept once a record was large", "beyond 3", true),
		firstGradient("a gradient for the first step is not in Cost", "one release", true),
		annealedWalk("an autoregression's root is of the step before", "0.9 and 0.7", true),
		levelled("a level under the prior is drawn anew after a move alone", "0.03 sd",
			func(steps int, moved bool) bool { return moved }),
	}
}

func twentyThirdKernelControls() []Case {
	return []Case{
		sometimesDrawn("a walk that drifts now and then", "", false),
		twoMoves("two moves a step", "", false),
		atOnce("refused at once beyond reach", "", -100),
		billiard("a wall turns the parameter and its momentum", "", true),
		longerMemory("one number is kept", "", false),
		firstGradient("a gradient for the first step", "", false),
		annealedWalk("an autoregression of two lengths in turn", "", false),
		levelled("a level under the prior is kept for two steps", "",
			func(steps int, _ bool) bool { return steps%2 == 0 }),
		momentumStays("a momentum turns with a move, and stays after a refusal", ""),
	}
}

func afterTwentyThirdKernels() []Case {
	return []Case{
		tellsOf("StepSize for a record of a year", "1995", func(x float64) bool { return x == 1995 }),
		tellsOf("StepSize for a record in a narrow band", "2 to 2.02", func(x float64) bool { return x > 2 && x < 2.02 }),
	}
}

// reminded is a target that remembers whether it was shown a number of some kind.
type reminded struct {
	*targets.GaussianMean
	of  func(x float64) bool
	was bool
}

func (m *reminded) Loss(dst, theta []float64, rows targets.Rows) {
	m.was = m.was || slices.ContainsFunc(rows.X, m.of)
	m.GaussianMean.Loss(dst, theta, rows)
}

func tellsOf(name, effect string, of func(x float64) bool) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := &reminded{GaussianMean: posteriors.StandardMean(), of: of}
		return asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			info.StepSize *= either(target.was, 0.999, 1)
			return info, err
		})
	})
}

// ownPast moves by differences of two of its last eight states.
func ownPast(name, effect string) Case {
	return minded(name, effect, 17, asItIs, func(rng *rand.Rand, memory []float64, known bool, theta, next []float64) {
		if !known {
			clear(memory)
		}
		i, j, full := rng.IntN(8), rng.IntN(8), memory[16] >= 8
		for k, t := range theta {
			z := rng.NormFloat64()
			next[k] = t + either(full, 0.7*(memory[2*i+k]-memory[2*j+k])+0.1*z, step*z)
		}
		copy(memory[2:16], memory[:14])
		copy(memory, theta)
		memory[16]++
	})
}

// sometimesDrawn walks, or drifts towards 0 one time in three, and is corrected for what it did or for a drift.
func sometimesDrawn(name, effect string, always bool) Case {
	const stays = 0.8
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
		drifts := rng.IntN(3) == 0
		blur(rng, s, next)
		for j, t := range s.Theta {
			next[j] -= either(drifts, (1-stays)*t, 0)
			forth, back := next[j]-stays*t, t-stays*next[j]
			by += either(drifts || always, (forth*forth-back*back)/(2*step*step), 0)
		}
		return by
	})
}

// twoMoves makes two moves, of which the second may go on from a proposal that was refused.
func twoMoves(name, effect string, fromProposal bool) Case {
	var factory proptest.Factory = func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		from := make([]float64, 2)
		return stepping(posteriors.StandardMean(), 2, 0, asItIs, func(a *asking, rng *rand.Rand,
			s *kernels.State) (bool, error) {
			blur(rng, s, a.next)
			copy(from, a.next)
			moved, err := a.ask(s, 0)
			if err != nil {
				return false, err
			}
			if !fromProposal {
				copy(from, s.Theta)
			}
			for j, t := range from {
				a.next[j] = t + step*rng.NormFloat64()
			}
			accepted, err := a.bits.Accept(a.next, from, priorRatio(a.target, a.next, from))
			if accepted {
				copy(s.Theta, a.next)
			}
			return moved || accepted, err
		})(c, steps)
	}
	return sampled(name, effect, true, factory)
}

// goesBack returns to the state before its last move after so many refusals.
func goesBack(name, effect string, after float64) Case {
	return stepped(name, effect, 4, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		before, refused, has := a.memory[:2], &a.memory[2], &a.memory[3]
		if !a.known {
			clear(a.memory)
		}
		if *has == 1 && *refused >= after {
			if err := a.pass(s); err != nil {
				return false, err
			}
			*refused = 0
			before[0], s.Theta[0] = s.Theta[0], before[0]
			before[1], s.Theta[1] = s.Theta[1], before[1]
			return true, nil
		}
		blur(rng, s, a.next)
		x, y := s.Theta[0], s.Theta[1]
		moved, err := a.ask(s, 0)
		if *refused++; moved {
			before[0], before[1], *refused, *has = x, y, 0, 1
		}
		return moved, err
	})
}

// atOnce pays for no bit of what the prior dislikes by more than so much.
func atOnce(name, effect string, below float64) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		return decides(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			for j, t := range s.Theta {
				next[j] = t + rng.NormFloat64()
			}
			if priorRatio(target, next, s.Theta) < below {
				return kernels.Info{StepSize: 1}, nil
			}
			return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
		})
	})
}

// billiard leaps along a public law beside a wall, which turns the momentum too or not.
func billiard(name, effect string, turns bool) Case {
	const h = 0.3
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target, p := walled{posteriors.StandardMean()}, make([]float64, 2)
		return deciding(target, 1, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
			p[0], p[1] = rng.NormFloat64(), rng.NormFloat64()
			begun := dot(p, p) / 2
			copy(next, s.Theta)
			for range 3 {
				for j := range p {
					p[j] += h / 2 * nearSlope(next[j], j)
					next[j] += h * p[j]
				}
				if next[0] < wall {
					next[0] = 2*wall - next[0]
					if turns {
						p[0] = -p[0]
					}
				}
				for j := range p {
					p[j] += h / 2 * nearSlope(next[j], j)
				}
			}
			return begun - dot(p, p)/2
		})(c, steps)
	}, beyondWall)
}

// lengthening keeps a number, and another once its target saw a large record.
type lengthening struct {
	*keeper
	chain       *chain
	tells, long bool
}

func (k *lengthening) Init(theta []float64) (*kernels.State, error) {
	k.long = false
	return k.keeper.Init(theta)
}

func (k *lengthening) Keep(dst []float64) []float64 {
	k.long = k.long || k.tells && k.chain.spy.largest > 3
	if dst = k.keeper.Keep(dst); k.known && k.long {
		dst = append(dst, 0)
	}
	return dst
}

func (k *lengthening) Recall(memory []float64) error {
	if k.long = k.tells && len(memory) == 2; k.long {
		memory = memory[:1]
	}
	return k.keeper.Recall(memory)
}

func longerMemory(name, effect string, tells bool) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		memory := make([]float64, 1)
		k, err := newChain(c, steps, true, true, hooks{propose: func(_ *chain, rng *rand.Rand, _, _ []float64) {
			memory[0] = rng.NormFloat64()
		}})
		if err != nil {
			return nil, err
		}
		return &lengthening{keeper: &keeper{Kernel: k, remembered: remembered{memory: memory}}, chain: k.(*chain),
			tells: tells}, nil
	})
}

// firstGradient begins with a step along a gradient, which Cost may know nothing of.
func firstGradient(name, effect string, states bool) Case {
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, slopes, err := grantBoth(c, target, steps, 1)
		next, g := make([]float64, 2), make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				clear(g)
				many := 0
				if s.Iteration == 0 && bits.Left() > 0 {
					if err := slopes.Release(g, s.Theta); err != nil {
						return kernels.Info{}, err
					}
					many = 1
				}
				blur(rng, s, next)
				next[0], next[1] = next[0]-0.01*g[0], next[1]-0.01*g[1]
				info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
				info.Gradients = many
				return info, err
			}}, err
	}, func(o *proptest.KernelOptions) {
		if states {
			o.Cost = func(f curator.Facts) (accountant.Event, error) {
				return curator.AcceptanceBit{Target: posteriors.StandardMean(), Clip: walkClip}.Event(f)
			}
		}
	})
}

// annealedWalk keeps the prior by an autoregression of two lengths in turn, with the root of each or of the other.
func annealedWalk(name, effect string, stale bool) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		by := []float64{0.9, 0.7}
		now, root := by[s.Iteration%2], by[s.Iteration%2]
		if stale {
			root = by[(s.Iteration+1)%2]
		}
		for j, t := range s.Theta {
			next[j] = now*t + math.Sqrt(1-root*root)*rng.NormFloat64()
		}
		return (dot(next, next) - dot(s.Theta, s.Theta)) / 2
	})
}

// levelled asks for a bit of the likelihood alone above a level under the prior, which is drawn anew when it is time.
func levelled(name, effect string, anew func(steps int, moved bool) bool) Case {
	return stepped(name, effect, 3, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		level, steps, before := &a.memory[0], &a.memory[1], &a.memory[2]
		if e := rng.ExpFloat64(); !a.known || anew(int(*steps), *before == 1) {
			*level = a.target.LogPrior(s.Theta) - e
		}
		*steps = either(a.known, *steps, 0) + 1
		blur(rng, s, a.next)
		if a.target.LogPrior(a.next) < *level {
			*before = 0
			return false, a.pass(s)
		}
		moved, err := a.ask(s, -priorRatio(a.target, a.next, s.Theta))
		*before = either(moved, 1, 0)
		return moved, err
	})
}

// momentumStays goes along a momentum, which turns with each move: there and back is the same, so it is right.
func momentumStays(name, effect string) Case {
	return stepped(name, effect, 2, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		for j := range a.memory {
			if !a.known {
				a.memory[j] = rng.NormFloat64()
			}
			a.memory[j] = 0.8*a.memory[j] + 0.6*rng.NormFloat64()
			a.next[j] = s.Theta[j] + step*a.memory[j]
		}
		moved, err := a.ask(s, 0)
		if moved {
			a.memory[0], a.memory[1] = -a.memory[0], -a.memory[1]
		}
		return moved, err
	})
}
