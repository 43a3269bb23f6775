package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// independent proposes from a normal law about the center, 1.2 times as wide, and corrects for
// one of another sd.
func independent(name, effect string, corrected float64) Case {
	return hooked(name, effect, asked{}, hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
		for j, t := range theta {
			next[j] = center[j] + 1.2*sd*(next[j]-t)/step
		}
	}, public: func(_ *chain, theta, next []float64, r float64) float64 {
		for j, t := range theta {
			a, b := next[j]-center[j], t-center[j]
			r += (a*a - b*b) / (2 * corrected * corrected * sd * sd)
		}
		return r
	}})
}

// occasional proposes a draw about the center now and then, with a sign of the correction.
func occasional(name, effect string, sign float64) Case {
	return walk(name, effect, func() hooks {
		far := false
		return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
			if far = rng.IntN(20) == 0; far {
				for j, t := range theta {
					next[j] = center[j] + 1.5*sd*(next[j]-t)/step
				}
			}
		}, public: func(_ *chain, theta, next []float64, r float64) float64 {
			for j := range theta {
				a, b := normalised(next, j), normalised(theta, j)
				r += either(far, sign*(a*a-b*b)/(2*1.5*1.5), 0)
			}
			return r
		}}
	})
}

// heavy proposes from Student's distribution about the center, of five degrees of freedom.
func heavy(name, effect string, exponent float64) Case {
	const scale = 1.1
	log := func(theta []float64) float64 {
		u, v := normalised(theta, 0)/scale, normalised(theta, 1)/scale
		return -exponent * math.Log1p((u*u+v*v)/5)
	}
	return hooked(name, effect, asked{}, hooks{propose: func(_ *chain, rng *rand.Rand, _, next []float64) {
		chi := 0.0
		for range 5 {
			z := rng.NormFloat64()
			chi += z * z
		}
		for j := range next {
			next[j] = center[j] + scale*sd*rng.NormFloat64()*math.Sqrt(5/chi)
		}
	}, public: func(_ *chain, theta, next []float64, r float64) float64 { return r + log(theta) - log(next) }})
}

// blended proposes from one of two normal laws, whatever the state is; which says whose densities
// are compared.
func blended(name, effect string, which func(drawn int, theta []float64) int) Case {
	place, width := [2]float64{-0.7, 0.7}, [2]float64{1.3, 1} // normalised
	log := func(k int, theta []float64) float64 {
		u, v := (normalised(theta, 0)-place[k])/width[k], normalised(theta, 1)/width[k]
		return -(u*u+v*v)/2 - 2*math.Log(width[k])
	}
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		k := rng.IntN(2)
		next[0] = center[0] + sd*(place[k]+width[k]*rng.NormFloat64())
		next[1] = center[1] + sd*width[k]*rng.NormFloat64()
		return log(which(k, s.Theta), s.Theta) - log(which(k, next), next)
	})
}

// drawing proposes from Student's law of eight degrees of freedom, and weighs by the density of others.
func drawing(name, effect string, degrees float64) Case {
	const scale = 0.45
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
		log := func(t float64, j int) float64 {
			z := (t - center[j]) / scale
			return -(degrees + 1) / 2 * math.Log1p(z*z/degrees)
		}
		for j, t := range s.Theta {
			next[j] = center[j] + scale*rng.NormFloat64()*heavier(rng, 8)/math.Sqrt(0.75)
			by += log(t, j) - log(next[j], j)
		}
		return by
	})
}

// factored proposes from a normal law by a triangular factor, or by its transpose, whatever the state.
func factored(name, effect string, transposed bool) Case {
	const a, b, c = 0.45, 0.12, 0.4
	log := func(t []float64) float64 {
		u := (t[0] - center[0]) / a
		v := (t[1] - center[1] - b*u) / c
		return -u*u/2 - v*v/2
	}
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		u, v := rng.NormFloat64(), rng.NormFloat64()
		next[0], next[1] = center[0]+a*u, center[1]+b*u+c*v
		if transposed {
			next[0], next[1] = center[0]+a*u+b*v, center[1]+c*v
		}
		return log(s.Theta) - log(next)
	})
}
