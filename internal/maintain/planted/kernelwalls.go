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

// walled has no prior mass below a wall of the first parameter.
type walled struct{ *targets.GaussianMean }

func (m walled) LogPrior(t []float64) float64 {
	if t[0] < wall {
		return math.Inf(-1)
	}
	return m.GaussianMean.LogPrior(t)
}

const wall = 0.9

// against proposes a place for the first parameter beside a wall, with a correction.
func against(name, effect string, propose func(rng *rand.Rand, at float64) (next float64),
	correct func(next, theta float64) float64) Case {
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := walled{posteriors.StandardMean()}
		return asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			next[0], next[1] = propose(rng, s.Theta[0]), s.Theta[1]+step*rng.NormFloat64()
			return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta)+correct(next[0], s.Theta[0]))
		})
	}, beyondWall)
}

// beyondWall gives the law there.
func beyondWall(o *proptest.KernelOptions) {
	exact := exactly(sd)
	o.Outside = []float64{wall - 0.1, 0}
	o.Exact = func(rng *rand.Rand, theta []float64) {
		for exact(rng, theta); theta[0] < wall; exact(rng, theta) {
		}
	}
}

// below is the mass of a move from a place that a wall leaves, in logarithms.
func below(at float64) float64 { return math.Log(math.Erfc(-(at-wall)/(step*math.Sqrt2)) / 2) }

func truncate(rng *rand.Rand, at float64) float64 {
	for {
		if next := at + step*rng.NormFloat64(); !(next < wall) { // NaN too
			return next
		}
	}
}

// outside is a walk beside a wall that asks for no bit beyond it.
func outside(name, effect string, refuse func(s *kernels.State, before bool) (accepted bool)) Case {
	return kernelCase(name, effect, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target, before := walled{posteriors.StandardMean()}, false
		k, err := decides(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			if blur(rng, s, next); next[0] < wall {
				return kernels.Info{Accepted: refuse(s, before), StepSize: step}, nil
			}
			info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			before = info.Accepted
			return info, err
		})
		k.begin = func() { before = false }
		return k, err
	}, beyondWall)
}

// ranked keeps its second parameter above the first by sorting, after moves of two widths.
func ranked(name, effect string, second float64) Case {
	m := apart{first: true, log: func(t []float64) float64 {
		return either(t[1] > t[0], -t[0]*t[0]/2-(t[1]-1)*(t[1]-1)/2, math.Inf(-1))
	}}
	return kernelCase(name, effect, deciding(m, 1, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		a, b := s.Theta[0]+0.5*rng.NormFloat64(), s.Theta[1]+second*rng.NormFloat64()
		next[0], next[1] = min(a, b), max(a, b)
		return 0
	}), func(o *proptest.KernelOptions) {
		o.Start = []float64{1, 2}
		o.Exact = func(rng *rand.Rand, t []float64) {
			for t[0], t[1] = 1, 0; t[1] <= t[0]; {
				t[0], t[1] = center[0]+sd*rng.NormFloat64(), 1+rng.NormFloat64()
			}
		}
	})
}

// inside redraws moves until they are above a bound of the first parameter.
func inside(name, effect string, corrected bool) Case {
	const bound = -1.0
	above := func(t float64) float64 { return math.Log(normalBelow((t - bound) / 0.7)) }
	m := apart{log: func(t []float64) float64 {
		return either(t[0] > bound, -t[0]*t[0]/2-t[1]*t[1]/2, math.Inf(-1))
	}}
	return ownLaw(name, effect, m, []float64{1, 0}, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		for next[0], next[1] = bound, s.Theta[1]+rng.NormFloat64(); next[0] <= bound; {
			next[0] = s.Theta[0] + 0.7*rng.NormFloat64()
		}
		return either(corrected, above(s.Theta[0])-above(next[0]), 0)
	}, func(rng *rand.Rand, t []float64) {
		for t[0], t[1] = bound, rng.NormFloat64(); t[0] <= bound; {
			t[0] = rng.NormFloat64()
		}
	})
}

// redrawn draws proposals again that fall outside a box, as many as it takes.
func redrawn(name, effect string, at float64) Case {
	return moves(name, effect, func(_ *chain, rng *rand.Rand, theta, next []float64) {
		for j, t := range theta {
			for math.Abs(normalised(next, j)) > at && math.Abs(normalised(theta, j)) <= at {
				next[j] = t + step*rng.NormFloat64()
			}
		}
	})
}

// wrapping walks in a unit interval of the first parameter, whose law is t, and comes back in from beyond.
func wrapping(name, effect string, above func(t float64) float64) Case {
	m := apart{log: func(t []float64) float64 {
		return either(t[0] > 0 && t[0] < 1, math.Log(t[0])-t[1]*t[1]/2, math.Inf(-1))
	}}
	return ownLaw(name, effect, m, []float64{0.5, 0}, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		next[0], next[1] = math.Abs(s.Theta[0]+0.2*rng.NormFloat64()), s.Theta[1]+rng.NormFloat64()
		if next[0] > 1 {
			next[0] = above(next[0])
		}
		return 0
	}, func(rng *rand.Rand, t []float64) { t[0], t[1] = math.Sqrt(rng.Float64()), rng.NormFloat64() })
}

// bouncing goes along a line that a public slope reflects half way, at a place between start and middle.
func bouncing(name, effect string, where float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		v := [2]float64{0.4 * rng.NormFloat64(), 0.4 * rng.NormFloat64()}
		slope, along, norm := [2]float64{}, 0.0, 0.0
		for j, t := range s.Theta {
			slope[j] = t + where*v[j] - center[j] - 0.3
			along, norm = along+slope[j]*v[j], norm+slope[j]*slope[j]
		}
		for j, t := range s.Theta {
			next[j] = t + v[j] + v[j] - 2*along/norm*slope[j]
		}
		return 0
	})
}
