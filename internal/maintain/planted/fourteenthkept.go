package planted

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// watcher is a target that counts what it is shown.
type watcher struct {
	*targets.GaussianMean
	rows, negative         int // of the last batch
	low, high              float64
	missing                bool
	last, mean, worst, old float64
}

func (w *watcher) Loss(dst, theta []float64, rows targets.Rows) {
	w.GaussianMean.Loss(dst, theta, rows)
	w.rows, w.negative, w.low, w.high = len(dst), 0, math.Inf(1), math.Inf(-1)
	w.old, w.mean, w.worst = w.mean, 0, 0
	for _, x := range rows.X {
		if x < 0 {
			w.negative++
		}
		w.missing = w.missing || x == -999
		w.last, w.low, w.high = x, min(w.low, x), max(w.high, x)
	}
	for _, l := range dst {
		w.mean += l / float64(len(dst))
		w.worst = max(w.worst, l)
	}
}

// watched is a walk whose steps end with what a hook makes of records.
func watched(name, effect string, batch curator.Batch, hook func(w *watcher, rng *rand.Rand, s *kernels.State,
	memory []float64, info *kernels.Info) error) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		w := &watcher{GaussianMean: posteriors.StandardMean()}
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: w, Clip: walkClip, Batch: batch}, steps)
		k := &minding{remembered: remembered{memory: make([]float64, 1)}, made: made{Frame: kernels.NewFrame("made", w),
			left: func() int64 { return bits.Left() }}}
		next, said := make([]float64, 2), &kernels.Info{}
		k.step = func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			var err error
			if *said, err = moving(bits, next, s.Theta, priorRatio(w, next, s.Theta)); err != nil {
				return kernels.Info{}, err
			}
			k.known = true
			err = hook(w, rng, s, k.memory, said)
			return *said, err
		}
		return k, err
	})
}

// outside is a walk beside a wall that asks for no bit beyond it.
func outside(name, effect string, refuse func(s *kernels.State, before bool) (accepted bool)) Case {
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := walled{posteriors.StandardMean()}
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		next, left, before := make([]float64, 2), steps, false
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return left },
			begin: func() { before = false },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if left == 0 {
					return kernels.Info{}, curator.ErrSpent
				}
				left--
				if blur(rng, s, next); next[0] < wall {
					return kernels.Info{Accepted: refuse(s, before), StepSize: step}, nil
				}
				info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
				before = info.Accepted
				return info, err
			}}, err
	}, func(o *proptest.KernelOptions) {
		exact := exactly(sd)
		o.Exact = func(rng *rand.Rand, theta []float64) {
			for exact(rng, theta); theta[0] < wall; exact(rng, theta) {
			}
		}
	})
}

// handing keeps and recalls a velocity, in slices of others.
type handing struct {
	guided
	keeps, recalls, writes bool
}

func (k *handing) Keep(dst []float64) []float64 {
	if k.keeps {
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
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		return &handing{guided{Frame: kernels.NewFrame("guided", target), target: target, bits: bits,
			v: make([]float64, 2), next: make([]float64, 2), flipped: true}, keeps, recalls, writes}, err
	})
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

// quoted is a kernel whose Cost is that of gradients of another noise multiplier.
func quoted(name, effect string, said float64) Case {
	noisy := func(multiplier float64) curator.NoisyGradient {
		return curator.NoisyGradient{Target: posteriors.StandardMean(), Clip: 1, NoiseMultiplier: multiplier}
	}
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		slopes, err := curator.Charge(c, noisy(0.125), steps)
		g := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", posteriors.StandardMean()), left: func() int64 { return slopes.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if err := slopes.Release(g, s.Theta); err != nil {
					return kernels.Info{}, err
				}
				for j, t := range s.Theta {
					s.Theta[j] += math.Sqrt(size)*rng.NormFloat64() - size/2*(g[j]+t)
				}
				return kernels.Info{Accepted: true, StepSize: size, Gradients: 1}, nil
			}}, err
	}, func(o *proptest.KernelOptions) {
		o.Cost = func(f curator.Facts) (accountant.Event, error) { return noisy(said).Event(f) }
	})
}

