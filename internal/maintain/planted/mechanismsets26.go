package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
)

func twentySixthMechanisms() []Case {
	return []Case{
		discretely("a sampler of discrete noise takes its scale for one more", "4%", 1),
		bestBin("the exponential mechanism takes counts for monotone", "ε 2 for 1", []float64{1, 1, 1}, 1),
		bestBin("the last candidate has less Gumbel noise", "10%", []float64{2, 2, 2, 1.8}, 2),
		ofFive("a sparse vector answers four queries with the noise of one", "four for one", aboveThreshold(2)),
		everyFourth("every fourth record from a random one on", "known neighbours", true),
		one("three answers in four are true", "ε 1.1 for 1", answered(0.75), plus, minus),
		ofFive("a quantile's range grows with records beyond it", "records outside", ranged(true)),
		treed("a tree's noise is for its levels but one", "13%", 3),
		ofFive("two releases for five and six tenths", "ε 1.1 for 1", halves(0.6)),
		one("noise is drawn again until the release is in bounds", "ε 1.1 for 1", boundedLaplace(true), plus, minus),
		one("one of three by four bits", "6 in 16", oneOfThree(16), []float64{1, 0.3, -0.2}, []float64{-1, 0.3, -0.2}),
		ofSeven("a mean is of as many as there are", "noise by number", meanOf(true)),
		ofFive("clipped at the largest number but one", "the table's", secondLargest(true)),
		noise("Box and Muller's radius of 12 bits", "to 4.25 sd", plain,
			func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				u := (float64(rng.IntN(1<<12)) + 0.5) / (1 << 12)
				return noiseSD * math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*rng.Float64())
			}),
		noise("a layer of a ziggurat has no wedge", "5%, 1 to 1.12 sd", plain,
			func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				z := rng.NormFloat64()
				if a := math.Abs(z); a > 1 && a < 1.12 {
					z = math.Copysign(1+0.12*rng.Float64(), z)
				}
				return noiseSD * z
			}),
		ofFive("release i of a seed is of the seed 1000 times it and i", "from 1000 on", streamOfEach(1000)),
		ofFive("two-sided geometric noise of ratio 0.36", "ε 1.02 for 1", geometrically(0.36)),
	}
}

func twentySixthMechanismControls() []Case {
	return []Case{
		discretely("a sampler of discrete noise", "", 0),
		bestBin("the exponential mechanism", "", []float64{2, 2, 2}, 1),
		ofFive("a sparse vector's first answer", "", aboveThreshold(1)),
		everyFourth("a fourth of the records", "", false),
		one("answers are true as often as e says", "", answered(math.E/(1+math.E)), plus, minus),
		ofFive("a quantile's range is public", "", ranged(false)),
		treed("a tree's noise is for its levels", "", 4),
		ofFive("two releases for halves", "", halves(0.5)),
		one("a release is moved to its bounds", "", boundedLaplace(false), plus, minus),
		one("one of three", "", oneOfThree(1<<30*3), []float64{1, 0.3, -0.2}, []float64{-1, 0.3, -0.2}),
		ofFive("clipped at 1", "", secondLargest(false)),
		ofSeven("a sum over eight", "", meanOf(false)),
		ofFive("release i of a seed is of a hash of both", "", streamOfEach(0)),
		ofFive("two-sided geometric noise", "", geometrically(math.Exp(-1))),
	}
}

// discretely draws discrete normal noise of sd 20 by rejection from discrete Laplace noise.
func discretely(name, effect string, more float64) Case {
	const sd, scale = 20.0, 20.0
	side := func(rng *rand.Rand) float64 { return math.Floor(scale * rng.ExpFloat64()) }
	return ofFive(name, effect, releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		total := 0.0
		for _, v := range x {
			total += math.Round(10 * clipped(0, v))
		}
		for {
			y := side(rng) - side(rng)
			by := math.Abs(y) - sd*sd/(scale+more)
			if rng.Float64() < math.Exp(-by*by/(2*sd*sd)) {
				return []float64{total + y}
			}
		}
	}))
}

