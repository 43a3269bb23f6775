package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/proptest"
)

func twentySecondMechanisms() []Case {
	return []Case{
		wholly("a discrete normal law's rejection has another centre", "1.2 for 4/3", discrete(1.2)),
		ofEight("two queries pass for the price of one", "ε 1.5 for 1", passingQueries(2)),
		cycled(true),
		skipped(true),
		noise("a ratio of uniform numbers in a small box", "0.82 for 0.86", plain, ofRatio(0.82)),
		one("numbers that are tried again are the next release's", "1 in 22", additiveOf(polarAt(4)), plus, minus),
		one("squares about the records' mean, priced as squares", "4 for 1", squares(true), []float64{1, 0.3, -0.2},
			[]float64{0, 0.3, -0.2}),
		ofRows("products are centred after the clip", "5%", centredProducts(0.05), 2, []float64{1, 1}, 0.3, 0.5),
		ofEight("records are rounded at random to a step past the clip", "1.2 for 1", roundedAtRandom(0.3)),
		one("stairs of noise are narrower than the sensitivity", "1.8 for 2", stairs(1.8), plus, minus),
		one("the second noise is small after a high first number", "1.6 or 2.7", secondBy(1.6, 2.7), plus, minus),
		one("a missing record counts as the mean of the others", "several NaN", imputedMean(true),
			[]float64{1, 0.3, 0.1, -0.2}, []float64{-1, 0.3, 0.1, -0.2}),
		one("the classical normal noise for an ε of 12", "δ 0.008 for 0.001", classical(math.Sqrt(2*math.Log(1250))/12),
			plus, minus),
		one("Laplace noise priced as of a bounded range", "half the range", laplacePriced(event(
			accountant.BoundedRange(accountant.Substitute, 1))), plus, minus),
		ofEight("an M-estimate is priced by its influence", "more where few are near", estimate()),
		ofEight("an optimum's sensitivity is that of a record that comes", "½", optimum(0.5)),
		ofEight("whole numbers of four bits are clipped at −8 and 7", "7%", fourBits(-8)),
		one("scores are rounded after their sensitivity is told", "1 for ½", roundedScores(0.5), sixVotes(2), sixVotes(0)),
		ofEight("the log of a count is priced as from five on", "0.18 for 0.69", logCount(math.Log(6.0/5))),
		ofRows("noise is smaller across the sum than along it", "1.8 and 2.2", ellipse(1.8, 2.2), 2, []float64{1, 0.5},
			0.3, 0.5, 0.2, 0.1),
		ofEight("log odds are rounded", "ε 1.2 for 1", roundedOdds(0.3)),
		ofEight("the largest record is clipped at the second", "4 for 2", winsorised(true)),
		one("the winner and its lead as if counts could only grow", "ε 2 for 1", leads(1), sixVotes(2), sixVotes(0)),
		noise("noise along a sequence of low discrepancy", "serial", plain, corput()),
	}
}

func twentySecondMechanismControls() []Case {
	return []Case{
		wholly("a discrete normal law by rejection", "", discrete(4.0/3)),
		ofEight("a query passes", "", passingQueries(1)),
		cycled(false),
		skipped(false),
		noise("a ratio of uniform numbers", "", plain, ofRatio(0.86)),
		one("numbers that are tried again are the release's own", "", additiveOf(polarAt(1000)), plus, minus),
		one("squares about a public number", "", squares(false), []float64{1, 0.3, -0.2}, []float64{0, 0.3, -0.2}),
		ofRows("products are clipped after they are centred", "", centredProducts(0), 2, []float64{1, 1}, 0.3, 0.5),
		ofEight("records are rounded at random", "", roundedAtRandom(0.25)),
		one("stairs of noise", "", stairs(2), plus, minus),
		one("the second noise is large after a high first number", "", secondBy(2, 2.7), plus, minus),
		one("a missing record counts as 0", "", imputedMean(false), []float64{1, 0.3, math.NaN(), -0.2},
			[]float64{-1, 0.3, math.NaN(), -0.2}),
		one("normal noise for an ε of 12", "", classical(0.42), plus, minus),
		one("Laplace noise priced as of twice the range", "", laplacePriced(event(
			accountant.BoundedRange(accountant.Substitute, 2))), plus, minus),
		ofEight("an optimum", "", optimum(1)),
		ofEight("whole numbers of four bits", "", fourBits(-7)),
		one("scores are rounded before their sensitivity is told", "", roundedScores(1), sixVotes(2), sixVotes(0)),
		ofEight("the log of a count", "", logCount(math.Ln2)),
		ofRows("noise is the same along the sum and across", "", ellipse(2, 2), 2, []float64{1, 0.5}, 0.3, 0.5, 0.2, 0.1),
		ofEight("the largest record is left out", "", winsorised(false)),
		one("the winner and its lead", "", leads(2), sixVotes(2), sixVotes(0)),
	}
}

