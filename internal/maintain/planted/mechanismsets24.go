package planted

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

func twentyFourthMechanisms() []Case {
	large := []float64{0.9, 0.8, 0.7, 0.9, 0.6, 0.8, 0.7}
	return []Case{
		one("chances of a staircase with a wrong sign", "ε 2 for 1", staircase(1), plus, minus),
		ofSeven("a tree's middle level is not priced", "√3 for √2", treeCounts(math.Sqrt2)),
		one("a sample is made even by its first record", "twice", evened(true), append([]float64{1}, large...), large),
		one("a sample's noisy sum is divided by its size", "scale", ownSize(true), append([]float64{1}, large...), large),
		ofRows("products off the diagonal count twice", "√2", secondMoments(2), 2, []float64{0.7, 0.7}, 0.3, 0.5, -0.2, 0.6),
		ofEight("a noisy mean is kept between the records", "bounds", meanWithin(true)),
		one("seeds and numbers are joined without a sign between them", "1 and 11", joined(""), plus, minus),
		mechanismCase("noise is in a slope's numerator alone", "∑x²", slopeOf(false), 2,
			[]float64{1, 1, 0.3, 0.4, -0.2, 0.1}, []float64{0.1, 1, 0.3, 0.4, -0.2, 0.1}),
		one("noise ends where it would for half the sensitivity", "δ 0.1 for 0.01", endingNoise(1), plus, minus),
		ofRows("a random projection is priced as if it kept lengths", "up to 3", projected(false), 2, []float64{0.7, 0.7},
			0.3, 0.5, -0.2, 0.6),
		one("Laplace noise at the price of a selection", "δ 0.39 for 0.24", asSelection(laplaceOf1), plus, minus),
		ofRows("a column is added up by ranks of another", "3.6 for 2", byRanks(true), 2, []float64{1, 1}, 0.3, 0.9, -0.2,
			0.8, 0.4, 0.9, -0.5, 0.7, 0.1, 1, 0.2, 0.9, -0.1, 0.8),
		ofSeven("a root of running totals is priced by its diagonal", "1.22", rootTotals(1)),
		one("a sample is weighted up before its noise", "2", weightedUp(true), append([]float64{1}, large...), large),
		mechanism("the last of a block of 32 counts twice", "longer tables", bare, func(m *sum) {
			m.extra = func(x []float64) float64 { return either(len(x) > 32, clip1(x[min(31, len(x)):min(32, len(x))]), 0) }
		}),
		ofRows("a row is shortened by the norm of the one before", "records", byNormBefore(true), 3, []float64{1, 0, 0}, 0.3,
			-0.5, 0.2, 0.4, 0.1, -0.6),
	}
}

func twentyFourthMechanismControls() []Case {
	large := []float64{0.9, 0.8, 0.7, 0.9, 0.6, 0.8, 0.7}
	return []Case{
		one("a staircase", "", staircase(-1), plus, minus),
		ofSeven("a tree of counts", "", treeCounts(math.Sqrt(3))),
		one("a sample is made even by a zero", "", evened(false), append([]float64{1}, large...), large),
		one("a sample's noisy sum is divided by four", "", ownSize(false), append([]float64{1}, large...), large),
		ofRows("products off the diagonal by a root", "", secondMoments(math.Sqrt2), 2, []float64{0.7, 0.7}, 0.3, 0.5,
			-0.2, 0.6),
		ofEight("a noisy mean is kept between bounds", "", meanWithin(false)),
		one("seeds and numbers are joined by a sign", "", joined("/"), plus, minus),
		mechanismCase("noise is in a slope's numerator and in its denominator", "", slopeOf(true), 2,
			[]float64{1, 1, 0.3, 0.4, -0.2, 0.1}, []float64{0.1, 1, 0.3, 0.4, -0.2, 0.1}),
		one("noise ends", "", endingNoise(2), plus, minus),
		ofRows("a projection on a random direction", "", projected(true), 2, []float64{0.7, 0.7}, 0.3, 0.5, -0.2, 0.6),
		ofRows("numbers are rounded at random after the norm is", "", roundedRows(), 3, []float64{0.57, 0.57, 0.57}, 0.3,
			-0.5, 0.2),
		one("a selection at its price", "", asSelection(choosing(0.5).(answers).begin), plus, minus),
		ofRows("a column is added up by numbers of another", "", byRanks(false), 2, []float64{1, 1}, 0.3, 0.9, -0.2, 0.8,
			0.4, 0.9, -0.5, 0.7, 0.1, 1, 0.2, 0.9, -0.1, 0.8),
		ofSeven("a root of running totals", "", rootTotals(1.23)),
		one("a sample is weighted up after its noise", "", weightedUp(false), append([]float64{1}, large...), large),
		ofRows("rows are shortened by their norms", "", byNormBefore(false), 3, []float64{1, 0, 0}, 0.3, -0.5, 0.2, 0.4, 0.1,
			-0.6),
		ofEight("sums of thirds of the sorted records", "", sortedThirds()),
		one("noise by the seed and a hash of the table", "", hashedTable(), plus, minus),
		ofFive("three counts, of which the order of trials has chance", "", flippedAnew()),
	}
}

