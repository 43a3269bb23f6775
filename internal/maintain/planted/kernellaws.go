package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

// apart is a target whose second parameter, or all, have a law of their own: the prior.
type apart struct {
	log   func(theta []float64) float64
	first bool // records say something of the first parameter
}

func (apart) Dim() int           { return 2 }
func (apart) Shape() (int, bool) { return 2, false }

func (m apart) LogPrior(theta []float64) float64 { return m.log(theta) }

func (m apart) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		d := rows.X[2*i] - theta[0]
		dst[i] = either(m.first, d*d/2, 0)
	}
}

// ownLaw is a chain of bits of such a target. Draws are those of the second parameter, or of all.
func ownLaw(name, effect string, m apart, start []float64, propose proposing, draw func(rng *rand.Rand,
	theta []float64)) Case {
	return kernelCase(name, effect, deciding(m, 1, propose), func(o *proptest.KernelOptions) {
		o.Start = start
		o.Exact = func(rng *rand.Rand, theta []float64) {
			if draw(rng, theta); m.first {
				theta[0] = center[0] + sd*rng.NormFloat64()
			}
		}
	})
}

// positive has a second parameter of a gamma law of shape three.
func positive(name, effect string, propose proposing) Case {
	m := apart{first: true, log: func(t []float64) float64 {
		if t[1] <= 0 {
			return math.Inf(-1)
		}
		return -t[0]*t[0]/2 + 2*math.Log(t[1]) - t[1]
	}}
	return ownLaw(name, effect, m, []float64{1, 3}, propose, func(rng *rand.Rand, theta []float64) {
		theta[1] = rng.ExpFloat64() + rng.ExpFloat64() + rng.ExpFloat64()
	})
}

// loose has a second parameter that records say nothing of, with Student's distribution.
type loose struct {
	freedom, lowest float64 // of the prior, and where its logarithm ends
}

func (loose) Dim() int           { return 2 }
func (loose) Shape() (int, bool) { return 2, false }

func (m loose) LogPrior(t []float64) float64 {
	return -t[0]*t[0]/2 + max(m.lowest, -(m.freedom+1)/2*math.Log1p(t[1]*t[1]/m.freedom))
}

func (loose) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		d := rows.X[2*i] - theta[0]
		dst[i] = d * d / 2
	}
}

// farther walks under that prior, by moves that grow with the parameter, whose density is corrected
// for up to some place.
func farther(name, effect string, prior loose, by, upTo float64) Case {
	width := func(t float64) float64 { return 1.5 * math.Sqrt(1+by*t*t) }
	return kernelCase(name, effect, deciding(prior, 1, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		z, t := rng.NormFloat64(), s.Theta[1]
		next[0], next[1] = s.Theta[0]+step*rng.NormFloat64(), t+width(t)*z
		back := width(t) * z / width(next[1])
		if math.Abs(t) > upTo || math.Abs(next[1]) > upTo {
			return 0
		}
		return math.Log(width(t)/width(next[1])) + (z*z-back*back)/2
	}), func(o *proptest.KernelOptions) {
		o.Exact = func(rng *rand.Rand, theta []float64) {
			chi := 0.0
			for range 3 {
				z := rng.NormFloat64()
				chi += z * z
			}
			theta[0] = center[0] + sd*rng.NormFloat64()
			theta[1] = rng.NormFloat64() / math.Sqrt(chi/3)
		}
	})
}

// smooth has a prior under which its two parameters are correlated.
type smooth struct {
	*targets.GaussianMean
	rho float64
}

func (m smooth) LogPrior(t []float64) float64 {
	return -(t[0]*t[0] - 2*m.rho*t[0]*t[1] + t[1]*t[1]) / (2 * (1 - m.rho*m.rho))
}

func (m smooth) GradLogPrior(dst, t []float64) {
	c := 1 / (1 - m.rho*m.rho)
	dst[0], dst[1] = -c*(t[0]-m.rho*t[1]), -c*(t[1]-m.rho*t[0])
}

const rho = 0.8

// smoothly is a kernel of the posterior with that prior.
func smoothly(name, effect string, factory proptest.Factory, options ...func(o *proptest.KernelOptions)) Case {
	return kernelCase(name, effect, factory, func(o *proptest.KernelOptions) {
		for _, option := range options {
			option(o)
		}
		o.Exact = func(rng *rand.Rand, theta []float64) {
			c := 1 / (1 - rho*rho)
			on, off := precision-1+c, rho*c
			det := on*on - off*off
			x, y := precision*center[0], precision*center[1]
			z, w := rng.NormFloat64(), rng.NormFloat64()
			a := math.Sqrt(on / det)
			theta[0] = (on*x+off*y)/det + a*z
			theta[1] = (off*x+on*y)/det + off/det/a*z + w/math.Sqrt(on)
		}
	})
}

// correlatedWalk takes the prior's correlation for another one.
func correlatedWalk(r float64) proptest.Factory {
	return deciding(&smooth{posteriors.StandardMean(), r}, 1, blur)
}

// relation is the correlation of two standard normal parameters.
const relation = 0.8

func relatedLog(t []float64, rho float64) float64 {
	return -(t[0]*t[0] - 2*rho*t[0]*t[1] + t[1]*t[1]) / (2 * (1 - rho*rho))
}

func steppedRelated(name, effect string, bits int64, step func(a *asking, rng *rand.Rand, s *kernels.State) (bool,
	error)) Case {
	m := apart{log: func(t []float64) float64 { return relatedLog(t, relation) }}
	return kernelCase(name, effect, stepping(m, bits, 0, asItIs, step), func(o *proptest.KernelOptions) {
		o.Exact = func(rng *rand.Rand, t []float64) {
			t[0] = rng.NormFloat64()
			t[1] = relation*t[0] + math.Sqrt(1-relation*relation)*rng.NormFloat64()
		}
	})
}
