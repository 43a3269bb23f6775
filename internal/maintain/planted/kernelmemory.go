package planted

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// guided is a walk with a velocity that is drawn afresh one time in five.
type guided struct {
	kernels.Frame
	bits    *curator.Bits
	target  *targets.GaussianMean
	v, next []float64
	flipped bool // the velocity turns after a refusal, as it must
}

func (k *guided) Name() string { return "guided" }
func (k *guided) Left() int64  { return k.bits.Left() }

func (k *guided) Init(theta []float64) (*kernels.State, error) {
	clear(k.v)
	return k.Frame.Init(theta)
}

func (k *guided) Keep(dst []float64) []float64 {
	if k.v[0] == 0 { // before the first step
		return dst
	}
	return append(dst, k.v...)
}

func (k *guided) Recall(memory []float64) error {
	if len(memory) != 0 && len(memory) != 2 {
		return errForeign
	}
	copy(k.v, memory)
	return nil
}

// Step goes along the velocity, and refreshes it whole one time in five.
func (k *guided) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	fresh := rng.IntN(5) == 0 || s.Iteration == 0 || k.v[0] == 0
	for j := range k.v {
		if z := rng.NormFloat64(); fresh {
			k.v[j] = z
		}
		k.next[j] = s.Theta[j] + 0.3*k.v[j]
	}
	accepted, err := k.bits.Accept(k.next, s.Theta, k.target.LogPrior(k.next)-k.target.LogPrior(s.Theta))
	if err != nil {
		return kernels.Info{}, err
	}
	if accepted {
		copy(s.Theta, k.next)
	} else if k.flipped {
		k.v[0], k.v[1] = -k.v[0], -k.v[1]
	}
	s.Iteration++
	return kernels.Info{Accepted: accepted, StepSize: 0.3}, nil
}

func newGuided(c *curator.Curator, steps int64, flipped bool) (*guided, error) {
	target := posteriors.StandardMean()
	bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
	return &guided{Frame: kernels.NewFrame("guided", target), target: target, bits: bits,
		v: make([]float64, 2), next: make([]float64, 2), flipped: flipped}, err
}

func guidedWalk(name, effect string, flipped bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return newGuided(c, steps, flipped)
	})
}

// handing keeps and recalls a velocity, in slices of others.
type handing struct {
	guided
	keeps, recalls, writes bool
}

func (k *handing) Keep(dst []float64) []float64 {
	if k.keeps && k.v[0] != 0 {
		return k.v
	}
	return k.guided.Keep(dst)
}

func (k *handing) Recall(memory []float64) error {
	if k.recalls && len(memory) == 2 {
		k.v = memory
		return nil
	}
	err := k.guided.Recall(memory)
	if k.writes {
		clear(memory)
	}
	return err
}

func handed(name, effect string, keeps, recalls, writes bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		k, err := newGuided(c, steps, true)
		return &handing{*k, keeps, recalls, writes}, err
	})
}

// rounded keeps its velocity in single precision.
type rounded struct{ guided }

func (k *rounded) Keep(dst []float64) []float64 {
	for _, v := range k.guided.Keep(nil) {
		dst = append(dst, float64(float32(v)))
	}
	return dst
}

// handedOver draws each proposal's noise a step ahead, into a slice of the factory's.
func handedOver() proptest.Factory {
	ahead := make([]float64, 2)
	return func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		memory := make([]float64, 2)
		k, err := newChain(c, steps, true, false, hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
			for j, t := range theta {
				if z := rng.NormFloat64(); ahead[j] == 0 {
					ahead[j] = step * z
				}
				next[j] = t + ahead[j]
				ahead[j] = step * rng.NormFloat64()
			}
			copy(memory, ahead)
		}})
		return &keeper{Kernel: k, remembered: remembered{memory: memory}}, err
	}
}

// fromPool moves one number, in a slice from a pool.
func fromPool(name, effect string) Case {
	pool := sync.Pool{New: func() any { return new([2]float64) }}
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				next := pool.Get().(*[2]float64)
				j := rng.IntN(2)
				next[j] = s.Theta[j] + step*rng.NormFloat64()
				info, err := moving(bits, next[:], s.Theta, priorRatio(target, next[:], s.Theta))
				pool.Put(next)
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
		k := newMinding(target, 2, func() int64 { return bits.Left() })
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

// sparing draws two normal numbers at a time, and uses the second in the next step.
type sparing struct {
	minding
	keeps bool
}

func (k *sparing) Keep(dst []float64) []float64 {
	if !k.keeps {
		return dst
	}
	return k.minding.Keep(dst)
}

func (k *sparing) Recall(memory []float64) error { return k.minding.Recall(memory) }

func spared(name, effect string, keeps, begins bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		var target targets.Target = posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		next := make([]float64, 2)
		k := &sparing{keeps: keeps}
		k.memory = make([]float64, 1)
		k.made = made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if bits.Left() == 0 {
					return kernels.Info{}, curator.ErrSpent
				}
				if !k.known {
					k.memory[0], k.known = rng.NormFloat64(), true
				}
				next[0] = s.Theta[0] + step*k.memory[0]
				next[1] = s.Theta[1] + step*rng.NormFloat64()
				k.memory[0] = rng.NormFloat64()
				return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			}}
		if begins {
			return k, err
		}
		return &unbegun{k}, err
	})
}

// unbegun goes on from what it remembers when a chain begins.
type unbegun struct{ *sparing }

func (k *unbegun) Init(theta []float64) (*kernels.State, error) { return k.made.Init(theta) }

// logged keeps the logarithm of a scale that goes its own way.
type logged struct{ *minding }

func (k *logged) Keep(dst []float64) []float64 {
	for _, v := range k.minding.Keep(nil) {
		dst = append(dst, math.Log(v))
	}
	return dst
}

func (k *logged) Recall(memory []float64) error {
	var all []float64
	for _, v := range memory {
		all = append(all, math.Exp(v))
	}
	return k.minding.Recall(all)
}

// ownScale walks by a scale that goes its own way.
func ownScale(name string, effect string, as func(k *minding) kernels.Kernel) Case {
	return minded(name, effect, 1, as, func(rng *rand.Rand, memory []float64, known bool, theta, next []float64) {
		if !known {
			memory[0] = step
		}
		memory[0] = step * math.Pow(memory[0]/step, 0.9) * math.Exp(0.1*rng.NormFloat64())
		for j, t := range theta {
			next[j] = t + memory[0]*rng.NormFloat64()
		}
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

// returning proposes the state of five steps before, one time in so many.
func returning(name, effect string, every int) Case {
	return minded(name, effect, 11, asItIs, func(rng *rand.Rand, memory []float64, known bool, theta, next []float64) {
		if !known {
			clear(memory)
		}
		for j, t := range theta {
			next[j] = t + step*rng.NormFloat64()
		}
		if old := memory[8:10]; memory[10] >= 5 && rng.IntN(every) == 0 && old[0] != theta[0] {
			copy(next, old)
		}
		copy(memory[2:10], memory[:8])
		copy(memory, theta)
		memory[10]++
	})
}

// firstStream draws from the generator of its first step for ever.
func firstStream(name, effect string, ever bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		var stream *rand.Rand
		return deciding(posteriors.StandardMean(), 1, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
			if stream == nil || !ever {
				stream = rng
			}
			return blur(stream, s, next)
		})(c, steps)
	})
}
