package planted

import (
	"math"
	"math/rand/v2"

	"github.com/dpmcmc/dpmcmc/proptest"
)

func twentyNinthMechanisms() []Case {
	return []Case{
		noise("Box and Muller on a congruential generator", "31 bits", plain, congruential),
		bit("a bit by Metropolis's rule", "certain upwards", bits{scale: 1, metropolis: true}),
		ofFive("one draw of a posterior costs half of its range", "ε 1.39 for 2.77", betaDraw(1)),
		ofEight("places of a sample are exchanged with any place", "0.66 for ½", shuffledSample(true)),
		ofFive("a total beyond six has no noise", "7 records and more", toldBeyond(6)),
		noise("of four noises the smallest comes first", "by places", plain, smallestFirst),
		ofFive("a penalty multiplies the records in a mean's sensitivity", "1/5 for 1/3", shrunkMean(true)),
		one("eight answers cost as much as independent noise", "ε 4 for 1.41", eightAnswers(math.Sqrt(8)), plus[:1],
			minus[:1]),
		ofRows("noise of a column has not its unit", "1/1.5", inUnits(false), 3, []float64{1, 0.1, 0}, 0.3, 0.2, -0.4),
		ofFive("a total is added up in the order of a map", "last bits", mapTotal()),
		ofFive("a total is told before all its noise is added", "1.6 for 2", inTwoSteps(1.6)),
		ofFive("records are clipped about the first one", "all records move", aboutFirst(true)),
		ofFive("squares about the records' own mean have noise for one square", "ε 3.2 for 1", ownSquares(1)),
	}
}

func twentyNinthMechanismControls() []Case {
	return []Case{
		ofFive("one draw of a posterior", "", betaDraw(2)),
		ofEight("places of a sample are exchanged with those that are left", "", shuffledSample(false)),
		ofFive("all totals have noise", "", toldBeyond(math.Inf(1))),
		ofFive("a penalty in a mean's sensitivity", "", shrunkMean(false)),
		one("eight answers", "", eightAnswers(8), plus[:1], minus[:1]),
		ofRows("noise of a column in its unit", "", inUnits(true), 3, []float64{1, 0.1, 0}, 0.3, 0.2, -0.4),
		ofFive("a total is told twice", "", inTwoSteps(2)),
		ofFive("records are clipped about a public number", "", aboutFirst(false)),
		ofFive("squares about the records' own mean", "", ownSquares(4)),
	}
}

// congruential draws its uniform numbers by x ↦ 16 807·x modulo 2³¹ − 1.
var congruential = func() noises {
	var at uint64
	next := func() float64 {
		at = at * 16807 % math.MaxInt32
		return float64(at) / math.MaxInt32
	}
	return func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
		if i == 0 {
			at = 1 + rng.Uint64N(math.MaxInt32-1)
		}
		r := math.Sqrt(-2 * math.Log(next()))
		return noiseSD * r * math.Cos(2*math.Pi*next())
	}
}()

// betaDraw is a chance between 0.2 and 0.8 by its posterior, given how many records are positive.
func betaDraw(ranges float64) answers {
	return releases(pure(ranges*math.Log(4)), func(x []float64, rng *rand.Rand) []float64 {
		n, s := float64(len(x)), positives(x)
		log := func(p float64) float64 { return s*math.Log(p) + (n-s)*math.Log1p(-p) }
		most := log(max(0.2, min(s/max(n, 1), 0.8)))
		for {
			if p := 0.2 + 0.6*rng.Float64(); math.Log(1-rng.Float64()) < log(p)-most {
				return []float64{p}
			}
		}
	})
}

// shuffledSample is the noisy sum of four of eight records, which exchange their places with others.
func shuffledSample(any bool) answers {
	return releases(event(gaussian(0.5).SubsetSampled(8, 4)), func(x []float64, rng *rand.Rand) []float64 {
		places := make([]int, len(x))
		for i := range places {
			places[i] = i
		}
		total := rng.NormFloat64()
		for i := range min(4, len(x)) {
			k := i + rng.IntN(len(x)-i)
			if any {
				k = rng.IntN(len(x))
			}
			places[i], places[k] = places[k], places[i]
		}
		for _, i := range places[:min(4, len(x))] {
			total += clipped(0, x[i])
		}
		return []float64{total}
	})
}

// toldBeyond is a sum, whose noise is left out where the sum is large.
func toldBeyond(size float64) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		total := clip1(x)
		return []float64{total + either(math.Abs(total) > size, 0, noiseSD)*rng.NormFloat64()}
	})
}

// smallestFirst draws four noises at once and gives the smallest first.
var smallestFirst = func() noises {
	var four [4]float64
	return func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
		if i%4 == 0 {
			least := 0
			for k := range four {
				if four[k] = noiseSD * rng.NormFloat64(); math.Abs(four[k]) < math.Abs(four[least]) {
					least = k
				}
			}
			four[0], four[least] = four[least], four[0]
		}
		return four[i%4]
	}
}()

// shrunkMean is a mean with a penalty of one more record of 0, which is added to the records or multiplies them
// where noise is scaled.
func shrunkMean(multiplies bool) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		n := float64(len(x))
		sensitivity := either(multiplies, 1/max(1, n), 2/(n+1))
		return []float64{clip1(x)/(n+1) + sensitivity*rng.NormFloat64()}
	})
}

// eightAnswers are eight times whether the first record is positive, each by randomised response.
func eightAnswers(times float64) answers {
	return releases(pure(times/2), func(x []float64, rng *rand.Rand) []float64 {
		told := make([]float64, 8)
		for k := range told {
			truth := len(x) > 0 && x[0] > 0
			told[k] = either(truth == (rng.Float64() < 1/(1+math.Exp(-0.5))), 1, 0)
		}
		return told
	})
}

// inUnits is a sum of rows that are at most of length 1. The last column is then told in another unit.
func inUnits(noiseToo bool) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		total := rowsum(x, euclidean)
		if !noiseToo {
			total[2] *= 1.5
		}
		return each2(rng, total)
	})
}

// mapTotal is a noisy sum whose order no one knows.
func mapTotal() proptest.Mechanism {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		all := map[int]float64{}
		for i, v := range x {
			all[i] = clipped(0, v)
		}
		total := 0.0
		for _, v := range all {
			total += v
		}
		return []float64{total + noiseSD*rng.NormFloat64()}
	})
}

// inTwoSteps is a sum with some noise, and with all.
func inTwoSteps(first float64) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		some := clip1(x) + first*rng.NormFloat64()
		return []float64{some, some + 1.2*rng.NormFloat64()}
	})
}

// aboutFirst is a sum of records that are clipped about one of them, or about a public number.
func aboutFirst(first bool) answers {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		about, total := 0.3, noiseSD*rng.NormFloat64()
		if first && len(x) > 0 {
			about = clipped(0, x[0])
		}
		for _, v := range x {
			total += about + clipped(0, v-about)
		}
		return []float64{total}
	})
}

// ownSquares is the sum of squares about the records' mean.
func ownSquares(sensitivity float64) answers {
	return onGrid(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		mean, total := clip1(x)/max(1, float64(len(x))), laplace(rng, sensitivity)
		for _, v := range x {
			total += (clipped(0, v) - mean) * (clipped(0, v) - mean)
		}
		return []float64{total}
	})
}
