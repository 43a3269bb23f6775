package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/kernels"
)

func reachDefects() []Case {
	refuses := func(f func(theta, next []float64) bool) hooks {
		return hooks{accept: func(_ *chain, _ *rand.Rand, theta, next []float64, a bool) bool { return a && !f(theta, next) }}
	}
	fixed := hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) { next[1] = theta[1] }}
	diagonal := hooks{propose: func(_ *chain, _ *rand.Rand, theta,
		next []float64) {
		next[1] = theta[1] + 0.7*(next[0]-theta[0])
	}}
	lattice := hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
		for j, t := range theta {
			next[j] = t + math.Copysign(0.3, next[j]-t)
		}
	}}
	turn := hooks{after: func(_ *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
		a, b := s.Theta[0]-center[0], s.Theta[1]-center[1]
		s.Theta[0], s.Theta[1] = center[0]+math.Cos(0.03)*a-math.Sin(0.03)*b, center[1]+math.Sin(0.03)*a+math.Cos(0.03)*b
		info.Accepted = true
	}}
	return []Case{
		hooked("never moves", "", asked{}, refuses(func(_, _ []float64) bool { return true })),
		hooked("never moves, no law given", "", asked{noLaw: true}, refuses(func(_, _ []float64) bool { return true })),
		hooked("one parameter never changes", "", asked{}, fixed),
		hooked("one parameter never changes, no law given", "", asked{noLaw: true}, fixed),
		hooked("moves along one line", "", asked{}, diagonal),
		hooked("moves along one line, no law given", "", asked{noLaw: true}, diagonal),
		hooked("moves on a lattice", "", asked{}, lattice),
		hooked("moves on a lattice, no law given", "", asked{noLaw: true}, lattice),
		hooked("never crosses the median", "", asked{}, refuses(
			func(a, b []float64) bool { return (a[0] > center[0]) != (b[0] > center[0]) })),
		hooked("never crosses two sd", "2.3% of the law", asked{},
			refuses(func(a, b []float64) bool { return (a[1] > center[1]+2*sd) != (b[1] > center[1]+2*sd) })),
		hooked("never leaves a shell", "distance 2 sd", asked{}, refuses(func(a, b []float64) bool {
			far := func(t []float64) bool { return math.Hypot(t[0]-center[0], t[1]-center[1]) > 2*sd }
			return far(a) != far(b)
		})),
		hooked("never crosses a slanted line", "half of the law", asked{}, refuses(func(a, b []float64) bool {
			side := func(t []float64) bool { return t[0]-center[0]+1.6*(t[1]-center[1]) > 0 }
			return side(a) != side(b)
		})),
		hooked("moves rounded to hundredths", "0.01", asked{noLaw: true}, hooks{
			propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] = t + math.Round(100*(next[j]-t))/100
				}
			}}),
		hooked("turns about the center, said to be reversible", "0.03 rad", asked{reversible: true}, turn),
	}
}

func transitionDefects() []Case {
	add := func(name, effect string, langevin bool, h hooks) Case {
		return hooked(name, effect, asked{transition: true, langevin: langevin}, h)
	}
	scaled := func(by ...float64) hooks {
		return hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
			for j, t := range theta {
				next[j] = t + by[j]*(next[j]-t)
			}
		}}
	}
	return []Case{
		add("moves too long", "3%", false, scaled(1.03, 1.03)),
		add("moves too short", "3%", false, scaled(0.97, 0.97)),
		add("one coordinate's moves too long", "4%", false, scaled(1.04, 1)),
		add("uniform moves of the same sd", "shape", false,
			hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				next[0] = theta[0] + step*math.Sqrt(12)*(rng.Float64()-0.5)
			}}),
		add("lazy", "2%", false, hooks{accept: func(_ *chain, rng *rand.Rand, _, _ []float64,
			a bool) bool {
			return a && rng.Float64() >= 0.02
		}}),
		add("correlated moves", "0.1", false, hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
			next[1] = theta[1] + 0.995*(next[1]-theta[1]) + 0.1*(next[0]-theta[0])
		}}),
		add("Langevin noise and drift both off", "noise 1%", true, hooks{scale: 1.01}),
	}
}
