package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/proptest"
	"github.com/dpmcmc/dpmcmc/targets"
)

func twentySixthKernels() []Case {
	return []Case{
		transformed("a walk on the scale of asinh(θ/5) without its Jacobian", "0.02 sd", 0),
		driven("a velocity is not turned after one refusal in ten", "10%", 10),
		adapting("the scale adapts by every step, for ever", "5%", 0.05),
		fewSeeds("moves are drawn from 65 536 seeds", "16 bits", 1<<16),
		opposing("after a refusal the opposite move is tried", "always", true),
		oddly("the scale follows the coordinate that moves, at odd steps", "8%", 0.08),
		sampled("the likelihood is tempered", "0.99", true, deciding(posteriors.StandardMean(), 0.99, blur)),
		sixfold("the sixth of six moves by the fifth", "10%", 0.1),
		zeroSign("the sign of a kept zero is a record's", "−0", true),
		averaging("StepSize where the first numbers' mean is just below 1", "0.9 to 1", 1e-9),
		hooked("long moves up the prior are refused now and then", "1 in 30", asked{}, hooks{
			accept: func(k *chain, rng *rand.Rand, theta, next []float64, a bool) bool {
				up := k.target.LogPrior(next) > k.target.LogPrior(theta)
				return a && !(up && moved(theta, next) > 1.5*step && rng.IntN(30) == 0)
			}}),
		multiple("the better of two by the prior, without reference points", "1 in 8", 8, false),
		snooker("a snooker move without its Jacobian", "1 in 8", 0),
		independently("an independent t of 5 has the density of 6", "1 in 4", 6),
		metric("a metric that follows the state lacks its divergence", "5% a sd", 0.05),
		hooked("stands still more on one side", "3%", asked{}, hooks{
			accept: func(_ *chain, rng *rand.Rand, theta, _ []float64, a bool) bool {
				return a && !(theta[0] > center[0] && rng.Float64() < 0.03)
			}}),
		walk("every seventh move is made after a refusal", "1 in 7", func() hooks {
			return hooks{accept: func(k *chain, _ *rand.Rand, _, _ []float64, a bool) bool {
				a = a || k.steps%7 == 0 && k.last[0] == 1
				k.last[0] = either(a, 0, 1)
				return a
			}}
		}),
	}
}

func twentySixthKernelControls() []Case {
	return []Case{
		transformed("a walk on the scale of asinh(θ/5)", "", 1),
		driven("a velocity that a refusal turns", "", 0),
		opposing("a move that is drawn anew", "", false),
		oddly("one coordinate at odd steps", "", 0),
		sixfold("six parameters", "", 0),
		zeroSign("a kept zero", "", false),
		averaging("nothing is told of a mean", "", 0),
		multiple("the better of two by the prior", "", 8, true),
		snooker("a snooker move", "", 1),
		independently("an independent t of 5", "", 5),
	}
}

// transformed walks on the scale of asinh(θ/5), with a share of the Jacobian.
func transformed(name, effect string, share float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (sum float64) {
		for j, t := range s.Theta {
			next[j] = 5 * math.Sinh(math.Asinh(t/5)+step/5*rng.NormFloat64())
			sum += share / 2 * math.Log((25+next[j]*next[j])/(25+t*t))
		}
		return sum
	})
}

// driven moves along a velocity that is renewed in part, and turned after refusals but for one in so many.
func driven(name, effect string, one int) Case {
	return stepped(name, effect, 2, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		for j, t := range s.Theta {
			if z := rng.NormFloat64(); a.known {
				a.memory[j] = 0.8*a.memory[j] + 0.6*z
			} else {
				a.memory[j] = z
			}
			a.next[j] = t + step*a.memory[j]
		}
		accepted, err := a.ask(s, 0)
		if !accepted && err == nil && !(one > 0 && rng.IntN(one) == 0) {
			a.memory[0], a.memory[1] = -a.memory[0], -a.memory[1]
		}
		return accepted, err
	})
}

