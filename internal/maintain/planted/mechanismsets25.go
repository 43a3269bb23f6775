package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/proptest"
)

func twentyFifthMechanisms() []Case {
	large := []float64{1, 0.9, 0.8, 0.7, 0.9, 0.6, 0.8, 0.7}
	otherLarge := append([]float64{-1}, large[1:]...)
	return []Case{
		one("the first of thirty queries that passes, at a threshold without noise", "ε 2 for 1", sparsely(false), plus,
			minus),
		ofEight("a sample's first place is told", "four of eight", placedSample(true)),
		noise("noise of a thousand releases is in strata", "serial", plain, strata(1000)),
		negating("odd seeds have the noise of even ones, turned round", "one sign", true),
		ofStreams("the number j has the stream of seed + j", "three streams", func(seed uint64, j int) *rand.PCG {
			return rand.NewPCG(seed+uint64(j), 3)
		}),
		mechanism("seeds pass through a floating-point number", "53 bits", plain, func(m *sum) {
			m.seeds = func(seed uint64) uint64 { return math.Float64bits(float64(seed)) }
		}),
		ofEdges("a histogram of degrees as if an edge had one end", "√2 for √8", degrees(math.Sqrt2)),
		one("Fourier sums are priced by their mean", "√6 for 2.94", fourier(math.Sqrt(6)), []float64{0.3, 0.6},
			[]float64{-0.2, 0.6}),
		ofFive("whole noise has 1 − ε for e^−ε", "ε 0.446 for 0.4", wholeByOdds(0.8)),
		ofRows("rows are shortened by the sum of their numbers, not of their sizes", "signs", bySigned(true), 3,
			[]float64{1, 0, 0}, 0.3, -0.5, 0.2, 0.4, 0.1, -0.6),
		one("a second pass with a wider clip is priced as the first", "beyond 1", secondPass(2), plus, minus),
		one("log-odds beyond three decide", "certain", decidedFrom(3), plus, minus),
		one("two parties add Laplace noise of half the variance each", "ε 1.41 for 1", parties(true), plus, minus),
		mechanismCase("the last row of a person counts", "4 for 2", lastRows(2), 2, []float64{0, 1, 1, -0.5, 2, 0.4, 1, 0.8},
			[]float64{0, -1, 1, -0.5, 2, 0.4, 1, 0.8}),
		one("ties of a sample's keys go to the first records", "0.62 for ½", byKeys(4), large, otherLarge),
		one("noise in an objective without its Jacobian", "ε 1.5 for 1", objective(1), []float64{1, 0.3, -0.2},
			[]float64{-1, 0.3, -0.2}),
	}
}

func twentyFifthMechanismControls() []Case {
	large := []float64{1, 0.9, 0.8, 0.7, 0.9, 0.6, 0.8, 0.7}
	otherLarge := append([]float64{-1}, large[1:]...)
	return []Case{
		one("the first of thirty queries that passes", "", sparsely(true), plus, minus),
		ofEight("a sample's first place is not told", "", placedSample(false)),
		negating("odd seeds have noise of their own, turned round", "", false),
		ofStreams("the number j has a stream of its own", "", func(seed uint64, j int) *rand.PCG {
			return rand.NewPCG(seed, uint64(j))
		}),
		ofEdges("a histogram of degrees", "", degrees(math.Sqrt(8))),
		one("Fourier sums", "", fourier(2.95), []float64{0.3, 0.6}, []float64{-0.2, 0.6}),
		ofFive("whole noise of two tails", "", wholeByOdds(math.Exp(-0.2))),
		ofRows("rows are shortened by the sum of their sizes", "", bySigned(false), 3, []float64{1, 0, 0}, 0.3, -0.5, 0.2,
			0.4, 0.1, -0.6),
		one("a second pass with the same clip", "", secondPass(1), plus, minus),
		one("log-odds decide by chance", "", decidedFrom(math.Inf(1)), plus, minus),
		one("one of two parties adds Laplace noise", "", parties(false), plus, minus),
		mechanismCase("the last row of a person counts, and is priced", "", lastRows(4), 2,
			[]float64{0, 1, 1, -0.5, 2, 0.4, 1, 0.8}, []float64{0, -1, 1, -0.5, 2, 0.4, 1, 0.8}),
		one("a sample by keys of 64 bits", "", byKeys(0), large, otherLarge),
		one("noise in an objective and its Jacobian", "", objective(1+math.Log(3.5)), []float64{1, 0.3, -0.2},
			[]float64{-1, 0.3, -0.2}),
		ofEight("a sum without the least and the largest record", "", noisyTotal(func(x []float64) float64 {
			sorted := sortedClipped(x)
			return clip1(sorted[min(1, len(sorted)):max(min(1, len(sorted)), len(sorted)-1)])
		})),
		ofEight("a sum of what differs among the records", "", noisyTotal(func(x []float64) float64 {
			return clip1(slices.Compact(sortedClipped(x)))
		})),
		ofFive("a noisy sum is taken modulo eight", "", releases(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
			v := math.Mod(clip1(x)+noiseSD*rng.NormFloat64(), 8)
			return []float64{either(v < 0, v+8, v)}
		})),
	}
}

