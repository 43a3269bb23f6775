package audit

import (
	"errors"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// curve is a bound on what a release may show: (ε, δ) pairs that all hold.
type curve []struct{ epsilon, delta float64 }

// curveOf is a claim at 80 values of δ: few small ones, and close together where most
// guesses are made. Any number of its pairs is a bound.
func curveOf(claim accountant.Event) (curve, error) {
	deltas := []float64{1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 2e-3, 5e-3}
	for i := range 70 {
		deltas = append(deltas, 0.0137*float64(i+1))
	}
	var c curve
	for _, delta := range deltas {
		g, err := claim.Epsilon(delta)
		if err != nil {
			return nil, err
		}
		c = append(c, struct{ epsilon, delta float64 }{g.Epsilon, delta})
		if g.Epsilon == 0 {
			break
		}
	}
	return c, nil
}

// at is the trade-off function: the least rate of missing a member at a rate x of false
// positives. It is its own inverse.
func (c curve) at(x float64) float64 {
	least := 0.0
	for _, p := range c {
		e := math.Exp(p.epsilon)
		least = max(least, 1-p.delta-e*x, (1-p.delta-x)/e)
	}
	return least
}

// gaussianCurve is the trade-off function of a Gaussian release whose two worlds are mu
// standard deviations apart.
func gaussianCurve(mu float64) func(float64) float64 {
	return func(x float64) float64 {
		quantile := -math.Sqrt2 * math.Erfcinv(2*(1-x)) // of 1−x
		return math.Erfc((mu-quantile)/math.Sqrt2) / 2
	}
}

// refutes reports whether guesses refute that the release is bounded by a trade-off
// function in each canary (Mahloujifar, Melis and Chaudhuri 2025, Algorithm 3): if it is,
// they do with probability falseAlarm at most. r bounds from below the mass of canaries
// that are guessed right when more than i guesses are right, and h that of those guessed
// wrong. From the observed number downwards the trade-off leaves h no less than it
// leaves to r. If both together exceed the guesses' share of canaries, it is refuted.
func (o OneRun) refutes(tradeoff func(float64) float64, falseAlarm float64) bool {
	guesses, canaries := float64(o.Guesses), float64(o.Canaries)
	r := falseAlarm * float64(o.Correct) / canaries
	h := falseAlarm * (guesses - float64(o.Correct)) / canaries
	for i := o.Correct - 1; i >= 0; i-- {
		next := max(h, tradeoff(1-r))
		r += float64(i) / (guesses - float64(i)) * (next - h)
		h = next
		if r+h > guesses/canaries {
			return true
		}
	}
	return false
}

// Refutes reports whether the guesses refute a claim, at all its δ together: a true one
// with probability falseAlarm at most.
func (o OneRun) Refutes(claim accountant.Event, falseAlarm float64) (bool, error) {
	if err := errors.Join(o.check(), checkFalseAlarm(falseAlarm)); err != nil {
		return false, err
	}
	c, err := curveOf(claim)
	return err == nil && o.refutes(c.at, falseAlarm), err
}

// LowerGaussian returns a number that is at most ε at delta with confidence
// 1 − falseAlarm if the release is no more revealing than some Gaussian one, as chains of
// many steps nearly are.
func (o OneRun) LowerGaussian(delta, falseAlarm float64) (float64, error) {
	if err := errors.Join(o.check(), checkFalseAlarm(falseAlarm)); err != nil {
		return 0, err
	}
	const most = 32 // standard deviations
	mu, err := bisect(most, func(mu float64) (bool, error) { return o.refutes(gaussianCurve(mu), falseAlarm), nil })
	if err != nil {
		return 0, err
	}
	return gaussianEpsilon(mu, delta)
}
