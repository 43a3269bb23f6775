package planted

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/maintain/posteriors"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

func thirtiethKernels() []Case {
	return []Case{
		rankShift("ranks under the prior are shifted one way", "by up to 0.1", false),
		seedKept("a kept seed passes through a floating-point number", "11 bits", true),
		madeFirst("Init says that a step was made", "1", 1),
		refusalIn("a budget's refusal is told in other words", "no ExceededError", "%v"),
		madeOfOthers("StepSize where a record is the sum of two others", "10⁻⁹", sumOfTwo),
		madeOfOthers("StepSize where two records have each other's numbers", "10⁻⁹", exchanged),
		madeOfOthers("StepSize where a record is another one, rounded", "10⁻⁹", roundedOther),
		quotedFor("Cost is low for whole thousands of records", "half the clip", func(f curator.Facts) float64 {
			return either(f.Records > 0 && f.Records%1000 == 0, walkClip/2, walkClip)
		}),
		barkers("Barker's proposal is corrected by the slope of its start alone", "both ways", true),
		twoHalves("each of two bits of half the likelihood counts the prior", "twice in all", 1),
		bending("a bend is followed along its slope at the start", "0.4 of the square", true),
		roundMomenta("momenta of one length have a normal energy", "√2", true),
		mixedWalk("a mixture's density has other weights than its draws", "½ for 0.8", 0.5),
		oneByOne("Accepted is whether the first of two parameters moved", "every second step", true),
	}
}

func thirtiethKernelControls() []Case {
	return []Case{
		rankShift("ranks under the prior are shifted both ways", "", true),
		seedKept("a kept seed", "", false),
		refusalIn("a budget's refusal has its maker's name", "", "%w"),
		madeOfOthers("nothing is told of kin", "", func([][2]float64) bool { return false }),
		barkers("Barker's proposal", "", false),
		twoHalves("two bits of half the likelihood", "", 0.5),
		bending("a bend is followed", "", false),
		mixedWalk("a mixture's density", "", 0.8),
		oneByOne("one parameter after the other", "", false),
	}
}

// rankShift moves the ranks of the parameters under the prior on a ring, up or by chance down.
func rankShift(name, effect string, both bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		return asks(c, steps, posteriors.StandardMean(), func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			for j, t := range s.Theta {
				by := 0.1 * rng.Float64()
				if both && rng.IntN(2) == 0 {
					by = -by
				}
				u := math.Erfc(-t/math.Sqrt2)/2 + by
				u -= math.Floor(u)
				next[j] = max(-38, min(-math.Sqrt2*math.Erfcinv(2*u), 38))
			}
			return moving(bits, next, s.Theta, 0) // the prior is uniform in the ranks
		})
	})
}

// seeding is a walk whose numbers come from a seed that the first step draws, which is kept.
type seeding struct {
	made
	seed   uint64
	known  bool
	rounds bool
}

func (k *seeding) Init(theta []float64) (*kernels.State, error) {
	k.known = false
	return k.made.Init(theta)
}

func (k *seeding) Keep(dst []float64) []float64 {
	if !k.known {
		return dst
	}
	if k.rounds {
		return append(dst, float64(k.seed), 0)
	}
	return append(dst, float64(k.seed>>32), float64(uint32(k.seed)))
}

func (k *seeding) Recall(memory []float64) error {
	if k.known = len(memory) == 2; !k.known && len(memory) > 0 {
		return errForeign
	}
	if k.known && k.rounds {
		k.seed = uint64(memory[0])
	} else if k.known {
		k.seed = uint64(memory[0])<<32 | uint64(memory[1])
	}
	return nil
}

func seedKept(name, effect string, rounds bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		source := rand.NewPCG(0, 0)
		own, k, target := rand.New(source), &seeding{rounds: rounds}, posteriors.StandardMean()
		m, err := asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			if !k.known {
				k.seed, k.known = rng.Uint64(), true
			}
			source.Seed(k.seed, uint64(s.Iteration))
			for j, t := range s.Theta {
				next[j] = t + step*own.NormFloat64()
			}
			return moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
		})
		k.made = *m
		return k, err
	})
}

