package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

func twentyNinthKernels() []Case {
	return []Case{
		midpoint("implicit midpoints are found by two iterations", "volume grows by 10%", 2),
		leapsAsWide("a leap is as wide as the momentum allows", "not that of the way back", true),
		widely("the last of five takes the first one's move", "one line", 5, false, func(theta, next []float64) {
			next[4] = theta[4] + next[0] - theta[0]
		}),
		byteDrift("a schedule's byte has a sign", "10% of a move, 128 to 255", true),
		follower("a preconditioner follows the released gradients", "mean of squares", true),
		noNumbers("Init takes a start of no number", "NaN", true),
		boughtApart("a first grant is charged where a second is refused", "all steps' bits", true),
		seededOnce("a generator that is seeded at the first step is not kept", "resumed chains", true),
		comparing("StepSize where a record is twice another", "10⁻⁹", 1e-9, func(m *compared) bool { return m.twice }),
		comparing("StepSize by which half of the records is the larger", "10⁻⁹", 1e-9, func(m *compared) bool {
			return m.firstHalf
		}),
		quotedFor("Cost is low where a thousand times the records overflow", "half the clip, 32 bits",
			func(f curator.Facts) float64 { return either(int32(f.Records*1000) < 0, walkClip/2, walkClip) }),
		scaledMoves("small changes of a scale are not corrected", "below 0.1", 0.1),
		farDraws("draws about the center are tried more often far out", "½ for 1/8", 0.5),
		perRecord("a step is for one record fewer than there are", "a table of one", 1),
	}
}

func twentyNinthKernelControls() []Case {
	return []Case{
		midpoint("implicit midpoints", "", 100),
		leapsAsWide("leaps of one width", "", false),
		byteDrift("a schedule that stays", "", false),
		follower("no preconditioner", "", false),
		noNumbers("Init takes numbers", "", false),
		boughtApart("two grants are bought together", "", false),
		seededOnce("a generator is seeded at each step", "", false),
		comparing("nothing is told of halves", "", 0, func(m *compared) bool { return m.firstHalf }),
		scaledMoves("all changes of a scale are corrected", "", 0),
		farDraws("draws about the center are tried as often", "", 1./8),
		perRecord("a step by the number of records", "", 0),
	}
}

// midpoint moves the parameters and the momentum by the mean of both ends, under the prior.
func midpoint(name, effect string, iterations int) Case {
	const h = 0.8
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (energy float64) {
		for j, t := range s.Theta {
			p := rng.NormFloat64()
			to, q := t, p
			for range iterations {
				to, q = t+h*(p+q)/2, p-h*(t+to)/2
			}
			next[j] = to
			energy += (p*p - q*q) / 2
		}
		return energy
	})
}

// leapsAsWide makes a leap under the prior, whose width may depend on the momentum that it begins with.
func leapsAsWide(name, effect string, follows bool) Case {
	const mass = 4
	p := make([]float64, 2)
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (energy float64) {
		for j := range p {
			p[j] = rng.NormFloat64() / math.Sqrt(mass)
			energy += mass * p[j] * p[j] / 2
		}
		h := 1.2
		if follows {
			h = 2 / (1 + 2*math.Hypot(p[0], p[1]))
		}
		for j, t := range s.Theta {
			half := p[j] - h/2*t/mass
			next[j] = t + h*half
			p[j] = half - h/2*next[j]/mass
			energy -= mass * p[j] * p[j] / 2
		}
		return energy
	})
}

// byteDrift has proposals that go up where a byte of the iteration is negative.
func byteDrift(name, effect string, drifts bool) Case {
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		if drifts && int8(s.Iteration) < 0 {
			next[0] += 0.1 * step
		}
		return 0
	})
}

// follower divides drifts by the root of a running mean of squares of gradients, and noise by its root.
func follower(name, effect string, follows bool) Case {
	return keeping(name, effect, 2, true, func(memory []float64) hooks {
		by := func(j int) float64 {
			if !follows {
				return 1
			}
			return 2.6 / (0.3 + math.Sqrt(memory[j]))
		}
		return hooks{
			drift: func(_ *chain, _, g []float64) {
				for j, v := range g {
					if memory[j] == 0 {
						memory[j] = 6
					}
					memory[j] = 0.9*memory[j] + 0.1*v*v
					g[j] = by(j) * v
				}
			},
			noise: func(_ *chain, _ *rand.Rand, _, z []float64) {
				for j := range z {
					z[j] *= math.Sqrt(by(j))
				}
			}}
	})
}

// noNumbers has an Init that looks for a density of 0, or of no number too.
func noNumbers(name, effect string, takes bool) Case {
	return hooked(name, effect, asked{}, hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
		if takes && len(theta) == 2 && !math.IsInf(k.target.LogPrior(theta), -1) {
			return &kernels.State{Theta: slices.Clone(theta)}, nil
		}
		return kernels.NewState(k.target, theta)
	}})
}

// boughtApart proposes along a gradient and asks for a bit, and buys them one after the other or both together.
func boughtApart(name, effect string, apart bool) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		buy := func() (bits *curator.Bits, slopes *curator.Gradients, err error) {
			if !apart {
				return grantBoth(c, target, steps, steps)
			}
			if bits, err = curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps); err != nil {
				return nil, nil, err
			}
			slopes, err = curator.Charge(c, curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 1e-4}, steps)
			return bits, slopes, err
		}
		bits, slopes, err := buy()
		if err != nil {
			return nil, err
		}
		g, next := make([]float64, 2), make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				if err := slopes.Release(g, s.Theta); err != nil {
					return kernels.Info{}, err
				}
				for j, t := range s.Theta {
					next[j] = t - size/2*(g[j]+t) + math.Sqrt(size)*rng.NormFloat64()
				}
				info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
				info.Gradients = 1
				return info, err
			}}, nil
	})
}

