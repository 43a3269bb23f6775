package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// Mechanisms here look at records more often than their price says: once more after the noise, or more often
// for some places.

// looking is such a mechanism on A and B that differ in their first record, whose noise lies on a grid.
func looking(name, effect string, claim accountant.Event, features int, first, other, rest []float64,
	release func(x []float64, rng *rand.Rand) []float64) Case {
	return lookingOnce(name, effect, claim, features, first, other, rest, eachRelease(release))
}

// lookingOnce is one that computes something once a call.
func lookingOnce(name, effect string, claim accountant.Event, features int, first, other, rest []float64,
	begin func(x []float64, rng *rand.Rand) func() []float64) Case {
	m := answers{claim: claim, begin: func(x []float64, rng *rand.Rand) func() []float64 {
		release := begin(x, rng)
		return func() []float64 {
			r := release()
			for j, v := range r {
				r[j] = math.Round(v*0x1p20) / 0x1p20
			}
			return r
		}
	}}
	return mechanismCase(name, effect, m, features, slices.Concat(first, rest), slices.Concat(other, rest))
}

var upOne, downOne, others = []float64{1}, []float64{-1}, []float64{0.3, -0.2, 0.4, -0.5, 0.1}

// reservoirOf keeps two of six records, each with a chance of a third. Late ones may come a place too early.
func reservoirOf(name, effect string, early int) Case {
	claim := event(gaussian(0.5).SubsetSampled(6, 2))
	return looking(name, effect, claim, 1, upOne, downOne, others, func(x []float64, rng *rand.Rand) []float64 {
		var kept [2]float64
		for i, v := range x {
			if i < 2 {
				kept[i] = clipped(0, v)
			} else if j := rng.IntN(i + 1 - early); j < 2 {
				kept[j] = clipped(0, v)
			}
		}
		return []float64{kept[0] + kept[1] + rng.NormFloat64()}
	})
}

// byBounds clips at a bound that a noisy count chose, and has noise for a bound.
func byBounds(name, effect string, wider float64) Case {
	return looking(name, effect, pure(1), 1, upOne, downOne, others, func(x []float64, rng *rand.Rand) []float64 {
		count, total := laplace(rng, 5), 0.0
		for _, v := range x {
			count += either(math.Abs(v) > 0.5, 1, 0)
		}
		bound := either(count > 3, 1, 0.5)
		for _, v := range x {
			total += wider * bound * clipped(0, v/(wider*bound))
		}
		return []float64{bound, total + laplace(rng, 2*bound/0.8)}
	})
}

// momentous releases two gradients, and has half of the first in the second: with its noise, or without.
func momentous(name, effect string, without bool) Case {
	return looking(name, effect, gaussian(1/math.Sqrt2), 1, upOne, downOne, others,
		func(x []float64, rng *rand.Rand) []float64 {
			slope := func(at float64) (sum float64) {
				for _, v := range x {
					sum += clipped(0, at-v)
				}
				return sum
			}
			first := slope(0)
			noisy := first + noiseSD*rng.NormFloat64()
			kept := either(without, first, noisy) / 2
			return []float64{noisy, slope(-0.1*noisy) + kept + noiseSD*rng.NormFloat64()}
		})
}

// leading is the direction of noisy second moments, which points to the right, or to the first record.
func leading(name, effect string, toFirst bool) Case {
	rest := []float64{0.3, 0.4, -0.2, 0.5}
	return looking(name, effect, gaussian(1), 2, []float64{1, 0}, []float64{0, 1}, rest,
		func(x []float64, rng *rand.Rand) []float64 {
			var c [3]float64
			for i := range c {
				c[i] = math.Sqrt2 * rng.NormFloat64()
			}
			to := []float64{1, 0}
			for i := 0; i+1 < len(x); i += 2 {
				r := shorten(x[i:i+2], euclidean)
				if i == 0 && toFirst {
					to = r
				}
				c[0], c[1], c[2] = c[0]+r[0]*r[0], c[1]+math.Sqrt2*r[0]*r[1], c[2]+r[1]*r[1]
			}
			v, u := math.Sincos(math.Atan2(math.Sqrt2*c[1], c[0]-c[2]) / 2)
			by := either(dot([]float64{u, v}, to) < 0, -1, 1)
			return []float64{by * u, by * v}
		})
}

// smoothed is a median of numbers in the unit interval with noise of its smooth sensitivity (Nissim,
// Raskhodnikova, Smith 2007), which may decay faster with the distance of tables than that of Cauchy's noise may.
func smoothed(name, effect string, decay float64) Case {
	return lookingOnce(name, effect, pure(1), 1, []float64{0.9}, []float64{0.1}, []float64{0.1, 0.2, 0.5, 0.6},
		func(x []float64, rng *rand.Rand) func() []float64 {
			s := make([]float64, len(x))
			for i, v := range x {
				s[i] = either(math.IsNaN(v), 0, max(0, min(v, 1)))
			}
			slices.Sort(s)
			at := func(i int) float64 {
				if i >= len(s) {
					return 1
				}
				return either(i < 0, 0, s[max(i, 0)])
			}
			middle, smooth := len(s)/2, 0.0
			for k := range len(s) + 1 {
				for t := range k + 2 {
					local := at(middle+t) - at(middle+t-k-1)
					smooth = max(smooth, math.Exp(-decay*float64(k))*local)
				}
			}
			return func() []float64 { return []float64{at(middle) + 6*smooth*math.Tan(math.Pi*(rng.Float64()-0.5))} }
		})
}

// bootstrapped is a sum of records drawn with replacement, or of all once.
func bootstrapped(name, effect string, again bool) Case {
	return looking(name, effect, pure(2), 1, upOne, downOne, others, func(x []float64, rng *rand.Rand) []float64 {
		total := laplace(rng, 1)
		for i := range x {
			if again {
				i = rng.IntN(len(x))
			}
			total += clipped(0, x[i])
		}
		return []float64{total}
	})
}
