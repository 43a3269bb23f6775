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
