package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

func twentyThirdMechanisms() []Case {
	seven := []float64{0.9, 0.8, 0.7, 0.9, 0.6, 0.8, 0.7}
	return []Case{
		ofEight("four halvings for the price of three", "ε 1.33 for 1", halvings(4, 3)),
		one("an answer that is none of the choices is told truly", "beyond 2", choices(true), []float64{0}, []float64{2}),
		one("whole normal noise rejects what another law proposes", "sd 1.6 for 2", rejectedNoise(2), plus, minus),
		one("a record on an edge counts in both bins", "x = 0.25, √3 for √2", edges(true), plus, minus),
		ofSeven("pairs are clipped together, and a record that leaves shifts them", "all pairs", pairSums(true)),
		one("a logarithm priced for large totals", "ε 3.7 for 1", logTotal(true), []float64{0.9, 0.8, 0.9, 0.7},
			[]float64{0.1, 0.8, 0.9, 0.7}),
		ofSeven("noisy bins are scaled to the true number of records", "add/remove", scaledBins(true)),
		one("a record's chance in a sample grows with its size", "0.5 to 0.65", bySize(0.3),
			append([]float64{1}, seven...), seven),
		mechanism("half the noise from 50 records on", "½", bare, func(m *sum) {
			m.noise = func(m *sum, rng *rand.Rand, _ int, _ float64) float64 {
				return noiseSD * either(len(m.x) >= 50, 0.5, 1) * rng.NormFloat64()
			}
		}),
		one("a piecewise law's chances are for a wider piece", "ε 1.1 for 1", piecewise(0.6), plus, minus),
		one("a row that changes its cluster counts once", "2 for √2", clustered(math.Sqrt2),
			[]float64{1, 0.3, -0.4}, []float64{0.1, 0.3, -0.4}),
		mechanism("a smooth clip overshoots", "6% near 1.4", bare, func(m *sum) {
			m.clip = func(_ int, x float64) float64 { return either(math.Abs(x) < 1e9, 1.5*x/(1+x*x/2), 0) }
		}),
		ofEight("pairs of close records are counted", "7 for 2", closePairs(true)),
		one("tells that a record was clipped", "one bit", clipTold(true), plus, minus),
	}
}

func twentyThirdMechanismControls() []Case {
	seven := []float64{0.9, 0.8, 0.7, 0.9, 0.6, 0.8, 0.7}
	return []Case{
		ofEight("four halvings", "", halvings(4, 4)),
		one("an answer that is none of the choices is the first", "", choices(false), []float64{0}, []float64{2}),
		one("whole normal noise by rejection", "", rejectedNoise(3), plus, minus),
		one("edges belong to one bin", "", edges(false), plus, minus),
		ofSeven("records are clipped, and then in pairs", "", pairSums(false)),
		one("a logarithm of one and a total", "", logTotal(false), []float64{0.9, 0.8}, []float64{0.1, 0.8}),
		one("noisy bins are scaled to a number that all may know", "", scaledBins(false), plus, minus),
		one("a record's chance in a sample is the same", "", bySize(0), append([]float64{1}, seven...), seven),
		one("a piecewise law", "", piecewise(0.5), plus, minus),
		one("a row that changes its cluster counts twice", "", clustered(2),
			[]float64{1, 0.3, -0.4}, []float64{0.1, 0.3, -0.4}),
		ofEight("close pairs of neighbours in a list", "", closePairs(false)),
		one("tells that a noisy total is large", "", clipTold(false), plus, minus),
		one("the size of a noisy count", "", releases(gaussian(2), func(x []float64, rng *rand.Rand) []float64 {
			return []float64{math.Abs(positives(x) - 1 + noiseSD*rng.NormFloat64())}
		}), plus, minus),
		ofEight("the fullest of three bins and by how much", "", fullestWithGap()),
	}
}

