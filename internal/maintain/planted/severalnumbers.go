package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// Mechanisms of the families named nineteenth are of rows of several numbers, but for one.

func pure(epsilon float64) accountant.Event {
	return event(accountant.Pure(accountant.Substitute, epsilon))
}

// users is a sum over users of what they own, clipped.
func users(noise float64) proptest.Mechanism {
	return answers{claim: gaussian(1), begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
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
	})}
}

// ball is a sum of rows with noise of a direction and a length.
func ball(shape int, direction func(rng *rand.Rand) float64) proptest.Mechanism {
	return answers{claim: pure(1), begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
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
	})}
}

func normally(rng *rand.Rand) float64 { return rng.NormFloat64() }

// inOrderOf gives noisy values of four records in the order of a column.
func inOrderOf(column int) proptest.Mechanism {
	return answers{claim: gaussian(1), begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
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
	})}
}

// reported says which of the first record's three numbers it reports, and its noisy value.
func reported(bySize float64) proptest.Mechanism {
	return answers{claim: pure(1), begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		if len(x) < 3 {
			return []float64{0, math.Round(0x1p20*laplace(rng, 2)) / 0x1p20}
		}
		var chance [3]float64
		total := 0.0
		for j := range chance {
			chance[j] = 1 + bySize*math.Abs(clipped(0, x[j]))
			total += chance[j]
		}
		j, u := 0, rng.Float64()*total
		for ; j < 2 && u > chance[j]; j++ {
			u -= chance[j]
		}
		return []float64{float64(j), math.Round(0x1p20*(clipped(0, x[j])+laplace(rng, 2))) / 0x1p20}
	})}
}

// byBytes lies with a chance of so many in 256.
func byBytes(lies int) proptest.Mechanism {
	return answers{claim: event(accountant.RandomizedResponse(accountant.Substitute, 3, 2)),
		begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
			answer := 0.0
			if (len(x) > 0 && x[0] > 0) != (rng.IntN(256) < lies) {
				answer = 1
			}
			return []float64{answer}
		})}
}

var fourUsers = []float64{0.3, 1, -0.2, 1, 0.4, 2}

func ofRows(name, effect string, m proptest.Mechanism, features int, first []float64, rest ...float64) Case {
	other := slices.Clone(first)
	other[0] = -other[0]
	return mechanismCase(name, effect, m, features, append(slices.Clone(first), rest...), append(other, rest...))
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
