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

// prior is a target whose records say nothing, so that its law is the prior.
type prior struct {
	dim int
	log func(theta []float64) float64
}

func (m prior) Dim() int                              { return m.dim }
func (m prior) Shape() (int, bool)                    { return 2, false }
func (m prior) LogPrior(theta []float64) float64      { return m.log(theta) }
func (m prior) Loss(dst, _ []float64, _ targets.Rows) { clear(dst) }

// sampling is a right kernel of such a law in two parameters, by proposals.
func sampling(name string, log func(t []float64) float64, exact func(rng *rand.Rand, t []float64),
	propose proposing) Case {
	return kernelCase(name, "", deciding(prior{2, log}, 1, propose), func(o *proptest.KernelOptions) {
		o.Exact, o.Start = exact, make([]float64, 2)
		exact(rand.New(rand.NewPCG(1, 1)), o.Start)
	})
}

// walking proposes normal moves of some length.
func walking(length float64) proposing {
	return func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		for j, t := range s.Theta {
			next[j] = t + length*rng.NormFloat64()
		}
		return 0
	}
}

// eachOf is a law of independent parameters and its draws.
func eachOf(log func(t float64) float64) func(t []float64) float64 {
	return func(t []float64) float64 { return log(t[0]) + log(t[1]) }
}

func drawsOf(draw func(rng *rand.Rand) float64) func(rng *rand.Rand, t []float64) {
	return func(rng *rand.Rand, t []float64) { t[0], t[1] = draw(rng), draw(rng) }
}

// unusualKernels are right ones that look like none that a suite was made for.
func unusualKernels() []Case {
	student := eachOf(func(t float64) float64 { return -1.5 * math.Log1p(t*t/2) })
	twice := func(rng *rand.Rand) float64 { return rng.NormFloat64() / math.Sqrt(rng.ExpFloat64()) }
	humps := eachOf(func(t float64) float64 {
		return -(math.Abs(t)-2)*(math.Abs(t)-2)/2 + math.Log1p(math.Exp(-4*math.Abs(t)))
	})
	of := func(scale float64) func(t []float64) float64 {
		return func(t []float64) float64 { return -(t[0]*t[0] + t[1]*t[1]) / (2 * scale * scale) }
	}
	normals := func(scale float64) func(rng *rand.Rand, t []float64) {
		return drawsOf(func(rng *rand.Rand) float64 { return scale * rng.NormFloat64() })
	}
	return []Case{
		sampling("a law of two degrees of freedom", student, drawsOf(twice), walking(2)),
		sampling("a law of two degrees of freedom, by Cauchy moves", student, drawsOf(twice), func(rng *rand.Rand,
			s *kernels.State, next []float64) float64 {
			for j, t := range s.Theta {
				next[j] = t + math.Tan(math.Pi*(rng.Float64()-0.5))
			}
			return 0
		}),
		sampling("a law of a millionth", of(1e-6), normals(1e-6), walking(1e-6)),
		sampling("a law of a hundred million", of(1e8), normals(1e8), walking(1e8)),
		sampling("a uniform law", eachOf(func(t float64) float64 { return either(t >= 0 && t < 1, 0, math.Inf(-1)) }),
			drawsOf((*rand.Rand).Float64), walking(0.3)),
		sampling("a law of two humps in each parameter", humps, drawsOf(func(rng *rand.Rand) float64 {
			return rng.NormFloat64() + either(rng.IntN(2) == 0, -2, 2)
		}), walking(2)),
		sampling("short moves", of(1), normals(1), walking(0.1)),
		sampling("long moves", of(1), normals(1), walking(12)),
		sampling("a law of an exponential's square", eachOf(func(t float64) float64 {
			return either(t > 0, -math.Sqrt(t)-math.Log(t)/2, math.Inf(-1))
		}), drawsOf(func(rng *rand.Rand) float64 { e := rng.ExpFloat64(); return e * e }), walking(4)),
		onLattice(),
		halfDiscrete(),
		sampled("lazy, half of the time", "", true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
			target := posteriors.StandardMean()
			return decides(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
				s *kernels.State) (kernels.Info, error) {
				if blur(rng, s, next); rng.IntN(2) == 0 {
					return kernels.Info{StepSize: step}, nil
				}
				return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			})
		}),
		proposed("along a line to a corner of a box", "", func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
			u, v, r := 2*rng.Float64()-1, 2*rng.Float64()-1, rng.NormFloat64()
			next[0], next[1] = s.Theta[0]+r*u, s.Theta[1]+r*v
			return 0
		}),
		proposed("draws of the prior", "", func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
			for j, t := range s.Theta {
				next[j] = rng.NormFloat64()
				by += (next[j]*next[j] - t*t) / 2
			}
			return by
		}),
	}
}

// onLattice is a law on whole numbers in two parameters, which depend on each other.
func onLattice() Case {
	const side = 7
	log := func(t []float64) float64 {
		if a, b := t[0], t[1]; a == math.Trunc(a) && b == math.Trunc(b) && min(a, b) >= 0 && max(a, b) < side {
			return -(a-b)*(a-b)/8 - a/4
		}
		return math.Inf(-1)
	}
	exact := func(rng *rand.Rand, t []float64) {
		for t[0], t[1] = float64(rng.IntN(side)), float64(rng.IntN(side)); rng.Float64() > math.Exp(log(t)); {
			t[0], t[1] = float64(rng.IntN(side)), float64(rng.IntN(side))
		}
	}
	return sampling("a law on whole numbers in two parameters", log, exact, func(rng *rand.Rand, s *kernels.State,
		next []float64) float64 {
		copy(next, s.Theta)
		next[rng.IntN(2)] += float64(2*rng.IntN(2) - 1)
		return 0
	})
}

// halfDiscrete has a parameter that is 0 or 1, and one whose mean it is.
func halfDiscrete() Case {
	log := func(t []float64) float64 {
		return either(t[0] == 0 || t[0] == 1, -(t[1]-2*t[0])*(t[1]-2*t[0])/2, math.Inf(-1))
	}
	exact := func(rng *rand.Rand, t []float64) {
		t[0] = float64(rng.IntN(2))
		t[1] = 2*t[0] + rng.NormFloat64()
	}
	return sampling("a parameter of two values and a mean", log, exact, func(rng *rand.Rand, s *kernels.State,
		next []float64) float64 {
		next[0], next[1] = s.Theta[0], s.Theta[1]+rng.NormFloat64()
		if rng.IntN(2) == 0 {
			next[0] = 1 - s.Theta[0]
		}
		return 0
	})
}
