package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/proptest"
)

// shorten returns a row within the unit ball of a norm; what is not finite counts 0.
func shorten(row []float64, norm func(row []float64) float64) []float64 {
	by, out := 1/max(1, norm(row)), make([]float64, len(row))
	for j, v := range row {
		if out[j] = v * by; math.IsNaN(out[j]) || math.IsInf(v, 0) {
			clear(out)
			return out
		}
	}
	return out
}

func euclidean(row []float64) float64 {
	most := largest(row)
	if most == 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		return most
	}
	sum := 0.0
	for _, v := range row {
		sum += v / most * (v / most)
	}
	return most * math.Sqrt(sum)
}

func largest(row []float64) float64 {
	most := 0.0
	for _, v := range row {
		most = max(most, math.Abs(v))
	}
	return most
}

// rowsum is the sum of rows of three numbers, each shortened by a norm.
func rowsum(x []float64, norm func(row []float64) float64) []float64 {
	sum := make([]float64, 3)
	for ; len(x) > 0; x = x[3:] {
		for j, v := range shorten(x[:3], norm) {
			sum[j] += v
		}
	}
	return sum
}

func each2(rng *rand.Rand, sum []float64) []float64 {
	return noisy(sum, func() float64 { return noiseSD * rng.NormFloat64() })
}

// gradients is the sum of clipped rows with normal noise of sd 2: a claim of 1.
func gradients(norm func(row []float64) float64, noise func(rng *rand.Rand, sum []float64) []float64) shared {
	return shared{releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		return noise(rng, rowsum(x, norm))
	}), 2}
}

// ten are vectors of ten numbers in the unit ball, as the first and only record.
func ten(sign float64) []float64 {
	v := make([]float64, 10)
	for j := range v {
		v[j] = sign / math.Sqrt(10)
	}
	return v
}

// vectors releases the sum of vectors of ten numbers, shortened, with noise of sd 2.
func vectors(spoil func(noise []float64)) answers {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		out := make([]float64, 10)
		for j := range out {
			out[j] = noiseSD * rng.NormFloat64()
		}
		spoil(out)
		for ; len(x) > 0; x = x[10:] {
			for j, v := range shorten(x[:10], euclidean) {
				out[j] += v
			}
		}
		return out
	})
}

// ofTen is a case of ten numbers whose noise is spoilt.
func ofTen(name, effect string, spoil func(noise []float64)) Case {
	return mechanismCase(name, effect, vectors(spoil), 10, ten(1), ten(-1))
}

// products is the sum of squares and products of rows of two numbers, each row at most of length 1.
func products(sensitivity float64) answers {
	return releases(gaussian(noiseSD/sensitivity), func(x []float64, rng *rand.Rand) []float64 {
		sum := make([]float64, 3)
		for ; len(x) > 0; x = x[2:] {
			row := shorten(x[:2], euclidean)
			sum[0], sum[1], sum[2] = sum[0]+row[0]*row[0], sum[1]+math.Sqrt2*row[0]*row[1], sum[2]+row[1]*row[1]
		}
		return each2(rng, sum)
	})
}

// crossed is the sum of products of two numbers, the second clipped or not.
func crossed(clip func(y float64) float64) answers {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		total := noiseSD * rng.NormFloat64()
		for ; len(x) > 0; x = x[2:] {
			if v := clipped(0, x[0]) * clip(x[1]); !math.IsNaN(v) {
				total += v
			}
		}
		return []float64{total}
	})
}

func ofRows(name, effect string, m proptest.Mechanism, features int, first []float64, rest ...float64) Case {
	other := slices.Clone(first)
	other[0] = -other[0]
	return mechanismCase(name, effect, m, features, append(slices.Clone(first), rest...), append(other, rest...))
}

var fourUsers = []float64{0.3, 1, -0.2, 1, 0.4, 2}

// users is a sum over users of what they own, clipped.
func users(noise float64) proptest.Mechanism {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		var sums [4]float64
		for i := 0; i+1 < len(x); i += 2 {
			who := 0
			if u := math.Abs(x[i+1]); u < 1e9 {
				who = int(u) % 4
			}
			sums[who] += 9 * clipped(0, x[i]/9)
		}
		total := 0.0
		for _, s := range sums {
			total += clipped(0, s)
		}
		return []float64{total + noise*rng.NormFloat64()}
	})
}

// ball is a sum of rows with noise of a direction and a length.
func ball(shape int, direction func(rng *rand.Rand) float64) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		total, way, length := rowsum(x, euclidean), make([]float64, 3), 0.0
		for j := range way {
			way[j] = direction(rng)
		}
		for range shape {
			length += 2 * rng.ExpFloat64()
		}
		norm := euclidean(way)
		for j, v := range way {
			total[j] += length * v / norm
		}
		return total
	})
}

func normally(rng *rand.Rand) float64 { return rng.NormFloat64() }

// inOrderOf gives noisy values of four records in the order of a column.
func inOrderOf(column int) proptest.Mechanism {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		rows := make([][2]float64, 4)
		for i := 0; i+1 < len(x) && i < 8; i += 2 {
			rows[i/2] = [2]float64{clipped(0, x[i]), x[i+1]}
		}
		slices.SortStableFunc(rows, func(a, b [2]float64) int {
			return int(either(a[column] < b[column], -1, either(a[column] > b[column], 1, 0)))
		})
		all := make([]float64, 4)
		for i, r := range rows {
			all[i] = r[0] + noiseSD*rng.NormFloat64()
		}
		return all
	})
}
