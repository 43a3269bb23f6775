package pld

import (
	"fmt"
	"math"
)

// Laplace is noise of scale b times the L1 sensitivity, b ≥ 0. Zero reveals
// everything, +Inf nothing. Multipliers below 1e-6 are charged as 0.
func Laplace(b float64) (Mechanism, error) {
	if err := checkNoise("Laplace", b); err != nil {
		return Mechanism{}, err
	}
	name := fmt.Sprintf("Laplace(%g)", b)
	switch {
	case b < leastNoise:
		return everything(name, b == 0), nil
	case math.IsInf(b, 1):
		return nothing(name), nil
	}
	top := 1 / min(b, mostNoise)
	m := symmetric(name, func(eps float64) float64 { return max(0, -math.Expm1((eps-top)/2)) })
	m.knee = top
	return m, nil
}

func checkLoss(what string, eps float64) error {
	if !(eps >= 0) {
		return fmt.Errorf("pld: %s: %v: must be at least 0", what, eps)
	}
	return nil
}

// most is the loss from which a bounded mechanism is charged as unbounded.
const most = 1e6

// RandomizedResponse reports one of k ≥ 2 values, the true one e^eps times as
// likely as each other, eps ≥ 0, under substitution of the value.
func RandomizedResponse(eps float64, k int64) (Mechanism, error) {
	if err := checkLoss("RandomizedResponse: epsilon", eps); err != nil {
		return Mechanism{}, err
	}
	if k < 2 {
		return Mechanism{}, fmt.Errorf("pld: RandomizedResponse: %d categories: must be at least 2", k)
	}
	return response(fmt.Sprintf("RandomizedResponse(%g, %d)", eps, k), eps, 0, float64(k)), nil
}

// Pure is any eps-DP release: binary randomised response dominates it (Kairouz,
// Oh, Viswanath 2015, Theorem 3.3).
func Pure(eps float64) (Mechanism, error) {
	if err := checkLoss("Pure: epsilon", eps); err != nil {
		return Mechanism{}, err
	}
	return response(fmt.Sprintf("Pure(%g)", eps), eps, 0, 2), nil
}

// Approximate is any (eps, delta)-DP release, 0 ≤ delta < 1: with probability
// delta everything is revealed, otherwise it is Pure (ibid.).
func Approximate(eps, delta float64) (Mechanism, error) {
	if err := checkLoss("Approximate: epsilon", eps); err != nil {
		return Mechanism{}, err
	}
	if !(delta >= 0 && delta < 1) {
		return Mechanism{}, fmt.Errorf("pld: Approximate: delta %v: must be in [0, 1)", delta)
	}
	return response(fmt.Sprintf("Approximate(%g, %g)", eps, delta), eps, delta, 2), nil
}

// response is k-ary randomised response that fails with probability delta:
// δ(ε) = delta + (1 − delta)(e^eps − e^ε)₊/(e^eps + k − 1).
func response(name string, eps, delta, k float64) Mechanism {
	switch {
	case eps > most:
		return everything(name, math.IsInf(eps, 1))
	case eps == 0 && delta == 0:
		return nothing(name)
	}
	share := (1 - delta) / (1 + (k-1)*math.Exp(-eps))
	m := symmetric(name, func(e float64) float64 { return delta + share*max(0, -math.Expm1(e-eps)) })
	m.lattice, m.failures = eps, [2]float64{delta, delta}
	return m
}

// bit is a released bit of probability p1 or q1 on the two adjacent data sets, with the
// complements given, for probabilities near 1: one attained pair, in both directions.
func bit(name string, p1, p0, q1, q0 float64) Mechanism {
	delta := func(p1, p0, q1, q0 float64) func(float64) float64 {
		return func(eps float64) float64 {
			return max(0, lessTimes(p1, q1, eps)) + max(0, lessTimes(p0, q0, eps))
		}
	}
	return Mechanism{name: name, forward: delta(p1, p0, q1, q0), backward: delta(q1, q0, p1, p0)}
}

// lessTimes is p − q·e^eps.
func lessTimes(p, q, eps float64) float64 {
	if q == 0 {
		return p
	}
	return -p * math.Expm1(eps-math.Log(p/q))
}

// BoundedRange is any release whose log-probability ratio between adjacent data
// sets varies over outputs within an interval of length s ≥ 0: an exponential
// mechanism, one posterior draw, an acceptance bit. The profile is the pointwise
// largest of the family (docs/proofs/pld.md, section 5), which composes; lower
// bounds use the one member that is a bit of probability σ(s/2) or σ(−s/2).
func BoundedRange(s float64) (Mechanism, error) {
	if err := checkLoss("BoundedRange: range", s); err != nil {
		return Mechanism{}, err
	}
	name := fmt.Sprintf("BoundedRange(%g)", s)
	switch {
	case s == 0:
		return nothing(name), nil
	case s > most:
		return everything(name, math.IsInf(s, 1)), nil
	}
	m := symmetric(name, func(eps float64) float64 { return rangeDelta(s, eps) })
	m.knee = s
	worst := response(name, s/2, 0, 2)
	m.worst = &worst
	return m, nil
}

// rangeDelta is e^ε(e^{(s−ε)/2} − 1)²/(e^s − 1).
func rangeDelta(s, eps float64) float64 {
	if eps >= s {
		return 0
	}
	d := -math.Expm1(-(s - eps) / 2)
	return d * d / -math.Expm1(-s)
}