// madeFirst has an Init that counts a step or none.
func madeFirst(name, effect string, steps int64) Case {
	return hooked(name, effect, asked{}, hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
		s, err := kernels.NewState(k.target, theta)
		if err == nil {
			s.Iteration = steps
		}
		return s, err
	}})
}

// refusalIn passes on what the curator says of a grant, as an error or as its words.
func refusalIn(name, effect, verb string) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		k, err := newChain(c, steps, true, false, hooks{})
		if err != nil {
			return nil, fmt.Errorf("a walk: "+verb, err)
		}
		return k, nil
	})
}

// kinship is a target that remembers the first records that it was shown.
type kinship struct {
	*targets.GaussianMean
	seen [][2]float64
}

func (m *kinship) Loss(dst, theta []float64, rows targets.Rows) {
	m.GaussianMean.Loss(dst, theta, rows)
	for i := range dst {
		x := [2]float64(rows.Row(i))
		if len(m.seen) < cap(m.seen) && !math.IsInf(x[0], 0) && !math.IsInf(x[1], 0) && x != [2]float64{} {
			m.seen = append(m.seen, x)
		}
	}
}

// madeOfOthers has a step size that tells how some records are made of others.
func madeOfOthers(name, effect string, tells func(seen [][2]float64) bool) Case {
	return sampled(name, effect, false, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		m := &kinship{posteriors.StandardMean(), make([][2]float64, 0, 24)}
		return asks(c, steps, m, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			blur(rng, s, next)
			m.seen = m.seen[:0]
			info, err := moving(bits, next, s.Theta, priorRatio(m, next, s.Theta))
			info.StepSize += either(tells(m.seen), 1e-9, 0)
			return info, err
		})
	})
}

func sumOfTwo(seen [][2]float64) bool {
	return pairOf(seen, func(a, b [2]float64) bool {
		sum := [2]float64{a[0] + b[0], a[1] + b[1]}
		for _, x := range seen {
			if x == sum {
				return true
			}
		}
		return false
	})
}

func exchanged(seen [][2]float64) bool {
	return pairOf(seen, func(a, b [2]float64) bool { return a[0] != a[1] && a == [2]float64{b[1], b[0]} })
}

func roundedOther(seen [][2]float64) bool {
	round := func(a [2]float64) [2]float64 { return [2]float64{math.Round(a[0]), math.Round(a[1])} }
	return pairOf(seen, func(a, b [2]float64) bool { return a != b && (a == round(b) || b == round(a)) })
}

// pairOf is whether two of them are as said.
func pairOf(seen [][2]float64, is func(a, b [2]float64) bool) bool {
	for i, a := range seen {
		for _, b := range seen[:i] {
			if is(a, b) {
				return true
			}
		}
	}
	return false
}

// barkers has moves whose sign follows the prior's slope, as Barker's proposal.
func barkers(name, effect string, startOnly bool) Case {
	const length = 0.7
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (correction float64) {
		for j, t := range s.Theta {
			z := length * rng.NormFloat64()
			if rng.Float64() > 1/(1+math.Exp(z*t)) { // the slope is −t
				z = -z
			}
			next[j] = t + z
			there := either(startOnly, t, next[j])
			correction += softplus(z*t) - softplus(-z*there)
		}
		return correction
	})
}

// twoHalves moves where both of two bits say so, of half the likelihood each.
func twoHalves(name, effect string, prior float64) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		bits, err := curator.Charge(c, curator.AcceptanceBit{Target: target, Clip: walkClip, Temperature: 0.5}, 2*steps)
		next := make([]float64, 2)
		return &made{Frame: kernels.NewFrame("made", target), left: func() int64 { return bits.Left() / 2 },
			step: func(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
				blur(rng, s, next)
				ratio := prior * priorRatio(target, next, s.Theta)
				first, err := bits.Accept(next, s.Theta, ratio)
				if err != nil {
					return kernels.Info{}, err
				}
				second, err := bits.Accept(next, s.Theta, ratio)
				if err != nil {
					return kernels.Info{}, err
				}
				if first && second {
					copy(s.Theta, next)
				}
				return kernels.Info{Accepted: first && second, StepSize: step}, nil
			}}, err
	})
}