// bestBin releases the fullest of some bins, with Gumbel noise of its scale. Most records are in the first.
func bestBin(name, effect string, scales []float64, records int) Case {
	bin := func(v float64) int {
		return int(math.Floor((clipped(0, v) + 1) / 2.000001 * float64(len(scales))))
	}
	a := append([]float64{1}, slices.Repeat([]float64{-1}, 4*records-1)...)
	return one(name, effect, releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		counts := make([]float64, len(scales))
		for _, v := range x {
			counts[bin(v)]++
		}
		best, most := 0, math.Inf(-1)
		for k, c := range counts {
			if v := c - scales[k]*math.Log(rng.ExpFloat64()); v > most {
				best, most = k, v
			}
		}
		return []float64{float64(best)}
	}), a, append([]float64{-1}, a[1:]...))
}

// aboveThreshold compares counts with a noisy threshold. What it says ends with the first yes, or goes on.
func aboveThreshold(scale float64) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		count := positives(x)
		threshold := laplace(rng, 2)
		said := make([]float64, 4)
		for q := range said {
			sign := either(q%2 == 0, 1, -1)
			// Noise of scale 4 is for one yes.
			if sign*(count-2.5)+laplace(rng, either(scale == 1, 4, 2)) > threshold {
				if said[q] = 1; scale == 1 {
					break
				}
			}
		}
		return said
	})
}

// everyFourth adds up a quarter of the records.
func everyFourth(name, effect string, inStep bool) Case {
	claim := event(event(accountant.Gaussian(accountant.AddRemove, 1)).PoissonSampled(0.25))
	a := []float64{1, -1, 0, 0, 1, -1, 0, 0}
	return one(name, effect, releases(claim, func(x []float64, rng *rand.Rand) []float64 {
		total, first := rng.NormFloat64(), rng.IntN(4)
		for i, v := range x {
			if inStep && i%4 == first || !inStep && rng.IntN(4) == 0 {
				total += clipped(0, v)
			}
		}
		return []float64{total}
	}), a, a[1:])
}

// answered are records' signs, each true with a probability.
func answered(truth float64) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		said := make([]float64, len(x))
		for i, v := range x {
			said[i] = either((v > 0) == (rng.Float64() < truth), 1, 0)
		}
		return said
	})
}

// ranged is a median by the exponential mechanism, between bounds.
func ranged(grows bool) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		low, high := -1.0, 1.0
		at := make([]float64, 0, len(x)+2)
		for _, v := range x {
			if grows && math.Abs(v) < 1e6 {
				low, high = min(low, v), max(high, v)
			}
			at = append(at, clipped(0, v))
			if grows && math.Abs(v) < 1e6 {
				at[len(at)-1] = v
			}
		}
		at = append(at, low, high)
		slices.Sort(at)
		best, most := 0, math.Inf(-1)
		for i := range len(at) - 1 {
			quality := -math.Abs(float64(i) - float64(len(x))/2)
			// A substitution moves qualities by 1.
			if v := quality/2 + math.Log(at[i+1]-at[i]) - math.Log(rng.ExpFloat64()); v > most {
				best, most = i, v
			}
		}
		return []float64{coarse(at[best] + rng.Float64()*(at[best+1]-at[best]))}
	})
}

// coarse rounds, since low bits of a release are those of a record else.
func coarse(v float64) float64 { return 0x1p-20 * math.Round(0x1p20*v) }

// treed has the sums of all nodes over eight leaves, and noise for so many levels.
func treed(name, effect string, levels float64) Case {
	return ofEight(name, effect, releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		nodes := make([]float64, 16)
		for i, v := range x {
			for node := 8 + i%8; node > 0; node /= 2 {
				nodes[node] += clipped(0, v)
			}
		}
		return noisy(nodes[1:], func() float64 { return noiseSD * math.Sqrt(levels) * rng.NormFloat64() })
	}))
}