func afterTwentyThirdMechanisms() []Case {
	return []Case{
		mechanism("every seventh record counts more", "1.3", bare, func(m *sum) {
			m.clip = func(i int, x float64) float64 { return clipped(i, x) * either(i%7 == 5, 1.3, 1) }
		}),
		ofRows("a group has less noise", "0.7", groupNoise(0.7), 2, []float64{1, 0}, 0.3, 1, -0.3, 2),
	}
}

func afterTwentyThirdMechanismControls() []Case {
	return []Case{
		mechanism("every seventh record counts less", "", bare, func(m *sum) {
			m.clip = func(i int, x float64) float64 { return clipped(i, x) * either(i%7 == 5, 0.7, 1) }
		}),
		ofRows("all groups have the same noise", "", groupNoise(1), 2, []float64{1, 0}, 0.3, 1, -0.3, 2),
	}
}

// groupNoise is the sum of a column with noise that a record of the third group in another column makes smaller.
func groupNoise(by float64) proptest.Mechanism {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		total, sd := 0.0, noiseSD
		for i := 0; i+1 < len(x); i += 2 {
			total += clipped(0, x[i])
			sd *= either(x[i+1] == 3, by, 1)
		}
		return []float64{total + sd*rng.NormFloat64()}
	})
}

// halvings looks for a median by noisy counts of halves, each of which costs a share of 1.
func halvings(steps int, shares float64) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		low, high := -1.0, 1.0
		for range steps {
			middle, below := (low+high)/2, 0.0
			for _, v := range x {
				below += either(v < middle, 1, 0)
			}
			if below+laplace(rng, shares) < float64(len(x))/2 {
				low = middle
			} else {
				high = middle
			}
		}
		return []float64{(low + high) / 2}
	})
}

// choices tells one of three choices for the first record, the true one with odds e.
func choices(others bool) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		v := 0.0
		if len(x) > 0 && (x[0] == 1 || x[0] == 2) {
			v = x[0]
		} else if len(x) > 0 && x[0] != 0 && others {
			return []float64{3}
		}
		if rng.Float64() < math.E/(math.E+2) {
			return []float64{v}
		}
		return []float64{math.Mod(v+1+float64(rng.IntN(2)), 3)}
	})
}

// rejectedNoise is a count with normal noise on whole numbers, of sd 2, by rejection of a Laplace law of scale 3, or of
// another one.
func rejectedNoise(scale float64) proptest.Mechanism {
	return releases(gaussian(1.9), func(x []float64, rng *rand.Rand) []float64 {
		for {
			size, negative := math.Floor(scale*rng.ExpFloat64()), rng.IntN(2) == 0
			d := size - 4./3
			if rng.ExpFloat64() > d*d/8 && !(negative && size == 0) {
				return []float64{positives(x) + either(negative, -size, size)}
			}
		}
	})
}

// edges counts records in three bins, whose edges may belong to both.
func edges(both bool) proptest.Mechanism {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		count := make([]float64, 3)
		for _, v := range x {
			v = clipped(0, v)
			count[0] += either(v < -0.25, 1, 0)
			count[1] += either(v >= -0.25 && (v < 0.25 || v == 0.25 && both), 1, 0)
			count[2] += either(v >= 0.25, 1, 0)
		}
		return noisy(count, func() float64 { return math.Sqrt2 * rng.NormFloat64() })
	})
}

// pairSums adds up the clipped products of pairs, or records.
func pairSums(pairs bool) proptest.Mechanism {
	return releases(additions().claim, func(x []float64, rng *rand.Rand) []float64 {
		total := 0.0
		for i := 0; i < len(x); i += 2 {
			if pair := x[i:min(len(x), i+2)]; pairs && len(pair) == 2 {
				total += clipped(0, 3*(clipped(0, pair[0])-clipped(0, pair[1])))
			} else {
				total += clip1(pair)
			}
		}
		return []float64{math.Round(0x1p20*(total+noiseSD*rng.NormFloat64())) / 0x1p20}
	})
}