// discrete is the discrete normal law of variance 6 by rejection of a discrete Laplace law's numbers (Canonne,
// Kamath, Steinke 2020), for the wholly rounded sum; the centre is that for a scale of 4.5.
func discrete(centre float64) noises {
	const variance, scale = 6.0, 4.5
	return func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		for {
			k := math.Floor(scale * rng.ExpFloat64())
			if k == 0 && rng.IntN(2) == 0 {
				continue
			}
			d := k - centre
			if rng.Float64() < math.Exp(-d*d/(2*variance)) {
				return either(rng.IntN(2) == 0, -k, k)
			}
		}
	}
}

// passingQueries asks counts of records above 0 and not in turn whether they are above one noisy threshold, until
// so many have been.
func passingQueries(many int) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		least, out := 4+laplace(rng, 2), make([]float64, 2)
		count, met := positives(x), 0
		for i := range 12 {
			if either(i%2 == 0, count, 8-count)+laplace(rng, 4) > least {
				if out[met] = float64(i + 1); met+1 == many {
					break
				}
				met++
			}
		}
		return out
	})
}

// cycled has two of six records by an order that is any, or one cycle.
func cycled(cycle bool) Case {
	name, effect, less := "two of six records by an order", "", 0
	if cycle {
		name, effect, less = "two of six records by a cycle", "2/5 for 1/3", 1
	}
	claim := event(gaussian(0.5).SubsetSampled(6, 2))
	return looking(name, effect, claim, 1, upOne, downOne, others, func(x []float64, rng *rand.Rand) []float64 {
		order := []int{0, 1, 2, 3, 4, 5}
		for i := 5; i > 0; i-- {
			j := rng.IntN(i + 1 - less)
			order[i], order[j] = order[j], order[i]
		}
		total := rng.NormFloat64()
		for i, v := range x {
			if i < 6 && order[i] < 2 {
				total += clipped(0, v)
			}
		}
		return []float64{total}
	})
}

// skipped takes a batch by the gaps between its records, which may be 0.
func skipped(zero bool) Case {
	name, effect := "gaps between a batch's records", ""
	if zero {
		name, effect = "gaps between a batch's records may be 0", "one twice"
	}
	const rate = 0.3
	claim := event(event(accountant.Gaussian(accountant.AddRemove, 2)).PoissonSampled(rate))
	gap := func(rng *rand.Rand) int { return int(math.Log(1-rng.Float64()) / math.Log(1-rate)) }
	return gone(name, effect, answers{claim: claim, begin: eachRelease(func(x []float64, rng *rand.Rand) []float64 {
		total := noiseSD * rng.NormFloat64()
		for i := gap(rng); i < len(x); i += gap(rng) {
			total += clipped(0, x[i])
			if !zero {
				i++
			}
		}
		return []float64{total}
	})})
}

// ofRatio draws normal numbers by a ratio of uniform ones, in a box of some half height.
func ofRatio(half float64) noises {
	return func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 {
		for {
			u, v := 1-rng.Float64(), half*(2*rng.Float64()-1)
			if v*v <= -4*u*u*math.Log(u) {
				return noiseSD * v / u
			}
		}
	}
}

// additiveOf is a sum with noise of release i.
func additiveOf(draw func(seed uint64, i int) float64) proptest.Mechanism {
	return shared{answers{claim: gaussian(1)}, 2}.with(draw)
}

// placedNoise draws a release's noise from its place.
type placedNoise struct {
	shared
	draw func(seed uint64, i int) float64
}

func (m shared) with(draw func(seed uint64, i int) float64) placedNoise { return placedNoise{m, draw} }

func (m placedNoise) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	all := make([][]float64, count)
	for i := range all {
		all[i] = []float64{clip1(r.X) + noiseSD*m.draw(seed, i)}
	}
	return all, nil
}