// sparsely tells which of thirty counts of records is above a threshold first. Counts have noise, and so has the
// threshold or not.
func sparsely(threshold bool) proptest.Mechanism {
	const queries, at = 30, 4.0
	return releases(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		above := at
		if threshold {
			above += laplace(rng, 2)
		}
		for q := range queries {
			count := 0.0
			for _, v := range x {
				count += either(v > float64(q)/queries-0.5, 1, 0)
			}
			if count+laplace(rng, 4) > above {
				return []float64{float64(q)}
			}
		}
		return []float64{queries}
	})
}

// placedSample is the noisy sum of four of eight records, and may tell the first of their places.
func placedSample(tells bool) proptest.Mechanism {
	return releases(event(gaussian(0.5).SubsetSampled(8, 4)), func(x []float64, rng *rand.Rand) []float64 {
		some := rng.Perm(len(x))[:min(4, len(x))]
		total, first := rng.NormFloat64(), len(x)
		for _, i := range some {
			total += clipped(0, x[i])
			first = min(first, i)
		}
		return []float64{total, either(tells, float64(first), 0)}
	})
}

// strata takes noise for so many releases from as many strata of its law, in any order.
func strata(many int) noises {
	return func(m *sum, rng *rand.Rand, i int, _ float64) float64 {
		if i%many == 0 {
			m.kept = m.kept[:0]
			for _, k := range rng.Perm(many) {
				m.kept = append(m.kept, float64(k))
			}
		}
		u := (m.kept[i%many] + rng.Float64()) / float64(many)
		return noiseSD * math.Sqrt2 * math.Erfinv(max(-1+0x1p-53, min(2*u-1, 1-0x1p-53)))
	}
}

// negating turns the noise of odd seeds round, which may be that of the even ones before.
func negating(name, effect string, same bool) Case {
	return mechanism(name, effect, plain, func(m *sum) {
		by := 1.0
		m.seeds = func(seed uint64) uint64 {
			by = either(seed%2 == 1, -1, 1)
			return seed - uint64(either(same && seed%2 == 1, 1, 0))
		}
		m.noise = func(_ *sum, rng *rand.Rand, _ int, _ float64) float64 { return by * noiseSD * rng.NormFloat64() }
	})
}

// streams is a sum of rows of three numbers, each with noise of its own stream.
type streams struct {
	of func(seed uint64, j int) *rand.PCG
}

func (streams) Claim() accountant.Event { return gaussian(1 / math.Sqrt(3)) }
func (streams) Sensitivity() float64    { return 2 * math.Sqrt(3) }
func (streams) Step() float64           { return 0 }

