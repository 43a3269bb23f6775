package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// penalised is a walk with a penalty for the noise of its ratios, which grows with moves.
func penalised(name, effect string, penalty func(now, last float64) float64) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		ratios, err := curator.Charge(c, curator.NoisyRatio{Target: target, Clip: 50, PerLength: true,
			NoiseMultiplier: 0.013}, steps)
		if err != nil {
			return nil, err
		}
		next := make([]float64, 2)
		k := newMinding(target, 1, ratios.Left)
		k.step = func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
			for j, t := range s.Theta {
				next[j] = t + step*rng.NormFloat64()
			}
			noisy, err := ratios.Release(next, s.Theta)
			if err != nil {
				return kernels.Info{}, err
			}
			now := ratios.NoiseSD()
			if !k.known {
				k.memory[0] = now
			}
			accepted := -rng.ExpFloat64() < noisy+priorRatio(target, next, s.Theta)-penalty(now, k.memory[0])
			if k.known, k.memory[0] = true, now; accepted {
				copy(s.Theta, next)
			}
			return kernels.Info{Accepted: accepted, StepSize: step}, nil
		}
		return k, nil
	})
}

// delayed tries half of a refused move again.
func delayed(c *curator.Curator, steps int64) (kernels.Kernel, error) {
	more, err := curator.Charge(c, curator.AcceptanceBit{Target: posteriors.StandardMean(), Clip: walkClip}, steps)
	if err != nil {
		return nil, err
	}
	target := posteriors.StandardMean()
	return newChain(c, steps, true, false, hooks{
		propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
			for j, t := range theta {
				next[j] = t + 3*(next[j]-t)
			}
		},
		accept: func(_ *chain, _ *rand.Rand, theta, next []float64, accepted bool) bool {
			if accepted {
				return true
			}
			for j, t := range theta {
				next[j] = t + (next[j]-t)/3
			}
			again, err := more.Accept(next, theta, target.LogPrior(next)-target.LogPrior(theta))
			return err == nil && again
		}})
}

// patient asks again where a move from far out is refused.
func patient(c *curator.Curator, steps int64) (kernels.Kernel, error) {
	target := posteriors.StandardMean()
	more, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
	if err != nil {
		return nil, err
	}
	return newChain(c, steps, true, false, hooks{
		accept: func(_ *chain, _ *rand.Rand, theta, next []float64, accepted bool) bool {
			if accepted || math.Hypot(normalised(theta, 0), normalised(theta, 1)) < 2 {
				return accepted
			}
			again, err := more.Accept(next, theta, priorRatio(target, next, theta))
			return err == nil && again
		}})
}

// tight is a walk whose bits clip each record's ratio.
func tight(name, effect string, clip float64) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: clip}, steps)
		next := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				blur(rng, s, next)
				return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			}}, err
	})
}

// byIteration is a walk whose state a flaw changes at some iterations.
func byIteration(name, effect string, flaw func(iteration int64, k *chain, rng *rand.Rand, s *kernels.State)) Case {
	return hooked(name, effect, asked{}, hooks{
		after: func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info) {
			was := [2]float64{s.Theta[0], s.Theta[1]}
			flaw(s.Iteration, k, rng, s)
			info.Accepted = info.Accepted || was[0] != s.Theta[0]
		}})
}
