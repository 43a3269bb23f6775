package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

func fifteenthKernels() []Case {
	return []Case{
		diffusion("noise of one parameter too small where the other is high", "5%", hooks{
			noise: func(_ *chain, _ *rand.Rand, theta, z []float64) {
				z[1] *= either(normalised(theta, 0) > 0.5, 0.95, 1)
			}}),
		tilted("the reverse drift has some of the start's slope", "15%", 0.15),
		sharing("the last two shares' density is corrected for too little", "0.9", 0.9),
		crossing("a stretching reflection without its Jacobian", "10%, 1 in 4", 0),
		logWalk("a log walk's Jacobian is small below 1", "0.9", 0.9),
		folded("a folded proposal's density is of one side", "shape", 0),
		fiveWide("noise of the fourth of five parameters too small", "3%", 0.97),
		halvedBy("noise too small with batches of three", "3%", 1, 0.97),
		keeping("the kept log prior is renewed after long moves only", "stale below 0.3", 2, false, func(m []float64) hooks {
			return hooks{public: func(k *chain, theta, next []float64, _ float64) float64 {
				if m[1] == 0 {
					m[0], m[1] = k.target.LogPrior(theta), 1
				}
				return k.target.LogPrior(next) - m[0]
			}, after: func(k *chain, _ *rand.Rand, s *kernels.State, _ *kernels.Info) {
				if kernels.Distance(s.Theta, k.before) > 0.3 {
					m[0] = k.target.LogPrior(s.Theta)
				}
			}}
		}),
		proposed("a skew move of one parameter now and then", "1 in 10", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			if blur(rng, s, next); rng.IntN(10) == 0 {
				next[0] = s.Theta[0] + step*(rng.ExpFloat64()-1)
			}
			return 0
		}),
		proposed("a shear by the product of old and new", "0.3", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			next[1] += 0.3 * s.Theta[0] * (next[0] - s.Theta[0])
			return 0
		}),
		gibbs("one parameter and then the other, said to be reversible", "order", true),
		hooked("moves twice as long now and then", "1 in 20", asked{transition: true}, hooks{
			propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				by := either(rng.IntN(20) == 0, 2, 1)
				for j, t := range theta {
					next[j] = t + by*(next[j]-t)
				}
			}}),
		turning("coordinates in turn, by a count that is not kept", "resumed chains", false),
		reusing("the last momentum serves again", "1 in 10", 10),
		idle("moves at powers of two alone", "rarely", func(i int64) bool { return i&(i-1) == 0 }),
		proposed("the second parameter stands still late", "from iteration 300 on", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			if blur(rng, s, next); s.Iteration >= 300 {
				next[1] = s.Theta[1]
			}
			return 0
		}),
		witnessed("StepSize where a loss was not finite", "0.1%", func(w *witness, _ *kernels.State) bool {
			return w.infinite
		}),
		witnessed("StepSize where a column is constant", "0.1%", func(w *witness, _ *kernels.State) bool {
			return w.seen > 50 && w.varies[0] != w.varies[1]
		}),
		witnessed("StepSize where two records are equal", "0.1%", func(w *witness, _ *kernels.State) bool {
			return w.seen > 50 && len(w.different) == 5
		}),
		witnessed("StepSize where records are in order", "0.1%", func(w *witness, _ *kernels.State) bool { return w.rose }),
		witnessed("StepSize where all records are small", "below 10⁻⁶", func(w *witness, _ *kernels.State) bool {
			return w.seen > 50 && w.largest < 1e-6
		}),
		witnessed("StepSize late for a record beyond 3", "from step 7000 on", func(w *witness, s *kernels.State) bool {
			return s.Iteration >= 7000 && w.largest > 3
		}),
	}
}

