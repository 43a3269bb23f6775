package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// inverted is Laplace noise by the inverse of its distribution function, of a uniform number.
func inverted(uniform func(rng *rand.Rand) float64) proptest.Mechanism {
	return shared{answers{claim: event(accountant.Laplace(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			u := uniform(rng) - 0.5
			return []float64{clip1(x) - 2*math.Copysign(math.Log1p(-2*math.Abs(u)), u)}
		})}, 2}
}

// overflowing is a histogram whose counts are what a function makes of them.
func overflowing(count func(n int) float64) proptest.Mechanism {
	return shared{answers{claim: gaussian(1), begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		var n [2]int
		for _, v := range x {
			if v > 0 {
				n[1]++
			} else {
				n[0]++
			}
		}
		return noisy([]float64{count(n[0]), count(n[1])}, func() float64 { return math.Sqrt2 * rng.NormFloat64() })
	})}, math.Sqrt2}
}

// responding gives a category of three of the first record, by a chance to say the truth.
func responding(truth float64) proptest.Mechanism {
	return answers{claim: event(accountant.RandomizedResponse(accountant.Substitute, 1, 3)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			is := 1
			if len(x) > 0 {
				is = int(clipped(0, x[0])) + 1
			}
			if rng.Float64() >= truth {
				is = (is + 1 + rng.IntN(2)) % 3
			}
			return []float64{float64(is)}
		})}
}

// choosing picks one of five candidates near the sum by the exponential mechanism.
func choosing(factor float64) proptest.Mechanism {
	return answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			best, chosen, total := math.Inf(-1), 0, clip1(x)
			for i := range 5 {
				score := -math.Abs(float64(i-2) - total)
				if v := factor*score/2 - math.Log(rng.ExpFloat64()); v > best {
					best, chosen = v, i
				}
			}
			return []float64{float64(chosen)}
		})}
}

// sampledBatch takes each record with probability ½, anew for a release or for a call.
func sampledBatch(once bool) proptest.Mechanism {
	some := func(x []float64, rng *rand.Rand) (total float64) {
		for _, v := range x {
			total += either(rng.IntN(2) == 0, clipped(0, v), 0)
		}
		return total
	}
	claim := event(event(accountant.Gaussian(accountant.AddRemove, 2)).PoissonSampled(0.5))
	return answers{claim: claim, begin: func(x []float64, rng *rand.Rand) func() []float64 {
		total := some(x, rng)
		return func() []float64 {
			if !once {
				total = some(x, rng)
			}
			return []float64{total + noiseSD*rng.NormFloat64()}
		}
	}}
}

// spreadClip is a sum clipped at three deviations of the records themselves, of one at most.
func spreadClip(x []float64) (total float64) {
	mean, square := 0.0, 0.0
	for _, v := range x {
		c := clipped(0, v)
		mean, square = mean+c/float64(len(x)), square+c*c/float64(len(x))
	}
	most := min(1, 2*math.Sqrt(max(0, square-mean*mean)))
	for _, v := range x {
		total += max(-most, min(clipped(0, v), most))
	}
	return total
}

// failures is a count with the difference of two numbers of failures, of so many at most.
func failures(most float64) proptest.Mechanism {
	return answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			count := 0.0
			for _, v := range x {
				count += either(v > 0, 1, 0)
			}
			size := func() float64 { return min(most, math.Floor(rng.ExpFloat64())) }
			return []float64{count + size() - size()}
		})}
}

// inRange draws Laplace noise again until what is released is in a public range, or rounds it into it.
func inRange(again bool) proptest.Mechanism {
	return answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			v := clip1(x) + laplace(rng, 2)
			for range 50 { // no range is reached from far beyond it
				if !again || math.Abs(v) <= 3 {
					break
				}
				v = clip1(x) + laplace(rng, 2)
			}
			return []float64{max(-3, min(v, 3))}
		})}
}

// median is the median of clipped records, with noise for a sensitivity of one's choice.
func median(sensitivity func(sorted []float64) float64) proptest.Mechanism {
	return answers{claim: event(accountant.Pure(accountant.Substitute, 1)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			sorted := []float64{0}
			for i, v := range x {
				sorted = append(sorted, clipped(i, v))
			}
			slices.Sort(sorted[1:])
			sorted = sorted[min(1, len(x)):]
			return []float64{sorted[len(sorted)/2] + laplace(rng, sensitivity(sorted))}
		})}
}

// averaged is a mean by the number of records, with noise by that number or by a public one.
func averaged(public bool) proptest.Mechanism {
	return answers{claim: event(accountant.Gaussian(accountant.AddRemove, 2)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			n := either(public, 10, float64(max(1, len(x))))
			return []float64{(clip1(x) + noiseSD*rng.NormFloat64()) / n}
		})}
}

// alongside releases a second number beside a noisy sum.
func alongside(second func(x []float64, rng *rand.Rand) float64, claim accountant.Event) proptest.Mechanism {
	return answers{claim: claim, begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		return []float64{clip1(x) + noiseSD*rng.NormFloat64(), second(x, rng)}
	})}
}

// both is a sum and a count of the positive, whose noises have a correlation.
func both(correlation float64) proptest.Mechanism {
	claim := event(accountant.Compose(gaussian(1), gaussian(2)))
	return answers{claim: claim, begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		count, a, b := 0.0, rng.NormFloat64(), rng.NormFloat64()
		for _, v := range x {
			count += either(v > 0, 1, 0)
		}
		b = correlation*a + math.Sqrt(1-correlation*correlation)*b
		return []float64{clip1(x) + noiseSD*a, count + noiseSD*b}
	})}
}

