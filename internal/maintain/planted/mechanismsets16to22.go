package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
)

func sixteenthMechanisms() []Case {
	clip := func(name, effect string, f form, clip func(i int, x float64) float64) Case {
		return mechanism(name, effect, f, func(m *sum) { m.clip = clip })
	}
	radius, walker := 0.0, 0.0
	return []Case{
		one("zero has both signs", "twice", wholeNoise(1, true), plus, minus),
		one("a histogram's price is that of one bin", "√2", binned(1), []float64{0, 1, 1}, []float64{2, 1, 1}),
		one("the sum of records above their mean", "the mean", noisyTotal(upper(true)), plus, minus),
		clip("whole records are clipped later", "at 2", bare, func(i int, x float64) float64 {
			return either(x == math.Floor(x), max(-2, min(x, 2)), clipped(i, x))
		}),
		noise("noise stays within bounds", "at 3.3 sd", bare, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return noiseSD * max(-3.3, min(rng.NormFloat64(), 3.3))
		}),
		noise("noise of six decimals", "10⁻⁶", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return math.Round(noiseSD*rng.NormFloat64()*1e6) / 1e6
		}),
		mechanism("seeds are folded to 32 bits", "pairs of bits", plain, func(m *sum) {
			m.seeds = func(seed uint64) uint64 { return (seed ^ seed>>32) & math.MaxUint32 }
		}),
		noise("two noises share their radius", "angles apart", plain, func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
			if i%2 == 0 {
				radius = math.Sqrt(2 * rng.ExpFloat64())
			}
			return noiseSD * radius * math.Cos(2*math.Pi*rng.Float64())
		}),
		noise("the tail is exponential", "beyond 2.5 sd", plain, func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			z := rng.NormFloat64()
			if math.Abs(z) > 2.5 {
				z = math.Copysign(2.5+rng.ExpFloat64()/2.5, z)
			}
			return noiseSD * z
		}),
		noise("noise from a chain, one state in ten", "serial", plain, func(_ *sum, rng *rand.Rand, i int,
			_ float64) float64 {
			if i == 0 {
				walker = rng.NormFloat64()
			}
			for range 10 {
				next := walker + 2.4*rng.NormFloat64()
				if rng.Float64() < math.Exp((walker*walker-next*next)/2) {
					walker = next
				}
			}
			return noiseSD * walker
		}),
		mechanism("the total counts twice now and then", "1 in 777", plain, func(m *sum) {
			n := 0
			m.last = func(total, noise float64) float64 {
				n++
				return noise + total*either(n%777 == 0, 2, 1)
			}
		}),
		noise("little noise for a table of 24", "half", bare, func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return noiseSD * either(len(m.x) == 24, 0.5, 1) * rng.NormFloat64()
		}),
		ofTen("the sum of ten noises is small", "10%", func(z []float64) {
			mean := 0.0
			for _, v := range z {
				mean += v / 10
			}
			for i := range z {
				z[i] -= 0.1 * mean
			}
		}),
		noise("noise is 5% short where both ends are high", "beyond 0.9", bare,
			func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				short := len(m.x) > 1 && m.x[0] > 0.9 && m.x[len(m.x)-1] > 0.9
				return noiseSD * either(short, 0.95, 1) * rng.NormFloat64()
			}),
		noise("the size of noise to a power", "0.98", plain, func(_ *sum, rng *rand.Rand, _ int,
			_ float64) float64 {
			z := rng.NormFloat64()
			return noiseSD * math.Copysign(math.Pow(math.Abs(z), 0.98), z)
		}),
	}
}

func sixteenthMechanismControls() []Case {
	return []Case{
		ofResponses("features times responses", "", clippedResponse, sdOf2),
		one("whole noise", "", wholeNoise(1, false), plus, minus),
		one("a histogram's price", "", binned(math.Sqrt2), []float64{0, 1, 1}, []float64{2, 1, 1}),
		one("equal records count once", "", noisyTotal(distinct), plus, minus),
		one("the sum of records above a number", "", noisyTotal(upper(false)), plus, minus),
		mechanism("records at the clip count nothing", "", plain, func(m *sum) {
			m.clip = func(i int, x float64) float64 { return either(math.Abs(x) == 1, 0, clipped(i, x)) }
		}),
	}
}

