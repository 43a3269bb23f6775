package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/kernels"
)

var sharedPrior float64 // of the last state of whatever chain

func thirteenthKernels() []Case {
	zero := func(float64, float64) float64 { return 0 }
	return []Case{
		penalised("penalty by the noise of the move before", "stale",
			func(_, last float64) float64 { return last * last / 2 }),
		penalised("penalty of at most a half", "cut off", func(now, _ float64) float64 { return min(now*now/2, 0.5) }),
		tempered("a swap counts the prior", "prior ratio", swapFlaws{prior: true}),
		tempered("a swap at the hot temperature", "0.4 for 0.6", swapFlaws{hot: true}),
		tempered("a swap overwrites what it swaps", "one way", swapFlaws{halfway: true}),
		mala("the reverse drift is too long", "10%", true, malaFlaws{wholeBack: true}),
		mala("the reverse density of one parameter is wider", "1.5 for 1.6", true, malaFlaws{plainBack: true}),
		mala("a refusal leaves the gradient of the proposal", "stale", true, malaFlaws{refused: true}),
		mala("Keep returns the gradient of a refused proposal", "resumed chains", false, malaFlaws{keeps: true}),
		dense("momentum by the transposed factor", "LᵀL", denseFlaws{transposed: true}),
		dense("kinetic energy of the mass's diagonal", "off-diagonal", denseFlaws{diagonal: true}),
		lifted("a refusal turns the other direction", "1 − j", func(v []float64, moved int, accepted bool) {
			if !accepted {
				v[1-moved] *= -1
			}
		}),
		conditional("both parameters given the old ones", "at once", true),
		heavy("a density of one dimension for two", "exponent 3", 3),
		twofold("the second test knows nothing of the first", "no correction", func(float64) float64 { return 0 }),
		twofold("only what the surrogate refuses is corrected for", "one sign",
			func(first float64) float64 { return -min(first, 0) }),
		against("proposals beyond a wall are put on it", "an atom", func(rng *rand.Rand, at float64) float64 {
			return max(wall, at+step*rng.NormFloat64())
		}, zero),
		against("the mass beside a wall, the wrong way round", "sign", truncate,
			func(next, theta float64) float64 { return below(next) - below(theta) }),
		splitting("friction at both ends of a step", "variance 4%", "OBABO",
			func(alpha float64) float64 { return math.Sqrt(1 - alpha*alpha) }),
		splitting("the noise of half a step's friction", "α for α²", "BAOAB",
			func(alpha float64) float64 { return math.Sqrt(1 - alpha) }),
		stretched("a stretch with a power too many", "z² for z", 2),
		walk("log prior of the state in a package variable", "several chains", func() hooks {
			begun := false
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				begun = false
				return kernels.NewState(k.target, theta)
			}, public: func(k *chain, theta, next []float64, _ float64) float64 {
				if !begun {
					begun, sharedPrior = true, k.target.LogPrior(theta)
				}
				return k.target.LogPrior(next) - sharedPrior
			}, after: func(k *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
				sharedPrior = k.target.LogPrior(s.Theta)
			}}
		}),
		hooked("a ratio of densities that vanish far away", "exp(−745)", asked{}, hooks{
			public: func(k *chain, theta, next []float64, _ float64) float64 {
				return math.Log(math.Exp(k.target.LogPrior(next)) / math.Exp(k.target.LogPrior(theta)))
			}}),
		sampled("Accepted is of the last of two moves", "Info", false, lastOfTwo(false)),
		wideWalk("the third of three moves too long where two agree", "10%", 3, func(theta, next []float64) {
			mean := func(j int) float64 { // of the posterior
				sum := 0.0
				for i := j; i < 18; i += 3 {
					sum += float64(i%7)/3 - 1
				}
				return sum / precision
			}
			if (theta[1]-mean(1))*(theta[2]-mean(2)) > 0 {
				next[2] += 0.1 * (next[2] - theta[2])
			}
		}),
		smoothly("prior of another correlation", "0.77 for 0.8", correlatedWalk(0.77)),
		walk("the prior's tail is heavier", "beyond 2.5 sd", func() hooks {
			log := func(theta []float64) float64 {
				far := math.Abs(normalised(theta, 0)) - 2.5
				return either(far > 0, 2*far, 0)
			}
			return hooks{public: func(_ *chain, theta, next []float64, r float64) float64 {
				return r + log(next) - log(theta)
			}}
		}),
		walk("longer after a move, shorter after a refusal", "±20%, for ever", func() hooks {
			by := 1.0
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				by = 1
				return kernels.NewState(k.target, theta)
			}, propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] = t + by*(next[j]-t)
				}
			}, after: func(_ *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				by = either(info.Accepted, 1.2, 0.8)
			}}
		}),
		walk("mirrored at the running mean", "1 in 2", func() hooks {
			var mean [2]float64
			n := 0.0
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				n = 0
				return kernels.NewState(k.target, theta)
			}, propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				n++
				mirrored := rng.IntN(2) == 0
				for j, t := range theta {
					mean[j] += (t - mean[j]) / n
					next[j] += either(mirrored, 2*(mean[j]-t), 0)
				}
			}}
		}),
		tells("StepSize for a record of minus zero", "10⁻⁹",
			func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				info.StepSize += either(k.spy.last == 0 && math.Signbit(k.spy.last), 1e-9, 0)
			}),
		tells("StepSize by the fraction of the last record", "within 10⁻³ of a half",
			func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				_, part := math.Modf(math.Abs(k.spy.last))
				info.StepSize += either(math.Abs(part-0.5) < 1e-3, 1e-9, 0)
			}),
		kernel("StepSize after ten moves in a row, by the largest record", "10⁻⁹", asked{noLaw: true}, func() hooks {
			row := 0
			return hooks{after: func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				if row++; !info.Accepted {
					row = 0
				}
				info.StepSize += either(row == 10 && k.spy.largest > 2.5, 1e-9, 0)
			}}
		}),
		tells("Iteration counts twice at step 2500 for large records", "1",
			func(k *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
				if k.steps == 2500 && k.spy.largest > 1e3 {
					s.Iteration++
				}
			}),
		halfBatch("Cost is of half the records, rounded up", "odd tables", 1),
	}
}

