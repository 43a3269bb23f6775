package planted

import (
	"math"
	"math/rand/v2"
	"slices"
)

func thirtiethMechanisms() []Case {
	return []Case{
		ofFive("a sketch of two rows is priced as one", "2 for √2", twoRows(math.Sqrt2)),
		ofRows("a coefficient is told that the record has", "its place", coefficient(true), 4,
			[]float64{1, 0, 0, 0.2}, 0.1, 0.3, -0.2, 0),
		ofFive("a penalty of all records is taken for that of each", "5 times, far from each other", leastLoss(0.4)),
		ofEight("values that come once have noise for one", "2 for 1", onceOnly(1)),
		ofRows("noise is shaped by the transposed factor", "1.9 along a direction", shapedNoise(true), 2,
			[]float64{1, 0.1}, 0.3, 0.2),
		ofFive("a count is rounded at random to a multiple of three", "certain at multiples",
			randomRounding()),
		ofEight("the best of two has normal noise at the price of Gumbel's", "ε 1.3 for 1", bestOfTwo(normalOf)),
		ofRows("a median of three means has noise for the mean", "1 for ⅓", medianOfMeans(1./3), 1, []float64{1}, 0.3, -0.2,
			0.4, -0.6, 0.2),
		ofFive("both shares of a total are told", "modulo 16", bothShares()),
		noise("uniform numbers are remainders", "77% of them 6% more often", plain, remainders),
		variation("a total variation moves by two differences", "4 for 2", 2),
		ofFive("tens and ones have noise of their own", "9.1 for 5.7", digits(4)),
		ofFive("a density at eight points has noise for one", "2.2 for 1", densityAt(1)),
	}
}

func thirtiethMechanismControls() []Case {
	return []Case{
		ofFive("a sketch of two rows", "", twoRows(2)),
		ofRows("a coefficient is told at random", "", coefficient(false), 4, []float64{1, 0, 0, 0.2}, 0.1, 0.3, -0.2, 0),
		ofFive("a penalty of all records", "", leastLoss(2)),
		ofEight("values that come once", "", onceOnly(2)),
		ofRows("noise is shaped by a factor", "", shapedNoise(false), 2, []float64{1, 0.1}, 0.3, 0.2),
		ofEight("the best of two with exponential noise", "", bestOfTwo(exponentialOf)),
		ofRows("a median of three means", "", medianOfMeans(1), 1, []float64{1}, 0.3, -0.2, 0.4, -0.6, 0.2),
		variation("a total variation", "", 4),
		ofFive("a density at eight points", "", densityAt(2.5)),
	}
}

// wholes are records as whole numbers from 0 to some bound.
func wholes(x []float64, most float64) []int {
	all := make([]int, len(x))
	for i, v := range x {
		all[i] = int(math.Floor((clipped(0, v) + 1) / 2 * (most + 0.999)))
	}
	return all
}

// twoRows counts values in two rows of four cells each, by two ways.
func twoRows(sensitivity float64) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		cells := make([]float64, 8)
		for _, v := range wholes(x, 15) {
			cells[v%4]++
			cells[4+v/4]++
		}
		return noisy(cells, func() float64 { return sensitivity * rng.NormFloat64() })
	})
}

// coefficient tells a sign of one of four numbers of the first record, drawn from all or from those that are not 0.
func coefficient(present bool) answers {
	return releases(pure(2), func(x []float64, rng *rand.Rand) []float64 {
		places := make([]int, 0, 4)
		for j := range min(4, len(x)) {
			if !present || math.Abs(x[j]) > 0.15 {
				places = append(places, j)
			}
		}
		if len(places) == 0 {
			return []float64{0, 0}
		}
		j := places[rng.IntN(len(places))]
		truth := x[j] > 0
		return []float64{float64(j), either(truth == (rng.Float64() < 1/(1+math.Exp(-2))), 1, -1)}
	})
}

// leastLoss is the location of least Huber loss and half a square, of records within 6.
func leastLoss(sensitivity float64) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		low, high := -20.0, 20.0
		for range 60 {
			t := (low + high) / 2
			slope := t
			for _, v := range x {
				slope += clipped(0, t-6*clipped(0, v/6))
			}
			if slope > 0 {
				high = t
			} else {
				low = t
			}
		}
		return []float64{low + sensitivity*rng.NormFloat64()}
	})
}