func (m streams) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	var total [3]float64
	for i, v := range r.X {
		total[i%3] += clipped(i, v)
	}
	all := make([][]float64, count)
	for i := range all {
		all[i] = make([]float64, 3)
	}
	for j, v := range total {
		rng := rand.New(m.of(seed, j))
		for i := range all {
			all[i][j] = v + noiseSD*rng.NormFloat64()
		}
	}
	return all, nil
}

func ofStreams(name, effect string, of func(seed uint64, j int) *rand.PCG) Case {
	return mechanismCase(name, effect, streams{of}, 3, []float64{1, 1, 1, 0, 0, 0}, []float64{-1, -1, -1, 0, 0, 0})
}

// degrees counts how many of five nodes have none, one, two, and more edges.
func degrees(sd float64) proptest.Mechanism {
	return onGrid(event(accountant.Gaussian(accountant.AddRemove, 1)), func(x []float64, rng *rand.Rand) []float64 {
		var degree [5]int
		for _, v := range x {
			degree[int(either(v >= 0, min(v, 4), 0))]++
		}
		count := make([]float64, 4)
		for _, d := range degree {
			count[min(d, 3)]++
		}
		return noisy(count, func() float64 { return sd * rng.NormFloat64() })
	})
}

func ofEdges(name, effect string, m proptest.Mechanism) Case {
	rest := []float64{2, 3, 3, 4, 0, 2}
	return mechanismCase(name, effect, m, 2, append([]float64{1, 4}, rest...), rest)
}

// fourier has sums of the cosine and the sine of records as angles, and of two multiples.
func fourier(sd float64) proptest.Mechanism {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		sum := make([]float64, 6)
		for _, v := range x {
			for k := range 3 {
				sin, cos := math.Sincos(float64(k+1) * math.Pi * clipped(0, v))
				sum[2*k], sum[2*k+1] = sum[2*k]+cos, sum[2*k+1]+sin
			}
		}
		return noisy(sum, func() float64 { return sd * rng.NormFloat64() })
	})
}

// wholeByOdds is a whole sum with whole noise of two tails, each number so much rarer than the one before.
func wholeByOdds(odds float64) proptest.Mechanism {
	return releases(pure(0.4), func(x []float64, rng *rand.Rand) []float64 {
		total, by := 0.0, -1/math.Log(odds)
		for _, v := range x {
			total += math.Round(clipped(0, v))
		}
		return []float64{total + math.Floor(by*rng.ExpFloat64()) - math.Floor(by*rng.ExpFloat64())}
	})
}

// bySigned is a sum of rows with Laplace noise. They are shortened by the size of their numbers' sum, or by that of
// their sizes.
func bySigned(signed bool) proptest.Mechanism {
	norm := func(row []float64) (sum float64) {
		for _, v := range row {
			sum += either(signed, v, math.Abs(v))
		}
		return math.Abs(sum)
	}
	return onGrid(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		return noisy(rowsum(x, norm), func() float64 { return laplace(rng, 2) })
	})
}

// secondPass is a noisy sum that is made anew, with a clip of its own, where the first one was large.
func secondPass(clip float64) proptest.Mechanism {
	return releases(event(gaussian(1).Times(2)), func(x []float64, rng *rand.Rand) []float64 {
		first := clip1(x) + noiseSD*rng.NormFloat64()
		if math.Abs(first) < 2 {
			return []float64{first}
		}
		total := 0.0
		for _, v := range x {
			total += either(math.IsNaN(v), 0, max(-clip, min(v, clip)))
		}
		return []float64{total + noiseSD*rng.NormFloat64()}
	})
}

// decidedFrom is a bit of the sum, which is certain from some log-odds on.
func decidedFrom(from float64) proptest.Mechanism {
	claim := event(accountant.Bit{Contribution: 0.5}.Event(accountant.Substitute))
	return releases(claim, func(x []float64, rng *rand.Rand) []float64 {
		odds := clip1(x) / 2
		p := 1 / (1 + math.Exp(-odds))
		if math.Abs(odds) >= from {
			p = math.Round(p)
		}
		return []float64{either(rng.Float64() < p, 1, 0)}
	})
}

