package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/kernels"
)

func invarianceDefects() []Case {
	scaledWhere := func(where func(theta []float64) bool, by float64) func(k *chain, rng *rand.Rand, theta,
		next []float64) {
		return func(_ *chain, _ *rand.Rand, theta, next []float64) {
			if where(theta) {
				for j, t := range theta {
					next[j] = t + by*(next[j]-t)
				}
			}
		}
	}
	after := func(name, effect string, f func(k *chain, rng *rand.Rand, s *kernels.State)) Case {
		return hooked(name, effect, asked{}, hooks{
			after: func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info) {
				if info.Accepted {
					f(k, rng, s)
				}
			}})
	}
	return []Case{
		moves("proposal shifted", "5% of its sd",
			func(_ *chain, _ *rand.Rand, _, next []float64) { next[0] += 0.05 * step }),
		moves("proposal shifted a little", "2% of its sd",
			func(_ *chain, _ *rand.Rand, _, next []float64) { next[1] -= 0.02 * step }),
		moves("scale beyond one sd", "×1.5", scaledWhere(func(t []float64) bool { return t[0] > center[0]+sd }, 1.5)),
		moves("scale below two sd", "×1.5", scaledWhere(func(t []float64) bool { return t[1] < center[1]-2*sd }, 1.5)),
		moves("scale grows with distance", "10%", func(_ *chain, _ *rand.Rand, theta, next []float64) {
			by := 1 + 0.1*math.Tanh(math.Hypot(theta[0]-center[0], theta[1]-center[1])/sd)
			for j, t := range theta {
				next[j] = t + by*(next[j]-t)
			}
		}),
		moves("more upward moves", "2%", func(_ *chain, rng *rand.Rand, theta, next []float64) {
			if next[0] < theta[0] && rng.Float64() < 0.02 {
				next[0] = 2*theta[0] - next[0]
			}
		}),
		moves("reflected at a wall inside", "wall at −1.5 sd", func(_ *chain, _ *rand.Rand, _, next []float64) {
			wall := center[0] - 1.5*sd
			if next[0] < wall {
				next[0] = wall + (wall-next[0])/2
			}
		}),
		moves("moves keep their direction", "0.5 of the last", func(k *chain, _ *rand.Rand, theta, next []float64) {
			for j, t := range theta {
				next[j] += 0.5 * k.last[j]
				k.last[j] = next[j] - t
			}
		}),
		moves("one coordinate pulls the other", "5%",
			func(_ *chain, _ *rand.Rand, theta, next []float64) { next[1] += 0.05 * (theta[0] - center[0]) }),
		hooked("prior forgotten", "1/7 of the curvature", asked{}, hooks{
			public: func(_ *chain, _, _ []float64, _ float64) float64 { return 0 }}),
		hooked("prior 20% too weak", "3% of the curvature", asked{}, hooks{
			public: func(_ *chain, _, _ []float64, r float64) float64 { return 0.8 * r }}),
		hooked("prior of the step before", "stale", asked{}, hooks{
			public: func(k *chain, _, next []float64, _ float64) float64 {
				return k.target.LogPrior(next) - k.target.LogPrior(k.before)
			}}),
		hooked("extra refusals outwards", "3%", asked{}, hooks{accept: func(_ *chain, rng *rand.Rand, theta, next []float64,
			a bool) bool {
			return a && !(math.Abs(next[0]-center[0]) > math.Abs(theta[0]-center[0]) && rng.Float64() < 0.03)
		}}),
		hooked("extra refusals upwards", "2%", asked{}, hooks{
			accept: func(_ *chain, rng *rand.Rand, theta, next []float64, a bool) bool {
				return a && !(next[1] > theta[1] && rng.Float64() < 0.02)
			}}),
		hooked("accepts without asking", "1 in 100", asked{}, hooks{
			accept: func(_ *chain, rng *rand.Rand, _, _ []float64, a bool) bool { return a || rng.IntN(100) == 0 }}),
		after("drift", "1% of a sd an accepted move",
			func(_ *chain, _ *rand.Rand, s *kernels.State) { s.Theta[0] += 0.01 * sd }),
		after("jumps upwards", "0.3 sd, 1 in 50", func(_ *chain, rng *rand.Rand, s *kernels.State) {
			s.Theta[1] += either(rng.IntN(50) == 0, 0.3*sd, 0)
		}),
		after("shrinks towards the center", "0.5%",
			func(_ *chain, _ *rand.Rand, s *kernels.State) { s.Theta[0] += 0.005 * (center[0] - s.Theta[0]) }),
		after("cut off at 2.5 sd", "tail",
			func(_ *chain, _ *rand.Rand, s *kernels.State) { s.Theta[0] = min(s.Theta[0], center[0]+2.5*sd) }),
		after("couples the coordinates", "1%",
			func(_ *chain, _ *rand.Rand, s *kernels.State) { s.Theta[1] += 0.01 * (s.Theta[0] - center[0]) }),
		after("drift after 1000 steps of its own", "2% of a sd", func(k *chain, _ *rand.Rand, s *kernels.State) {
			s.Theta[0] += either(k.steps > 1000, 0.02*sd, 0)
		}),
		after("drift from iteration 100 on", "2% of a sd", func(_ *chain, _ *rand.Rand, s *kernels.State) {
			s.Theta[0] += either(s.Iteration > 100, 0.02*sd, 0)
		}),
		after("drift at every tenth iteration", "10% of a sd", func(_ *chain, _ *rand.Rand, s *kernels.State) {
			s.Theta[1] += either(s.Iteration%10 == 3, 0.1*sd, 0)
		}),
	}
}

