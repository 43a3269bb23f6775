package planted

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

func twentySecondKernels() []Case {
	return []Case{
		oneOfTwo(8),
		recalledBy("Recall refuses nothing", "the first step", func(k *guided, memory []float64) error {
			if len(memory) == 0 {
				return errForeign
			}
			return k.Recall(memory)
		}),
		recalledBy("Recall takes a memory of any length", "three numbers", func(k *guided, memory []float64) error {
			copy(k.v, memory)
			return nil
		}),
		keepingEarly("numbers are kept before the first step", "two zeros"),
		anyStart(true),
		belowZero(true),
		pushed("the way back has the drift of the way out", "6%", 0.06, false),
		highest("the state of the highest prior is proposed", "1 in 100", 100),
		lazily("says Accepted of a proposal that is the state", "1 in 100", true),
		largestFirst("StepSize by whose loss is the largest", "10⁻⁹", 1e-9),
		heavierMoves("moves have heavier tails above the middle", "4 degrees", true),
		stratified("noise of ten steps is in strata", "serial", 10),
	}
}

func twentySecondKernelControls() []Case {
	return []Case{
		anyStart(false),
		belowZero(false),
		pushed("the way back has its own drift", "", 0.06, true),
		lazily("a proposal may be the state", "", false),
		heavierMoves("moves have heavy tails", "", false),
	}
}

// oneOfTwo moves if one of two bits says so, one time in so many.
func oneOfTwo(every int) Case {
	return sampled("one of two bits is enough now and then", "1 in 8", true, stepping(posteriors.StandardMean(), 2, 0,
		asItIs, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
			blur(rng, s, a.next)
			ratio, both := priorRatio(a.target, a.next, s.Theta), rng.IntN(every) == 0
			one, err := a.bits.Accept(a.next, s.Theta, ratio)
			if err != nil {
				return false, err
			}
			two, err := a.bits.Accept(a.next, s.Theta, ratio)
			if err != nil {
				return false, err
			}
			moves := one || both && two
			if moves {
				copy(s.Theta, a.next)
			}
			return moves, nil
		}))
}

// recaller is a guided walk with a Recall of its own.
type recaller struct {
	*guided
	recall func(k *guided, memory []float64) error
}

func (k recaller) Recall(memory []float64) error { return k.recall(k.guided, memory) }

func recalledBy(name, effect string, recall func(k *guided, memory []float64) error) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		k, err := newGuided(c, steps, true)
		return recaller{k, recall}, err
	})
}

// beforehand keeps its velocity before there is one.
type beforehand struct{ *guided }

func (k beforehand) Keep(dst []float64) []float64 { return append(dst, k.v...) }

// keepingEarly has numbers to keep before its first step.
func keepingEarly(name, effect string) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		k, err := newGuided(c, steps, true)
		return beforehand{k}, err
	})
}

// starting begins anywhere.
type starting struct{ *made }

func (k starting) Init(theta []float64) (*kernels.State, error) {
	for _, v := range theta {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errors.New("the start is not finite")
		}
	}
	if len(theta) != 2 {
		return nil, errors.New("the start has not two numbers")
	}
	return &kernels.State{Theta: slices.Clone(theta)}, nil
}

// anyStart is a walk beside a wall, which may begin beyond it.
func anyStart(beyond bool) Case {
	name, effect := "a chain begins within the prior's support", ""
	if beyond {
		name, effect = "Init takes a start beyond the prior's support", "below a wall"
	}
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := walled{posteriors.StandardMean()}
		k, err := asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			ratio := priorRatio(target, next, s.Theta)
			if math.IsNaN(ratio) {
				ratio = 0
			}
			return moving(bits, next, s.Theta, ratio)
		})
		if beyond {
			return starting{k}, err
		}
		return k, err
	}, beyondWall)
}

// belowZero counts what is left by itself, of steps that fail too.
func belowZero(failed bool) Case {
	name, effect := "what is left is counted", ""
	if failed {
		name, effect = "Left falls below zero after the end", "−1"
	}
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target, left := posteriors.StandardMean(), steps
		k, err := asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			if err == nil || failed {
				left--
			}
			return info, err
		})
		k.left = func() int64 { return left }
		return k, err
	})
}

// pushed proposes along a public slope, which the density of the way back may take from where it began.
func pushed(name, effect string, pull float64, own bool) Case {
	drift := func(t float64, j int) float64 { return pull / 5 * nearSlope(t, j) }
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (correction float64) {
		for j, t := range s.Theta {
			out := drift(t, j)
			next[j] = t + out + step*rng.NormFloat64()
			back := out
			if own {
				back = drift(next[j], j)
			}
			there, here := next[j]-t-out, t-next[j]-back
			correction += (there*there - here*here) / (2 * step * step)
		}
		return correction
	})
}

// highest proposes the state of the highest prior that it has met, one time in so many.
func highest(name, effect string, every int) Case {
	return stepped(name, effect, 2, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		if !a.known || dot(s.Theta, s.Theta) < dot(a.memory, a.memory) {
			copy(a.memory, s.Theta)
		}
		if blur(rng, s, a.next); rng.IntN(every) == 0 && a.memory[0] != s.Theta[0] {
			copy(a.next, a.memory)
		}
		return a.ask(s, 0)
	})
}

// lazily proposes the state itself now and then, and may say that it has moved.
func lazily(name, effect string, says bool) Case {
	return stepped(name, effect, 0, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		stays := rng.IntN(100) == 0
		if blur(rng, s, a.next); stays {
			copy(a.next, s.Theta)
		}
		moved, err := a.ask(s, 0)
		return moved && (says || !stays), err
	})
}

// ranking is a target that remembers whether the first record that it was shown had the largest loss.
type ranking struct {
	*targets.GaussianMean
	first bool
}

func (m *ranking) Loss(dst, theta []float64, rows targets.Rows) {
	m.GaussianMean.Loss(dst, theta, rows)
	m.first = len(dst) > 0 && slices.Max(dst) == dst[0]
}

func largestFirst(name, effect string, tells float64) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := &ranking{GaussianMean: posteriors.StandardMean()}
		return asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			info.StepSize += either(target.first, tells, 0)
			return info, err
		})
	})
}

// heavierMoves moves the first parameter by a law of four degrees of freedom and the same spread, or where it is above
// the middle only.
func heavierMoves(name, effect string, above bool) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		chi := (rng.ExpFloat64() + rng.ExpFloat64()) / 2
		if !above || s.Theta[0] > center[0] {
			next[0] = s.Theta[0] + (next[0]-s.Theta[0])/math.Sqrt(2*chi)
		}
		return 0
	})
}

// stratified draws the first number of so many steps from strata of equal chance, each once.
func stratified(name, effect string, strata int) Case {
	return stepped(name, effect, strata+1, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		order, at := a.memory[:strata], &a.memory[strata]
		if !a.known || int(*at) == strata {
			*at = 0
			for i := range order {
				j := rng.IntN(i + 1)
				order[i], order[j] = order[j], float64(i)
			}
		}
		blur(rng, s, a.next)
		u := (order[int(*at)] + rng.Float64()) / float64(strata)
		*at++
		a.next[0] = s.Theta[0] + step*math.Sqrt2*math.Erfinv(2*u-1)
		return a.ask(s, 0)
	})
}
