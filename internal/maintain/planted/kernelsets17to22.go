package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/kernels"
)

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

func twentiethKernels() []Case {
	return []Case{
		swapping("a swap of copies leaves the kept log priors", "stale", true),
		byMatrix("a kept factor comes back transposed", "resumed chains", func(k *minding) kernels.Kernel {
			return &transposing{k}
		}),
		appearing("birth and death forget the models' odds", "0.55 and 0.45", true),
		showing("the state shown has some of the one before", "10%", 0.1),
	}
}

func twentiethKernelControls() []Case {
	return []Case{
		swapping("a swap of copies takes the kept log priors with it", "", false),
		byMatrix("a kept factor", "", asItIs),
		appearing("birth and death", "", false),
		showing("the state shown is that of the walk", "", 0),
	}
}

func twentyFirstKernels() []Case {
	return []Case{
		majority("the majority of three bits", "steeper", 3),
		resting("rests a step after each move", "places that are left", true),
		shrinking("steps are halved after five refusals until a move is made", "variance 2%", 5),
		leaving("Left is by the state's iteration", "resumed chains", true),
		ofBatches("StepSize by how many records the batch had", "10⁻⁹", 1e-9),
	}
}

func twentyFirstKernelControls() []Case {
	return []Case{
		majority("one bit", "", 1),
		resting("each answer is used", "", false),
		leaving("Left is what is left", "", false),
		ofBatches("batches", "", 0),
	}
}

func afterTwentyFirstKernels() []Case {
	return []Case{early("the kept steps 6 to 40 go up", "0.2 sd", 0.2*sd)}
}

func twentySecondKernels() []Case {
	return []Case{
		recalledBy("Recall refuses nothing", "the first step", func(k *guided, memory []float64) error {
			if len(memory) == 0 {
				return errForeign
			}
			return k.Recall(memory)
		}),
		recalledBy("Recall takes a memory of any length", "three numbers", func(k *guided, memory []float64) error {
			copy(k.v, memory)
			return nil
		}),
		keepingEarly("numbers are kept before the first step", "two zeros"),
		anyStart("Init takes a start beyond the prior's support", "below a wall", true),
		lazily("says Accepted of a proposal that is the state", "1 in 100", true),
		largestFirst("StepSize by whose loss is the largest", "10⁻⁹", 1e-9),
		stratified("noise of ten steps is in strata", "serial", 10),
	}
}

func twentySecondKernelControls() []Case {
	return []Case{
		anyStart("a chain begins within the prior's support", "", false),
		lazily("a proposal may be the state", "", false),
	}
}