// parties add Laplace noise to a sum: one of them, or both with half its variance.
func parties(both bool) proptest.Mechanism {
	return onGrid(pure(1), func(x []float64, rng *rand.Rand) []float64 {
		if both {
			return []float64{clip1(x) + laplace(rng, math.Sqrt2) + laplace(rng, math.Sqrt2)}
		}
		return []float64{clip1(x) + laplace(rng, 2)}
	})
}

// lastRows is a sum of the last rows of five persons.
func lastRows(sd float64) proptest.Mechanism {
	return onGrid(gaussian(1), func(x []float64, rng *rand.Rand) []float64 {
		var last [5]float64
		for ; len(x) > 1; x = x[2:] {
			last[int(either(x[0] >= 0, min(x[0], 4), 0))] = clipped(0, x[1])
		}
		return []float64{clip1(last[:]) + sd*rng.NormFloat64()}
	})
}

// byKeys is the noisy sum of the four of eight records with the least keys, of so many values; 0 for 2⁶⁴.
func byKeys(values uint64) proptest.Mechanism {
	return releases(event(gaussian(0.5).SubsetSampled(8, 4)), func(x []float64, rng *rand.Rand) []float64 {
		type key struct {
			at uint64
			v  float64
		}
		keys := make([]key, len(x))
		for i, v := range x {
			keys[i] = key{rng.Uint64(), v}
			if values > 0 {
				keys[i].at %= values
			}
		}
		slices.SortStableFunc(keys, func(a, b key) int { return int(either(a.at < b.at, -1, either(a.at > b.at, 1, 0))) })
		total := rng.NormFloat64()
		for _, k := range keys[:min(4, len(keys))] {
			total += clipped(0, k.v)
		}
		return []float64{total}
	})
}

// objective is where a logistic loss of the records, with a weak prior and a random slope, is least.
func objective(epsilon float64) proptest.Mechanism {
	const weak = 0.1
	return onGrid(pure(epsilon), func(x []float64, rng *rand.Rand) []float64 {
		slope, low, high := laplace(rng, 2), -1e4, 1e4
		t := 0.0
		for range 60 {
			g, h := weak*t+slope, weak
			for _, v := range x {
				v = clipped(0, v)
				p := sigmoid(-v * t)
				g, h = g-v*p, h+v*v*p*(1-p)
			}
			if g > 0 {
				high = t
			} else {
				low = t
			}
			next := t - g/h
			if next <= low || next >= high {
				next = (low + high) / 2
			}
			if math.Abs(next-t) < 1e-10*(1+math.Abs(t)) {
				break
			}
			t = next
		}
		return []float64{t}
	})
}

func afterTwentyFifthMechanisms() []Case {
	return []Case{
		noise("noise of three thousand releases is in strata", "serial", plain, strata(3000)),
		afterSeed("the first noise has some of that of the seed before", "0.48", 0.6),
	}
}

func afterTwentyFifthMechanismControls() []Case {
	return []Case{afterSeed("the first noise has a stream of its own", "", 0)}
}

// afterSeed has a share of the noise of the seed before in its first release.
func afterSeed(name, effect string, share float64) Case {
	return mechanism(name, effect, plain, func(m *sum) {
		own := func(seed uint64) float64 { return rand.New(rand.NewPCG(seed, 9)).NormFloat64() }
		at := uint64(0)
		m.seeds = func(seed uint64) uint64 {
			at = seed
			return seed
		}
		m.noise = func(_ *sum, rng *rand.Rand, i int, _ float64) float64 {
			z := rng.NormFloat64()
			if i == 0 {
				z = math.Sqrt(1-share*share)*own(at) + share*own(at-1)
			}
			return noiseSD * z
		}
	})
}
