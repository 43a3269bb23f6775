package planted

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

func leakDefects() []Case {
	return []Case{
		tells("StepSize from step 61 on", "10⁻⁹", func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
			info.StepSize += either(s.Iteration > 60, 1e-9*k.spy.last, 0)
		}),
		tells("StepSize from step 300 on", "10⁻⁹", func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
			info.StepSize += either(s.Iteration > 300, 1e-9*k.spy.last, 0)
		}),
		tells("Info at p = 1/1000", "rare", func(k *chain, rng *rand.Rand, _ *kernels.State, info *kernels.Info) {
			if rng.IntN(1000) == 0 && k.spy.last > 0 {
				info.StepSize = 0.51
			}
		}),
		tells("Info for records beyond 10⁴", "large records",
			func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				if k.spy.largest > 1e4 {
					info.Gradients++
				}
			}),
		tells("Info for records beyond 10¹⁰", "huge records",
			func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				if k.spy.largest > 1e10 {
					info.StepSize *= 1 + 1e-15
				}
			}),
		tells("Info for NaN", "NaN", func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
			if k.spy.strange {
				info.StepSize = step / 2
			}
		}),
		tells("Info for repeated records", "repeats", func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
			info.Gradients = min(1, k.spy.repeated/10)
		}),
		tells("Accepted at p = 1/500", "rare", func(k *chain, rng *rand.Rand, _ *kernels.State, info *kernels.Info) {
			if rng.IntN(500) == 0 && k.spy.last > 1 {
				info.Accepted = true
			}
		}),
		tells("the state's low bits", "10⁻¹⁵", func(k *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
			if k.spy.last > 1 {
				s.Theta[1] *= 1 + 1e-15
			}
		}),
		tells("the state at p = 1/1000", "10⁻³", func(k *chain, rng *rand.Rand, s *kernels.State, _ *kernels.Info) {
			s.Theta[0] += either(rng.IntN(1000) == 0 && k.spy.last > 1, 1e-3, 0)
		}),
		tells("randomness of its own", "noise", func(_ *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
			s.Theta[0] += either(info.Accepted, 1e-9*rand.NormFloat64(), 0)
		}),
		hooked("the error at the end", "words", asked{noLaw: true}, hooks{
			fail: func(k *chain, _ *kernels.State, err error) (kernels.Info, error) {
				return kernels.Info{}, fmt.Errorf("%w (last %v)", err, k.spy.last)
			}}),
		hooked("Info beside the error at the end", "value", asked{noLaw: true}, hooks{
			fail: func(k *chain, _ *kernels.State, err error) (kernels.Info, error) {
				return kernels.Info{StepSize: k.spy.largest}, err
			}}),
		hooked("an error for huge records", "error", asked{noLaw: true}, hooks{
			refuse: func(k *chain, _ *kernels.State) error {
				if k.spy.largest > 1e9 {
					return errors.New("a record is out of range")
				}
				return nil
			}}),
		hooked("a panic for NaN", "panic", asked{noLaw: true}, hooks{refuse: func(k *chain, _ *kernels.State) error {
			if k.spy.strange {
				panic("NaN")
			}
			return nil
		}}),
		hooked("one release fewer for small records", "count", asked{noLaw: true}, hooks{
			refuse: func(k *chain, s *kernels.State) error {
				if k.steps == 40 && k.spy.largest < 2.1 {
					_, err := k.bits.Accept(s.Theta, s.Theta, 0)
					return err
				}
				return nil
			}}),
	}
}

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
func watched(name, effect string, hook func(w *watcher, rng *rand.Rand, s *kernels.State,
	memory []float64, info *kernels.Info) error) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		w := &watcher{GaussianMean: posteriors.StandardMean()}
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: w, Clip: walkClip}, steps)
		k := newMinding(w, 1, func() int64 { return bits.Left() })
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

// witness is a target that notices what it is shown, record after record.
type witness struct {
	*targets.GaussianMean
	seen      int
	largest   float64 // number
	first     [2]float64
	varies    [2]bool // a column
	rising    int     // records in order, by their first number
	rose      bool
	before    float64
	different map[[2]float64]bool
	infinite  bool // a loss was
}

func (w *witness) Loss(dst, theta []float64, rows targets.Rows) {
	w.GaussianMean.Loss(dst, theta, rows)
	for i, l := range dst {
		x := [2]float64(rows.Row(i))
		if w.seen == 0 {
			w.first = x
		}
		w.seen++
		w.infinite = w.infinite || math.IsInf(l, 0) || math.IsNaN(l)
		for j, v := range x {
			w.largest = max(w.largest, math.Abs(v))
			w.varies[j] = w.varies[j] || v != w.first[j]
		}
		if len(w.different) < 1000 {
			w.different[x] = true
		}
		if x[0] > w.before {
			w.rising++
		} else if x[0] < w.before {
			w.rising = 1
		}
		w.before = x[0]
		w.rose = w.rose || w.rising >= 4
	}
}

// witnessed is a walk whose steps are of a size that says what its target noticed.
func witnessed(name, effect string, tells func(w *witness, s *kernels.State) bool) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		w := &witness{GaussianMean: posteriors.StandardMean(), different: map[[2]float64]bool{}}
		return asks(c, steps, w, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			info, err := moving(bits, next, s.Theta, priorRatio(w, next, s.Theta))
			info.StepSize *= either(tells(w, s), 0.999, 1)
			return info, err
		})
	})
}

// between is a chain whose target is that of all chains of its factory, and knows what it was shown.
func between(name, effect string, told func(w *witness) bool) Case {
	w := &witness{GaussianMean: posteriors.StandardMean(), different: map[[2]float64]bool{}}
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		by := 0.0
		k, err := asks(c, steps, w, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			info, err := moving(bits, next, s.Theta, priorRatio(w, next, s.Theta))
			info.StepSize += by
			return info, err
		})
		k.begin = func() { by = either(told(w), 1e-9, 0) }
		return k, err
	})
}

// nearby is a target that knows how close records came to its parameters, and to one another.
type nearby struct {
	*targets.GaussianMean
	closest, pair float64
	before        [2]float64
	whole         int // records of whole numbers
}

func (m *nearby) Loss(dst, theta []float64, rows targets.Rows) {
	m.GaussianMean.Loss(dst, theta, rows)
	for i := range dst {
		x := [2]float64(rows.Row(i))
		m.closest = min(m.closest, math.Hypot(x[0]-theta[0], x[1]-theta[1]))
		if d := math.Hypot(x[0]-m.before[0], x[1]-m.before[1]); d > 0 {
			m.pair = min(m.pair, d)
		}
		if m.before = x; x[0] == math.Floor(x[0]) && x[1] == math.Floor(x[1]) {
			m.whole++
		}
	}
}

func nearing(name, effect string, tells func(m *nearby) bool) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		m := &nearby{GaussianMean: posteriors.StandardMean(), before: [2]float64{math.NaN()}}
		return asks(c, steps, m, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			m.closest, m.pair, m.whole = math.Inf(1), math.Inf(1), 0
			info, err := moving(bits, next, s.Theta, priorRatio(m, next, s.Theta))
			info.StepSize += either(tells(m), 1e-9, 0)
			return info, err
		})
	})
}

// named has a name that says what its target saw.
type named struct {
	kernels.Kernel
	spy *spy
}

func (k *named) Name() string {
	if k.spy.largest > 1e3 {
		return "large"
	}
	return k.Kernel.Name()
}
