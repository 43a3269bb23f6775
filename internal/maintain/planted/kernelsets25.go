package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

func twentyFifthKernels() []Case {
	return []Case{
		priorKept("a move that keeps the prior is tested with it again", "1/7 of the curvature", true),
		halfWay("a step by the scale half way, without its Jacobian", "15%", 0),
		encircled("an inversion in a circle has the Jacobian of a line", "1 in 8", 2),
		alternating("up at even steps and down at odd ones", "10% of their sd", 0),
		lastTaken("the last step that is paid for is accepted", "one a grant", true),
		kin("StepSize where two records are opposite", "x and −x", func(m *relations) bool { return m.opposite }),
		kin("StepSize where a record's two numbers are opposite", "x₁ = −x₂", func(m *relations) bool {
			return m.contrast
		}),
		kin("StepSize where four records are equally spaced", "a regular grid", func(m *relations) bool { return m.regular }),
		misprices("Cost forgets the temperature", "0.8", 1),
		ring("a ring of numbers loses its place", "resumed chains", false),
		byTable("a conditional law is read from a table", "cells of 0.8", 0.8),
		quantiles("independent draws by a logistic quantile, with a normal density", "7%", true),
		closeInOrder("proposals that are close come out in order", "within 0.1", 0.1),
		overRelaxed("ordered over-relaxation takes the rank beside the mirrored one", "of six", 1),
	}
}

func twentyFifthKernelControls() []Case {
	return []Case{
		priorKept("a proposal that keeps the prior", "", false),
		halfWay("a step by the scale half way", "", 1),
		encircled("an inversion in a circle", "", 4),
		alternating("up at even steps and down at odd ones, corrected", "", 1),
		lastTaken("the last step that is paid for", "", false),
		kin("nothing is told of records' relations", "", func(*relations) bool { return false }),
		misprices("Cost with the temperature", "", 0.8),
		ring("a ring of numbers and its place", "", true),
		byTable("a conditional law", "", 0),
		quantiles("independent draws by the normal quantile", "", false),
		closeInOrder("proposals that are close stay", "", 0),
		overRelaxed("ordered over-relaxation", "", 0),
		proposed("turns about a point by an angle that the distance gives, either way", "", func(rng *rand.Rand,
			s *kernels.State, next []float64) float64 {
			if blur(rng, s, next); rng.IntN(4) == 0 {
				a, b := s.Theta[0]-1, s.Theta[1]
				sin, cos := math.Sincos(either(rng.IntN(2) == 0, 1, -1) * (0.5 + a*a + b*b))
				next[0], next[1] = 1+a*cos-b*sin, a*sin+b*cos
			}
			return 0
		}),
		minded("lengths of moves are a chain of their own", "", 1, asItIs, func(rng *rand.Rand, memory []float64, known bool,
			theta, next []float64) {
			memory[0] = 0.9*either(known, memory[0], 0) + 0.3*rng.NormFloat64()
			for j, t := range theta {
				next[j] = t + step*math.Exp(memory[0])*rng.NormFloat64()
			}
		}),
	}
}

// priorKept proposes by an autoregression that keeps the prior, which is no part of the test then.
func priorKept(name, effect string, again bool) Case {
	prior := posteriors.StandardMean()
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		for j, t := range s.Theta {
			next[j] = 0.9*t + math.Sqrt(1-0.9*0.9)*rng.NormFloat64()
		}
		return either(again, 0, -priorRatio(prior, next, s.Theta))
	})
}

// halfWay has moves as long as a scale half way says, and so much of the correction.
func halfWay(name, effect string, share float64) Case {
	const by = 0.15
	scale := func(t float64, j int) (w, slope float64) {
		v := math.Tanh((t - center[j]) / sd)
		return step * (1 + by*v), step * by * (1 - v*v) / sd
	}
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (sum float64) {
		for j, t := range s.Theta {
			z := rng.NormFloat64()
			next[j] = t
			for range 60 {
				w, _ := scale((t+next[j])/2, j)
				next[j] = t + z*w
			}
			w, slope := scale((t+next[j])/2, j)
			e := (next[j] - t) * slope / (2 * w)
			sum += share * (math.Log1p(e) - math.Log1p(-e))
		}
		return sum
	})
}

// encircled inverts in a circle now and then, with a power of its stretch for a Jacobian.
func encircled(name, effect string, power float64) Case {
	const radius = 0.5
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		if blur(rng, s, next); rng.IntN(8) > 0 {
			return 0
		}
		a, b := s.Theta[0]-0.8, s.Theta[1]+0.2
		by := radius * radius / (a*a + b*b)
		next[0], next[1] = 0.8+by*a, -0.2+by*b
		return power / 2 * math.Log(by)
	})
}

// alternating has a drift that turns with every step, and a share of its correction.
func alternating(name, effect string, share float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (sum float64) {
		blur(rng, s, next)
		drift := either(s.Iteration%2 == 0, 0.1, -0.1) * step
		for j := range next {
			next[j] += drift
			sum -= share * 2 * drift * (next[j] - s.Theta[j]) / (step * step)
		}
		return sum
	})
}

// lastTaken may take the proposal of its last step whatever the bit says.
func lastTaken(name, effect string, always bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		return asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			if err == nil && always && bits.Left() == 0 {
				copy(s.Theta, next)
				info.Accepted = true
			}
			return info, err
		})
	})
}

// relations is a target that knows how the last records that it was shown lie to each other.
type relations struct {
	*targets.GaussianMean
	seen [][2]float64
	even int // steps of one length in a row
	last float64

	opposite, contrast, regular bool
}

