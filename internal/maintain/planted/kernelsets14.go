package planted

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

func fourteenthKernels() []Case {
	return append(fourteenthSamplers(),
		watched("an error for records that are all alike", "error", func(w *watcher, _ *rand.Rand, _ *kernels.State,
			_ []float64, _ *kernels.Info) error {
			if w.low == w.high {
				return errors.New("the records do not vary")
			}
			return nil
		}),
		watched("StepSize by the sign of most numbers", "10⁻⁹", func(w *watcher, _ *rand.Rand, _ *kernels.State,
			_ []float64, info *kernels.Info) error {
			info.StepSize += either(w.negative > w.rows, 1e-9, 0)
			return nil
		}),
		watched("StepSize halves where a loss is large", "beyond 50", func(w *watcher, _ *rand.Rand, _ *kernels.State,
			_ []float64, info *kernels.Info) error {
			info.StepSize *= either(w.worst > 50, 0.5, 1)
			return nil
		}),
		watched("the chain ends where the mean loss stands still", "within 10⁻⁴", func(w *watcher, _ *rand.Rand,
			s *kernels.State, _ []float64, _ *kernels.Info) error {
			if math.Abs(w.mean-w.old) < 1e-4 && s.Iteration > 100 {
				return curator.ErrSpent
			}
			return nil
		}),
		watched("a little of a move is made after all, by the largest record", "1 in 1000", func(w *watcher,
			rng *rand.Rand, s *kernels.State, _ []float64, info *kernels.Info) error {
			if rng.IntN(1000) == 0 && w.high > 2 && !info.Accepted {
				s.Theta[0] += 0.01
				info.Accepted = true
			}
			return nil
		}),
		watched("a kept number's last bit by the largest record", "10⁻¹⁵", func(w *watcher, _ *rand.Rand,
			s *kernels.State, memory []float64, _ *kernels.Info) error {
			memory[0] = s.Theta[0] * either(w.high > 2, 1+1e-15, 1)
			return nil
		}),
		watched("StepSize by an even number of negative numbers", "10⁻⁹", func(w *watcher, _ *rand.Rand,
			_ *kernels.State, _ []float64, info *kernels.Info) error {
			info.StepSize += 1e-9 * float64(w.negative%2)
			return nil
		}),
		watched("StepSize by the last record, one step in 4096", "10⁻⁹", func(w *watcher, _ *rand.Rand,
			s *kernels.State, _ []float64, info *kernels.Info) error {
			info.StepSize += either(s.Iteration%4096 == 4095 && w.last > 0.5, 1e-9, 0)
			return nil
		}),
		watched("StepSize for a missing value", "−999", func(w *watcher, _ *rand.Rand, _ *kernels.State,
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
		watched("watched walk", "", func(_ *watcher, _ *rand.Rand, s *kernels.State, memory []float64,
			_ *kernels.Info) error {
			memory[0] = s.Theta[0]
			return nil
		}),
		quoted("gradients at their price", "", 0.125),
		outside("no bit beyond a wall", "", func(*kernels.State, bool) bool { return false }),
	}
}

func afterFourteenth() []Case {
	return []Case{
		handed("Recall clears the caller's slice", "aliases", false, false, true),
		watched("StepSize for a record of seven", "10⁻⁹", func(w *watcher, _ *rand.Rand, _ *kernels.State,
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