func afterSixteenthMechanisms() []Case {
	return []Case{
		ofResponses("responses beyond 20 are clipped later", "at 1.5", func(y float64) float64 {
			return clipped(0, y) * either(math.Abs(y) > 20, 1.5, 1)
		}, sdOf2),
		ofResponses("a missing response takes noise with it", "half", clippedResponse, func(y []float64) float64 {
			return noiseSD * either(slices.ContainsFunc(y, math.IsNaN), 0.5, 1)
		}),
	}
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
		mechanism("noise of the last of three is short", "3%", wide, oneInThree(0, 0.97)),
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
			pure(0.2)))), plus, minus),
		one("noises of a sum and a count", "", both(0), plus, minus),
	}
}

func afterSeventeenthMechanisms() []Case {
	return []Case{
		mechanism("seeds are taken modulo a prime", "2³¹ − 1", plain, func(m *sum) {
			m.seeds = func(seed uint64) uint64 { return seed % (1<<31 - 1) }
		}),
		mechanism("seeds lose their sign", "−1 is 1", plain, func(m *sum) {
			m.seeds = func(seed uint64) uint64 { return min(seed, -seed) }
		}),
		gone("a total that comes and goes, in single precision", "6·10⁻⁸", shared{releases(additions().claim,
			func(x []float64, rng *rand.Rand) []float64 {
				return []float64{float64(float32(clip1(x))) + noiseSD*rng.NormFloat64()}
			}), 1}),
	}
}

func afterSeventeenthMechanismControls() []Case {
	return []Case{
		gone("a total that comes and goes", "", half{additive{onItsGrid(additions())}}),
	}
}

func eighteenthMechanisms() []Case {
	return []Case{
		ofEight("the query that passes comes with its value", "δ of 0.01", firstPassing(true)),
		one("a stability test without noise", "a gap of ½", gapMedian(), []float64{1, 0.3, -0.2, 0.1, 0},
			[]float64{-1, 0.3, -0.2, 0.1, 0}),
		ofEight("blocks overlap at their ends", "one record", blocks(1)),
		noise("noises of a call are centred", "1/n", plain, centred),
		ofEight("permute and flip in one order", "the first", permuted(false)),
		ofEight("a lie is another record's answer", "not the opposite", reporting(true)),
		ofSeven("a sample by a hash of the record", "always or never", hashPicked(func(v float64, _ *rand.Rand) bool {
			return math.Float64bits(v)*0x9e3779b97f4a7c15>>63 == 1
		})),
	}
}

func eighteenthMechanismControls() []Case {
	return []Case{
		ofEight("the place of a query that passes", "", firstPassing(false)),
		one("a noisy test", "", tested(), []float64{1, 0.3, -0.2, 0.1, 0}, []float64{-1, 0.3, -0.2, 0.1, 0}),
		ofEight("blocks", "", blocks(0)),
		ofEight("permute and flip", "", permuted(true)),
		ofEight("a lie is the opposite", "", reporting(false)),
		ofSeven("a sample by a coin", "", hashPicked(func(_ float64, rng *rand.Rand) bool { return rng.IntN(2) == 0 })),
	}
}

func nineteenthMechanisms() []Case {
	cube := func(rng *rand.Rand) float64 { return 2*rng.Float64() - 1 }
	return []Case{
		ofRows("a row that changes hands changes two users' sums", "×2", users(noiseSD), 2, []float64{1, 0}, fourUsers...),
		ofRows("the length of noise in three dimensions is that of two", "the center", ball(2, normally), 3,
			[]float64{1, 1, 1}, 0.3, 0.3, 0.3),
		ofRows("directions of noise from a cube", "corners", ball(3, cube), 3, []float64{1, 1, 1}, 0.3, 0.3, 0.3),
		ofRows("reports come in the order of a second column", "others' places", inOrderOf(1), 2, []float64{1, 0.5},
			0.3, 0.2, -0.2, 0.8, 0.4, 0.4),
		ofRows("the number that is reported is chosen by size", "10%", reported(0.1), 3, []float64{1, 0.5, 0}, 0.3, 0.3, 0.3),
		ofEight("chances in bytes", "12 for 12.14", byBytes(12)),
	}
}

func nineteenthMechanismControls() []Case {
	return []Case{
		ofRows("a row that changes hands changes two users' sums, and its price is for them", "", users(2*noiseSD), 2,
			[]float64{1, 0}, fourUsers...),
		ofRows("noise of a length in three dimensions", "", ball(3, normally), 3, []float64{1, 1, 1}, 0.3, 0.3, 0.3),
		ofRows("reports come in their order", "", inOrderOf(0), 2, []float64{1, 0.5}, 0.3, 0.2, -0.2, 0.8, 0.4, 0.4),
		ofRows("the number that is reported is chosen by chance", "", reported(0), 3, []float64{1, 0.5, 0}, 0.3, 0.3, 0.3),
		ofEight("chances in bytes, rounded up", "", byBytes(13)),
	}
}

