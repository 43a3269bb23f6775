package audit

import (
	"fmt"
	"math"
)

// OneRun counts the guesses of an attack on one release in which many canaries were
// each present or absent, or one of two records, by a coin of their own (Steinke, Nasr
// and Jagielski 2023). Guesses on several releases about separate data sets add up.
type OneRun struct {
	// Canaries is the number of coins.
	Canaries int
	// Guesses is the number of canaries that the attack said something of. How many
	// was fixed in advance; which ones may depend on the release.
	Guesses int
	// Correct is the number of guesses that were right.
	Correct int
}

func (o OneRun) check() error {
	if o.Canaries < 1 || o.Guesses < 1 || o.Guesses > o.Canaries || o.Correct < 0 || o.Correct > o.Guesses {
		return fmt.Errorf("audit: %d correct guesses of %d on %d canaries: counts must lie within each other", o.Correct,
			o.Guesses, o.Canaries)
	}
	return nil
}

// PValue bounds the probability of as many correct guesses, or more, if the release
// is (epsilon, delta)-DP in each canary (Steinke, Nasr and Jagielski 2023, Thm 5.2).
func (o OneRun) PValue(epsilon, delta float64) (float64, error) {
	if err := o.check(); err != nil {
		return 0, err
	}
	if !(epsilon >= 0) || !(delta >= 0 && delta <= 1) {
		return 0, fmt.Errorf("audit: ε %v and δ %v: must be at least 0, δ at most 1", epsilon, delta)
	}
	right := 1 / (1 + math.Exp(-epsilon)) // of a guess, at most
	tail := 0.0
	for k := o.Correct; k <= o.Guesses; k++ {
		tail += binomial(o.Guesses, k, right)
	}
	// Each unit of δ may turn i more guesses at the price of 1/i.
	largest, sum := 0.0, 0.0
	for i := 1; i <= o.Correct; i++ {
		sum += binomial(o.Guesses, o.Correct-i, right)
		largest = max(largest, sum/float64(i))
	}
	return min(1, tail+2*float64(o.Canaries)*delta*largest), nil
}

// LowerEpsilon returns a number that is at most ε with confidence 1 − falseAlarm if
// the release is (ε, delta)-DP in each canary: the largest that the guesses refute.
func (o OneRun) LowerEpsilon(delta, falseAlarm float64) (float64, error) {
	if err := checkFalseAlarm(falseAlarm); err != nil {
		return 0, err
	}
	// The p-value is 1 − 1e-28 of a guess at the upper end.
	return bisect(64, func(eps float64) (bool, error) {
		p, err := o.PValue(eps, delta)
		return p <= falseAlarm, err
	})
}

func checkFalseAlarm(v float64) error {
	if !(v > 0 && v < 1) {
		return fmt.Errorf("audit: false alarm %v: must be in (0, 1)", v)
	}
	return nil
}

// bisect returns the largest number in [0, hi] up to which something holds, and 0 where
// it holds nowhere.
func bisect(hi float64, holds func(float64) (bool, error)) (float64, error) {
	if ok, err := holds(0); err != nil || !ok {
		return 0, err
	}
	lo := 0.0
	for range 60 {
		mid := (lo + hi) / 2
		ok, err := holds(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// Most is the lower bound that these canaries would give if every guess were right.
func (o OneRun) Most(delta, falseAlarm float64) (float64, error) {
	return OneRun{o.Canaries, o.Guesses, o.Guesses}.LowerEpsilon(delta, falseAlarm)
}

// binomial is the probability of k of n successes.
func binomial(n, k int, p float64) float64 {
	switch {
	case k < 0 || k > n:
		return 0
	case p == 1:
		if k == n {
			return 1
		}
		return 0
	}
	all, _ := math.Lgamma(float64(n + 1))
	some, _ := math.Lgamma(float64(k + 1))
	rest, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(all - some - rest + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}