func fourteenthKernels() []Case {
	full := curator.Batch{}
	return append(fourteenthSamplers(),
		watched("an error for records that are all alike", "error", full, func(w *watcher, _ *rand.Rand, _ *kernels.State,
			_ []float64, _ *kernels.Info) error {
			if w.low == w.high {
				return errors.New("the records do not vary")
			}
			return nil
		}),
		watched("StepSize by the sign of most numbers", "10⁻⁹", full, func(w *watcher, _ *rand.Rand, _ *kernels.State,
			_ []float64, info *kernels.Info) error {
			info.StepSize += either(w.negative > w.rows, 1e-9, 0)
			return nil
		}),
		watched("StepSize halves where a loss is large", "beyond 50", full, func(w *watcher, _ *rand.Rand, _ *kernels.State,
			_ []float64, info *kernels.Info) error {
			info.StepSize *= either(w.worst > 50, 0.5, 1)
			return nil
		}),
		watched("the chain ends where the mean loss stands still", "within 10⁻⁴", full, func(w *watcher, _ *rand.Rand,
			s *kernels.State, _ []float64, _ *kernels.Info) error {
			if math.Abs(w.mean-w.old) < 1e-4 && s.Iteration > 100 {
				return curator.ErrSpent
			}
			return nil
		}),
		watched("a little of a move is made after all, by the largest record", "1 in 1000", full, func(w *watcher,
			rng *rand.Rand, s *kernels.State, _ []float64, info *kernels.Info) error {
			if rng.IntN(1000) == 0 && w.high > 2 && !info.Accepted {
				s.Theta[0] += 0.01
				info.Accepted = true
			}
			return nil
		}),
		watched("a kept number's last bit by the largest record", "10⁻¹⁵", full, func(w *watcher, _ *rand.Rand,
			s *kernels.State, memory []float64, _ *kernels.Info) error {
			memory[0] = s.Theta[0] * either(w.high > 2, 1+1e-15, 1)
			return nil
		}),
		watched("StepSize by an even number of negative numbers", "10⁻⁹", full, func(w *watcher, _ *rand.Rand,
			_ *kernels.State, _ []float64, info *kernels.Info) error {
			info.StepSize += 1e-9 * float64(w.negative%2)
			return nil
		}),
		watched("StepSize by the last record, one step in 4096", "10⁻⁹", full, func(w *watcher, _ *rand.Rand,
			s *kernels.State, _ []float64, info *kernels.Info) error {
			info.StepSize += either(s.Iteration%4096 == 4095 && w.last > 0.5, 1e-9, 0)
			return nil
		}),
		watched("StepSize for a missing value", "−999", full, func(w *watcher, _ *rand.Rand, _ *kernels.State,
			_ []float64, info *kernels.Info) error {
			info.StepSize += either(w.missing, 1e-9, 0)
			return nil
		}),
		quoted("Cost of noise that is rounded", "0.13 for 0.125", 0.13),
		handed("Keep hands out the kernel's own slice", "aliases", true, false, false),
		handed("Recall takes the caller's slice", "aliases", false, true, false),
		fromPool("a slice from a pool is not cleared", "the other number"),
		outside("Accepted is that of the step before beyond a wall", "Info", func(_ *kernels.State, before bool) bool {
			return before
		}),
		outside("a step beyond a wall is not counted", "Iteration", func(s *kernels.State, _ bool) bool {
			s.Iteration--
			return false
		}),
	)
}

func afterFourteenth() []Case {
	full := curator.Batch{}
	return []Case{
		handed("Recall clears the caller's slice", "aliases", false, false, true),
		watched("StepSize for a record of seven", "10⁻⁹", full, func(w *watcher, _ *rand.Rand, _ *kernels.State,
			_ []float64, info *kernels.Info) error {
			info.StepSize += either(w.last == 7, 1e-9, 0)
			return nil
		}),
		proposed("the first is pulled to the second", "1%", func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
			blur(rng, s, next)
			next[0] += 0.01 * (s.Theta[1] - center[1] - s.Theta[0] + center[0])
			return 0
		}),
		single("the only parameter goes a little farther up", "2%", 1.02),
		wideWalk("the last of seven a little shifted", "2%", 7, func(_, next []float64) { next[6] += 0.02 * wideStep }),
		proposed("wide moves hardly more often above the middle", "50.7%", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			by := either(rng.Float64() < either(normalised(s.Theta, 0) > 0, 0.507, 0.493), 2, 1)
			for j, t := range s.Theta {
				next[j] = t + by*(next[j]-t)
			}
			return 0
		}),
	}
}

// keptControls are right doubles of what is kept, watched and walled.
func keptControls() []Case {
	return []Case{
		watched("watched walk", "", curator.Batch{}, func(_ *watcher, _ *rand.Rand, s *kernels.State, memory []float64,
			_ *kernels.Info) error {
			memory[0] = s.Theta[0]
			return nil
		}),
		quoted("gradients at their price", "", 0.125),
		outside("no bit beyond a wall", "", func(*kernels.State, bool) bool { return false }),
	}
}
