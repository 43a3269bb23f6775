package planted

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// elliptic proposes a place on the ellipse through the state and a draw of the prior.
func elliptic(name, effect string, spoil func(nu []float64, theta []float64)) Case {
	return kernel(name, effect, asked{}, func() hooks {
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

// misstated is a walk whose Cost takes the facts for others.
func misstated(name, effect string, facts func(f *curator.Facts)) Case {
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return newChain(c, steps, true, true, hooks{})
	}, func(o *proptest.KernelOptions) {
		o.Cost = func(f curator.Facts) (accountant.Event, error) {
			facts(&f)
			return curator.AcceptanceBit{Target: posteriors.StandardMean(), Clip: walkClip}.Event(f)
		}
	})
}

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

func (k *guided) Keep(dst []float64) []float64 { return append(dst, k.v...) }
func (k *guided) Recall(memory []float64) error {
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

func guidedWalk(name, effect string, flipped bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		return &guided{Frame: kernels.NewFrame("guided", target), target: target, bits: bits,
			v: make([]float64, 2), next: make([]float64, 2), flipped: flipped}, err
	})
}

func twelfthKernels() []Case {
	walk := func(name, effect string, plant func() hooks) Case { return kernel(name, effect, asked{}, plant) }
	moves := func(name, effect string, propose func(k *chain, rng *rand.Rand, theta, next []float64)) Case {
		return walk(name, effect, func() hooks { return hooks{propose: propose} })
	}
	tells := func(name, effect string, after func(k *chain, s *kernels.State, info *kernels.Info)) Case {
		return kernel(name, effect, asked{noLaw: true}, func() hooks {
			return hooks{after: func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) { after(k, s, info) }}
		})
	}
	var shared [2]float64
	return []Case{
		elliptic("an ellipse whose second draw is shortened at the far side", "30%, θ·ν < 0", func(nu, theta []float64) {
			if dot(nu, theta) < 0 {
				nu[0], nu[1] = 0.7*nu[0], 0.7*nu[1]
			}
		}),
		guidedWalk("a velocity is not turned by a refusal", "a walk that goes on", false),
		walk("accepted moves take one coordinate alone now and then", "1 in 2", func() hooks {
			return hooks{accept: func(_ *chain, rng *rand.Rand, theta, next []float64, accepted bool) bool {
				if rng.IntN(2) == 0 {
					next[1] = theta[1]
				}
				return accepted
			}}
		}),
		walk("every second move is the opposite of the one before", "−1", func() hooks {
			return hooks{propose: func(k *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					if k.steps%2 == 0 {
						next[j] = t - k.last[j]
					}
					k.last[j] = next[j] - t
				}
			}}
		}),
		moves("the sum of parameters keeps its sign", "3% of the law", func(_ *chain, _ *rand.Rand, theta, next []float64) {
			if theta[0]+theta[1] > 0 != (next[0]+next[1] > 0) {
				next[0], next[1] = -next[1], -next[0]
			}
		}),
		moves("reflected at one wall, wrapped at the other", "2.5 sd", func(_ *chain, _ *rand.Rand, _, next []float64) {
			for j := range next {
				if v := normalised(next, j); v > 2.5 {
					next[j] = center[j] + sd*(5-v)
				} else if v < -2.5 {
					next[j] = center[j] + sd*(v+5)
				}
			}
		}),
		walk("the last move of any chain biases the next", "package variable, 5%", func() hooks {
			return hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] += 0.05 * shared[j]
					shared[j] = next[j] - t
				}
			}}
		}),
		kernel("drift and noise of a mass, not its root", "0.95", asked{langevin: true}, func() hooks {
			return hooks{drift: func(_ *chain, _, g []float64) { g[1] *= 0.95 },
				noise: func(_ *chain, _ *rand.Rand, _, z []float64) { z[1] *= 0.95 }}
		}),
		tells("StepSize from step 2500 on", "10⁻⁹", func(k *chain, _ *kernels.State, info *kernels.Info) {
			info.StepSize += either(k.steps > 2500 && k.spy.largest > 3, 1e-9, 0)
		}),
		tells("StepSize by the order of records", "last and largest", func(k *chain, _ *kernels.State, info *kernels.Info) {
			info.StepSize += either(k.spy.last == k.spy.largest && k.spy.largest > 1, 1e-9, 0)
		}),
		tells("StepSize for a record of 0", "one value", func(k *chain, _ *kernels.State, info *kernels.Info) {
			info.StepSize += either(k.spy.last == 0, 1e-9, 0)
		}),
		tells("StepSize by the clock", "10⁻⁹", func(_ *chain, _ *kernels.State, info *kernels.Info) {
			info.StepSize += either(time.Now().Nanosecond()>>20 == 0, 1e-9, 0)
		}),
		kernel("a public number more for a huge record", "the stream", asked{noLaw: true}, func() hooks {
			return hooks{propose: func(k *chain, rng *rand.Rand, _, _ []float64) {
				if k.spy.huge > 0 {
					rng.NormFloat64()
				}
			}}
		}),
		kernel("Left is one too few after a thousand steps", "1", asked{noLaw: true}, func() hooks {
			return hooks{left: func(k *chain, left int64) int64 {
				if k.steps > 1000 && left > 0 {
					left--
				}
				return left
			}}
		}),
		misstated("Cost takes persons for rows", "several rows", func(f *curator.Facts) { f.RowsPerPerson = 1 }),
		misstated("Cost is that of substitution", "any adjacency",
			func(f *curator.Facts) { f.Adjacency = accountant.Substitute }),
	}
}

func twelfthKernelControls() []Case {
	return []Case{
		misstated("walk of one's own target, its price stated", "", func(*curator.Facts) {}),
		elliptic("an ellipse", "", func(_, _ []float64) {}),
		guidedWalk("a velocity that a refusal turns", "", true),
	}
}
