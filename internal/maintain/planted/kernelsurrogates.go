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

// twofold asks a public surrogate first, and pays for no bit of what that refuses.
func twofold(name, effect string, correction func(surrogate float64) float64) Case {
	surrogate := func(t []float64) float64 {
		return -2.5 * ((t[0]-1.2)*(t[0]-1.2) + (t[1]+0.3)*(t[1]+0.3))
	}
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		return decides(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			for j, t := range s.Theta {
				next[j] = t + step*rng.NormFloat64()
			}
			first := surrogate(next) - surrogate(s.Theta)
			if -rng.ExpFloat64() > first {
				return kernels.Info{StepSize: step}, nil
			}
			return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta)+correction(first))
		})
	})
}

// several proposes three places, chooses one by a public surrogate, and weighs three from there:
// the state is one of them.
func several(name, effect string, forgets bool) Case {
	weight := func(x, y float64) float64 {
		return 1e-300 + math.Exp(-2*((x-1.1)*(x-1.1)+(y+0.2)*(y+0.2)))
	}
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		const wide = 1.5 * step
		forth, chosen := 0.0, 0.0
		for range 3 {
			x, y := s.Theta[0]+wide*rng.NormFloat64(), s.Theta[1]+wide*rng.NormFloat64()
			w := weight(x, y)
			if forth += w; rng.Float64()*forth <= w {
				next[0], next[1], chosen = x, y, w
			}
		}
		own := weight(s.Theta[0], s.Theta[1])
		back := own
		for i := range 3 {
			w := weight(next[0]+wide*rng.NormFloat64(), next[1]+wide*rng.NormFloat64())
			switch {
			case i < 2:
				back += w
			case forgets:
				back += w - own
			}
		}
		return math.Log(forth/back) + math.Log(own/chosen)
	})
}

// surrogate makes leaps along a public law near the posterior, with a step for the first and the last kick.
func surrogate(name, effect string, steps func(rng *rand.Rand) (first, last float64)) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
		first, last := steps(rng)
		kick := func(t float64, j int) float64 { return -5 * (t - center[j] - 0.1) }
		for j, t := range s.Theta {
			p := rng.NormFloat64()
			by += p * p / 2
			next[j] = t
			for i := range 3 {
				h := 0.2 * either(i == 0, first, 1)
				p += h / 2 * kick(next[j], j)
				next[j] += h * p
				p += h / 2 * kick(next[j], j) * either(i == 2, last, 1)
			}
			by -= p * p / 2
		}
		return by
	})
}

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

// innerInOrder draws each coordinate given the other from a surrogate, in one order or either.
func innerInOrder(name, effect string, order func(rng *rand.Rand) int) Case {
	return steppedRelated(name, effect, 1, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		const rho = 0.6
		mean := [2]float64{0.1, -0.1}
		log := func(t []float64) float64 { return relatedLog([]float64{t[0] - mean[0], t[1] - mean[1]}, rho) }
		copy(a.next, s.Theta)
		j := order(rng)
		for range 2 {
			a.next[j] = mean[j] + rho*(a.next[1-j]-mean[1-j]) + math.Sqrt(1-rho*rho)*rng.NormFloat64()
			j = 1 - j
		}
		return a.ask(s, log(s.Theta)-log(a.next))
	})
}

// innerMoves moves by a surrogate, three times or until it has moved once.
func innerMoves(name, effect string, until bool) Case {
	return stepped(name, effect, 0, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		at, moved := [2]float64(s.Theta), false
		for i := 0; i < 3 || until && !moved && i < 1000; i++ {
			for j, t := range at {
				a.next[j] = t + step*rng.NormFloat64()
			}
			if rng.Float64() < math.Exp(nearLog(a.next)-nearLog(at[:])) {
				at, moved = [2]float64(a.next), true
				if until {
					break
				}
			}
		}
		if copy(a.next, at[:]); !moved {
			return false, a.pass(s)
		}
		return a.ask(s, nearLog(s.Theta)-nearLog(a.next))
	})
}
