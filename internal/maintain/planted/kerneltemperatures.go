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

// heat is the temperature of a second chain, whose parameters are the last two of four.
const heat = 0.4

type swapFlaws struct {
	prior, hot, halfway bool
}

func tempered(name, effect string, f swapFlaws) Case {
	four := posteriors.Must(targets.New(targets.GaussianMeanConfig{Features: 4, Prior: priors.Gaussian{SD: 1}}))
	factory := func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		var cold, hot, swap *curator.Bits
		bit := func(temperature float64) curator.AcceptanceBit {
			return curator.AcceptanceBit{Target: target, Clip: walkClip, Temperature: temperature}
		}
		err := c.Grant(curator.RequestFor(&cold, bit(1), steps), curator.RequestFor(&hot, bit(heat), steps),
			curator.RequestFor(&swap, bit(either(f.hot, heat, 1-heat)), steps))
		next := make([]float64, 2)
		walk := func(rng *rand.Rand, bits *curator.Bits, theta []float64) (kernels.Info, error) {
			for j, t := range theta {
				next[j] = t + step*rng.NormFloat64()
			}
			return moving(bits, next, theta, priorRatio(target, next, theta))
		}
		return &made{Frame: kernels.NewFrame("made", four), left: func() int64 { return cold.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				a, b := s.Theta[:2], s.Theta[2:]
				first, err := walk(rng, cold, a)
				if err != nil {
					return first, err
				}
				second, err := walk(rng, hot, b)
				if err != nil {
					return second, err
				}
				ratio := 0.0
				if f.prior {
					ratio = priorRatio(target, b, a)
				}
				swapped, err := swap.Accept(b, a, ratio)
				if swapped {
					copy(next, a)
					copy(a, b)
					if f.halfway {
						copy(next, a)
					}
					copy(b, next)
				}
				first.Accepted = first.Accepted || second.Accepted || swapped
				return first, err
			}}, err
	}
	return kernelCase(name, effect, factory, func(o *proptest.KernelOptions) {
		o.Start = []float64{1, 0, 1, 0}
		o.Exact = func(rng *rand.Rand, theta []float64) {
			hot := 1 + heat*(precision-1)
			for j, c := range center {
				theta[j] = c + sd*rng.NormFloat64()
				theta[2+j] = heat*c*precision/hot + rng.NormFloat64()/math.Sqrt(hot)
			}
		}
	})
}

// swappingCopies has a cold and a hot copy of a law, which change places now and then by a ladder.
func swappingCopies(name, effect string, hot float64) Case {
	energy := func(t float64) float64 { return (t - 0.5) * (t - 0.5) / 2 }
	m := apart{log: func(t []float64) float64 { return -energy(t[0]) - 0.25*energy(t[1]) }}
	return ownLaw(name, effect, m, []float64{1, 0}, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		a, b := s.Theta[0], s.Theta[1]
		if rng.IntN(2) == 0 {
			next[0], next[1] = a+0.8*rng.NormFloat64(), b+1.6*rng.NormFloat64()
			return 0
		}
		next[0], next[1] = b, a
		return (0.25 - hot) * (energy(a) - energy(b))
	}, func(rng *rand.Rand, t []float64) { t[0], t[1] = 0.5+rng.NormFloat64(), 0.5+2*rng.NormFloat64() })
}

// warm is a chain of the posterior of half the log-likelihood.
func warm(name, effect string, ofPrior float64) Case {
	target := posteriors.StandardMean()
	propose := func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		return (ofPrior - 1) * priorRatio(target, next, s.Theta)
	}
	return kernelCase(name, effect, deciding(target, 0.5, propose), func(o *proptest.KernelOptions) {
		o.Exact = func(rng *rand.Rand, theta []float64) {
			const half = (precision + 1) / 2
			for j, c := range center {
				theta[j] = c*precision/2/half + rng.NormFloat64()/math.Sqrt(half)
			}
		}
	})
}

// cooler is a chain of the likelihood's power 0.9, and of a power of the prior.
func cooler(name, effect string, prior float64) Case {
	const tau = 0.9
	const exact = 6*tau + 1
	return kernelCase(name, effect, deciding(posteriors.StandardMean(), tau, func(rng *rand.Rand, s *kernels.State,
		next []float64) float64 {
		blur(rng, s, next)
		return (prior - 1) * (dot(s.Theta, s.Theta) - dot(next, next)) / 2
	}), func(o *proptest.KernelOptions) {
		o.Exact = func(rng *rand.Rand, t []float64) {
			for j := range t {
				t[j] = center[j]*precision*tau/exact + rng.NormFloat64()/math.Sqrt(exact)
			}
		}
	})
}

// cooled asks one bit in four of a tempered likelihood.
func cooled(name, effect string, temperature float64) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bit := func(t float64) curator.AcceptanceBit {
			return curator.AcceptanceBit{Target: target, Clip: walkClip, Temperature: t}
		}
		var plain, cool *curator.Bits
		err := c.Grant(curator.RequestFor(&plain, bit(1), steps), curator.RequestFor(&cool, bit(temperature), steps))
		next, left := make([]float64, 2), steps
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return left },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if left == 0 {
					return kernels.Info{}, curator.ErrSpent
				}
				left--
				blur(rng, s, next)
				bits := plain
				if rng.IntN(4) == 0 {
					bits = cool
				}
				return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			}}, err
	})
}
