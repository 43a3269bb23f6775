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

// Kernels of the families named nineteenth take steps of several bits, or of several moves of their own.

// asking is what a made step has: a bit for a proposal, which is taken if it says so, and a memory.
type asking struct {
	target targets.Target
	bits   *curator.Bits
	memory []float64
	known  bool
	next   []float64
	null   []float64
}

// ask takes next, with a correction.
func (a *asking) ask(s *kernels.State, correction float64) (bool, error) {
	info, err := moving(a.bits, a.next, s.Theta, priorRatio(a.target, a.next, s.Theta)+correction)
	return info.Accepted, err
}

// pass spends a bit on nothing.
func (a *asking) pass(s *kernels.State) error {
	copy(a.null, s.Theta)
	_, err := a.bits.Accept(a.null, s.Theta, 0)
	return err
}

// stepping is a kernel of one's own steps, of so many bits each, with a memory of so many numbers.
func stepping(target targets.Target, bits int64, memory int, as func(k *minding) kernels.Kernel,
	step func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error)) proptest.Factory {
	return func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		grant, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, bits*steps)
		d := target.Dim()
		a := &asking{target: target, bits: grant, next: make([]float64, d), null: make([]float64, d)}
		k := &minding{remembered: remembered{memory: make([]float64, memory)}}
		k.made = made{Frame: kernels.NewFrame("made", target), left: func() int64 { return grant.Left() / bits },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if grant.Left() < bits {
					return kernels.Info{}, curator.ErrSpent
				}
				a.memory, a.known = k.memory, k.known
				moved, err := step(a, rng, s)
				k.known = memory > 0
				return kernels.Info{Accepted: moved, StepSize: 1}, err
			}}
		if memory == 0 {
			return &k.made, err
		}
		return as(k), err
	}
}

func stepped(name, effect string, memory int, step func(a *asking, rng *rand.Rand,
	s *kernels.State) (bool, error)) Case {
	return sampled(name, effect, true, stepping(posteriors.StandardMean(), 1, memory, asItIs, step))
}

// relation is the correlation of two standard normal parameters.
const relation = 0.8

func relatedLog(t []float64, rho float64) float64 {
	return -(t[0]*t[0] - 2*rho*t[0]*t[1] + t[1]*t[1]) / (2 * (1 - rho*rho))
}

func steppedRelated(name, effect string, bits int64, step func(a *asking, rng *rand.Rand, s *kernels.State) (bool,
	error)) Case {
	m := apart{log: func(t []float64) float64 { return relatedLog(t, relation) }}
	return kernelCase(name, effect, stepping(m, bits, 0, asItIs, step), func(o *proptest.KernelOptions) {
		o.Exact = func(rng *rand.Rand, t []float64) {
			t[0] = rng.NormFloat64()
			t[1] = relation*t[0] + math.Sqrt(1-relation*relation)*rng.NormFloat64()
		}
	})
}

// innerInOrder draws each coordinate given the other from a surrogate, in one order or either.
func innerInOrder(name, effect string, order func(rng *rand.Rand) int) Case {
	return steppedRelated(name, effect, 1, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		const rho = 0.6
		mean := [2]float64{0.1, -0.1}
		log := func(t []float64) float64 { return relatedLog([]float64{t[0] - mean[0], t[1] - mean[1]}, rho) }
		copy(a.next, s.Theta)
		j := order(rng)
		for range 2 {
			a.next[j] = mean[j] + rho*(a.next[1-j]-mean[1-j]) + math.Sqrt(1-rho*rho)*rng.NormFloat64()
			j = 1 - j
		}
		return a.ask(s, log(s.Theta)-log(a.next))
	})
}

func byCoin(rng *rand.Rand, _ []float64) int { return rng.IntN(2) }

// innerMoves moves by a surrogate, three times or until it has moved once.
func innerMoves(name, effect string, until bool) Case {
	return stepped(name, effect, 0, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		at, moved := [2]float64(s.Theta), false
		for i := 0; i < 3 || until && !moved && i < 1000; i++ {
			for j, t := range at {
				a.next[j] = t + step*rng.NormFloat64()
			}
			if rng.Float64() < math.Exp(nearLog(a.next)-nearLog(at[:])) {
				at, moved = [2]float64(a.next), true
				if until {
					break
				}
			}
		}
		if copy(a.next, at[:]); !moved {
			return false, a.pass(s)
		}
		return a.ask(s, nearLog(s.Theta)-nearLog(a.next))
	})
}

// byted keeps a count modulo 256.
type byted struct{ *minding }

func (k *byted) Keep(dst []float64) []float64 {
	for _, v := range k.minding.Keep(nil) {
		dst = append(dst, math.Mod(v, 256))
	}
	return dst
}

func byCount(name, effect string, as func(k *minding) kernels.Kernel) Case {
	return sampled(name, effect, true, stepping(posteriors.StandardMean(), 1, 1, as, func(a *asking, rng *rand.Rand,
		s *kernels.State) (bool, error) {
		if !a.known {
			a.memory[0] = 0
		}
		a.memory[0]++
		for j, t := range s.Theta {
			a.next[j] = t + step*(1+1/math.Sqrt(a.memory[0]))*rng.NormFloat64()
		}
		return a.ask(s, 0)
	}))
}

// turnsOften walks one way, and turns after a refusal, and by chance.
func turnsOften(name, effect string, up, down float64) Case {
	return stepped(name, effect, 1, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		if !a.known {
			a.memory[0] = float64(2*rng.IntN(2) - 1)
		}
		blur(rng, s, a.next)
		a.next[0] = s.Theta[0] + a.memory[0]*math.Abs(a.next[0]-s.Theta[0])
		moved, err := a.ask(s, 0)
		if !moved {
			a.memory[0] = -a.memory[0]
		}
		if rng.Float64() < either(a.memory[0] > 0, up, down) {
			a.memory[0] = -a.memory[0]
		}
		return moved, err
	})
}

func nineteenthKernels() []Case {
	return []Case{
		innerInOrder("inner moves go through coordinates in order", "one order", func(*rand.Rand) int { return 0 }),
		innerMoves("inner moves go on until one is made", "1 to 1000", true),
		inTurn("a refused coordinate stays in the next proposal", "one of two", true, byCoin),
		byCount("a kept count comes back modulo 256", "resumed chains", func(k *minding) kernels.Kernel { return &byted{k} }),
		turnsOften("a direction turns more often on the way up", "12% and 8%", 0.12, 0.08),
	}
}

func nineteenthKernelControls() []Case {
	return []Case{
		innerInOrder("inner moves go through coordinates in either order", "", func(rng *rand.Rand) int {
			return rng.IntN(2)
		}),
		innerMoves("three inner moves", "", false),
		byCount("a kept count", "", asItIs),
		turnsOften("a direction turns as often either way", "", 0.1, 0.1),
	}
}
