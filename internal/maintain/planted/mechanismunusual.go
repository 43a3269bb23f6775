package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/proptest"
)

// unusualMechanisms are right ones that look like none that a suite was made for.
func unusualMechanisms() []Case {
	laws := func(epsilon float64, draw func(rng *rand.Rand) float64) proptest.Mechanism {
		return releases(pure(epsilon), func(x []float64, rng *rand.Rand) []float64 {
			return []float64{math.Round(0x1p30*(clip1(x)+draw(rng))) / 0x1p30} // low bits tell what was added
		})
	}
	on := func(of func(noisy float64) float64) proptest.Mechanism {
		return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
			return []float64{of(clip1(x) + noiseSD*rng.NormFloat64())}
		})
	}
	return []Case{
		ofFive("all records in order, for the price of one", "", releasesSorted()),
		ofFive("a noisy value of each record", "", releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
			all := make([]float64, len(x))
			for i, v := range x {
				all[i] = clipped(0, v) + noiseSD*rng.NormFloat64()
			}
			return all
		})),
		one("nothing, which costs little", "", releases(pure(1e-9), func([]float64, *rand.Rand) []float64 {
			return []float64{7}
		}), plus, minus),
		one("no number now and then", "", releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
			v := clip1(x) + noiseSD*rng.NormFloat64()
			return []float64{either(rng.IntN(20) == 0, math.NaN(), v)}
		}), plus, minus),
		one("the sign of a noisy sum", "", on(func(v float64) float64 { return math.Copysign(1, v) }), plus, minus),
		one("a noisy sum modulo 3", "", on(func(v float64) float64 { return v - 3*math.Floor(v/3) }), plus, minus),
		one("a noisy sum of three digits", "", on(func(v float64) float64 {
			by := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
			return math.Round(v/by) * by
		}), plus, minus),
		one("the power of two below a noisy sum's size", "", on(func(v float64) float64 {
			return math.Floor(math.Log2(math.Abs(v)))
		}), plus, minus),
		one("Cauchy noise", "", laws(2*math.Asinh(0.5)+1e-9, func(rng *rand.Rand) float64 {
			return 2 * math.Tan(math.Pi*(rng.Float64()-0.5))
		}), plus, minus),
		one("logistic noise", "", laws(1, func(rng *rand.Rand) float64 {
			u := rng.Float64()
			return 2 * math.Log(u/(1-u))
		}), plus, minus),
		one("noise of three degrees of freedom", "", laws(4*math.Asinh(1/math.Sqrt(12))+1e-9, func(rng *rand.Rand) float64 {
			z := rng.NormFloat64()
			chi := 2*rng.ExpFloat64() + z*z
			return 2 * rng.NormFloat64() * math.Sqrt(3/chi)
		}), plus, minus),
		scaledSum("records of a billionth", 1e-9),
		scaledSum("records of a billion", 1e9),
		mechanismCase("the direction of ten noisy numbers", "", directed(), 10, ten(1), ten(-1)),
		one("the mean of angles by noisy sines", "", angleMean(), []float64{1, 0.3, 2}, []float64{-2, 0.3, 2}),
		one("two-sided geometric noise within a range", "", truncatedGeometric(), sixVotes(2), sixVotes(0)),
		ofEight("a median between the records, by the exponential mechanism", "", betweenRecords()),
		ofEight("the largest record, with noise for all of its range", "", largestRecord()),
		gone("a record that comes, in ten bins by normal noise", "", tenBins()),
	}
}

func releasesSorted() proptest.Mechanism {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		return noisy(sortedClipped(x), func() float64 { return noiseSD * rng.NormFloat64() })
	})
}

// directed is a sum of rows of ten, with noise, shortened to the length 1.
func directed() proptest.Mechanism {
	m := vectors(func([]float64) {})
	return releases(m.claim, func(x []float64, rng *rand.Rand) []float64 {
		v := m.begin(x, rng)()
		times := 1 / euclidean(v)
		for j := range v {
			v[j] *= times
		}
		return v
	})
}

// scaledSum is a sum in units of some size.
func scaledSum(name string, unit float64) Case {
	return one(name, "", releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		total := 0.0
		for _, v := range x {
			total += unit * clipped(0, v/unit)
		}
		return []float64{unit * math.Round(0x1p30*(total/unit+noiseSD*rng.NormFloat64())) / 0x1p30}
	}), []float64{unit, 0.3 * unit}, []float64{-unit, 0.3 * unit})
}

func angleMean() proptest.Mechanism {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		s, c := noiseSD*rng.NormFloat64(), noiseSD*rng.NormFloat64()
		for _, v := range x {
			if sin, cos := math.Sincos(v); !math.IsNaN(sin) {
				s, c = s+sin, c+cos
			}
		}
		return []float64{math.Atan2(s, c)}
	})
}

func truncatedGeometric() proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		v := positives(x) + tosses(rng) - tosses(rng)
		return []float64{max(0, min(v, 6))}
	})
}

// betweenRecords draws from the gaps between ordered records in [−1, 1], by their ranks and lengths.
func betweenRecords() proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		edges := append(append([]float64{-1}, sortedClipped(x)...), 1)
		best, most := 0, math.Inf(-1)
		for i := range len(edges) - 1 {
			score := -math.Abs(float64(i)-float64(len(x))/2)/2 + math.Log(edges[i+1]-edges[i]) - math.Log(rng.ExpFloat64())
			if score > most {
				best, most = i, score
			}
		}
		return []float64{math.Round(0x1p20*(edges[best]+rng.Float64()*(edges[best+1]-edges[best]))) / 0x1p20}
	})
}

func largestRecord() proptest.Mechanism {
	return noisyTotal(func(x []float64) float64 { return slices.Max(append(sortedClipped(x), -1)) })
}

func tenBins() proptest.Mechanism {
	claim := event(accountant.Gaussian(accountant.AddRemove, 1))
	return releases(claim, func(x []float64, rng *rand.Rand) []float64 {
		all := make([]float64, 10)
		for _, v := range x {
			all[int(min(9, math.Floor(5*(clipped(0, v)+1))))]++
		}
		return noisy(all, rng.NormFloat64)
	})
}