// logTotal is the logarithm of a total of records between 0 and 1, priced for totals from 1 on or for all.
func logTotal(large bool) proptest.Mechanism {
	least := either(large, 0.1, 1)
	sensitivity := either(large, math.Log(2.1/1.1), math.Log(2))
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		total := least
		for _, v := range x {
			total += max(0, clipped(0, v))
		}
		return []float64{math.Log(total) + sensitivity*rng.NormFloat64()}
	})
}

// scaledBins are three noisy counts that are scaled to a number: that of the records, or 2, which all may know.
func scaledBins(removed bool) proptest.Mechanism {
	claim, sd := gaussian(1), math.Sqrt2
	if removed {
		claim, sd = event(accountant.Gaussian(accountant.AddRemove, 1)), 1
	}
	return releases(claim, func(x []float64, rng *rand.Rand) []float64 {
		count := histogram(x)
		n, total := float64(len(x)), 0.0
		if !removed {
			n = 2
		}
		all := noisy(count[:], func() float64 { return sd * rng.NormFloat64() })
		for j, v := range all {
			all[j] = max(v, 0.1)
			total += all[j]
		}
		for j := range all {
			all[j] *= n / total
		}
		return all
	})
}

// bySize is the noisy sum of a sample, in which a record's chance may grow with its size.
func bySize(more float64) proptest.Mechanism {
	return batches(eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		return []float64{batched(x, func(i int) bool {
			return rng.Float64() < 0.5*(1+more*math.Abs(clipped(0, x[i])))
		}) + rng.NormFloat64()}
	}))
}

// piecewise tells the first record as a number of a wide range, near to which it is likelier, by chances for an
// exponent and pieces for a half.
func piecewise(exponent float64) proptest.Mechanism {
	half := math.Exp(0.5)
	width, chance := (half+1)/(half-1), math.Exp(exponent)/(math.Exp(exponent)+1)
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		v := 0.0
		if len(x) > 0 {
			v = clipped(0, x[0])
		}
		left := (width+1)/2*v - (width-1)/2
		if rng.Float64() < chance {
			return []float64{left + (width-1)*rng.Float64()}
		}
		u := -width + (width+1)*rng.Float64()
		return []float64{either(u < left, u, u+width-1)}
	})
}

// clustered are sums and counts of the records on either side of 0.
func clustered(sensitivity float64) proptest.Mechanism {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		all := make([]float64, 4)
		for _, v := range x {
			v = clipped(0, v)
			side := int(either(v < 0, 2, 0))
			all[side], all[side+1] = all[side]+v, all[side+1]+1
		}
		return noisy(all, func() float64 { return sensitivity * rng.NormFloat64() })
	})
}

// closePairs counts pairs of records that are close, all pairs or neighbours in a list.
func closePairs(all bool) proptest.Mechanism {
	return noisyTotal(func(x []float64) (pairs float64) {
		for i, v := range x {
			for j := i + 1; j < len(x) && (all || j == i+1); j++ {
				pairs += either(math.Abs(v-x[j]) < 0.05, 1, 0)
			}
		}
		return pairs
	})
}

// clipTold is a noisy total and whether a record was clipped, or whether it is large.
func clipTold(records bool) proptest.Mechanism {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		total, told := clip1(x)+noiseSD*rng.NormFloat64(), false
		for _, v := range x {
			told = told || math.Abs(v) > 1
		}
		if !records {
			told = math.Abs(total) > 2
		}
		return []float64{total, either(told, 1, 0)}
	})
}

// fullestWithGap is the fullest of three noisy bins and how far it is before the next, which costs nothing more.
func fullestWithGap() proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		count := histogram(x)
		all := noisy(count[:], func() float64 { return laplace(rng, 2) })
		best := 0
		for j, v := range all {
			if v > all[best] {
				best = j
			}
		}
		gap := math.Inf(1)
		for j, v := range all {
			gap = min(gap, either(j == best, gap, all[best]-v))
		}
		return []float64{float64(best), math.Round(0x1p20*gap) / 0x1p20}
	})
}