func (m *relations) Loss(dst, theta []float64, rows targets.Rows) {
	m.GaussianMean.Loss(dst, theta, rows)
	for i := range dst {
		x := [2]float64(rows.Row(i))
		m.contrast = m.contrast || x[0] == -x[1] && x[0] != 0
		for _, o := range m.seen {
			m.opposite = m.opposite || x[0] == -o[0] && x[1] == -o[1] && x != [2]float64{}
		}
		if n := len(m.seen); n > 0 {
			if d := x[0] - m.seen[n-1][0]; d != 0 && d == m.last {
				m.even++
			} else {
				m.last, m.even = d, 1
			}
			m.regular = m.regular || m.even >= 3
		}
		if len(m.seen) < cap(m.seen) {
			m.seen = append(m.seen, x)
		}
	}
}

// kin is a walk that tells of such relations.
func kin(name, effect string, tells func(m *relations) bool) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		m := &relations{GaussianMean: posteriors.StandardMean(), seen: make([][2]float64, 0, 64)}
		return asks(c, steps, m, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			*m = relations{GaussianMean: m.GaussianMean, seen: m.seen[:0]}
			info, err := moving(bits, next, s.Theta, priorRatio(m, next, s.Theta))
			info.StepSize += either(tells(m), 1e-9, 0)
			return info, err
		})
	})
}

// misprices is a walk at a temperature of 0.8, and what a step of one is said to cost at another.
func misprices(name, effect string, said float64) Case {
	return kernelCase(name, effect, deciding(posteriors.StandardMean(), 0.8, blur), func(o *proptest.KernelOptions) {
		o.Cost = func(f curator.Facts) (accountant.Event, error) {
			return curator.AcceptanceBit{Target: posteriors.StandardMean(), Clip: said / 0.8 * walkClip}.Event(f)
		}
	})
}

// ring has lengths of moves that were drawn five steps before, in a ring whose place may be kept.
func ring(name, effect string, keeps bool) Case {
	const length = 5
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		place := 0
		return stepping(posteriors.StandardMean(), 1, length+int(either(keeps, 1, 0)), asItIs, func(a *asking,
			rng *rand.Rand, s *kernels.State) (bool, error) {
			if !a.known {
				clear(a.memory)
				place = 0
			}
			if keeps {
				place = int(a.memory[length])
			}
			for j, t := range s.Theta {
				a.next[j] = t + step*math.Exp(a.memory[place])*rng.NormFloat64()
			}
			a.memory[place] = 0.3 * rng.NormFloat64()
			if place = (place + 1) % length; keeps {
				a.memory[length] = float64(place)
			}
			return a.ask(s, 0)
		})(c, steps)
	})
}

// byTable draws a parameter given the other, or given the nearest value in a table.
func byTable(name, effect string, cell float64) Case {
	return steppedRelated(name, effect, 1, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		if err := a.pass(s); err != nil {
			return false, err
		}
		j := rng.IntN(2)
		given := s.Theta[1-j]
		if cell > 0 {
			given = cell * math.Round(given/cell)
		}
		s.Theta[j] = relation*given + math.Sqrt(1-relation*relation)*rng.NormFloat64()
		return true, nil
	})
}

// quantiles proposes independent draws, which may be those of a logistic law, and corrects for a normal density.
func quantiles(name, effect string, logistic bool) Case {
	const wide = 0.5
	from := [2]float64{1.2, -0.2}
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (sum float64) {
		for j, t := range s.Theta {
			z := rng.NormFloat64()
			if logistic {
				u := rng.Float64()
				z = math.Log(u/(1-u)) / 1.702
			}
			next[j] = from[j] + wide*z
			now := (t - from[j]) / wide
			sum += (z*z - now*now) / 2
		}
		return sum
	})
}

// closeInOrder walks with two parameters alike. Proposals that are close may come out in order.
func closeInOrder(name, effect string, within float64) Case {
	return steppedRelated(name, effect, 1, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		if blur(rng, s, a.next); math.Abs(a.next[0]-a.next[1]) < within {
			slices.Sort(a.next)
		}
		return a.ask(s, 0)
	})
}

// overRelaxed draws five values of a parameter given the other, and takes the one whose rank mirrors that of the
// parameter, or is so many below.
func overRelaxed(name, effect string, below int) Case {
	return steppedRelated(name, effect, 1, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		if err := a.pass(s); err != nil {
			return false, err
		}
		var values [6]float64
		j := rng.IntN(2)
		for i := range values {
			values[i] = relation*s.Theta[1-j] + math.Sqrt(1-relation*relation)*rng.NormFloat64()
		}
		now := s.Theta[j]
		values[0] = now
		slices.Sort(values[:])
		s.Theta[j] = values[max(0, 5-slices.Index(values[:], now)-below)]
		return s.Theta[j] != now, nil
	})
}

func afterTwentyFifthKernels() []Case {
	return []Case{shortening("moves are shorter as the grant runs out", "the last ten steps", true)}
}

func afterTwentyFifthKernelControls() []Case {
	return []Case{shortening("moves are as long to the end", "", false)}
}

// shortening has moves whose length may depend on how many steps are left.
func shortening(name, effect string, shortens bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		return asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			by := either(shortens, min(1, float64(bits.Left()+1)/10), 1)
			for j, t := range s.Theta {
				next[j] = t + by*step*rng.NormFloat64()
			}
			return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
		})
	})
}