// onceOnly counts the values that one record has.
func onceOnly(sensitivity float64) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		count := map[int]int{}
		for _, v := range wholes(x, 9) {
			count[v]++
		}
		once := 0.0
		for _, n := range count {
			if n == 1 {
				once++
			}
		}
		return []float64{once + sensitivity*rng.NormFloat64()}
	})
}

// shapedNoise is a sum of rows within an ellipse, whose noise has the ellipse's shape or the transposed one.
func shapedNoise(transposed bool) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		sum := [2]float64{}
		for ; len(x) > 0; x = x[2:] {
			row := shorten(x[:2], euclidean)
			sum[0] += row[0]
			sum[1] += row[1]
		}
		u, v := noiseSD*rng.NormFloat64(), noiseSD*rng.NormFloat64()
		out := []float64{2 * (sum[0] + u), 1.5*(sum[0]+u) + sum[1] + v}
		if transposed {
			out = []float64{2*sum[0] + 2*u + 1.5*v, 1.5*sum[0] + sum[1] + v}
		}
		return out
	})
}

// randomRounding is a count of positive records, up or down to a multiple of three with its mean.
func randomRounding() answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		n := positives(x)
		rest := math.Mod(n, 3)
		return []float64{n - rest + either(rng.Float64() < rest/3, 3, 0)}
	})
}

func normalOf(rng *rand.Rand) float64      { return 2 * math.Pi / math.Sqrt(6) * rng.NormFloat64() }
func exponentialOf(rng *rand.Rand) float64 { return 2 * rng.ExpFloat64() }

// bestOfTwo is the sign that more records have, by counts with noise.
func bestOfTwo(noise func(rng *rand.Rand) float64) answers {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		up := positives(x)
		down := float64(len(x)) - up
		return []float64{either(up+noise(rng) > down+noise(rng), 1, 0)}
	})
}

// medianOfMeans is the median of the means of three parts.
func medianOfMeans(sensitivity float64) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		means := make([]float64, 3)
		for k := range means {
			part := x[k*len(x)/3 : (k+1)*len(x)/3]
			means[k] = clip1(part) / max(1, float64(len(part)))
		}
		slices.Sort(means)
		size := max(1, float64(len(x)/3)) // of the smallest part
		return []float64{means[1] + 2*sensitivity/size*rng.NormFloat64()}
	})
}

// bothShares are a number that is drawn, and what adds up with it to the total, modulo 16.
func bothShares() answers {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		share, total := rng.IntN(16), 0
		for _, v := range wholes(x, 3) {
			total += v
		}
		return []float64{float64(share), float64((total + 16 - share) % 16)}
	})
}

// remainders makes normal numbers by inversion, of remainders of 24 bits by a million.
func remainders(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
	k := rng.Uint64() >> 40 % 1_000_000
	return -noiseSD * math.Sqrt2 * math.Erfcinv(2*(float64(k)+rng.Float64())/1e6)
}

// variation is the sum of absolute differences of records in a row.
func variation(name, effect string, sensitivity float64) Case {
	return mechanism(name, effect, plain, func(m *sum) {
		m.clip = func(int, float64) float64 { return 0 }
		m.extra = func(x []float64) (total float64) {
			for i := range x[min(1, len(x)):] {
				total += math.Abs(clipped(0, x[i+1]) - clipped(0, x[i]))
			}
			return 2 / sensitivity * total
		}
	})
}

// digits are the tens and the ones of a sum of small whole numbers.
func digits(most float64) answers {
	return onGrid(gaussian(1/math.Sqrt2), func(x []float64, rng *rand.Rand) []float64 {
		total := 0
		for _, v := range wholes(x, most) {
			total += v
		}
		return noisy([]float64{float64(total / 10), float64(total % 10)}, func() float64 { return most * rng.NormFloat64() })
	})
}

// densityAt is a smooth histogram at eight points.
func densityAt(sensitivity float64) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		at := make([]float64, 8)
		for _, v := range x {
			for k := range at {
				d := (clipped(0, v) - float64(k)/3.5 + 1) / 0.5
				at[k] += math.Exp(-d * d / 2)
			}
		}
		return noisy(at, func() float64 { return sensitivity * rng.NormFloat64() })
	})
}
