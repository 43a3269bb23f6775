package planted

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
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

func fourteenthKernels() []Case {
	full := curator.Batch{}
	return append(fourteenthSamplers(),
		watched("an error for records that are all alike", "error", full, func(w *watcher, _ *rand.Rand, _ *kernels.State,
			_ []float64, _ *kernels.Info) error {
			if w.low == w.high {
				return errors.New("the records do not vary")
			}
			return nil
		}),
		watched("StepSize by the sign of most numbers", "10⁻⁹", full, func(w *watcher, _ *rand.Rand, _ *kernels.State,
			_ []float64, info *kernels.Info) error {
			info.StepSize += either(w.negative > w.rows, 1e-9, 0)
			return nil
		}),
		watched("StepSize halves where a loss is large", "beyond 50", full, func(w *watcher, _ *rand.Rand, _ *kernels.State,
			_ []float64, info *kernels.Info) error {
			info.StepSize *= either(w.worst > 50, 0.5, 1)
			return nil
		}),
		watched("the chain ends where the mean loss stands still", "within 10⁻⁴", full, func(w *watcher, _ *rand.Rand,
			s *kernels.State, _ []float64, _ *kernels.Info) error {
			if math.Abs(w.mean-w.old) < 1e-4 && s.Iteration > 100 {
				return curator.ErrSpent
			}
			return nil
		}),
		watched("a little of a move is made after all, by the largest record", "1 in 1000", full, func(w *watcher,
			rng *rand.Rand, s *kernels.State, _ []float64, info *kernels.Info) error {
			if rng.IntN(1000) == 0 && w.high > 2 && !info.Accepted {
				s.Theta[0] += 0.01
				info.Accepted = true
			}
			return nil
		}),
		watched("a kept number's last bit by the largest record", "10⁻¹⁵", full, func(w *watcher, _ *rand.Rand,
			s *kernels.State, memory []float64, _ *kernels.Info) error {
			memory[0] = s.Theta[0] * either(w.high > 2, 1+1e-15, 1)
			return nil
		}),
		watched("StepSize by an even number of negative numbers", "10⁻⁹", full, func(w *watcher, _ *rand.Rand,
			_ *kernels.State, _ []float64, info *kernels.Info) error {
			info.StepSize += 1e-9 * float64(w.negative%2)
			return nil
		}),
		watched("StepSize by the last record, one step in 4096", "10⁻⁹", full, func(w *watcher, _ *rand.Rand,
			s *kernels.State, _ []float64, info *kernels.Info) error {
			info.StepSize += either(s.Iteration%4096 == 4095 && w.last > 0.5, 1e-9, 0)
			return nil
		}),
		watched("StepSize for a missing value", "−999", full, func(w *watcher, _ *rand.Rand, _ *kernels.State,
			_ []float64, info *kernels.Info) error {
			info.StepSize += either(w.missing, 1e-9, 0)
			return nil
		}),
		quoted("Cost of noise that is rounded", "0.13 for 0.125", 0.13),
		handed("Keep hands out the kernel's own slice", "aliases", true, false, false),
		handed("Recall takes the caller's slice", "aliases", false, true, false),
		fromPool("a slice from a pool is not cleared", "the other number"),
		outside("Accepted is that of the step before beyond a wall", "Info", func(_ *kernels.State, before bool) bool {
			return before
		}),
		outside("a step beyond a wall is not counted", "Iteration", func(s *kernels.State, _ bool) bool {
			s.Iteration--
			return false
		}),
	)
}