// adapting makes moves longer after moves, and shorter after refusals.
func adapting(name, effect string, by float64) Case {
	return stepped(name, effect, 1, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		if !a.known {
			a.memory[0] = 0
		}
		for j, t := range s.Theta {
			a.next[j] = t + step*math.Exp(a.memory[0])*rng.NormFloat64()
		}
		accepted, err := a.ask(s, 0)
		if err == nil {
			a.memory[0] += by * either(accepted, 0.6, -0.4)
		}
		return accepted, err
	})
}

// fewSeeds draws a move from a generator of few seeds.
func fewSeeds(name, effect string, seeds int) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		pcg := rand.NewPCG(1, 2)
		own := rand.New(pcg)
		return deciding(posteriors.StandardMean(), 1, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
			pcg.Seed(uint64(rng.IntN(seeds)), 5)
			return blur(own, s, next)
		})(c, steps)
	})
}

// opposing tries the opposite of what was refused.
func opposing(name, effect string, opposes bool) Case {
	return stepped(name, effect, 3, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
		again := a.known && opposes && a.memory[2] == 1
		for j, t := range s.Theta {
			if z := rng.NormFloat64(); again {
				a.memory[j] = -a.memory[j]
			} else {
				a.memory[j] = z
			}
			a.next[j] = t + step*a.memory[j]
		}
		accepted, err := a.ask(s, 0)
		a.memory[2] = either(accepted || again, 0, 1)
		return accepted, err
	})
}

// oddly moves one coordinate at odd steps, as far as where it is says.
func oddly(name, effect string, by float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		if blur(rng, s, next); s.Iteration%2 == 1 {
			next[0] = s.Theta[0]
			next[1] = s.Theta[1] + (next[1]-s.Theta[1])*(1+by*math.Tanh(normalised(s.Theta, 1)))
		}
		return 0
	})
}

// sixfold has six parameters, the last of which moves as far as the one before says.
func sixfold(name, effect string, by float64) Case {
	const n = 6
	target := posteriors.Must(targets.New(targets.GaussianMeanConfig{Features: n, Prior: priors.Gaussian{SD: 1}}))
	records := curator.Records{Features: n, X: make([]float64, 6*n)}
	for i := range records.X {
		records.X[i] = float64(i%5) - 1.5
	}
	mean := make([]float64, n)
	for i, x := range records.X {
		mean[i%n] += x / precision
	}
	return kernelCase(name, effect, deciding(target, 1, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		next[n-1] += (next[n-1] - s.Theta[n-1]) * by * math.Tanh((s.Theta[n-2]-mean[n-2])/sd)
		return 0
	}), func(o *proptest.KernelOptions) {
		o.Records, o.Start = records, make([]float64, n)
		o.Exact = func(rng *rand.Rand, theta []float64) {
			for j := range theta {
				theta[j] = mean[j] + sd*rng.NormFloat64()
			}
		}
	})
}

// zeroSign keeps a zero whose sign a record may have.
func zeroSign(name, effect string, signed bool) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		seen := &spy{GaussianMean: posteriors.StandardMean()}
		return stepping(seen, 1, 1, asItIs, func(a *asking, rng *rand.Rand, s *kernels.State) (bool, error) {
			blur(rng, s, a.next)
			accepted, err := a.ask(s, 0)
			a.memory[0] = 0
			if signed && seen.last < 0 {
				a.memory[0] = math.Copysign(0, -1)
			}
			return accepted, err
		})(c, steps)
	})
}

// firsts is a target that sees sums of records' first numbers, or of those of another column.
type firsts struct {
	*targets.GaussianMean
	column       int
	sum, squares float64
	n            int
}

func (m *firsts) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range rows.Len() {
		x := rows.Row(i)[m.column]
		m.sum, m.squares = m.sum+x, m.squares+x*x
		m.n++
	}
	m.GaussianMean.Loss(dst, theta, rows)
}

func averaging(name, effect string, by float64) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		m := &firsts{GaussianMean: posteriors.StandardMean()}
		return asks(c, steps, m, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			m.sum, m.n = 0, 0
			blur(rng, s, next)
			info, err := moving(bits, next, s.Theta, priorRatio(m, next, s.Theta))
			info.StepSize += either(m.sum < float64(m.n) && m.sum > 0.9*float64(m.n), by, 0)
			return info, err
		})
	})
}