func fifteenthKernelControls() []Case {
	return []Case{
		tilted("moves along a public slope", "", 0),
		sharing("shares", "", 1),
		crossing("a stretching reflection", "", 1),
		logWalk("a log walk", "", 1),
		folded("a folded proposal", "", 1),
		fiveWide("Langevin in five dimensions", "", 1),
		gibbs("in either order, reversible", "", false),
		turning("coordinates in turn, by a count", "", true),
		reusing("two leaps", "", 0),
		witnessed("a target that counts", "", func(*witness, *kernels.State) bool { return false }),
		idle("moves at every fifth iteration", "", func(i int64) bool { return i%5 == 4 }),
	}
}

func sixteenthKernels() []Case {
	early := normalKick(0.3)
	early.early = true
	return []Case{
		rotating("turns farther where the second parameter is high", "20%", func(_, v float64) float64 {
			return 0.8 * either(v > 0, 1.2, 1)
		}),
		ranked("moves of two widths are sorted", "0.5 and 0.8", 0.8),
		kicked("a momentum of Student's law with a normal energy", "8 degrees",
			studentKick(func(p float64) float64 { return p * p / 2 })),
		kicked("the energy at the end is that before the last half kick", "stale", early),
		bouncing("a bounce by the slope at the start", "half way", 0),
		decaying("noise of Euler's step beside an exact decay", "3.6% of a variance",
			func(stays float64) float64 { return sd * math.Sqrt(2*(1-stays)) }),
		priorFirst("the prior's test comes first, and counts again", "20%", 0.2),
		scaling("a scale moves what it scales, the Jacobian is short", "0.9, 1 in 4", 0.9),
		given("drawn given the proposal in place of the state", "1 in 10", func(rng *rand.Rand) bool {
			return rng.IntN(10) == 0
		}),
		gammaStep("a gamma step's density has another shape", "4.8 for 5", 4.8),
		inverting("the Jacobian of an inverse", "1.9 for 2", 1.9),
		logit("the Jacobian of small shares is that of a logarithm", "below 0.2", func(t float64) float64 { return t }),
		cooled("one bit in four is of a tempered likelihood", "0.95", 0.95),
		keeping("the first's noise along a golden ratio", "serial", 1, false, func(m []float64) hooks {
			return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				if u := rng.Float64(); m[0] == 0 {
					m[0] = u
				}
				_, m[0] = math.Modf(m[0] + 0.6180339887498949)
				next[0] = theta[0] + step*math.Sqrt2*math.Erfinv(max(-0.9999999, 2*m[0]-1))
			}}
		}),
		walk("a generator of its own, seeded with ten bits", "1024 moves", func() hooks {
			few := rand.NewPCG(0, 1)
			own := rand.New(few)
			return hooks{propose: func(_ *chain, rng *rand.Rand, theta, next []float64) {
				few.Seed(rng.Uint64()&1023, 1)
				next[0], next[1] = theta[0]+step*own.NormFloat64(), theta[1]+step*own.NormFloat64()
			}}
		}),
		proposed("both parameters move by one table of sines", "dependent", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			a := 2 * math.Pi * rng.Float64()
			next[0], next[1] = s.Theta[0]+step*math.Sqrt2*math.Cos(a), s.Theta[1]+step*math.Sqrt2*math.Cos(2*a)
			return 0
		}),
		keeping("the last answer serves again now and then", "1 in 100", 1, false, func(m []float64) hooks {
			return hooks{accept: func(_ *chain, rng *rand.Rand, _, _ []float64, accepted bool) bool {
				if before := m[0] > 0; rng.IntN(100) == 0 {
					accepted = before
				}
				m[0] = either(accepted, 1, 0)
				return accepted
			}}
		}),
		keeping("the kept log prior is the proposal's now and then", "1 in 25", 2, false, func(m []float64) hooks {
			return hooks{public: func(k *chain, theta, next []float64, _ float64) float64 {
				if m[1] == 0 {
					m[0], m[1] = k.target.LogPrior(theta), 1
				}
				return k.target.LogPrior(next) - m[0]
			}, after: func(k *chain, rng *rand.Rand, s *kernels.State, info *kernels.Info) {
				if wrong := rng.IntN(25) == 0; info.Accepted || wrong {
					m[0] = k.target.LogPrior(k.next)
				}
			}}
		}),
		keeping("scales by the spread of the last ten states", "for ever", 20, false, func(m []float64) hooks {
			return hooks{propose: func(k *chain, _ *rand.Rand, theta, next []float64) {
				for j, t := range theta {
					mean, square := 0.0, 0.0
					for i := range 10 {
						mean, square = mean+m[2*i+j]/10, square+m[2*i+j]*m[2*i+j]/10
					}
					next[j] = t + (0.3+math.Sqrt(max(0, square-mean*mean)))*(next[j]-t)
				}
				copy(m, m[2:])
				m[18], m[19] = theta[0]-center[0], theta[1]-center[1]
			}}
		}),
		diffusion("the size of one noise follows the other's", "±10%", hooks{
			noise: func(_ *chain, _ *rand.Rand, _, z []float64) {
				z[1] *= either(math.Abs(z[0]) > 0.6745, 1.1, math.Sqrt(2-1.21))
			}}),
		penalised("a penalty by the noise of a typical move", "constant", func(float64, float64) float64 {
			const typical = 0.013 * 2 * 50 * step * 1.25
			return typical * typical / 2
		}),
		widely("the 13th of twenty moves farther where the 14th is high", "10%", 20, true, func(theta, next []float64) {
			next[12] = theta[12] + (next[12]-theta[12])*either(theta[13] > 0, 1.1, 1)
		}),
		wideWalk("the last of twenty shifted", "5% of its sd", 20, func(_, next []float64) { next[19] += 0.05 * wideStep }),
		diffusion("drift by the gradient's sign where it is small", "below 0.3", hooks{
			drift: func(_ *chain, _, g []float64) {
				for j, v := range g {
					g[j] = either(math.Abs(v) < 0.3, math.Copysign(0.3, v), v)
				}
			}}),
		diffusion("drift capped together", "length 6", hooks{drift: func(_ *chain, _, g []float64) {
			by := min(1, 6/math.Hypot(g[0], g[1]))
			g[0], g[1] = by*g[0], by*g[1]
		}}),
		hooked("a move of one parameter is a little longer with Transition", "2%", asked{transition: true}, hooks{
			propose: func(_ *chain, _ *rand.Rand, theta, next []float64) {
				next[1] = theta[1] + 1.02*(next[1]-theta[1])
			}}),
		sampled("Keep rounds a velocity", "single precision", true, func(c *curator.Curator, steps int64) (kernels.Kernel,
			error) {
			k, err := newGuided(c, steps, true)
			return &rounded{*k}, err
		}),
		between("StepSize where an earlier chain saw a large record", "10⁻⁹", func(w *witness) bool { return w.largest > 3 }),
		sampled("the name says that a record was large", "beyond 1000", false, func(c *curator.Curator,
			steps int64) (kernels.Kernel, error) {
			k, err := newChain(c, steps, true, true, hooks{})
			return &named{k, k.(*chain).spy}, err
		}),
		nearing("StepSize for a record near the state", "within 0.05", func(m *nearby) bool { return m.closest < 0.05 }),
		nearing("StepSize for two records that nearly agree", "within 10⁻³", func(m *nearby) bool { return m.pair < 1e-3 }),
		nearing("StepSize for two records of whole numbers", "two", func(m *nearby) bool { return m.whole > 1 }),
		quotedFor("Cost is low for tables of more than five hundred", "half the clip", func(f curator.Facts) float64 {
			return either(f.Records > 500, walkClip/2, walkClip)
		}),
		quotedFor("Cost is low for tables of one record", "half the clip", func(f curator.Facts) float64 {
			return either(f.Records == 1, walkClip/2, walkClip)
		}),
		decaying("noise too small beside an exact decay", "2% of a variance", func(stays float64) float64 {
			return 0.99 * sd * math.Sqrt(1-stays*stays)
		}),
	}
}