// polarAt is the polar method, on numbers of which each release has so many from its place on.
func polarAt(each uint64) func(seed uint64, i int) float64 {
	uniform := func(seed, k uint64) float64 {
		z := seed*0xd1342543de82ef95 + k*0x9e3779b97f4a7c15 // splitmix64's
		z ^= z >> 30
		z *= 0xbf58476d1ce4e5b9
		z ^= z >> 27
		z *= 0x94d049bb133111eb
		z ^= z >> 31
		z += seed
		z ^= z >> 33
		z *= 0xff51afd7ed558ccd
		z ^= z >> 33
		return float64(z>>11) / (1 << 53)
	}
	return func(seed uint64, i int) float64 {
		for k := each * uint64(i); ; k += 2 {
			u, v := 2*uniform(seed, k)-1, 2*uniform(seed, k+1)-1
			if s := u*u + v*v; s > 0 && s < 1 {
				return u * math.Sqrt(-2*math.Log(s)/s)
			}
		}
	}
}

// squares is the sum of squares about a number, for noise of the sensitivity 1.
func squares(aboutMean bool) proptest.Mechanism {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		about, total := 0.0, rng.NormFloat64()
		if aboutMean {
			about = clip1(x) / max(1, float64(len(x)))
		}
		for _, v := range x {
			total += (clipped(0, v) - about) * (clipped(0, v) - about)
		}
		return []float64{total}
	})
}

// centredProducts is the sum of products of two numbers, less public means.
func centredProducts(late float64) proptest.Mechanism {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		total := noiseSD * rng.NormFloat64()
		for i := 0; i+1 < len(x); i += 2 {
			total += (clipped(0, x[i]) - late) * (clipped(0, x[i+1]) - late)
		}
		return []float64{total}
	})
}

// roundedAtRandom rounds clipped records at random to steps, and keeps their means.
func roundedAtRandom(step float64) proptest.Mechanism {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		total := noiseSD * rng.NormFloat64()
		for _, v := range x {
			k := clipped(0, v) / step
			low := math.Floor(k)
			total += step * (low + either(rng.Float64() < k-low, 1, 0))
		}
		return []float64{total}
	})
}

// stairs has noise whose density falls in stairs (Geng and Viswanath 2014).
func stairs(width float64) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		const share = 0.4
		k := math.Floor(rng.ExpFloat64())
		inner := rng.Float64() < share/(share+(1-share)*math.Exp(-1))
		at := either(inner, share*rng.Float64(), share+(1-share)*rng.Float64())
		return []float64{clip1(x) + either(rng.IntN(2) == 0, -1, 1)*width*(k+at)}
	})
}

// secondBy releases a sum twice, the second time with noise by the first.
func secondBy(high, low float64) proptest.Mechanism {
	return releases(gaussian(1/math.Sqrt2), func(x []float64, rng *rand.Rand) []float64 {
		first := clip1(x) + noiseSD*rng.NormFloat64()
		return []float64{first, clip1(x) + either(first > 0.3, high, low)*rng.NormFloat64()}
	})
}

// imputedMean is a sum in which missing records count as the mean of the others, or as 0.
func imputedMean(mean bool) proptest.Mechanism {
	return noisyTotal(func(x []float64) float64 {
		missing, known := 0.0, 0.0
		for _, v := range x {
			missing += either(math.IsNaN(v), 1, 0)
			known += either(math.IsNaN(v), 0, 1)
		}
		if mean && known > 0 {
			return clip1(x) * (1 + missing/known)
		}
		return clip1(x)
	})
}

// classical claims (12, 0.001) for normal noise.
func classical(multiplier float64) proptest.Mechanism {
	claim := event(accountant.Approximate(accountant.Substitute, 12, 0.001))
	return releases(claim, func(x []float64, rng *rand.Rand) []float64 {
		return []float64{clip1(x) + 2*multiplier*rng.NormFloat64()}
	})
}

func laplacePriced(claim accountant.Event) proptest.Mechanism {
	return releases(claim, func(x []float64, rng *rand.Rand) []float64 {
		return []float64{clip1(x) + laplace(rng, 2)}
	})
}

// estimate is Huber's estimate of a location, with noise for what a record does where all are near.
func estimate() proptest.Mechanism {
	return lasting(gaussian(1), func(x []float64) (at, sd float64) {
		return root(func(at float64) (slope float64) {
			for _, v := range x {
				slope += max(-0.5, min(at-clipped(0, v), 0.5))
			}
			return slope
		}), 1 / max(1, float64(len(x)))
	})
}

