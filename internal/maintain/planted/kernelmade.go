package planted

import (
	"errors"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

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
	if len(memory) != 0 && len(memory) != len(r.memory) {
		return errForeign
	}
	r.known = copy(r.memory, memory) > 0
	return nil
}

var errForeign = errors.New("the memory is none of this kernel's")

// minding is made with a memory.
type minding struct {
	made
	remembered
}

func newMinding(target targets.Target, memory int, left func() int64) *minding {
	return &minding{made{Frame: kernels.NewFrame("made", target), left: left},
		remembered{memory: make([]float64, memory)}}
}

func (k *minding) Init(theta []float64) (*kernels.State, error) {
	k.known = false
	return k.made.Init(theta)
}

// keeper is a walk that keeps the numbers that its hooks remember, so that it can be interrupted.
type keeper struct {
	kernels.Kernel
	remembered
}

func (k *keeper) Init(theta []float64) (*kernels.State, error) {
	clear(k.memory)
	k.known = false
	return k.Kernel.Init(theta)
}

func (k *keeper) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	info, err := k.Kernel.Step(rng, s)
	k.known = k.known || err == nil
	return info, err
}

// keeping is such a walk of n numbers, all 0 at first.
func keeping(name, effect string, n int, follows bool, plant func(memory []float64) hooks) Case {
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		memory := make([]float64, n)
		k, err := newChain(c, steps, !follows, false, plant(memory))
		return &keeper{Kernel: k, remembered: remembered{memory: memory}}, err
	}, func(o *proptest.KernelOptions) { o.Exact = exactly(either(follows, langevin, sd)) })
}

// grantBoth is the grant of a bit a step and of so many gradients in all.
func grantBoth(c *curator.Curator, target targets.GradTarget, steps, gradients int64) (bits *curator.Bits,
	slopes *curator.Gradients, err error) {
	err = c.Grant(curator.RequestFor(&bits, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps),
		curator.RequestFor(&slopes, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, gradients))
	return bits, slopes, err
}

// asks is a kernel of a bit a step, decides one that may end a step without it, and descends one of a
// released gradient a step, which it always moves along.
func asks(c *curator.Curator, steps int64, target targets.Target, step func(bits *curator.Bits, next []float64,
	rng *rand.Rand, s *kernels.State) (kernels.Info, error)) (*made, error) {
	bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
	next := make([]float64, target.Dim())
	return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
		step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) { return step(bits, next, rng, s) }}, err
}

func decides(c *curator.Curator, steps int64, target targets.Target, step func(bits *curator.Bits, next []float64,
	rng *rand.Rand, s *kernels.State) (kernels.Info, error)) (*made, error) {
	left := steps
	k, err := asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
		s *kernels.State) (kernels.Info, error) {
		if left == 0 {
			return kernels.Info{}, curator.ErrSpent
		}
		left--
		return step(bits, next, rng, s)
	})
	k.left = func() int64 { return left }
	return k, err
}

func descends(c *curator.Curator, steps int64, m curator.NoisyGradient, h float64, move func(slopes *curator.Gradients,
	g []float64, rng *rand.Rand, theta []float64)) (*made, error) {
	slopes, err := curator.Charge(c, m, steps)
	g := make([]float64, m.Target.Dim())
	return &made{Frame: kernels.NewFrame("made", m.Target), left: func() int64 { return slopes.Left() },
		step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
			if err := slopes.Release(g, s.Theta); err != nil {
				return kernels.Info{}, err
			}
			move(slopes, g, rng, s.Theta)
			return kernels.Info{Accepted: true, StepSize: h, Gradients: 1}, nil
		}}, err
}

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

func asItIs(k *minding) kernels.Kernel { return k }

// minded is a walk whose proposals depend on a memory, which is kept as it is or in another way.
func minded(name, effect string, memory int, as func(k *minding) kernels.Kernel, propose func(rng *rand.Rand,
	memory []float64, known bool, theta, next []float64)) Case {
	return sampled(name, effect, true, stepping(posteriors.StandardMean(), 1, memory, as, func(a *asking,
		rng *rand.Rand, s *kernels.State) (bool, error) {
		propose(rng, a.memory, a.known, s.Theta, a.next)
		return a.ask(s, 0)
	}))
}
