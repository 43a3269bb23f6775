package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// bits is an acceptance bit of the sum: log-odds scale·total + offset.
type bits struct {
	claim   accountant.Event
	scale   float64
	certain float64 // the probability of a bit without any noise
	twin    bool    // every twentieth bit repeats the one before
	every   int     // every so manieth bit has no noise; 0 for none
	probit  float64 // the offset of a probit that takes the logistic's place; 0 for none
	ones    int     // after so many ones comes a zero; 0 for none

	metropolis bool // the bit is certain where the log-odds are positive
}

func (b bits) Claim() accountant.Event { return b.claim }

func (b bits) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	total := 0.0
	for i, x := range r.X {
		total += clipped(i, x)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	all := make([][]float64, count)
	ones := 0
	for i := range all {
		all[i] = []float64{0}
		p := 1 / (1 + math.Exp(-b.scale*total/2))
		if b.probit > 0 {
			p = math.Erfc(-(total/2+b.probit)/math.Sqrt2) / 2
		}
		if b.metropolis {
			p = min(1, math.Exp(b.scale*total/2))
		}
		if b.certain > 0 && rng.Float64() < b.certain || b.every > 0 && i%b.every == b.every-1 {
			p = math.Round(p)
		}
		if rng.Float64() < p {
			all[i][0] = 1
		}
		if b.twin && i%20 == 19 {
			all[i][0] = all[i-1][0]
		}
		if b.ones > 0 && ones == b.ones {
			all[i][0] = 0
		}
		if ones++; all[i][0] == 0 {
			ones = 0
		}
	}
	return all, nil
}

func bit(name, effect string, b bits) Case {
	b.claim = event(accountant.Bit{Contribution: 0.5}.Event(accountant.Substitute)) // contributions of at most ½ each way
	return mechanismCase(name, effect, b, 1, []float64{1, 0}, []float64{-1, 0})
}

func bitDefects() []Case {
	return []Case{
		bit("log-odds too steep", "10%", bits{scale: 1.1}),
		bit("log-odds too steep", "5%", bits{scale: 1.05}),
		bit("certain now and then", "10%", bits{scale: 1, certain: 0.1}),
		bit("one in twenty repeats the one before", "5%", bits{scale: 1, twin: true}),
	}
}

// response is randomised response over four categories.
func response(lie func(truth int, rng *rand.Rand) int) answers {
	return releases(event(accountant.RandomizedResponse(accountant.Substitute, 1.0001, 4)),
		func(x []float64, rng *rand.Rand) []float64 {
			truth := int(max(0, min(3, clipped(0, x[0]/3)*3)))
			if rng.Float64() < 3/(3+math.E) {
				truth = lie(truth, rng)
			}
			return []float64{float64(truth)}
		})
}

// responding gives a category of three of the first record, by a chance to say the truth.
func responding(truth float64) proptest.Mechanism {
	return releases(event(accountant.RandomizedResponse(accountant.Substitute, 1, 3)),
		func(x []float64, rng *rand.Rand) []float64 {
			is := 1
			if len(x) > 0 {
				is = int(clipped(0, x[0])) + 1
			}
			if rng.Float64() >= truth {
				is = (is + 1 + rng.IntN(2)) % 3
			}
			return []float64{float64(is)}
		})
}

// reporting says of the first record whether it is positive, or a lie, which is the opposite or another one's answer.
func reporting(others bool) proptest.Mechanism {
	return releases(event(accountant.RandomizedResponse(accountant.Substitute, 1, 2)),
		func(x []float64, rng *rand.Rand) []float64 {
			if len(x) == 0 {
				return []float64{float64(rng.IntN(2))}
			}
			answer := either(x[0] > 0, 1, 0)
			if rng.Float64() > 1/(1+math.Exp(-0.999)) {
				answer = 1 - answer
				if others && len(x) > 1 {
					answer = either(x[1+rng.IntN(len(x)-1)] > 0, 1, 0)
				}
			}
			return []float64{answer}
		})
}

// byBytes lies with a chance of so many in 256.
func byBytes(lies int) proptest.Mechanism {
	return releases(event(accountant.RandomizedResponse(accountant.Substitute, 3, 2)),
		func(x []float64, rng *rand.Rand) []float64 {
			answer := 0.0
			if (len(x) > 0 && x[0] > 0) != (rng.IntN(256) < lies) {
				answer = 1
			}
			return []float64{answer}
		})
}

// told is a bit about the records, of which one is positive, by randomised response.
func told(epsilon float64) func(x []float64, rng *rand.Rand) float64 {
	return func(x []float64, rng *rand.Rand) float64 {
		is := slices.ContainsFunc(x, func(v float64) bool { return v > 0.5 })
		return either(is == (rng.Float64() < 1/(1+math.Exp(-epsilon))), 1, 0)
	}
}

// reports are all records' own answers, in order or shuffled: a bit each that lies one time in four.
func reports(epsilon float64) answers {
	return releases(pure(epsilon), func(x []float64, rng *rand.Rand) []float64 {
		out := make([]float64, len(x))
		for i, v := range x {
			truth := v > 0
			if rng.IntN(4) == 0 {
				truth = !truth
			}
			out[i] = either(truth, 1, 0)
		}
		return out
	})
}

// oneHot is a category of three as three bits, each flipped with probability ¼.
func oneHot(epsilon float64) answers {
	return releases(pure(epsilon), func(x []float64, rng *rand.Rand) []float64 {
		bits := histogram(x[:1])
		for k := range bits {
			bits[k] = either(rng.IntN(4) == 0, 1-bits[k], bits[k])
		}
		return bits[:]
	})
}

// roundedOdds answers with log odds of half the sum, rounded to steps.
func roundedOdds(step float64) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		odds := step * math.Round(clip1(x)/2/step)
		return []float64{either(rng.Float64() < 1/(1+math.Exp(-odds)), 1, 0)}
	})
}
