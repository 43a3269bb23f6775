package audit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Trials counts the guesses of an attacker, by what was true.
type Trials struct {
	// Absent and Present are the numbers of rounds without and with the member.
	Absent, Present int
	// FalsePositives are the Absent rounds guessed present, FalseNegatives the
	// Present rounds guessed absent.
	FalsePositives, FalseNegatives int
}

func (t Trials) check() error {
	if t.Absent < 1 || t.Present < 1 {
		return fmt.Errorf("audit: %d rounds without and %d with the member: at least one of each is needed",
			t.Absent, t.Present)
	}
	if t.FalsePositives < 0 || t.FalsePositives > t.Absent || t.FalseNegatives < 0 || t.FalseNegatives > t.Present {
		return fmt.Errorf("audit: %d false positives in %d rounds, %d false negatives in %d: "+
			"counts must lie within their class", t.FalsePositives, t.Absent, t.FalseNegatives, t.Present)
	}
	return nil
}

// Rates returns the false positive and the false negative rate.
func (t Trials) Rates() (fpr, fnr float64) {
	return float64(t.FalsePositives) / float64(t.Absent), float64(t.FalseNegatives) / float64(t.Present)
}

// Advantage returns 1 − FPR − FNR, 0 for guessing and 1 for knowing. An (ε, δ)-DP
// mechanism allows (e^ε − 1 + 2δ)/(e^ε + 1) in expectation.
func (t Trials) Advantage() float64 {
	fpr, fnr := t.Rates()
	return 1 - fpr - fnr
}

// LowerEpsilon returns a number that is at most ε with confidence 1 − falseAlarm,
// in (0, 1), if the mechanism is (ε, delta)-DP: the larger of
// log((1 − δ − FNR)/FPR) and log((1 − δ − FPR)/FNR) (Kairouz, Oh, Viswanath 2015,
// Thm 2.1) at Clopper-Pearson upper bounds of both rates, each at half the false
// alarm. It is 0 when nothing follows.
func (t Trials) LowerEpsilon(delta, falseAlarm float64) (float64, error) {
	if err := t.check(); err != nil {
		return 0, err
	}
	if !(delta >= 0 && delta < 1) {
		return 0, fmt.Errorf("audit: delta %v: must be in [0, 1)", delta)
	}
	if !(falseAlarm > 0 && falseAlarm < 1) {
		return 0, fmt.Errorf("audit: false alarm %v: must be in (0, 1)", falseAlarm)
	}
	_, fpr := ClopperPearson(t.FalsePositives, t.Absent, falseAlarm/2)
	_, fnr := ClopperPearson(t.FalseNegatives, t.Present, falseAlarm/2)
	bound := func(hit, miss float64) float64 {
		if hit <= miss {
			return 0
		}
		return math.Log(hit / miss)
	}
	return max(bound(1-delta-fnr, fpr), bound(1-delta-fpr, fnr)), nil
}

// ClopperPearson returns the bounds of a binomial probability after k successes in
// n trials: lo is above it with probability at most alpha, and hi below it with
// probability at most alpha. Together they are a 1 − 2·alpha interval. It panics
// unless 0 ≤ k ≤ n, n ≥ 1 and alpha is in (0, 1).
func ClopperPearson(k, n int, alpha float64) (lo, hi float64) {
	if n < 1 || k < 0 || k > n || !(alpha > 0 && alpha < 1) {
		panic(fmt.Sprintf("audit: ClopperPearson: %d successes in %d trials at alpha %v", k, n, alpha))
	}
	lo, hi = 0, 1
	if k > 0 { // P(X ≥ k) = alpha
		lo, _ = solve(func(p float64) bool { return mathext.RegIncBeta(float64(k), float64(n-k+1), p) <= alpha })
	}
	if k < n { // P(X ≤ k) = alpha
		_, hi = solve(func(p float64) bool { return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p) >= alpha })
	}
	return lo, hi
}

// solve returns numbers in [0, 1] a rounding apart, at the first of which before holds
// and at the second not; before holds up to some number. (The library's inverse of the
// incomplete beta function is far off for the levels that are used here: it answers
// 0.043 instead of 0.00090 for 5 successes of 25 000 at 5e-7.)
func solve(before func(p float64) bool) (lo, hi float64) {
	lo, hi = 0, 1
	for {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi || hi-lo <= 1e-12*min(hi, 1-lo) {
			return lo, hi
		}
		if before(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
}