func sixteenthKernelControls() []Case {
	never := func(*rand.Rand) bool { return false }
	return []Case{
		rotating("turns by an angle that the distance says", "", func(u, v float64) float64 {
			return 0.5 + math.Hypot(u, v)
		}),
		ranked("moves are sorted", "", 0.5),
		kicked("leaps of two widths, tested", "", normalKick(0.36)),
		kicked("a momentum of Student's law, its energy", "", studentKick(func(p float64) float64 {
			return 4.5 * math.Log1p(p*p/8)
		})),
		bouncing("a bounce half way", "", 1),
		decaying("an exact decay", "", func(stays float64) float64 { return sd * math.Sqrt(1-stays*stays) }),
		priorFirst("the prior's test comes first", "", 0),
		scaling("a scale moves what it scales", "", 1),
		given("drawn given the other", "", never),
		gammaStep("a gamma step", "", 5),
		logit("a walk in the logit", "", func(t float64) float64 { return t * (1 - t) }),
		inverting("an inverse", "", 2),
		proposed("noise is cut off", "", func(rng *rand.Rand, s *kernels.State, next []float64) float64 {
			for j, t := range s.Theta {
				z := rng.NormFloat64()
				for math.Abs(z) > 2 {
					z = rng.NormFloat64()
				}
				next[j] = t + step*z
			}
			return 0
		}),
	}
}