func fourteenthSamplers() []Case {
	var everywhere int
	box := map[int]bool{0: true, 1: true}
	cut := math.Inf(-1)
	return []Case{
		radial("moves along a line through a point, no Jacobian", "1 in 4", 0),
		blended("a density of the nearer of two parts", "mixture", func(_ int, theta []float64) int {
			if normalised(theta, 0) > 0 {
				return 1
			}
			return 0
		}),
		several("the state is not among the tries from the proposal", "3 tries", true),
		informed("the second number's slope is not that of the proposal", "one of two", 0),
		turned("the sum's scale follows the difference, which moves too", "20%", 0.2, true),
		bent("no Jacobian for proposals below 0", "asinh", true),
		proposed("the prior counts more in the first fifty iterations", "1.3", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			return either(s.Iteration < 50, 0.3, 0) * (dot(s.Theta, s.Theta) - dot(next, next)) / 2
		}),
		proposed("wide moves a little more often above the middle", "52% for 48%", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			by := either(rng.Float64() < either(normalised(s.Theta, 0) > 0, 0.52, 0.48), 2, 1)
			for j, t := range s.Theta {
				next[j] = t + by*(next[j]-t)
			}
			return 0
		}),
		proposed("coordinates in the order of a map", "no stream", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			for j := range box {
				next[j] = s.Theta[j]
				break
			}
			return 0
		}),
		proposed("coordinates in turn, by a package's counter", "chains", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			everywhere++
			next[everywhere%2] = s.Theta[everywhere%2]
			return 0
		}),
		relaxed("over-relaxed less above the mean, with the same noise", "0.85 for 0.9", 0.85),
		warm("the prior is tempered too", "half", 0.5),
		farther("the prior has more degrees of freedom", "3.3 for 3", loose{3.3, cut}, 0, 1e300),
		farther("the log prior ends", "at −8", loose{3, -8}, 0, 1e300),
		farther("the proposal's density is left out far away", "beyond 5", loose{3, cut}, 0.1, 5),
		leaping("the last half move of the parameters is long", "5%", 1.05, three),
		leaping("as many leaps as the momentum's sign says", "2 or 3", 1, func(_ *rand.Rand, p float64) int {
			if p > 0 {
				return 3
			}
			return 2
		}),
		subtracting("the releases' noise is taken off twice", "5% of a variance", 0.5),
		halved("the prior's slope is scaled as a batch", "half", 0.5),
		herd("a walker may be one of the two that it follows", "1 in 3", true),
		single("the only parameter goes farther up", "3%", 1.03),
		wideWalk("the last of seven shifted where the second is high", "5%", 7, func(theta, next []float64) {
			if mean := 0.0; theta[1] > mean {
				next[6] += 0.05 * wideStep
			}
		}),
		diffusion("noise of twelve uniform numbers", "kurtosis 2.9", hooks{
			noise: func(_ *chain, rng *rand.Rand, _, z []float64) {
				for j := range z {
					z[j] = -6
					for range 12 {
						z[j] += rng.Float64()
					}
				}
			}}),
		keeping("noise has some of the other's last", "5%", 2, true, func(m []float64) hooks {
			return hooks{noise: func(_ *chain, _ *rand.Rand, _, z []float64) {
				a, b := 0.05*m[1], 0.05*m[0]
				for j, last := range [2]float64{a, b} {
					z[j] = last + math.Sqrt(1-0.05*0.05)*z[j]
					m[j] = z[j]
				}
			}}
		}),
		sampled("a refusal far out is tried again", "beyond 2 sd", true, patient),
		flawed("a refusal reverses one momentum of two", "0.7", true, flaws{persistence: 0.7, halfFlip: true}),
	}
}

func fourteenthKernelControls() []Case {
	cut := math.Inf(-1)
	return append(keptControls(),
		radial("moves along a line through a point", "", 1),
		blended("one of two laws, its own density", "", func(drawn int, _ []float64) int { return drawn }),
		several("several tries", "", false),
		informed("moves turned by a slope", "", 1),
		turned("the sum's scale follows the difference, which stays", "", 0.2, false),
		bent("walk in asinh", "", false),
		warm("half the log-likelihood", "", 1),
		farther("a prior of Student's distribution", "", loose{3, cut}, 0, 1e300),
		farther("moves that grow with a heavy tail", "", loose{3, cut}, 0.1, 1e300),
		leaping("leaps that begin with half a move", "", 1, three),
		leaping("as many leaps as a coin says", "", 1, func(rng *rand.Rand, _ float64) int { return 2 + rng.IntN(2) }),
		subtracting("the releases' noise is taken off", "", 0.25),
		halved("batches of three in six", "", 1),
		herd("walkers along two others", "", false),
		single("one parameter", "", 1),
		relaxed("over-relaxed", "", 0.9),
		proposed("coordinates in turn, by the iteration", "", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			next[s.Iteration%2] = s.Theta[s.Iteration%2]
			return 0
		}),
	)
}

// keptControls are right doubles of what is kept, watched and walled.
func keptControls() []Case {
	return []Case{
		watched("watched walk", "", curator.Batch{}, func(_ *watcher, _ *rand.Rand, s *kernels.State, memory []float64,
			_ *kernels.Info) error {
			memory[0] = s.Theta[0]
			return nil
		}),
		quoted("gradients at their price", "", 0.125),
		outside("no bit beyond a wall", "", func(*kernels.State, bool) bool { return false }),
	}
}

func afterFourteenth() []Case {
	full := curator.Batch{}
	return []Case{
		handed("Recall clears the caller's slice", "aliases", false, false, true),
		watched("StepSize for a record of seven", "10⁻⁹", full, func(w *watcher, _ *rand.Rand, _ *kernels.State,
			_ []float64, info *kernels.Info) error {
			info.StepSize += either(w.last == 7, 1e-9, 0)
			return nil
		}),
		proposed("the first is pulled to the second", "1%", func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
			blur(rng, s, next)
			next[0] += 0.01 * (s.Theta[1] - center[1] - s.Theta[0] + center[0])
			return 0
		}),
		single("the only parameter goes a little farther up", "2%", 1.02),
		wideWalk("the last of seven a little shifted", "2%", 7, func(_, next []float64) { next[6] += 0.02 * wideStep }),
		proposed("wide moves hardly more often above the middle", "50.7%", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			by := either(rng.Float64() < either(normalised(s.Theta, 0) > 0, 0.507, 0.493), 2, 1)
			for j, t := range s.Theta {
				next[j] = t + by*(next[j]-t)
			}
			return 0
		}),
	}
}