func langevinDefects() []Case {
	return []Case{
		diffusion("noise too large", "3%", hooks{scale: 1.03}),
		diffusion("noise too small", "3%", hooks{scale: 0.97}),
		diffusion("noise slightly off", "1%", hooks{scale: 1.01}),
		diffusion("drift too strong", "3%", hooks{drift: func(_ *chain, _, g []float64) { g[0] *= 1.03; g[1] *= 1.03 }}),
		diffusion("drift of one coordinate", "5% weak", hooks{drift: func(_ *chain, _, g []float64) { g[1] *= 0.95 }}),
		diffusion("prior's gradient forgotten", "1/7", hooks{drift: func(_ *chain, theta,
			g []float64) {
			g[0] += theta[0]
			g[1] += theta[1]
		}}),
		diffusion("noise correlated between coordinates", "0.05",
			hooks{noise: func(_ *chain, _ *rand.Rand, _, z []float64) { z[1] = z[1]*math.Sqrt(1-0.0025) + 0.05*z[0] }}),
		diffusion("noise correlated between steps", "0.05", hooks{noise: func(k *chain, _ *rand.Rand, _, z []float64) {
			for j := range z {
				z[j] = z[j]*math.Sqrt(1-0.0025) + 0.05*k.last[j]
				k.last[j] = z[j]
			}
		}}),
		diffusion("noise off centre", "2%", hooks{noise: func(_ *chain, _ *rand.Rand, _, z []float64) { z[0] += 0.02 }}),
		diffusion("noise skewed beyond one sd", "×1.1", hooks{noise: func(_ *chain, _ *rand.Rand, theta, z []float64) {
			z[0] *= either(theta[0] > center[0]+sd, 1.1, 1)
		}}),
		diffusion("noise repeated at every second step", "repeat", hooks{noise: func(k *chain, _ *rand.Rand, _, z []float64) {
			if k.steps%2 == 0 {
				copy(z, k.last)
			}
			copy(k.last, z)
		}}),
		diffusion("noise uniform", "kurtosis", hooks{noise: func(_ *chain, rng *rand.Rand, _,
			z []float64) {
			z[0] = math.Sqrt(12) * (rng.Float64() - 0.5)
		}}),
		diffusion("noise with outliers", "×4, 1 in 200", hooks{noise: func(_ *chain, rng *rand.Rand, _, z []float64) {
			z[1] *= either(rng.IntN(200) == 0, 4, 1)
		}}),
	}
}
