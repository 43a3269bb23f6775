package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// crank proposes moves that leave a normal law about m invariant, and asks for the likelihood alone.
func crank(name, effect string, m float64) Case {
	return hooked(name, effect, asked{}, hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
		for j, t := range theta {
			next[j] = m + 0.9*(t-m) + math.Sqrt(1-0.9*0.9)*(next[j]-t)/step
		}
	}, public: func(*chain, []float64, []float64, float64) float64 { return 0 }})
}

// towardsPrior proposes from an autoregression that keeps the prior, so that the prior's ratio is left out.
func towardsPrior(name, effect string, stays func(moves float64) float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
		for j, t := range s.Theta {
			next[j] = stays(0.6)*t + 0.6*rng.NormFloat64()
			by += (next[j]*next[j] - t*t) / 2
		}
		return by
	})
}

// elliptic proposes a place on the ellipse through the state and a draw of the prior.
func elliptic(name, effect string, spoil func(nu []float64, theta []float64)) Case {
	return walk(name, effect, func() hooks {
		nu := make([]float64, 2)
		return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
			for j, t := range theta {
				nu[j] = (next[j] - t) / step
			}
			spoil(nu, theta)
			s, c := math.Sincos(0.5 * rng.Float64())
			for j, t := range theta {
				next[j] = c*t + s*nu[j]
			}
		}, public: func(*chain, []float64, []float64, float64) float64 { return 0 }}
	})
}

// given draws the second parameter given the first from its prior, after a move of the first.
func given(name, effect string, wrong func(rng *rand.Rand) bool) Case {
	var m targets.Target = apart{first: true, log: func(t []float64) float64 {
		d := t[1] - t[0]
		return -t[0]*t[0]/2 - d*d/2
	}}
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return asks(c, steps, m, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			next[1] = s.Theta[1]
			info, err := moving(bits, next, s.Theta, priorRatio(m, next, s.Theta))
			if err != nil {
				return info, err
			}
			of, z := s.Theta[0], rng.NormFloat64()
			if wrong(rng) {
				of = next[0]
			}
			s.Theta[1], info.Accepted = of+z, true
			return info, nil
		})
	}, func(o *proptest.KernelOptions) {
		o.Exact = func(rng *rand.Rand, t []float64) {
			t[0] = center[0] + sd*rng.NormFloat64()
			t[1] = t[0] + rng.NormFloat64()
		}
	})
}

// priorFirst tests the prior's ratio first, and pays for a bit of what it lets through.
func priorFirst(name, effect string, again float64) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		return decides(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			r := priorRatio(target, next, s.Theta)
			if -rng.ExpFloat64() > r {
				return kernels.Info{StepSize: step}, nil
			}
			return moving(bits, next, s.Theta, again*r)
		})
	})
}
