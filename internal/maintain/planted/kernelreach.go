package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/kernels"
)

func reachDefects() (all []Case) {
	add := func(name, effect string, q asked, h hooks) {
		all = append(all, kernel(name, effect, q, func() hooks { return h }))
	}
	refuses := func(f func(theta, next []float64) bool) hooks {
		return hooks{accept: func(_ *chain, _ *rand.Rand, theta, next []float64, a bool) bool { return a && !f(theta, next) }}
	}
	add("never moves", "", asked{}, refuses(func(_, _ []float64) bool { return true }))
	add("never moves, no law given", "", asked{noLaw: true}, refuses(func(_, _ []float64) bool { return true }))
	fixed := hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) { next[1] = theta[1] }}
	add("one parameter never changes", "", asked{}, fixed)
	add("one parameter never changes, no law given", "", asked{noLaw: true}, fixed)
	diagonal := hooks{propose: func(_ *chain, _ *rand.Rand, theta,
		next []float64) {
		next[1] = theta[1] + 0.7*(next[0]-theta[0])
	}}
	add("moves along one line", "", asked{}, diagonal)
	add("moves along one line, no law given", "", asked{noLaw: true}, diagonal)
	lattice := hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
		for j, t := range theta {
			next[j] = t + math.Copysign(0.3, next[j]-t)
		}
	}}
	add("moves on a lattice", "", asked{}, lattice)
	add("moves on a lattice, no law given", "", asked{noLaw: true}, lattice)
	add("never crosses the median", "", asked{}, refuses(
		func(a, b []float64) bool { return (a[0] > center[0]) != (b[0] > center[0]) }))
	add("never crosses two sd", "2.3% of the law", asked{},
		refuses(func(a, b []float64) bool { return (a[1] > center[1]+2*sd) != (b[1] > center[1]+2*sd) }))
	add("never leaves a shell", "distance 2 sd", asked{}, refuses(func(a, b []float64) bool {
		far := func(t []float64) bool { return math.Hypot(t[0]-center[0], t[1]-center[1]) > 2*sd }
		return far(a) != far(b)
	}))
	add("never crosses a slanted line", "half of the law", asked{}, refuses(func(a, b []float64) bool {
		side := func(t []float64) bool { return t[0]-center[0]+1.6*(t[1]-center[1]) > 0 }
		return side(a) != side(b)
	}))
	add("moves rounded to hundredths", "0.01", asked{noLaw: true},
		hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
			for j, t := range theta {
				next[j] = t + math.Round(100*(next[j]-t))/100
			}
		}})
	turn := hooks{after: func(_ *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
		a, b := s.Theta[0]-center[0], s.Theta[1]-center[1]
		s.Theta[0], s.Theta[1] = center[0]+math.Cos(0.03)*a-math.Sin(0.03)*b, center[1]+math.Sin(0.03)*a+math.Cos(0.03)*b
		info.Accepted = true
	}}
	add("turns about the center, said to be reversible", "0.03 rad", asked{reversible: true}, turn)
	return all
}

func transitionDefects() (all []Case) {
	add := func(name, effect string, langevin bool, h hooks) {
		all = append(all, kernel(name, effect, asked{transition: true, langevin: langevin},
			func() hooks { return h }))
	}
	scaled := func(by ...float64) hooks {
		return hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
			for j, t := range theta {
				next[j] = t + by[j]*(next[j]-t)
			}
		}}
	}
	add("moves too long", "3%", false, scaled(1.03, 1.03))
	add("moves too short", "3%", false, scaled(0.97, 0.97))
	add("one coordinate's moves too long", "4%", false, scaled(1.04, 1))
	add("uniform moves of the same sd", "shape", false,
		hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
			next[0] = theta[0] + step*math.Sqrt(12)*(rng.Float64()-0.5)
		}})
	add("lazy", "2%", false, hooks{accept: func(_ *chain, rng *rand.Rand, _, _ []float64,
		a bool) bool {
		return a && rng.Float64() >= 0.02
	}})
	add("correlated moves", "0.1", false, hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
		next[1] = theta[1] + 0.995*(next[1]-theta[1]) + 0.1*(next[0]-theta[0])
	}})
	add("Langevin noise and drift both off", "noise 1%", true, hooks{scale: 1.01})
	return all
}