// halves has a sum for half of ε and a count for another part.
func halves(second float64) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		return []float64{clip1(x) + laplace(rng, 4), positives(x) + laplace(rng, 1/second)}
	})
}

// boundedLaplace has releases between −2 and 2.
func boundedLaplace(again bool) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		for {
			v := coarse(max(-2, min(clip1(x), 2)) + laplace(rng, 2))
			if !again {
				return []float64{max(-2, min(v, 2))}
			}
			if math.Abs(v) < 2 {
				return []float64{v}
			}
		}
	})
}

// oneOfThree is a record with noise, chosen by the remainder of a number.
func oneOfThree(numbers int) answers {
	claim := event(event(accountant.Gaussian(accountant.Substitute, 0.5)).SubsetSampled(3, 1))
	return releases(claim, func(x []float64, rng *rand.Rand) []float64 {
		return []float64{clipped(0, x[rng.IntN(numbers)%len(x)]) + rng.NormFloat64()}
	})
}

// meanOf divides a noisy sum by the number of records, or by 8.
func meanOf(all bool) answers {
	return releases(event(accountant.Gaussian(accountant.AddRemove, 2)), func(x []float64, rng *rand.Rand) []float64 {
		return []float64{(clip1(x) + noiseSD*rng.NormFloat64()) / either(all, float64(max(len(x), 1)), 8)}
	})
}

// secondLargest clips at the largest size but one, or at 1, and has noise for it.
func secondLargest(table bool) answers {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		most := 1.0
		if table && len(x) > 1 {
			sizes := make([]float64, len(x))
			for i, v := range x {
				sizes[i] = math.Abs(clipped(0, v))
			}
			slices.Sort(sizes)
			most = max(sizes[len(sizes)-2], 0.01)
		}
		total := 0.0
		for i, v := range x {
			total += max(-most, min(clipped(i, v), most))
		}
		return []float64{total + noiseSD*most*rng.NormFloat64()}
	})
}

// streamOfEach has a stream for each release, of a number of the seed and the release.
func streamOfEach(by uint64) answers {
	m := noisyTotal(clip1)
	m.seed = func(seed uint64, i int) uint64 {
		if by > 0 {
			return by*seed + uint64(i)
		}
		return rand.NewPCG(seed, uint64(i)).Uint64()
	}
	return m
}

// geometrically is a count with two-sided geometric noise.
func geometrically(ratio float64) answers {
	side := func(rng *rand.Rand) float64 { return math.Floor(-rng.ExpFloat64() / math.Log(ratio)) }
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		return []float64{positives(x) + side(rng) - side(rng)}
	})
}

// afterTwentySixthMechanisms are kin of what passed at first.
func afterTwentySixthMechanisms() []Case {
	level := func(z, from, to float64, rng *rand.Rand) float64 {
		if a := math.Abs(z); a > from && a < to {
			return math.Copysign(from+(to-from)*rng.Float64(), z)
		}
		return z
	}
	return []Case{
		mechanism("a layer of Laplace noise is level", "5%, 0.5 to 0.6", plain, func(m *sum) {
			m.claim = event(accountant.Laplace(accountant.Substitute, 1))
			m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				return noiseSD * level(laplace(rng, 1), 0.5, 0.6, rng)
			}
		}),
		noise("noise is level in each of 128 cells", "equal shares", plain,
			func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				const cells = 128
				at := func(k float64) float64 { return math.Sqrt2 * math.Erfinv(2*k/cells-1) }
				k := float64(rng.IntN(cells))
				if k == 0 || k == cells-1 {
					for { // the ends are as they should be
						if z := rng.NormFloat64(); math.Abs(z) > at(cells-1) {
							return noiseSD * z
						}
					}
				}
				return noiseSD * (at(k) + (at(k+1)-at(k))*rng.Float64())
			}),
		noise("the noise of three numbers has a level layer", "7%, 1.3 to 1.5 sd", wide,
			func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
				return noiseSD * level(rng.NormFloat64(), 1.3, 1.5, rng)
			}),
	}
}