// onGrid rounds what is released to a grid.
func onGrid(claim accountant.Event, release func(x []float64, rng *rand.Rand) []float64) answers {
	return releases(claim, func(x []float64, rng *rand.Rand) []float64 {
		all := release(x, rng)
		for j, v := range all {
			all[j] = math.Round(v*0x1p20) / 0x1p20
		}
		return all
	})
}

// staircase is a sum with noise in stairs, each of two parts. The first is likelier by e, or by a power of it.
func staircase(power float64) proptest.Mechanism {
	const part, sensitivity = 0.5, 2
	chance := part / (part + (1-part)*math.Exp(power))
	return onGrid(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		at := part + (1-part)*rng.Float64()
		if rng.Float64() < chance {
			at = part * rng.Float64()
		}
		noise := sensitivity * (math.Floor(rng.ExpFloat64()) + at)
		return []float64{clip1(x) + either(rng.IntN(2) == 0, noise, -noise)}
	})
}

// quarters counts records in four bins.
func quarters(x []float64) []float64 {
	count := make([]float64, 4)
	for _, v := range x {
		count[min(3, int(2*(clipped(0, v)+1)))]++
	}
	return count
}

// treeCounts are noisy counts of four bins, of pairs of them and of all.
func treeCounts(sd float64) proptest.Mechanism {
	return onGrid(event(accountant.Gaussian(accountant.AddRemove, 1)), func(x []float64, rng *rand.Rand) []float64 {
		c := quarters(x)
		all := append(c, c[0]+c[1], c[2]+c[3], c[0]+c[1]+c[2]+c[3])
		return noisy(all, func() float64 { return sd * rng.NormFloat64() })
	})
}

// picked is a Poisson sample of clipped records.
func picked(x []float64, rng *rand.Rand) (some []float64) {
	for _, v := range x {
		if rng.IntN(2) == 0 {
			some = append(some, clipped(0, v))
		}
	}
	return some
}

// evened is the noisy sum of a sample that is filled up to an even number, by its first record or by 0.
func evened(byFirst bool) proptest.Mechanism {
	return batches(eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		some := picked(x, rng)
		if len(some)%2 == 1 && byFirst {
			some = append(some, some[0])
		}
		return []float64{clip1(some) + rng.NormFloat64()}
	}))
}

// ownSize is the noisy sum of a sample, divided by the sample's size or by a number.
func ownSize(own bool) proptest.Mechanism {
	return batches(eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		some := picked(x, rng)
		n := either(own, max(1, float64(len(some))), 4)
		return []float64{(clip1(some) + rng.NormFloat64()) / n}
	}))
}

// weightedUp is the noisy sum of a sample, weighted by how many records stand for one.
func weightedUp(before bool) proptest.Mechanism {
	return batches(eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		total, z := clip1(picked(x, rng)), rng.NormFloat64()
		return []float64{2*total + either(before, 1, 2)*z}
	}))
}