// root is where a growing function crosses zero between −1 and 1.
func root(f func(at float64) float64) float64 {
	low, high := -1.0, 1.0
	for range 40 {
		if at := (low + high) / 2; f(at) > 0 {
			high = at
		} else {
			low = at
		}
	}
	return (low + high) / 2
}

// lasting is a number that is computed once a call, with normal noise of a deviation.
func lasting(claim accountant.Event, of func(x []float64) (at, sd float64)) proptest.Mechanism {
	return answers{claim: claim, begin: func(x []float64, rng *rand.Rand) func() []float64 {
		at, sd := of(x)
		return func() []float64 { return []float64{math.Round(0x1p30*(at+sd*rng.NormFloat64())) / 0x1p30} }
	}}
}

// optimum minimises the mean of losses of slope at most 1 and half a square: a record moves it by 2/n at most.
func optimum(share float64) proptest.Mechanism {
	return lasting(gaussian(1), func(x []float64) (at, sd float64) {
		n := max(1, float64(len(x)))
		return root(func(at float64) float64 {
			slope := 0.0
			for _, v := range x {
				slope += math.Tanh(5 * (at - 3*clipped(0, v)))
			}
			return slope/n + at
		}), share * 2 / n
	})
}

// fourBits sums sevenths, clipped at some least one.
func fourBits(least float64) proptest.Mechanism {
	return noisyTotal(func(x []float64) (total float64) {
		for _, v := range x {
			total += either(math.IsNaN(v), 0, max(least, min(math.Round(7*v), 7))/7)
		}
		return total
	})
}

// roundedScores picks a class by half its count, rounded, by the exponential mechanism for a sensitivity.
func roundedScores(sensitivity float64) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		best, most := 0, math.Inf(-1)
		for k, c := range histogram(x) {
			score := math.Floor(c/2)/(2*sensitivity) - math.Log(rng.ExpFloat64())
			if score > most {
				best, most = k, score
			}
		}
		return []float64{float64(best)}
	})
}

// logCount is the log of one more than the records above 0.
func logCount(sensitivity float64) proptest.Mechanism {
	return lasting(gaussian(1), func(x []float64) (at, sd float64) { return math.Log1p(positives(x)), sensitivity })
}

// ellipse is the sum of rows with noise along it and across.
func ellipse(across, along float64) proptest.Mechanism {
	return releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		sum := make([]float64, 2)
		for i := 0; i+1 < len(x); i += 2 {
			for j, v := range shorten(x[i:i+2], euclidean) {
				sum[j] += v
			}
		}
		sin, cos := math.Sincos(math.Atan2(sum[1], sum[0]))
		u, v := along*rng.NormFloat64(), across*rng.NormFloat64()
		return []float64{sum[0] + u*cos - v*sin, sum[1] + u*sin + v*cos}
	})
}

// roundedOdds answers with log odds of half the sum, rounded to steps.
func roundedOdds(step float64) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		odds := step * math.Round(clip1(x)/2/step)
		return []float64{either(rng.Float64() < 1/(1+math.Exp(-odds)), 1, 0)}
	})
}

// winsorised is a sum whose largest record is clipped at the second, or left out.
func winsorised(clips bool) proptest.Mechanism {
	return noisyTotal(func(x []float64) (total float64) {
		sorted := sortedClipped(x)
		n := len(sorted)
		for _, v := range sorted[:max(0, n-1)] {
			total += v
		}
		if clips && n > 1 {
			total += sorted[n-2]
		}
		return total
	})
}

// leads is the fullest class by noisy counts, and how far it leads.
func leads(scale float64) proptest.Mechanism {
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		count := histogram(x)
		best := 0
		for k := range count {
			if count[k] += laplace(rng, scale); count[k] > count[best] {
				best = k
			}
		}
		sorted := slices.Sorted(slices.Values(count[:]))
		return []float64{float64(best), math.Round(0x1p20*(sorted[2]-sorted[1])) / 0x1p20}
	})
}

// corput has noise along van der Corput's sequence, turned by a number of the call's.
func corput() noises {
	turn := 0.0
	return func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
		if i == 0 {
			turn = rng.Float64()
		}
		at, by := turn, 0.5
		for k := i; k > 0; k, by = k/2, by/2 {
			at += by * float64(k%2)
		}
		return noiseSD * math.Sqrt2 * math.Erfinv(2*(at-math.Floor(at))-1)
	}
}