func twentiethMechanisms() []Case {
	return []Case{
		reservoirOf("a reservoir's chances are one place early", "2/5 for 2/6", 1),
		byBounds("clipped at bounds a tenth wider than the noise's", "ε 1.04", 1.1),
		momentous("momentum keeps the gradient without its noise", "27%", true),
		leading("a direction's sign follows the first record", "one bit", true),
		smoothed("a smooth sensitivity decays too fast", "e⁻²ᵏ", 2),
		bootstrapped("a bootstrap counts a record several times", "ε 2.18 for 2", true),
	}
}

func twentiethMechanismControls() []Case {
	return []Case{
		reservoirOf("a reservoir", "", 0),
		byBounds("clipped at the noise's bounds", "", 1),
		momentous("momentum keeps the noisy gradient", "", false),
		leading("a direction points to the right", "", false),
		smoothed("a smooth sensitivity", "", 1.0/6),
		bootstrapped("a sum for a pure price", "", false),
	}
}

func twentyFirstMechanisms() []Case {
	return []Case{
		ofEight("batches are neighbours from a random place on", "known neighbours", inRuns(true)),
		one("tries run out and the fullest class is told", "20", rejecting(20), nineVotes(2), nineVotes(0)),
		one("the exponential mechanism's chain starts at the best", "one move", fromTheBest(1, true), sixVotes(2),
			sixVotes(0)),
		one("ties of a vote go to the first record's class", "whole noise", voted(true), sixVotes(2), sixVotes(0)),
		one("a class's place by true counts", "order", placed(true), sixVotes(2), sixVotes(0)),
		one("slices are used again after 1024 releases", "repeats", cycling{additive{newSum(1, 0)}, 1024}, plus, minus),
		wholly("noise of 24 coins", "kurtosis −0.08", ofCoins(24)),
	}
}

func twentyFirstMechanismControls() []Case {
	return []Case{
		ofEight("four of eight records", "", inRuns(false)),
		one("tries do not run out", "", rejecting(10_000), nineVotes(2), nineVotes(0)),
		one("the exponential mechanism's chain", "", fromTheBest(60, false), sixVotes(2), sixVotes(0)),
		one("ties of a vote go to the first class", "", voted(false), sixVotes(2), sixVotes(0)),
		one("a class's place by noisy counts", "", placed(false), sixVotes(2), sixVotes(0)),
		wholly("normal noise that is rounded", "", func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
			return math.Sqrt(6) * rng.NormFloat64()
		}),
	}
}

func twentySecondMechanisms() []Case {
	return []Case{
		ofEight("two queries pass for the price of one", "ε 1.33 for 1", passingQueries(2)),
		one("the classical normal noise for an ε of 12", "δ 0.008 for 0.001", classical(0.3147), plus, minus),
		ofEight("log odds are rounded", "ε 1.2 for 1", roundedOdds(0.3)),
		one("the second noise is small after a high first number", "1.6 or 2.7", secondBy(1.6, 2.7), plus, minus),
		one("a missing record counts as the mean of the others", "several NaN", imputedMean(true),
			[]float64{1, 0.3, 0.1, -0.2}, []float64{-1, 0.3, 0.1, -0.2}),
		ofEight("whole numbers of four bits are clipped at −8 and 7", "7%", fourBits(-8)),
		ofRows("noise is smaller across the sum than along it", "1.8 and 2.2", ellipse(1.8, 2.2), 2, []float64{1, 0.5},
			0.3, 0.5, 0.2, 0.1),
		ofEight("the largest record is clipped at the second", "4 for 2", winsorised(true)),
	}
}

func twentySecondMechanismControls() []Case {
	return []Case{
		ofEight("a query passes", "", passingQueries(1)),
		one("normal noise for an ε of 12", "", classical(0.42), plus, minus),
		ofEight("records are rounded at random, past the clip too", "", roundedAtRandom(0.3)),
		one("the second noise is large after a high first number", "", secondBy(2, 2.7), plus, minus),
		one("a missing record counts as 0", "", imputedMean(false), []float64{1, 0.3, math.NaN(), -0.2},
			[]float64{-1, 0.3, math.NaN(), -0.2}),
		ofEight("whole numbers of four bits", "", fourBits(-7)),
		ofRows("noise is the same along the sum and across", "", ellipse(2, 2), 2, []float64{1, 0.5}, 0.3, 0.5, 0.2, 0.1),
		ofEight("the largest record is left out", "", winsorised(false)),
	}
}