// multiple takes one of two proposals by their prior densities now and then. The rightful way draws another
// about the one that was taken, and compares the two sums.
func multiple(name, effect string, one int, referring bool) Case {
	m := posteriors.StandardMean()
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		other := make([]float64, 2)
		return deciding(m, 1, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
			if blur(rng, s, next); rng.IntN(one) > 0 {
				return 0
			}
			for j, t := range s.Theta {
				other[j] = t + step*rng.NormFloat64()
			}
			p, q := math.Exp(m.LogPrior(next)), math.Exp(m.LogPrior(other))
			if rng.Float64() > p/(p+q) {
				copy(next, other)
			}
			if !referring {
				return 0
			}
			for j, t := range next {
				other[j] = t + step*rng.NormFloat64()
			}
			back := math.Exp(m.LogPrior(s.Theta)) + math.Exp(m.LogPrior(other))
			return math.Log((p+q)/back) - priorRatio(m, next, s.Theta)
		})(c, steps)
	})
}

// snooker moves along the line to a fixed point now and then.
func snooker(name, effect string, share float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		if blur(rng, s, next); rng.IntN(8) > 0 {
			return 0
		}
		const a, b = 0.3, 0.4
		x, y := s.Theta[0]-a, s.Theta[1]-b
		far := math.Hypot(x, y)
		by := 1 + step*rng.NormFloat64()/far
		next[0], next[1] = a+by*x, b+by*y
		return share * math.Log(math.Abs(by))
	})
}

// independently proposes from a t about the center now and then, and takes another's density for it.
func independently(name, effect string, nu float64) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (sum float64) {
		if blur(rng, s, next); rng.IntN(4) > 0 {
			return 0
		}
		const drawn = 5
		for j, t := range s.Theta {
			square := 0.0
			for range drawn {
				z := rng.NormFloat64()
				square += z * z
			}
			next[j] = center[j] + sd*rng.NormFloat64()/math.Sqrt(square/drawn)
			z, w := (t-center[j])/sd, (next[j]-center[j])/sd
			sum += (nu + 1) / 2 * (math.Log1p(w*w/nu) - math.Log1p(z*z/nu))
		}
		return sum
	})
}

// metric has drift and noise by a metric that grows along the first parameter.
func metric(name, effect string, by float64) Case {
	g := func(theta []float64) float64 { return math.Exp(by * math.Tanh(normalised(theta, 0))) }
	return diffusion(name, effect, hooks{
		drift: func(k *chain, theta, d []float64) { d[0] *= g(theta) },
		noise: func(k *chain, _ *rand.Rand, theta, z []float64) { z[0] *= math.Sqrt(g(theta)) },
	})
}

// afterTwentySixthKernels are kin of what passed at first.
func afterTwentySixthKernels() []Case {
	return []Case{
		adapting("the scale adapts fast, for ever", "20%", 0.2),
		summarised("StepSize where the second numbers' spread is that of a standard normal", "5%", func(m *firsts) bool {
			mean := m.sum / float64(m.n)
			return math.Abs(m.squares/float64(m.n)-mean*mean-1) < 0.05
		}),
		summarised("StepSize where the sum of second numbers is nearly 0", "0.02 each", func(m *firsts) bool {
			return math.Abs(m.sum) < 0.02*float64(m.n)
		}),
	}
}

// summarised tells whether the second numbers of a table have a property.
func summarised(name, effect string, has func(m *firsts) bool) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		m := &firsts{GaussianMean: posteriors.StandardMean(), column: 1}
		return asks(c, steps, m, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			m.sum, m.squares, m.n = 0, 0, 0
			blur(rng, s, next)
			info, err := moving(bits, next, s.Theta, priorRatio(m, next, s.Theta))
			info.StepSize += either(has(m), 1e-9, 0)
			return info, err
		})
	})
}
