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

// scan moves one parameter after the other, each with a bit.
type scan struct {
	kernels.Frame
	target *targets.GaussianMean
	bits   *curator.Bits
	next   []float64
	stale  bool // the second ratio is of the prior where the step began
}

func (k *scan) Name() string { return "scan" }
func (k *scan) Left() int64  { return k.bits.Left() / 2 }

func (k *scan) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	var info kernels.Info
	begun := k.target.LogPrior(s.Theta)
	for j := range s.Theta {
		copy(k.next, s.Theta)
		k.next[j] += 2 * step * rng.NormFloat64()
		if !k.stale {
			begun = k.target.LogPrior(s.Theta)
		}
		accepted, err := k.bits.Accept(k.next, s.Theta, k.target.LogPrior(k.next)-begun)
		if err != nil {
			return kernels.Info{}, err
		}
		if accepted {
			copy(s.Theta, k.next)
			info.Accepted = true
		}
	}
	s.Iteration++
	info.StepSize = 2 * step
	return info, nil
}

func scanned(name, effect string, stale bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, 2*steps)
		return &scan{Frame: kernels.NewFrame("scan", target), target: target, bits: bits, next: make([]float64, 2),
			stale: stale}, err
	})
}

// conditional draws each parameter given the other and a released gradient.
func conditional(name, effect string, atOnce bool) Case {
	return smoothly(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := smooth{posteriors.StandardMean(), rho}
		return descends(c, steps, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, 1,
			func(_ *curator.Gradients, g []float64, rng *rand.Rand, theta []float64) {
				const k = 1 / (1 - rho*rho)
				old := [2]float64(theta)
				for j, t := range old {
					other := theta[1-j]
					if atOnce {
						other = old[1-j]
					}
					const on = precision - 1 + k
					theta[j] = ((precision-1)*t-g[j]+rho*k*other)/on + rng.NormFloat64()/math.Sqrt(on)
				}
			})
	})
}

// gibbs draws one parameter given the other, and then the other, and says that it is reversible.
func gibbs(name, effect string, inOrder bool) Case {
	return smoothly(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := smooth{posteriors.StandardMean(), rho}
		return descends(c, steps, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, 1,
			func(_ *curator.Gradients, g []float64, rng *rand.Rand, theta []float64) {
				const k = 1 / (1 - rho*rho)
				const on = precision - 1 + k
				first := rng.IntN(2)
				if inOrder {
					first = 0
				}
				for _, j := range [2]int{first, 1 - first} {
					theta[j] = ((precision-1)*theta[j]-g[j]+rho*k*theta[1-j])/on + rng.NormFloat64()/math.Sqrt(on)
				}
			})
	}, func(o *proptest.KernelOptions) { o.Reversible = true })
}

// relaxed draws each parameter beyond its mean given the other, which a released gradient tells.
func relaxed(name, effect string, above float64) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		return descends(c, steps, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, 1,
			func(_ *curator.Gradients, g []float64, rng *rand.Rand, theta []float64) {
				for j, t := range theta {
					away := (g[j] + t) / precision // from the mean
					theta[j] = t - away - either(away > 0, above, 0.9)*away + math.Sqrt(1-0.81)*sd*rng.NormFloat64()
				}
			})
	})
}

// inTurn moves both parameters of a correlated law, each with its own bit, in an order of one's choice. What
// was refused may stay in the second proposal.
func inTurn(name, effect string, stays bool, first func(rng *rand.Rand, theta []float64) int) Case {
	return steppedRelated(name, effect, 2, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		j, some := first(rng, s.Theta), false
		copy(a.next, s.Theta)
		for range 2 {
			if !stays {
				copy(a.next, s.Theta)
			}
			a.next[j] += rng.NormFloat64()
			moved, err := a.ask(s, 0)
			if err != nil {
				return some, err
			}
			j, some = 1-j, some || moved
		}
		return some, nil
	})
}

func byCoin(rng *rand.Rand, _ []float64) int { return rng.IntN(2) }

// turning moves one coordinate after the other, by a count of its own.
func turning(name, effect string, keeps bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		next := make([]float64, 2)
		k := &minding{remembered: remembered{memory: make([]float64, 1)}}
		k.made = made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			begin: func() { k.memory[0] = 0 },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				j := int(k.memory[0])
				copy(next, s.Theta)
				next[j] += step * rng.NormFloat64()
				info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
				if err == nil {
					k.known, k.memory[0] = keeps, float64(1-j)
				}
				return info, err
			}}
		return k, err
	})
}
