package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// What kernels here keep, show or propose is not of the state that they are in.

// swapping are two copies, the second at a temperature, with the log prior of each kept. A swap of the states
// may leave those.
func swapping(name, effect string, leaves bool) Case {
	const cool = 0.4
	four := posteriors.Must(targets.New(targets.GaussianMeanConfig{Features: 4, Prior: priors.Gaussian{SD: 1}}))
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		var bits [3]*curator.Bits
		var requests []curator.Request
		for i, temperature := range []float64{1, cool, 1 - cool} {
			requests = append(requests, curator.RequestFor(&bits[i],
				curator.AcceptanceBit{Target: target, Clip: walkClip, Temperature: temperature}, steps))
		}
		err := c.Grant(requests...)
		next, k := make([]float64, 2), &minding{remembered: remembered{memory: make([]float64, 2)}}
		k.made = made{Frame: kernels.NewFrame("made", four), left: func() int64 { return bits[0].Left() }}
		k.step = func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
			all := kernels.Info{StepSize: step}
			both := [2][]float64{s.Theta[:2], s.Theta[2:]}
			for i, theta := range both {
				if !k.known {
					k.memory[i] = target.LogPrior(theta)
				}
			}
			for i, theta := range both {
				for j, t := range theta {
					next[j] = t + step*rng.NormFloat64()
				}
				log := target.LogPrior(next)
				info, err := moving(bits[i], next, theta, log-k.memory[i])
				if err != nil {
					return all, err
				}
				if k.known = true; info.Accepted {
					k.memory[i], all.Accepted = log, true
				}
			}
			swapped, err := bits[2].Accept(both[1], both[0], 0)
			if swapped {
				copy(next, both[0])
				copy(both[0], both[1])
				copy(both[1], next)
				if all.Accepted = true; !leaves {
					k.memory[0], k.memory[1] = k.memory[1], k.memory[0]
				}
			}
			return all, err
		}
		return k, err
	}, func(o *proptest.KernelOptions) {
		o.Start = []float64{1, 0, 1, 0}
		o.Exact = func(rng *rand.Rand, theta []float64) {
			second := 1 + cool*(precision-1)
			for j, c := range center {
				theta[j] = c + sd*rng.NormFloat64()
				theta[2+j] = cool*c*precision/second + rng.NormFloat64()/math.Sqrt(second)
			}
		}
	})
}

// transposing takes what it kept of a matrix for that of its transpose.
type transposing struct{ *minding }

func (k *transposing) Recall(memory []float64) error {
	if len(memory) == 4 {
		memory = []float64{memory[0], memory[2], memory[1], memory[3]}
	}
	return k.minding.Recall(memory)
}

// byMatrix proposes along a matrix that is drawn anew now and then, and kept.
func byMatrix(name, effect string, as func(k *minding) kernels.Kernel) Case {
	return sampled(name, effect, true, stepping(posteriors.StandardMean(), 1, 4, as,
		func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
			if !a.known || rng.IntN(10) == 0 {
				for j := range a.memory {
					a.memory[j] = 0.2*rng.NormFloat64() + either(j%3 == 0, 1, 0)
				}
			}
			u, v := step*rng.NormFloat64(), step*rng.NormFloat64()
			a.next[0] = s.Theta[0] + a.memory[0]*u + a.memory[1]*v
			a.next[1] = s.Theta[1] + a.memory[2]*u + a.memory[3]*v
			return a.ask(s, 0)
		}))
}

// appearing has a second parameter that is 0 with a chance, and comes and goes by one draw; its moves may
// forget the odds of the two models.
func appearing(name, effect string, forgets bool) Case {
	const none = 0.55
	log := func(t, sd float64) float64 { return -t*t/(2*sd*sd) - math.Log(sd) }
	m := apart{first: true, log: func(t []float64) float64 {
		return -t[0]*t[0]/2 + either(t[1] == 0, math.Log(none), math.Log(1-none)+log(t[1], 1))
	}}
	odds := either(forgets, math.Log(none)-math.Log(1-none), 0)
	return ownLaw(name, effect, m, []float64{1, 0.5}, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		here, jumps := s.Theta[1], rng.IntN(2) == 0
		switch {
		case here == 0 && jumps:
			next[1] = 1.2 * rng.NormFloat64()
			return odds - log(next[1], 1.2)
		case here == 0:
			next[1] = 0
		case jumps:
			next[1] = 0
			return log(here, 1.2) - odds
		}
		return 0
	}, func(rng *rand.Rand, theta []float64) {
		theta[1] = either(rng.Float64() < none, 0, rng.NormFloat64())
	})
}

// showing walks by itself, and shows a share of the step before.
func showing(name, effect string, share float64) Case {
	return stepped(name, effect, 2, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		if !a.known {
			copy(a.memory, s.Theta)
		}
		before, shown := [2]float64(a.memory), [2]float64(s.Theta)
		now := kernels.State{Theta: a.memory, Iteration: s.Iteration}
		blur(rng, &now, a.next)
		if _, err := a.ask(&now, 0); err != nil {
			return false, err
		}
		for j, v := range a.memory {
			s.Theta[j] = v + share*(before[j]-v)
		}
		return [2]float64(s.Theta) != shown, nil
	})
}
