package planted

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
)

func leakDefects() (all []Case) {
	add := func(name, effect string, plant func() hooks) {
		all = append(all, kernel(name, effect, asked{noLaw: true}, plant))
	}
	tells := func(name, effect string, f func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info)) {
		add(name, effect, func() hooks { return hooks{after: f} })
	}
	tells("StepSize from step 61 on", "10⁻⁹", func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
		info.StepSize += either(s.Iteration > 60, 1e-9*k.spy.last, 0)
	})
	tells("StepSize from step 300 on", "10⁻⁹", func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
		info.StepSize += either(s.Iteration > 300, 1e-9*k.spy.last, 0)
	})
	tells("Info at p = 1/1000", "rare", func(k *chain, rng *rand.Rand, _ *kernels.State, info *kernels.Info) {
		if rng.IntN(1000) == 0 && k.spy.last > 0 {
			info.StepSize = 0.51
		}
	})
	tells("Info for records beyond 10⁴", "large records",
		func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
			if k.spy.largest > 1e4 {
				info.Gradients++
			}
		})
	tells("Info for records beyond 10¹⁰", "huge records",
		func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
			if k.spy.largest > 1e10 {
				info.StepSize *= 1 + 1e-15
			}
		})
	tells("Info for NaN", "NaN", func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
		if k.spy.strange {
			info.StepSize = step / 2
		}
	})
	tells("Info for repeated records", "repeats", func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
		info.Gradients = min(1, k.spy.repeated/10)
	})
	tells("Accepted at p = 1/500", "rare", func(k *chain, rng *rand.Rand, _ *kernels.State, info *kernels.Info) {
		if rng.IntN(500) == 0 && k.spy.last > 1 {
			info.Accepted = true
		}
	})
	tells("the state's low bits", "10⁻¹⁵", func(k *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
		if k.spy.last > 1 {
			s.Theta[1] *= 1 + 1e-15
		}
	})
	tells("the state at p = 1/1000", "10⁻³", func(k *chain, rng *rand.Rand, s *kernels.State, _ *kernels.Info) {
		s.Theta[0] += either(rng.IntN(1000) == 0 && k.spy.last > 1, 1e-3, 0)
	})
	tells("randomness of its own", "noise", func(_ *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
		s.Theta[0] += either(info.Accepted, 1e-9*rand.NormFloat64(), 0)
	})
	add("the error at the end", "words", func() hooks {
		return hooks{fail: func(k *chain, _ *kernels.State, err error) (kernels.Info, error) {
			return kernels.Info{}, fmt.Errorf("%w (last %v)", err, k.spy.last)
		}}
	})
	add("Info beside the error at the end", "value", func() hooks {
		return hooks{fail: func(k *chain, _ *kernels.State, err error) (kernels.Info, error) {
			return kernels.Info{StepSize: k.spy.largest}, err
		}}
	})
	add("an error for huge records", "error", func() hooks {
		return hooks{refuse: func(k *chain, _ *kernels.State) error {
			if k.spy.largest > 1e9 {
				return errors.New("a record is out of range")
			}
			return nil
		}}
	})
	add("a panic for NaN", "panic", func() hooks {
		return hooks{refuse: func(k *chain, _ *kernels.State) error {
			if k.spy.strange {
				panic("NaN")
			}
			return nil
		}}
	})
	add("one release fewer for small records", "count", func() hooks {
		return hooks{refuse: func(k *chain, s *kernels.State) error {
			if k.steps == 40 && k.spy.largest < 2.1 {
				_, err := k.bits.Accept(s.Theta, s.Theta, 0)
				return err
			}
			return nil
		}}
	})
	return all
}

func conformanceDefects() (all []Case) {
	add := func(name, effect string, h hooks) {
		all = append(all, kernel(name, effect, asked{noLaw: true}, func() hooks { return h }))
	}
	after := func(f func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info)) hooks {
		return hooks{after: f}
	}
	var junk []byte
	add("allocates rarely", "1 in 1000 steps", after(func(_ *chain, rng *rand.Rand, _ *kernels.State, _ *kernels.Info) {
		if rng.IntN(1000) == 0 {
			junk = make([]byte, 100)
		}
	}))
	add("allocates", "every 50 steps", after(func(k *chain, _ *rand.Rand, _ *kernels.State, _ *kernels.Info) {
		if k.steps%50 == 0 {
			junk = make([]byte, 100+len(junk)%2)
		}
	}))
	add("says Accepted always", "all", after(
		func(_ *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) { info.Accepted = true }))
	add("says Accepted never", "all", after(
		func(_ *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) { info.Accepted = false }))
	add("forgets to say Accepted", "1 in 500", after(func(_ *chain, rng *rand.Rand, _ *kernels.State, info *kernels.Info) {
		if rng.IntN(500) == 0 {
			info.Accepted = false
		}
	}))
	add("skips an iteration", "step 50", after(func(k *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
		if k.steps == 50 {
			s.Iteration++
		}
	}))
	add("StepSize NaN", "1 in 300", after(func(_ *chain, rng *rand.Rand, _ *kernels.State, info *kernels.Info) {
		if rng.IntN(300) == 0 {
			info.StepSize = math.NaN()
		}
	}))
	add("state NaN", "1 in 1000", after(func(_ *chain, rng *rand.Rand, s *kernels.State, _ *kernels.Info) {
		if rng.IntN(1000) == 0 {
			s.Theta[0] = math.NaN()
		}
	}))
	add("an error moves the state", "last step", hooks{fail: func(_ *chain, s *kernels.State,
		err error) (kernels.Info, error) {
		s.Theta[1] += 1e-9
		return kernels.Info{}, err
	}})
	add("an error counts", "last step", hooks{fail: func(_ *chain, s *kernels.State, err error) (kernels.Info, error) {
		s.Iteration++
		return kernels.Info{}, err
	}})
	add("goes on when spent", "last step",
		hooks{fail: func(*chain, *kernels.State, error) (kernels.Info, error) { return kernels.Info{}, nil }})
	add("Left one too many", "1", hooks{left: func(_ *chain, left int64) int64 { return left + 1 }})
	add("a name with a space", "", hooks{name: "my walk"})
	add("Init keeps the slice", "", hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
		s, err := kernels.NewState(k.target, theta)
		if err == nil {
			s.Theta = theta
		}
		return s, err
	}})
	add("Init accepts −Inf", "", hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
		if len(theta) == 2 && math.IsInf(theta[1], -1) {
			return &kernels.State{Theta: slices.Clone(theta)}, nil
		}
		return kernels.NewState(k.target, theta)
	}})
	add("breaks far away", "10⁸", hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
		if math.Abs(theta[0]) > 1e6 {
			panic("far")
		}
	}})
	return append(all, kernelCase("takes a grant that was refused", "no error",
		func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
			k, _ := newChain(c, steps, true, true, hooks{})
			return k, nil
		}, func(*proptest.KernelOptions) {}))
}