// told is a bit about the records, of which one is positive, by randomised response.
func told(epsilon float64) func(x []float64, rng *rand.Rand) float64 {
	return func(x []float64, rng *rand.Rand) float64 {
		is := slices.ContainsFunc(x, func(v float64) bool { return v > 0.5 })
		return either(is == (rng.Float64() < 1/(1+math.Exp(-epsilon))), 1, 0)
	}
}

// gone is a case whose first record is not in the second table.
func gone(name, effect string, m proptest.Mechanism) Case {
	return one(name, effect, m, []float64{1, 0.3, -0.2}, []float64{0.3, -0.2})
}

func seventeenthMechanisms() []Case {
	return []Case{
		one("Laplace noise of a uniform number in single precision", "2⁻²⁴", inverted(func(rng *rand.Rand) float64 {
			return float64(rng.Float32())
		}), plus, minus),
		mechanism("a deviation's root for the deviation", "√1.1 for 1.1", bare, func(m *sum) {
			m.claim = gaussian(1.1)
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 { return 2 * math.Sqrt(1.1) * rng.NormFloat64() }
		}),
		mechanismCase("each of three columns is clipped, not the row", "4%", gradients(func(row []float64) float64 {
			return max(math.Abs(row[0]), math.Abs(row[1]), math.Abs(row[2])) / 0.6
		}, each2), 3, []float64{1, 1, 1, 0.2, 0.3, 0.1}, []float64{-1, -1, -1, 0.2, 0.3, 0.1}),
		one("counts in one byte", "256 is 0", overflowing(func(n int) float64 { return float64(uint8(n)) }), plus, minus),
		one("the next seed's noise is this one's, one later", "shifted", answers{claim: gaussian(1),
			begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
				return []float64{clip1(x) + noiseSD*rng.NormFloat64()}
			}), seed: func(seed uint64, i int) uint64 { return seed + uint64(i) }}, plus, minus),
		one("the odds of three answers are those of two", "e/(e+1)", responding(math.E/(math.E+1)), plus, minus),
		one("the exponential mechanism without its two", "ε for ε/2", choosing(1), plus, minus),
		gone("a batch is drawn once a call", "½", sampledBatch(true)),
		one("clipped at the records' own spread", "two sd", noisyTotal(spreadClip), plus, minus),
		one("failures are counted up to ten", "e⁻¹⁰", failures(10), plus, minus),
		one("noise is drawn again until the release is in range", "±3", inRange(true), []float64{1, 0.3}, []float64{-1, 0.3}),
		mechanism("noise of the last of three is short", "3%", wide, func(m *sum) {
			n := 0
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				n++
				return noiseSD * either(n%3 == 0, 0.97, 1) * rng.NormFloat64()
			}
		}),
		mechanism("noise from a pool of 65536", "repeats", bare, func(m *sum) {
			pool := make([]float64, 1<<16)
			m.noise = func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
				for j := range pool {
					if i > 0 {
						break
					}
					pool[j] = rng.NormFloat64()
				}
				return noiseSD * pool[rng.IntN(len(pool))]
			}
		}),
		one("noise by the gap next to the median", "local", median(func(sorted []float64) float64 {
			i := len(sorted) / 2
			return max(0.5, sorted[min(i+1, len(sorted)-1)]-sorted[max(0, i-1)])
		}), []float64{1, 0.3, -0.3, 0.2, 0.1}, []float64{-1, 0.3, -0.3, 0.2, 0.1}),
		gone("a mean by the number of records, and its noise too", "n or n − 1", averaged(false)),
		mechanism("the total in single precision", "6·10⁻⁸", plain, func(m *sum) {
			m.last = func(total, noise float64) float64 { return float64(float32(total)) + noise }
		}),
		one("a bit beside the sum is not charged", "ε = 0.2", alongside(told(0.2), gaussian(1)), plus, minus),
		mechanism("seed 0 is seed 1", "one seed", plain, func(m *sum) {
			m.seeds = func(seed uint64) uint64 { return max(seed, 1) }
		}),
		one("noises of a sum and a count have one part in common", "−½", both(-0.5), plus, minus),
		mechanism("missing records pass a clip of comparisons", "NaN", plain, func(m *sum) {
			m.clip = func(_ int, x float64) float64 {
				switch {
				case x > 1:
					return 1
				case x < -1:
					return -1
				}
				return x
			}
		}),
	}
}

func seventeenthMechanismControls() []Case {
	return []Case{
		one("Laplace noise of a uniform number", "", inverted((*rand.Rand).Float64), plus, minus),
		one("a histogram of two", "", overflowing(func(n int) float64 { return float64(n) }), plus, minus),
		one("three answers", "", responding(math.E/(math.E+2)), plus, minus),
		one("the exponential mechanism", "", choosing(0.5), plus, minus),
		gone("a batch for each release", "", sampledBatch(false)),
		one("failures without a limit", "", failures(math.Inf(1)), plus, minus),
		one("a release is rounded into its range", "", inRange(false), plus, minus),
		one("the median with noise for all of its range", "", median(func([]float64) float64 { return 2 }),
			[]float64{1, 0.3, -0.3, 0.2, 0.1}, []float64{-1, 0.3, -0.3, 0.2, 0.1}),
		gone("a mean by a public number", "", averaged(true)),
		one("a bit beside the sum is charged", "", alongside(told(0.2), event(accountant.Compose(gaussian(1),
			event(accountant.Pure(accountant.Substitute, 0.2))))), plus, minus),
		one("noises of a sum and a count", "", both(0), plus, minus),
	}
}
