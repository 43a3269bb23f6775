package proptest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"
)

// lags at which releases are compared with earlier ones.
var lags = []int{1, 2, 3, 4, 5, 7, 8, 10, 16, 32, 50, 64, 100, 128, 256, 500, 1000, 1024, 4096}

// checkIndependent expects releases to be independent of each other: products of
// scores at disjoint pairs of a lag have mean zero, and so do scores along any wave
// and in each tenth of the releases.
func checkIndependent(t rapid.TB, all [][]float64, o MechanismOptions) {
	t.Helper()
	if e := dependence(all, o.Seed); e.family() <= o.FalseAlarm/shares {
		failf(t, "releases are not independent draws: %s (p = %.2g in %d comparisons, Seed %d, false-alarm rate %g)%s",
			e.about, e.family(), e.count, o.Seed, o.FalseAlarm, o.test())
	}
}

// someOf are n of d coordinates, or all: from the first to the last.
func someOf(d, n int) []int {
	all := make([]int, min(d, n))
	for i := range all {
		if all[i] = i; d > n {
			all[i] = i * (d - 1) / (n - 1)
		}
	}
	return all
}

// dependence is the evidence that draws in a row are not independent and alike.
func dependence(all [][]float64, seed uint64) *evidence {
	e := &evidence{}
	d := len(all[0])
	mixed, weight := make([][2]float64, len(all)), 1.0 // of all coordinates: it shows what ties one to another
	mix := someOf(d, 16)
	for i, j := range mix {
		scores := scored(column(all, j))
		for i := range scores {
			for degree := range 2 {
				mixed[i][degree] += weight * (scores[i][degree] - mixed[i][degree])
			}
		}
		weight = 1 / (1/weight + 1.5)
		if !slices.Contains(someOf(len(mix), 4), i) {
			continue
		}
		for degree := range 2 {
			lagged(e, func(i int) float64 { return scores[i][degree] }, len(scores),
				fmt.Sprintf("the score of degree %d of coordinate %d", degree+1, j))
		}
		related(e, scores, j, rand64(seed, 30))
		balanced(e, all, j)
		for part := range 10 {
			for degree := range 4 {
				m := moment{span: 4}
				for _, s := range scores[part*len(scores)/10 : (part+1)*len(scores)/10] {
					m.add(s[degree])
				}
				e.see(m.p(), func() string {
					return fmt.Sprintf("releases of the %d. tenth have another law: "+
						"the mean score of degree %d of coordinate %d is %.3g", part+1, degree+1, j, m.mean())
				})
			}
		}
	}
	for degree := range 2 {
		if d > 1 {
			lagged(e, func(i int) float64 { return mixed[i][degree] }, len(mixed),
				fmt.Sprintf("the weighted score of degree %d of all coordinates", degree+1))
		}
	}
	twins(e, all)
	return e
}

// lagged compares a score of each release with that of earlier ones.
func lagged(e *evidence, score func(i int) float64, n int, what string) {
	for _, lag := range lags {
		if lag <= n/100 {
			e.see(apart(score, 0, n, lag, what))
		}
	}
	repeats(e, score, n, what)
}
