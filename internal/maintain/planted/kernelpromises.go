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

// Kernels here break what a kernel promises beside its law: what it keeps and recalls, where it begins, and what it
// says of a step.

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
func anyStart(name, effect string, beyond bool) Case {
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
