package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// The public law that is near the posterior: N(center + 0.1, 1/5) in each parameter.
func nearLog(t []float64) (log float64) {
	for j, v := range t {
		log -= 2.5 * (v - center[j] - 0.1) * (v - center[j] - 0.1)
	}
	return log
}

func nearSlope(t float64, j int) float64 { return -5 * (t - center[j] - 0.1) }

// slicing draws a parameter from a slice of the public law, which steps out so often to the left, and
// to the right; −1 for what is left of the former.
func slicing(name, effect string, lefts func(rng *rand.Rand) (left, right int)) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		const width = 0.3
		copy(next, s.Theta)
		j := rng.IntN(2)
		level := nearLog(s.Theta) - rng.ExpFloat64()
		at := func(t float64) bool { next[j] = t; return nearLog(next) >= level }
		low := s.Theta[j] - width*rng.Float64()
		left, rest := lefts(rng)
		high := low + width
		for ; left > 0 && at(low); left-- {
			low -= width
		}
		if rest < 0 {
			rest = left
		}
		for ; rest > 0 && at(high); rest-- {
			high += width
		}
		for tries := 0; !at(low + (high-low)*rng.Float64()); tries++ {
			if tries > 100 { // rounding leaves nothing else
				copy(next, s.Theta)
				return 0
			}
			if next[j] < s.Theta[j] {
				low = next[j]
			} else {
				high = next[j]
			}
		}
		return nearLog(s.Theta) - nearLog(next)
	})
}

// orbiting chooses among five points of an orbit along the public law by their weights.
func orbiting(name, effect string, start bool) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		const h = 0.5
		var all [5][2]float64
		var weights [5]float64
		begun := [2]float64{rng.NormFloat64(), rng.NormFloat64()}
		at := rng.IntN(5)
		for _, way := range []int{1, -1} {
			q, p := [2]float64(s.Theta), begun
			for i := at; i >= 0 && i < 5; i += way {
				all[i], weights[i] = q, math.Exp(nearLog(q[:])-dot(p[:], p[:])/2)
				for j := range q {
					p[j] += float64(way) * h / 2 * nearSlope(q[j], j)
					q[j] += float64(way) * h * p[j]
					p[j] += float64(way) * h / 2 * nearSlope(q[j], j)
				}
			}
		}
		if !start {
			weights[at] = 0
		}
		total, chosen := 0.0, 0
		for i, w := range weights {
			if total += w; rng.Float64()*total < w {
				chosen = i
			}
		}
		if copy(next, all[chosen][:]); chosen == at {
			blur(rng, s, next)
			return 0
		}
		return nearLog(s.Theta) - nearLog(next)
	})
}

// logged keeps the logarithm of a scale that goes its own way.
type logged struct{ *minding }

func (k *logged) Keep(dst []float64) []float64 {
	for _, v := range k.minding.Keep(nil) {
		dst = append(dst, math.Log(v))
	}
	return dst
}

func (k *logged) Recall(memory []float64) error {
	var all []float64
	for _, v := range memory {
		all = append(all, math.Exp(v))
	}
	return k.minding.Recall(all)
}

// minded is a walk whose proposals depend on a memory, which is kept as it is or in another way.
func minded(name, effect string, memory int, as func(k *minding) kernels.Kernel, propose func(rng *rand.Rand,
	memory []float64, known bool, theta, next []float64)) Case {
	return sampled(name, effect, true, stepping(posteriors.StandardMean(), 1, memory, as, func(a *asking,
		rng *rand.Rand, s *kernels.State) (bool, error) {
		propose(rng, a.memory, a.known, s.Theta, a.next)
		return a.ask(s, 0)
	}))
}

func asItIs(k *minding) kernels.Kernel { return k }

// ownScale walks by a scale that goes its own way.
func ownScale(name string, effect string, as func(k *minding) kernels.Kernel) Case {
	return minded(name, effect, 1, as, func(rng *rand.Rand, memory []float64, known bool, theta, next []float64) {
		if !known {
			memory[0] = step
		}
		memory[0] = step * math.Pow(memory[0]/step, 0.9) * math.Exp(0.1*rng.NormFloat64())
		for j, t := range theta {
			next[j] = t + memory[0]*rng.NormFloat64()
		}
	})
}

// returning proposes the state of five steps before, one time in so many.
func returning(name, effect string, every int) Case {
	return minded(name, effect, 11, asItIs, func(rng *rand.Rand, memory []float64, known bool, theta, next []float64) {
		if !known {
			clear(memory)
		}
		for j, t := range theta {
			next[j] = t + step*rng.NormFloat64()
		}
		if old := memory[8:10]; memory[10] >= 5 && rng.IntN(every) == 0 && old[0] != theta[0] {
			copy(next, old)
		}
		copy(memory[2:10], memory[:8])
		copy(memory, theta)
		memory[10]++
	})
}

// firstStream draws from the generator of its first step for ever.
func firstStream(name, effect string, ever bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		var stream *rand.Rand
		return deciding(posteriors.StandardMean(), 1, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
			if stream == nil || !ever {
				stream = rng
			}
			return blur(stream, s, next)
		})(c, steps)
	})
}

// inTurn moves both parameters of a correlated law, each with its own bit, in an order of one's choice. What
// was refused may stay in the second proposal.
func inTurn(name, effect string, stays bool, first func(rng *rand.Rand, theta []float64) int) Case {
	return steppedRelated(name, effect, 2, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		j, some := first(rng, s.Theta), false
		copy(a.next, s.Theta)
		for range 2 {
			if !stays {
				copy(a.next, s.Theta)
			}
			a.next[j] += rng.NormFloat64()
			moved, err := a.ask(s, 0)
			if err != nil {
				return some, err
			}
			j, some = 1-j, some || moved
		}
		return some, nil
	})
}

// tight is a walk whose bits clip each record's ratio.
func tight(name, effect string, clip float64) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: clip}, steps)
		next := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				blur(rng, s, next)
				return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			}}, err
	})
}

func eighteenthKernels() []Case {
	return []Case{
		slicing("a slice steps out to the left first", "at most three", func(*rand.Rand) (int, int) { return 3, -1 }),
		inTurn("the larger coordinate is moved first", "order", false, func(_ *rand.Rand, t []float64) int {
			return int(either(t[1] > t[0], 1, 0))
		}),
		orbiting("a point of the orbit, never the start", "left out", false),
		ownScale("a kept scale comes back through its logarithm", "10⁻¹⁶", func(k *minding) kernels.Kernel {
			return &logged{k}
		}),
		firstStream("the first generator is kept", "another chain's", true),
		returning("the state of five steps before is proposed", "1 in 8", 8),
		tight("the bit's clip is a typical ratio", "1.5", 1.5),
	}
}

func eighteenthKernelControls() []Case {
	return []Case{
		slicing("a slice steps out by chance", "", func(rng *rand.Rand) (int, int) {
			left := rng.IntN(4)
			return left, 3 - left
		}),
		inTurn("a coordinate is moved first by chance", "", false, byCoin),
		orbiting("a point of the orbit", "", true),
		ownScale("a kept scale", "", asItIs),
		firstStream("a generator for each step", "", false),
		tight("the bit's clip is large", "", 30),
	}
}