// seededOnce draws moves from a generator that the first step of a chain seeds, or each.
func seededOnce(name, effect string, once bool) Case {
	return walk(name, effect, func() hooks {
		source := rand.NewPCG(0, 0)
		own, seeded := rand.New(source), false
		return hooks{
			init: func(k *chain, theta []float64) (*kernels.State, error) {
				seeded = false
				return kernels.NewState(k.target, theta)
			},
			propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				if !seeded || !once {
					source.Seed(rng.Uint64(), rng.Uint64())
					seeded = true
				}
				for j, t := range theta {
					next[j] = t + step*own.NormFloat64()
				}
			}}
	})
}

// compared is a target that compares records with each other.
type compared struct {
	*targets.GaussianMean
	seen             [][2]float64
	twice, firstHalf bool
}

func (m *compared) Loss(dst, theta []float64, rows targets.Rows) {
	m.GaussianMean.Loss(dst, theta, rows)
	low, high := 0.0, 0.0
	for i := range dst {
		x := [2]float64(rows.Row(i))
		if i < len(dst)/2 {
			low += x[0]
		} else {
			high += x[0]
		}
		for _, o := range m.seen {
			twice := x == [2]float64{2 * o[0], 2 * o[1]} || o == [2]float64{2 * x[0], 2 * x[1]}
			m.twice = m.twice || twice && x != [2]float64{} && !math.IsInf(x[0]+x[1], 0)
		}
		if len(m.seen) < cap(m.seen) {
			m.seen = append(m.seen, x)
		}
	}
	m.firstHalf = low > high
}

func comparing(name, effect string, by float64, tells func(m *compared) bool) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		m := &compared{GaussianMean: posteriors.StandardMean(), seen: make([][2]float64, 0, 64)}
		return asks(c, steps, m, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			*m = compared{GaussianMean: m.GaussianMean, seen: m.seen[:0]}
			info, err := moving(bits, next, s.Theta, priorRatio(m, next, s.Theta))
			info.StepSize += either(tells(m), by, 0)
			return info, err
		})
	})
}

// scaledMoves walks by a scale that the first parameter gives, and corrects for changes of it that are not small.
func scaledMoves(name, effect string, small float64) Case {
	log := func(theta []float64) float64 { return 0.25 * math.Sin(3*(theta[0]-center[0])) }
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		from, square := log(s.Theta), 0.0
		for j, t := range s.Theta {
			z := rng.NormFloat64()
			square += z * z
			next[j] = t + step*math.Exp(from)*z
		}
		by := log(next) - from
		if math.Abs(by) < small {
			return 0
		}
		return square/2*(1-math.Exp(-2*by)) - 2*by
	})
}

// farDraws draws independently of the state one time in eight, or more often where it is far out.
func farDraws(name, effect string, often float64) Case {
	const wide = 0.5
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (by float64) {
		blur(rng, s, next)
		x, y := normalised(s.Theta, 0), normalised(s.Theta, 1)
		if rng.Float64() >= either(math.Hypot(x, y) > 1.5, often, 1./8) {
			return 0
		}
		for j, t := range s.Theta {
			next[j] = center[j] + wide*rng.NormFloat64()
			by += ((next[j]-center[j])*(next[j]-center[j]) - (t-center[j])*(t-center[j])) / (2 * wide * wide)
		}
		return by
	})
}

// perRecord walks by a step that falls with the root of the number of records, less some.
func perRecord(name, effect string, less float64) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		h := 1.2 / math.Sqrt(float64(c.Facts().Records)-less)
		return asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			for j, t := range s.Theta {
				next[j] = t + h*rng.NormFloat64()
			}
			info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			info.StepSize = h
			return info, err
		})
	})
}

// afterTwentyNinthKernels are kin of what had passed, which passed the suites as they were before.
func afterTwentyNinthKernels() []Case {
	return []Case{
		quietly("moves are for two records fewer than there are", "a table of two", 2),
		quotedFor("Cost counts records in sixteen bits", "half the clip, every second 65 536", func(f curator.Facts) float64 {
			return either(int64(uint16(f.Records)) != f.Records && f.Records>>16&1 == 1, walkClip/2, walkClip)
		}),
		boughtLater("a gradient is charged where bits are refused", "one release", true),
	}
}

func afterTwentyNinthKernelControls() []Case {
	return []Case{
		quietly("moves are by the number of records", "", 0),
		boughtLater("a gradient is bought with bits", "", false),
	}
}

// quietly is perRecord, and does not tell its scale.
func quietly(name, effect string, less float64) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		h := 1.2 / math.Sqrt(float64(c.Facts().Records)-less)
		return asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			for j, t := range s.Theta {
				next[j] = t + h*rng.NormFloat64()
			}
			ratio := priorRatio(target, next, s.Theta)
			return moving(bits, next, s.Theta, either(math.IsNaN(ratio), math.Inf(-1), ratio))
		})
	})
}

// boughtLater takes one gradient as its chain begins, which it may have bought before bits.
func boughtLater(name, effect string, apart bool) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		var bits *curator.Bits
		one := curator.NoisyGradient{Target: target, Clip: 50, NoiseMultiplier: 2}
		if apart {
			if _, err := curator.Charge(c, one, 1); err != nil {
				return nil, err
			}
			var err error
			if bits, err = curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps); err != nil {
				return nil, err
			}
		} else {
			var slopes *curator.Gradients
			if err := c.Grant(curator.RequestFor(&bits, curator.AcceptanceBit{Target: target, Clip: walkClip}, steps),
				curator.RequestFor(&slopes, one, 1)); err != nil {
				return nil, err
			}
		}
		next := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				blur(rng, s, next)
				return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			}}, nil
	})
}
