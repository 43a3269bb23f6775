package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

func twentySeventhKernels() []Case {
	return []Case{
		leapsOf("leaps by a third-order scheme that is not symmetric", "Ruth's", []float64{1, -2. / 3, 2. / 3},
			[]float64{-1. / 24, 3. / 4, 7. / 24}),
		sliced("a slice's bracket is centred on the state", "1.5 wide", true),
		diffusion("the noises of two parameters lie on a circle", "one length", hooks{
			noise: func(_ *chain, rng *rand.Rand, _, z []float64) {
				sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
				z[0], z[1] = math.Sqrt2*cos, math.Sqrt2*sin
			}}),
		fitted("independent draws are fitted to the last eight states", "1 in 3", 3),
		flattened("an inner walk under a flat prior is corrected for a part of it", "0.35 for 0.5", 0.35),
		bypassed("what a surrogate refuses is tried now and then, with the same correction", "1 in 10", 10),
		driftedBy("a preconditioned drift has the density of a plain one", "0.25", true),
		withOneFactor("a factor for both parameters has the Jacobian of one", "1 in 4", 1),
		angled("an angle's step follows the angle", "30%, 1 in 3", 0.3),
		leaning("directions of moves lean along the state", "0.5", 0.5),
		allAbove("StepSize where all records lie above the proposal", "10⁻⁹", 1e-9),
		spreading("the step's scale is the records' spread where that is large", "beyond 3", 3),
		walk("Left is negative after a step that failed", "−1", func() hooks {
			failed := false
			return hooks{
				fail: func(_ *chain, _ *kernels.State, err error) (kernels.Info, error) {
					failed = true
					return kernels.Info{}, err
				},
				left: func(_ *chain, left int64) int64 { return int64(either(failed && left == 0, -1, float64(left))) }}
		}),
		skewed("a skew proposal of two parameters is corrected for one", "Barker's", 1),
		quotedFor("Cost is of a clip by the radius", "10 for each", func(f curator.Facts) float64 {
			return either(f.Radius > 0, min(walkClip, 10*f.Radius), walkClip)
		}),
		mixing("a scale of moves is drawn anew after moves alone", "0.3 or 1.2", false),
	}
}

func twentySeventhKernelControls() []Case {
	return []Case{
		leapsOf("leaps by a symmetric scheme", "", []float64{0.5, 0.5}, []float64{1, 0}),
		sliced("a slice's bracket lies anyhow", "", false),
		fitted("independent draws of a law", "", 0),
		flattened("an inner walk under a flat prior", "", 0.5),
		bypassed("a surrogate decides first", "", 0),
		driftedBy("a preconditioned drift", "", false),
		withOneFactor("a factor for both parameters", "", 2),
		angled("an angle", "", 0),
		leaning("directions of moves", "", 0),
		allAbove("nothing is told of what lies above", "", 0),
		skewed("a skew proposal", "", 2),
		mixing("a scale of moves is drawn anew", "", true),
	}
}

// leapsOf moves the parameters and the momentum by turns, for shares of a step, under the prior.
func leapsOf(name, effect string, moves, kicks []float64) Case {
	const h = 1.5
	p := make([]float64, 2)
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (energy float64) {
		for j := range p {
			p[j] = 0.5 * rng.NormFloat64()
			energy += p[j] * p[j] / 0.5
		}
		copy(next, s.Theta)
		for k, c := range moves {
			for j := range p {
				next[j] += c * h * p[j]
				p[j] -= kicks[k] * h * 0.25 * next[j]
			}
		}
		return energy - (p[0]*p[0]+p[1]*p[1])/0.5
	})
}

// sliced draws one parameter from a slice under the prior, whose bracket shrinks.
func sliced(name, effect string, centred bool) Case {
	const width = 1.5
	m := posteriors.StandardMean()
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		copy(next, s.Theta)
		j := rng.IntN(2)
		t := s.Theta[j]
		level := -t*t/2 - rng.ExpFloat64()
		low := t - width*rng.Float64()
		if centred {
			low = t - width/2
		}
		high := low + width
		for {
			v := low + (high-low)*rng.Float64()
			if !(-v*v/2 < level) {
				next[j] = v
				return -priorRatio(m, next, s.Theta)
			}
			if v < t {
				low = v
			} else {
				high = v
			}
		}
	})
}

// fitted draws independently of the state now and then, by the spread of the last eight states.
func fitted(name, effect string, one int) Case {
	const n = 8
	return stepped(name, effect, 2*n, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		if !a.known {
			for i := range a.memory {
				a.memory[i] = float64(i%5) - 1.5
			}
		}
		by := 0.0
		blur(rng, s, a.next)
		if one > 0 && rng.IntN(one) == 0 {
			for j, t := range s.Theta {
				mean, square := 0.0, 0.01
				for i := range n {
					mean += a.memory[2*i+j] / n
				}
				for i := range n {
					square += (a.memory[2*i+j] - mean) * (a.memory[2*i+j] - mean) / n
				}
				a.next[j] = mean + math.Sqrt(square)*rng.NormFloat64()
				by += ((a.next[j]-mean)*(a.next[j]-mean) - (t-mean)*(t-mean)) / (2 * square)
			}
		}
		accepted, err := a.ask(s, by)
		if err == nil {
			copy(a.memory, a.memory[2:])
			copy(a.memory[2*n-2:], s.Theta)
		}
		return accepted, err
	})
}