func thirteenthKernelControls() []Case {
	zero := func(float64, float64) float64 { return 0 }
	root := func(alpha float64) float64 { return math.Sqrt(1 - alpha*alpha) }
	return []Case{
		penalised("penalty of a noise that grows with moves", "", func(now, _ float64) float64 { return now * now / 2 }),
		tempered("two temperatures", "", swapFlaws{}),
		mala("Langevin moves, corrected, a gradient kept", "", true, malaFlaws{}),
		dense("a dense mass", "", denseFlaws{}),
		lifted("a refusal turns the direction", "", func(v []float64, moved int, accepted bool) {
			if !accepted {
				v[moved] *= -1
			}
		}),
		lifted("a refusal turns all directions", "", func(v []float64, _ int, accepted bool) {
			if !accepted {
				v[0], v[1] = -v[0], -v[1]
			}
		}),
		lifted("a move turns its direction", "", func(v []float64, moved int, accepted bool) {
			if accepted {
				v[moved] *= -1
			}
		}),
		conditional("each parameter given the other", "", false),
		heavy("proposals of Student's distribution", "", 3.5),
		twofold("a surrogate is asked first", "", func(first float64) float64 { return -first }),
		against("reflected at a wall", "", func(rng *rand.Rand, at float64) float64 {
			return wall + math.Abs(at+step*rng.NormFloat64()-wall)
		}, zero),
		against("truncated at a wall", "", truncate, func(next, theta float64) float64 { return below(theta) - below(next) }),
		splitting("velocity and friction", "", "BAOAB", root),
		stretched("a stretch", "", 1),
		sampled("two moves", "", true, lastOfTwo(true)),
		smoothly("walk under a correlated prior", "", correlatedWalk(rho)),
		halfBatch("a batch of half the records", "", 0),
		moves("hit and run, longer along the first", "", func(_ *chain, rng *rand.Rand, theta, next []float64) {
			u, v := 2*rng.Float64()-1, 2*rng.Float64()-1
			d := (0.5 + math.Abs(u)) * rng.NormFloat64() / math.Hypot(u, v)
			next[0], next[1] = theta[0]+d*u, theta[1]+d*v
		}),
	}
}

func afterThirteenth() []Case {
	return []Case{
		keeping("mirrored at the running mean", "1 in 2", 3, false, func(m []float64) hooks {
			return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				m[2]++
				mirrored := rng.IntN(2) == 0
				for j, t := range theta {
					m[j] += (t - m[j]) / m[2]
					next[j] += either(mirrored, 2*(m[j]-t), 0)
				}
			}}
		}),
		keeping("a kept scale adapts ever less", "n^−0.6", 2, false, func(m []float64) hooks {
			return hooks{propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					next[j] = t + math.Exp(m[0])*(next[j]-t)
				}
			}, after: func(_ *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				m[1]++
				m[0] += (either(info.Accepted, 1, 0) - 0.4) * math.Pow(m[1], -0.6)
			}}
		}),
		keeping("noise has some of the last", "5%", 2, true, func(m []float64) hooks {
			return hooks{noise: func(_ *chain, _ *rand.Rand, _, z []float64) {
				for j := range z {
					z[j] = 0.05*m[j] + math.Sqrt(1-0.05*0.05)*z[j]
					m[j] = z[j]
				}
			}}
		}),
		keeping("the prior is forgotten late", "from step 500 on", 1, false, func(m []float64) hooks {
			return hooks{public: func(_ *chain, _, _ []float64, r float64) float64 {
				m[0]++
				return either(m[0] > 500, 0, r)
			}}
		}),
		keeping("the prior is forgotten late", "from step 100 on", 1, false, func(m []float64) hooks {
			return hooks{public: func(_ *chain, _, _ []float64, r float64) float64 {
				m[0]++
				return either(m[0] > 100, 0, r)
			}}
		}),
		keeping("a refusal is tried twice with the same noise", "1 in 10", 3, false, func(m []float64) hooks {
			return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				again := m[2] == 1 && rng.IntN(10) == 0
				for j, t := range theta {
					if again {
						next[j] = t - m[j]
					}
					m[j] = next[j] - t
				}
			}, after: func(_ *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				m[2] = either(info.Accepted, 0, 1)
			}}
		}),
		keeping("stands still after 5000 steps", "for ever", 1, false, func(m []float64) hooks {
			return hooks{accept: func(_ *chain, _ *rand.Rand, _, _ []float64, a bool) bool {
				m[0]++
				return a && m[0] < 5000
			}}
		}),
		tells("StepSize by a record of a table beyond a hundred", "10⁻⁹",
			func(k *chain, _ *rand.Rand, _ *kernels.State, info *kernels.Info) {
				info.StepSize += either(k.desk.Facts().Records > 100 && k.spy.largest > 2, 1e-9, 0)
			}),
		sampled("a second chain uses the first's grant", "one price", true, grantedOnce()),
		sampled("proposals in a slice of the factory's", "shared", true, handedOver()),
	}
}