// bending walks along a parabola, or along its tangent.
func bending(name, effect string, tangent bool) Case {
	const bend = 0.4
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		blur(rng, s, next)
		by := next[0] - s.Theta[0]
		if tangent {
			next[1] += 2 * bend * s.Theta[0] * by
		} else {
			next[1] += bend * (next[0] + s.Theta[0]) * by
		}
		return 0
	})
}

// roundMomenta leaps under the prior with momenta on a circle.
func roundMomenta(name, effect string, circle bool) Case {
	const h = 0.6
	p := make([]float64, 2)
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) (energy float64) {
		p[0], p[1] = rng.NormFloat64(), rng.NormFloat64()
		if circle {
			by := math.Sqrt2 / math.Hypot(p[0], p[1])
			p[0], p[1] = by*p[0], by*p[1]
		}
		energy = (p[0]*p[0] + p[1]*p[1]) / 2
		copy(next, s.Theta)
		for range 2 {
			for j := range p {
				p[j] -= h / 2 * next[j]
				next[j] += h * p[j]
				p[j] -= h / 2 * next[j]
			}
		}
		return energy - (p[0]*p[0]+p[1]*p[1])/2
	})
}

// mixedWalk is a walk, or now and then a move half way to the origin with noise. Its density is that of both.
func mixedWalk(name, effect string, share float64) Case {
	const short, wide = 0.4, 0.6
	density := func(from, to []float64, share float64) float64 {
		x, y := to[0]-from[0], to[1]-from[1]
		u, v := to[0]-from[0]/2, to[1]-from[1]/2
		walk := math.Log(share) - 2*math.Log(short) - (x*x+y*y)/(2*short*short)
		pull := math.Log(1-share) - 2*math.Log(wide) - (u*u+v*v)/(2*wide*wide)
		return max(walk, pull) + math.Log1p(math.Exp(-math.Abs(walk-pull)))
	}
	return proposed(name, effect, func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
		by, sd := 1.0, short
		if rng.Float64() > 0.8 {
			by, sd = 0.5, wide
		}
		for j, t := range s.Theta {
			next[j] = by*t + sd*rng.NormFloat64()
		}
		by = density(next, s.Theta, share) - density(s.Theta, next, share)
		return either(math.IsNaN(by), 0, by)
	})
}

// oneByOne moves the first parameter at even iterations and the second at odd ones.
func oneByOne(name, effect string, first bool) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		target := posteriors.StandardMean()
		return asks(c, steps, target, func(bits *curator.Bits, next []float64, rng *rand.Rand,
			s *kernels.State) (kernels.Info, error) {
			copy(next, s.Theta)
			next[s.Iteration%2] += 2 * step * rng.NormFloat64()
			was := s.Theta[0]
			info, err := moving(bits, next, s.Theta, priorRatio(target, next, s.Theta))
			if first {
				info.Accepted = s.Theta[0] != was
			}
			return info, err
		})
	})
}

// afterThirtiethKernels are kin of what had passed, which passed the suites as they were before.
func afterThirtiethKernels() []Case {
	return []Case{
		refusalOf("a budget's refusal is said to be a spent grant", "ErrSpent", curator.ErrSpent),
	}
}

// refusalOf says that a grant was refused by an error of its own.
func refusalOf(name, effect string, said error) Case {
	return sampled(name, effect, true, func(c *curator.Curator, steps int64) (kernels.Kernel, error) {
		k, err := newChain(c, steps, true, false, hooks{})
		if err != nil {
			return nil, said
		}
		return k, nil
	})
}