// flattened makes three steps under the root of the prior, and corrects for a power of it.
func flattened(name, effect string, power float64) Case {
	m := posteriors.StandardMean()
	return stepped(name, effect, 0, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		next := a.next
		copy(next, s.Theta)
		for range 3 {
			x, y := next[0]+0.4*rng.NormFloat64(), next[1]+0.4*rng.NormFloat64()
			if rng.ExpFloat64() > (x*x+y*y-next[0]*next[0]-next[1]*next[1])/4 {
				next[0], next[1] = x, y
			}
		}
		if next[0] == s.Theta[0] {
			return false, a.pass(s)
		}
		return a.ask(s, -power*priorRatio(m, next, s.Theta))
	})
}

// bypassed asks a surrogate first, whose refusals count for nothing now and then.
func bypassed(name, effect string, one int) Case {
	return stepped(name, effect, 0, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		next := a.next
		blur(rng, s, next)
		log := 0.0
		for j, t := range s.Theta {
			c := center[j] + 0.3
			log += ((t-c)*(t-c) - (next[j]-c)*(next[j]-c)) * 4
		}
		if rng.ExpFloat64() < -log && !(one > 0 && rng.IntN(one) == 0) {
			return false, a.pass(s)
		}
		return a.ask(s, -log)
	})
}

// driftedBy drifts by a matrix times the prior's slope, and corrects for a drift.
func driftedBy(name, effect string, plainly bool) Case {
	const h = 0.8
	scales := []float64{1, 0.25}
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
		for j, t := range s.Theta {
			m := scales[j]
			next[j] = t*(1-h/2*m) + math.Sqrt(h*m)*rng.NormFloat64()
			drift := either(plainly, h/2, h/2*m)
			there, back := next[j]-t*(1-drift), t-next[j]*(1-drift)
			by += (there*there - back*back) / (2 * h * m)
		}
		return by
	})
}

// withOneFactor multiplies both parameters by a factor now and then.
func withOneFactor(name, effect string, power float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		if blur(rng, s, next); rng.IntN(4) > 0 {
			return 0
		}
		z := 0.3 * rng.NormFloat64()
		for j, t := range s.Theta {
			next[j] = t * math.Exp(z)
		}
		return power * z
	})
}

// angled turns the parameters about a point now and then, farther or less far by their angle.
func angled(name, effect string, by float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		if blur(rng, s, next); rng.IntN(3) > 0 {
			return 0
		}
		x, y := s.Theta[0]-center[0]-0.3, s.Theta[1]-center[1]
		r := math.Hypot(x, y)
		sin, cos := math.Sincos(rng.NormFloat64() * (1 + by*x/r))
		next[0], next[1] = center[0]+0.3+cos*x-sin*y, center[1]+sin*x+cos*y
		return 0
	})
}

// leaning moves along a direction that the state may draw to itself.
func leaning(name, effect string, by float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		x, y := rng.NormFloat64()+by*s.Theta[0], rng.NormFloat64()+by*s.Theta[1]
		z := 0.7 * rng.NormFloat64() / math.Hypot(x, y)
		next[0], next[1] = s.Theta[0]+z*x, s.Theta[1]+z*y
		return 0
	})
}

// extremes is a target that sees the least and the largest of records' first numbers.
type extremes struct {
	*targets.GaussianMean
	least, most float64
}

func (m *extremes) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range rows.Len() {
		x := rows.Row(i)[0]
		m.least, m.most = min(m.least, x), max(m.most, x)
	}
	m.GaussianMean.Loss(dst, theta, rows)
}

func (m *extremes) forget() { m.least, m.most = math.Inf(1), math.Inf(-1) }

func allAbove(name, effect string, by float64) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		m := &extremes{GaussianMean: posteriors.StandardMean()}
		return asks(c, steps, m, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			m.forget()
			blur(rng, s, next)
			info, err := moving(bits, next, s.Theta, priorRatio(m, next, s.Theta))
			info.StepSize += either(m.least < math.Inf(1) && m.least > next[0], by, 0)
			return info, err
		})
	})
}

// spreading walks by the records' range of the step before, where that is large.
func spreading(name, effect string, beyond float64) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		m := &extremes{GaussianMean: posteriors.StandardMean()}
		m.forget()
		return asks(c, steps, m, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			scale := step
			if w := (m.most - m.least) / 4; w > beyond {
				scale = step * w / beyond
			}
			m.forget()
			for j, t := range s.Theta {
				next[j] = t + scale*rng.NormFloat64()
			}
			return moving(bits, next, s.Theta, priorRatio(m, next, s.Theta))
		})
	})
}

// skewed turns moves towards the prior's slope, as often as Barker's rule says, and corrects for so many.
func skewed(name, effect string, corrected int) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
		for j, t := range s.Theta {
			z := step * 1.4 * rng.NormFloat64()
			if rng.Float64() > logistically(-t*z) {
				z = -z
			}
			if next[j] = t + z; j < corrected {
				by += softplus(t*z) - softplus(-next[j]*z)
			}
		}
		return by
	})
}

// mixing walks by one of two scales, which is drawn anew after each step or after moves.
func mixing(name, effect string, always bool) Case {
	return stepped(name, effect, 1, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		if !a.known || always || a.memory[0] == 0 {
			a.memory[0] = either(rng.IntN(2) == 0, 0.3, 1.2)
		}
		for j, t := range s.Theta {
			a.next[j] = t + a.memory[0]*rng.NormFloat64()
		}
		accepted, err := a.ask(s, 0)
		if accepted && err == nil {
			a.memory[0] = 0
		}
		return accepted, err
	})
}