// secondMoments are sums of squares and products of rows of two numbers, the products weighted.
func secondMoments(weight float64) proptest.Mechanism {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		sum := make([]float64, 3)
		for ; len(x) > 1; x = x[2:] {
			row := shorten(x[:2], euclidean)
			sum[0], sum[1], sum[2] = sum[0]+row[0]*row[0], sum[1]+weight*row[0]*row[1], sum[2]+row[1]*row[1]
		}
		return noisy(sum, func() float64 { return math.Sqrt2 * rng.NormFloat64() })
	})
}

// meanWithin is a noisy mean that is kept between the smallest and the largest record, or within bounds.
func meanWithin(records bool) proptest.Mechanism {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		low, high := -1.0, 1.0
		if sorted := sortedClipped(x); records && len(x) > 0 {
			low, high = sorted[0], sorted[len(x)-1]
		}
		mean := (clip1(x) + noiseSD*rng.NormFloat64()) / 4
		return []float64{max(low, min(mean, high))}
	})
}

// joined is a noisy sum whose releases have seeds that are hashes of a seed and a number in decimals.
func joined(by string) proptest.Mechanism {
	m := noisyTotal(clip1)
	m.seed = func(seed uint64, i int) uint64 {
		text := append(strconv.AppendUint(nil, seed, 10), by...)
		hash := uint64(14695981039346656037)
		for _, b := range strconv.AppendInt(text, int64(i), 10) {
			hash = (hash ^ uint64(b)) * 1099511628211
		}
		return hash
	}
	return shared{m, 2}
}

// slopeOf is a regression's slope, with noise in its numerator or in both parts.
func slopeOf(both bool) proptest.Mechanism {
	return onGrid(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		xy, xx := 0.0, 1.0
		for ; len(x) > 1; x = x[2:] {
			u, v := clipped(0, x[0]), clipped(0, x[1])
			xy, xx = xy+u*v, xx+u*u
		}
		if both {
			return []float64{(xy + laplace(rng, 4)) / max(0.5, xx+laplace(rng, 2))}
		}
		return []float64{(xy + laplace(rng, 2)) / xx}
	})
}

// endingNoise is a sum with Laplace noise that ends where a chance of 0.01 is left, for a sensitivity.
func endingNoise(sensitivity float64) proptest.Mechanism {
	most := sensitivity * math.Log(1+(math.E-1)/(2*0.01))
	return onGrid(event(accountant.Approximate(accountant.Substitute, 1, 0.01)), func(x []float64,
		rng *rand.Rand) []float64 {
		for {
			if z := laplace(rng, 2); math.Abs(z) <= most {
				return []float64{clip1(x) + z}
			}
		}
	})
}

// projected is a noisy sum of rows of two numbers along a random direction, which is told, and may have any length.
func projected(unit bool) proptest.Mechanism {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		u, v := rng.NormFloat64(), rng.NormFloat64()
		if r := math.Hypot(u, v); unit {
			u, v = u/r, v/r
		}
		total := noiseSD * rng.NormFloat64()
		for ; len(x) > 1; x = x[2:] {
			row := shorten(x[:2], euclidean)
			total += u*row[0] + v*row[1]
		}
		return []float64{total, u, v}
	})
}

// roundedRows are rows of three numbers that are shortened, and then rounded at random to whole ones. A row may become
// longer by that, by √3 at most, and costs no more, since its mean does not.
func roundedRows() proptest.Mechanism {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		sum := make([]float64, 3)
		for ; len(x) > 2; x = x[3:] {
			for j, v := range shorten(x[:3], euclidean) {
				sum[j] += either(rng.Float64() < math.Abs(v), math.Copysign(1, v), 0)
			}
		}
		return each2(rng, sum)
	})
}

// asSelection is claimed to have log odds between any two answers that change by 1 at most.
func asSelection(begin func(x []float64, rng *rand.Rand) func() []float64) proptest.Mechanism {
	return answers{claim: event(accountant.BoundedRange(accountant.Substitute, 1)), begin: begin}
}