func afterSixteenthKernels() []Case {
	return []Case{
		hooked("Init rounds the caller's start in place", "to thousandths", asked{}, hooks{
			init: func(k *chain, theta []float64) (*kernels.State, error) {
				s, err := kernels.NewState(k.target, theta)
				if err == nil {
					theta[0] = math.Round(theta[0]*1000) / 1000
					copy(s.Theta, theta)
				}
				return s, err
			}}),
		tells("pays again at step 300", "one release", func(k *chain, _ *rand.Rand, _ *kernels.State, _ *kernels.Info) {
			if k.steps == 300 {
				if _, err := curator.Charge(k.desk, curator.AcceptanceBit{Target: k.target, Clip: walkClip}, 1); err != nil {
					panic(err)
				}
			}
		}),
	}
}

func seventeenthKernels() []Case {
	tilt := func(t float64) float64 { return 0.5 * (1 + 0.1*math.Tanh(t)) }
	return []Case{
		growing("multiplied by 1 + z, corrected as by an exponential", "second order",
			func(z float64) float64 { return max(0.01, 1+z) }),
		locally("a scale by the state, without its logarithm", "±10%", tilt, 0),
		inside("moves are redrawn until inside, without the chance of it", "truncation", false),
		towardsPrior("an autoregression's root by two terms", "0.82 for 0.8", func(b float64) float64 { return 1 - b*b/2 }),
		pulled("drift is cut on the way out alone", "0.15", math.Inf(1)),
		surrogate("the last kick has a length of its own", "exponential", func(rng *rand.Rand) (float64, float64) {
			return 1, rng.ExpFloat64()
		}),
		picking("a coordinate is picked by how far it is", "±10%", func(t []float64) float64 {
			return 0.5 + 0.1*math.Tanh(math.Abs(t[0]-center[0])-math.Abs(t[1]-center[1]))
		}, false),
		swappingCopies("two copies change places by another ladder", "0.3 for 0.25", 0.3),
		preconditioned("noise taken off by a preconditioner, not its square", "4% of a variance", 1),
		drawing("independent draws of eight degrees, a density of seven", "tails", 7),
		factored("the factor of independent draws is transposed", "0.12", true),
		wrapping("below zero it is reflected, above one it wraps", "one side", func(t float64) float64 { return t - 1 }),
		stretching("a factor's law is uniform, its correction another's", "power 0", 0),
		cooler("the temperature multiplies the prior too", "0.9", 0.9),
		spared("a spare normal number is forgotten by Keep", "one", false, true),
		spared("a second chain begins with the first one's spare number", "one", true, false),
		proposed("one uniform number gives angle and length", "a spiral", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			u := rng.Float64()
			sin, cos := math.Sincos(2 * math.Pi * u)
			r := 0.6 * math.Sqrt(-2*math.Log(1-u))
			next[0], next[1] = s.Theta[0]+r*cos, s.Theta[1]+r*sin
			return 0
		}),
		proposed("the better of two proposals by the prior", "selected", func(rng *rand.Rand, s *kernels.State,
			next []float64) float64 {
			blur(rng, s, next)
			if a, b := s.Theta[0]+step*rng.NormFloat64(), s.Theta[1]+step*rng.NormFloat64(); rng.IntN(4) == 0 &&
				a*a+b*b < dot(next, next) {
				next[0], next[1] = a, b
			}
			return 0
		}),
		hooked("the public log ratio is clipped", "±0.8", asked{}, hooks{
			public: func(_ *chain, _, _ []float64, ratio float64) float64 { return max(-0.8, min(ratio, 0.8)) }}),
		hooked("the state and the proposal change places in memory", "aliased", asked{}, hooks{
			after: func(k *chain, _ *rand.Rand, s *kernels.State, info *kernels.Info) {
				if info.Accepted {
					s.Theta, k.next = k.next, s.Theta
				}
			}}),
		wrapping("reflected before the end of an interval", "at 0.98", func(t float64) float64 { return 1.96 - t }),
	}
}

