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

const wideStep = 0.2 // of walks in several dimensions

// wideWalk is a walk in n dimensions, whose proposals are spoilt.
func wideWalk(name, effect string, n int, spoil func(theta, next []float64)) Case {
	return widely(name, effect, n, false, spoil)
}

// widely is wideWalk, which is said to be reversible or not.
func widely(name, effect string, n int, reversible bool, spoil func(theta, next []float64)) Case {
	x := make([]float64, 6*n)
	for i := range x {
		x[i] = float64(i%7)/3 - 1
	}
	target := posteriors.Must(targets.New(targets.GaussianMeanConfig{Features: n,
		Prior: priors.Gaussian{SD: 1}}))
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		return &chain{target: target, bits: bits, next: make([]float64, n), before: make([]float64, n),
			hooks: hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] = t + wideStep/step*(next[j]-t)
				}
				spoil(theta, next)
			}}}, err
	}, func(o *proptest.KernelOptions) {
		o.Records, o.Start, o.Reversible = curator.Records{X: x, Features: n}, make([]float64, n), reversible
		o.Exact = func(rng *rand.Rand, theta []float64) {
			for j := range theta {
				theta[j] = sd * rng.NormFloat64()
				for i := j; i < len(x); i += n {
					theta[j] += x[i] / precision
				}
			}
		}
	})
}

// following has scales that follow a coordinate, of walks that are said to be reversible.
func following() []Case {
	return []Case{
		widely("the first of five follows the last", "10%", 5, true, func(theta, next []float64) {
			next[0] += either(math.Abs(theta[4]) > sd, 0.1*(next[0]-theta[0]), 0)
		}),
		widely("all of ten follow the third", "5%", 10, true, func(theta, next []float64) {
			for j, t := range theta {
				next[j] += either(theta[2] > 0, 0.05*(next[j]-t), 0)
			}
		}),
		widely("the second of three follows the first", "8%", 3, true, func(theta, next []float64) {
			next[1] += either(theta[0] > 0, 0.08*(next[1]-theta[1]), 0)
		}),
		hooked("wider above the median", "2%", asked{reversible: true}, hooks{
			propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] += either(theta[0] > center[0], 0.02*(next[j]-t), 0)
				}
			}}),
	}
}

// fiveWide makes Langevin steps in five dimensions, with noise of one of them off.
func fiveWide(name, effect string, fourth float64) Case {
	const n = 5
	x := make([]float64, 6*n)
	for i := range x {
		x[i] = float64(i%7)/3 - 1
	}
	m := curator.NoisyGradient{Target: posteriors.Must(targets.New(targets.GaussianMeanConfig{Features: n,
		Prior: priors.Gaussian{SD: 1}})), Clip: 50, NoiseMultiplier: 1e-5}
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return descends(c, steps, m, size,
			func(_ *curator.Gradients, g []float64, rng *rand.Rand, theta []float64) {
				for j, t := range theta {
					theta[j] += either(j == 3, fourth, 1)*math.Sqrt(size)*rng.NormFloat64() - size/2*(g[j]+t)
				}
			})
	}, func(o *proptest.KernelOptions) {
		o.Records, o.Start = curator.Records{X: x, Features: n}, make([]float64, n)
		o.Exact = func(rng *rand.Rand, theta []float64) {
			for j := range theta {
				theta[j] = math.Sqrt(size) / math.Sqrt(1-keep*keep) * rng.NormFloat64()
				for i := range 6 {
					theta[j] += x[i*n+j] / precision
				}
			}
		}
	})
}

// herd has three walkers, each of which is moved along the distance between two others.
func herd(name, effect string, itself bool) Case {
	six := posteriors.Must(targets.New(targets.GaussianMeanConfig{Features: 6, Prior: priors.Gaussian{SD: 1}}))
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps)
		next := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", six), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				i := rng.IntN(3)
				a := (i + 1 + rng.IntN(2)) % 3
				b := 3 - i - a
				if itself {
					a = rng.IntN(3)
					b = (a + 1 + rng.IntN(2)) % 3
				}
				for j := range next {
					next[j] = s.Theta[2*i+j] + 0.6*(s.Theta[2*a+j]-s.Theta[2*b+j]) + 0.3*rng.NormFloat64()
				}
				theta := s.Theta[2*i : 2*i+2]
				return moving(bits, next, theta, priorRatio(target, next, theta))
			}}, err
	}, func(o *proptest.KernelOptions) {
		o.Start = make([]float64, 6)
		o.Exact = func(rng *rand.Rand, theta []float64) {
			for j := range theta {
				theta[j] = center[j%2] + sd*rng.NormFloat64()
			}
		}
	})
}

// single walks in one parameter of its own.
func single(name, effect string, up float64) Case {
	target := posteriors.Must(targets.New(targets.GaussianMeanConfig{Features: 1, Prior: priors.Gaussian{SD: 1}}))
	x := []float64{0.5, -1, 2, 0, 1.5, 0.5}
	propose := func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		z := rng.NormFloat64()
		next[0] = s.Theta[0] + step*z*either(z > 0, up, 1)
		return 0
	}
	return kernelCase(name, effect, deciding(target, 1, propose), func(o *proptest.KernelOptions) {
		o.Records, o.Start = curator.Records{X: x, Features: 1}, []float64{0}
		o.Exact = func(rng *rand.Rand, theta []float64) { theta[0] = 3.5/precision + sd*rng.NormFloat64() }
	})
}
