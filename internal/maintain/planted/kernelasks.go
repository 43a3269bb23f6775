package planted

import (
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Kernels here ask for several bits, or do with an answer what they should not, or tell how many they may still
// ask for, or of how many records.

// majority moves by most of so many bits.
func majority(name, effect string, bits int64) Case {
	return sampled(name, effect, true, stepping(posteriors.StandardMean(), bits, 0, asItIs, func(a *asking,
		rng *rand.Rand, s *kernels.State) (bool, error) {
		blur(rng, s, a.next)
		yes, ratio := int64(0), priorRatio(a.target, a.next, s.Theta)
		for range bits {
			accepted, err := a.bits.Accept(a.next, s.Theta, ratio)
			if err != nil {
				return false, err
			}
			if accepted {
				yes++
			}
		}
		if 2*yes > bits {
			copy(s.Theta, a.next)
		}
		return 2*yes > bits, nil
	}))
}

// resting ignores the answer after each move.
func resting(name, effect string, rests bool) Case {
	return stepped(name, effect, 1, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		if a.known && rests && a.memory[0] == 1 {
			a.memory[0] = 0
			return false, a.pass(s)
		}
		blur(rng, s, a.next)
		moved, err := a.ask(s, 0)
		a.memory[0] = either(moved, 1, 0)
		return moved, err
	})
}

// shrinking has steps of half the length after so many refusals, until a move is made.
func shrinking(name, effect string, after float64) Case {
	return stepped(name, effect, 2, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		if !a.known {
			a.memory[0], a.memory[1] = 0, 2*step
		}
		for j, t := range s.Theta {
			a.next[j] = t + a.memory[1]*rng.NormFloat64()
		}
		moved, err := a.ask(s, 0)
		if a.memory[0]++; moved {
			a.memory[0], a.memory[1] = 0, 2*step
		} else if a.memory[0] == after {
			a.memory[0], a.memory[1] = 0, a.memory[1]/2
		}
		return moved, err
	})
}

// leaving has what the iteration leaves of its grant, or what is left of it.
func leaving(name, effect string, byIteration bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target, made := posteriors.StandardMean(), int64(0)
		k, err := asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			if err == nil {
				made = s.Iteration + 1
			}
			return info, err
		})
		if byIteration {
			k.left, k.begin = func() int64 { return steps - made }, func() { made = 0 }
		}
		return k, err
	})
}

// shown is a target that counts the records it is shown.
type shown struct {
	*targets.GaussianMean
	records int
}

func (m *shown) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	m.records += len(dst)
	m.GaussianMean.LossRatio(dst, theta, next, rows)
}

// ofBatches is a walk by batches, whose StepSize may tell how many records each had.
func ofBatches(name, effect string, tells float64) Case {
	var factory proptest.Factory = func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target, next := &shown{GaussianMean: posteriors.StandardMean()}, make([]float64, 2)
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: 2,
			Batch: curator.Batch{Rate: 0.5}}, steps)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				target.records = 0
				blur(rng, s, next)
				info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
				info.StepSize += tells * float64(target.records)
				return info, err
			}}, err
	}
	return sampled(name, effect, false, factory)
}

// early moves up in the steps 6 to 40 of what it keeps, by so much.
func early(name, effect string, by float64) Case {
	return stepped(name, effect, 1, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		blur(rng, s, a.next)
		if a.memory[0] = either(a.known, a.memory[0]+1, 1); a.memory[0] > 5 && a.memory[0] <= 40 {
			a.next[0] += by
		}
		return a.ask(s, 0)
	})
}