func seventeenthKernelControls() []Case {
	return []Case{
		growing("multiplication by an exponential", "", math.Exp),
		locally("a scale by the state", "", func(t float64) float64 { return 0.5 * (1 + 0.1*math.Tanh(t)) }, 1),
		inside("moves are redrawn until inside, with the chance of it", "", true),
		towardsPrior("an autoregression that keeps the prior", "", func(b float64) float64 { return math.Sqrt(1 - b*b) }),
		pulled("drift is cut, there and back", "", 0.15),
		surrogate("leaps along a public law", "", func(*rand.Rand) (float64, float64) { return 1, 1 }),
		picking("a coordinate is picked by the state, with its chances", "", func(t []float64) float64 {
			return 0.5 + 0.1*math.Tanh(math.Abs(t[0]-center[0])-math.Abs(t[1]-center[1]))
		}, true),
		swappingCopies("two copies change places", "", 0.25),
		preconditioned("noise is taken off by the preconditioner's square", "", 2),
		drawing("independent draws of eight degrees, their density", "", 8),
		factored("the factor of independent draws", "", false),
		wrapping("a unit interval that reflects", "", func(t float64) float64 { return 2 - t }),
		stretching("a factor's law is uniform, its correction too", "", -1),
		cooler("a temperature of the likelihood alone", "", 1),
		spared("a spare normal number", "", true, true),
	}
}

func afterSeventeenthKernels() []Case {
	return []Case{
		walk("Init gives one State again and again", "shared", func() hooks {
			var one *kernels.State
			return hooks{init: func(k *chain, theta []float64) (*kernels.State, error) {
				s, err := kernels.NewState(k.target, theta)
				if err != nil || one == nil {
					one = s
					return s, err
				}
				copy(one.Theta, theta)
				one.Iteration = 0
				return one, nil
			}}
		}),
	}
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

func nineteenthKernels() []Case {
	return []Case{
		innerInOrder("inner moves go through coordinates in order", "one order", func(*rand.Rand) int { return 0 }),
		innerMoves("inner moves go on until one is made", "1 to 1000", true),
		inTurn("a refused coordinate stays in the next proposal", "one of two", true, byCoin),
		byCount("a kept count comes back modulo 256", "resumed chains", func(k *minding) kernels.Kernel { return &byted{k} }),
		turnsOften("a direction turns more often on the way up", "12% and 8%", 0.12, 0.08),
	}
}

func nineteenthKernelControls() []Case {
	return []Case{
		innerInOrder("inner moves go through coordinates in either order", "", func(rng *rand.Rand) int {
			return rng.IntN(2)
		}),
		innerMoves("three inner moves", "", false),
		byCount("a kept count", "", asItIs),
		turnsOften("a direction turns as often either way", "", 0.1, 0.1),
	}
}
