package proptest_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
)

// choose is the number of ways, exact for the small numbers here.
func choose(n, k int) float64 {
	ways := 1.0
	for i := range k {
		ways = ways * float64(n-i) / float64(i+1)
	}
	return ways
}

// TestSharesAreHypergeometric holds the p-value to twice the smaller tail, summed from the ways to
// choose. A p-value below that would be a false alarm.
func TestSharesAreHypergeometric(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, m := rapid.IntRange(1, 40).Draw(rt, "n"), rapid.IntRange(1, 60).Draw(rt, "m")
		k, l := rapid.IntRange(0, n).Draw(rt, "k"), rapid.IntRange(0, m).Draw(rt, "l")
		above, below := 0.0, 0.0
		for i := max(0, k+l-m); i <= min(n, k+l); i++ {
			p := choose(n, i) * choose(m, k+l-i) / choose(n+m, k+l)
			if i >= k {
				above += p
			}
			if i <= k {
				below += p
			}
		}
		exact, got := min(1, 2*min(above, below)), proptest.UnlikeShares(k, n, l, m)
		if got < exact*(1-1e-9) || got < 1 && got > exact*(1+1e-4) {
			rt.Errorf("%d of %d and %d of %d: %v, and exactly %v", k, n, l, m, got, exact)
		}
	})
	// Far too few of many, where the first terms of a sum are beyond float64.
	if p := proptest.UnlikeShares(480, 1000, 250_000, 500_000); !(p > 0.1) {
		t.Errorf("480 of 1000 against one half: p = %v", p)
	}
	if p := proptest.UnlikeShares(380, 1000, 250_000, 500_000); math.Abs(math.Log10(p)+13.6) > 0.7 { // z = −7.6
		t.Errorf("380 of 1000 against one half: p = %v", p)
	}
}