func laplaceOf1(x []float64, rng *rand.Rand) func() []float64 {
	return func() []float64 { return []float64{math.Round(0x1p20*(clip1(x)+laplace(rng, 2))) / 0x1p20} }
}

// byRanks adds up a column weighted by another one, or by its ranks, between −1 and 1.
func byRanks(ranks bool) proptest.Mechanism {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		total, n := noiseSD*rng.NormFloat64(), float64(len(x)/2)
		for i := 0; i+1 < len(x); i += 2 {
			weight := clipped(0, x[i])
			if ranks {
				rank := 0.0
				for j := 0; j+1 < len(x); j += 2 {
					v := clipped(0, x[j])
					rank += either(v < clipped(0, x[i]), 1, 0) - either(v > clipped(0, x[i]), 1, 0)
				}
				weight = rank / n
			}
			total += weight * clipped(0, x[i+1])
		}
		return []float64{total}
	})
}

// rootTotals are four numbers of which running totals of bins are made, by a square root of the matrix of totals.
func rootTotals(sd float64) proptest.Mechanism {
	root := []float64{1, 1. / 2, 3. / 8, 5. / 16}
	return onGrid(event(accountant.Gaussian(accountant.AddRemove, 1)), func(x []float64, rng *rand.Rand) []float64 {
		count, all := quarters(x), make([]float64, 4)
		for i := range all {
			for j := range i + 1 {
				all[i] += root[i-j] * count[j]
			}
		}
		return noisy(all, func() float64 { return sd * rng.NormFloat64() })
	})
}

// byNormBefore is a sum of rows, each shortened by its own norm or by that of the row before.
func byNormBefore(before bool) proptest.Mechanism {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		sum, by := make([]float64, 3), 1.0
		for ; len(x) > 2; x = x[3:] {
			row := shorten(x[:3], func(row []float64) float64 {
				own := euclidean(row)
				if norm := by; before {
					by = own
					return norm
				}
				return own
			})
			for j, v := range row {
				sum[j] += v
			}
		}
		return each2(rng, sum)
	})
}

// sortedThirds are sums of the lowest, middle and highest third. A record that changes moves them by 2 together.
func sortedThirds() proptest.Mechanism {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		sum, n := make([]float64, 3), len(x)
		for i, v := range sortedClipped(x) {
			sum[3*i/n] += v
		}
		return each2(rng, sum)
	})
}

// hashedTable has noise that a table decides along with the seed, as good as new for each.
func hashedTable() proptest.Mechanism {
	return answers{claim: gaussian(1), begin: func(x []float64, rng *rand.Rand) func() []float64 {
		hash := rng.Uint64()
		for _, v := range x {
			hash = (hash ^ math.Float64bits(v)) * 1099511628211
		}
		own := rand.New(rand.NewPCG(hash, rng.Uint64()))
		return func() []float64 { return []float64{math.Round(0x1p20*(clip1(x)+noiseSD*own.NormFloat64())) / 0x1p20} }
	}}
}

// flippedAnew goes back to any of three counts after each coin, which is the exponential mechanism.
func flippedAnew() proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		count := histogram(x)
		for {
			k := rng.IntN(3)
			if rng.Float64() < math.Exp((count[k]-slices.Max(count[:]))/2) {
				return []float64{float64(k)}
			}
		}
	})
}

func afterTwentyFourthMechanisms() []Case {
	return []Case{
		mechanism("records from the 4097th on are clipped later", "at 1.2", plain, func(m *sum) {
			m.clip = func(i int, x float64) float64 {
				return either(i >= 4096, 1.2, 1) * clipped(0, x/either(i >= 4096, 1.2, 1))
			}
		}),
		mechanism("the 5000th record counts twice", "longer tables", plain, func(m *sum) {
			m.extra = func(x []float64) float64 {
				return either(len(x) >= 5000, clip1(x[min(4999, len(x)):min(5000, len(x))]), 0)
			}
		}),
	}
}
