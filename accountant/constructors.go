package accountant

// Proof: docs/proofs/accountant-curves.md.

import (
	"fmt"
)

// Gaussian is the release of a query with Gaussian noise whose standard
// deviation is noiseMultiplier times the query's L2 sensitivity under adj.
// It must be ≥ 0; 0 is no noise and costs +Inf, +Inf costs nothing.
func Gaussian(adj Adjacency, noiseMultiplier float64) (Event, error) {
	if err := noise("Gaussian", noiseMultiplier); err != nil {
		return Event{}, err
	}
	return newEvent(adj, gaussian{noiseMultiplier})
}

// Laplace is the release of a query with Laplace noise whose scale is
// noiseMultiplier ≥ 0 times its L1 sensitivity under adj (Mironov 2017).
func Laplace(adj Adjacency, noiseMultiplier float64) (Event, error) {
	if err := noise("Laplace", noiseMultiplier); err != nil {
		return Event{}, err
	}
	return newEvent(adj, laplace{noiseMultiplier})
}

// Pure is any ε-DP release, epsilon ≥ 0.
func Pure(adj Adjacency, epsilon float64) (Event, error) {
	if err := cost("Pure: epsilon", epsilon); err != nil {
		return Event{}, err
	}
	return newEvent(adj, pure{epsilon})
}

// Approximate is any (ε, δ)-DP release, epsilon ≥ 0 and 0 ≤ delta < 1. Its δ is
// added to the composition's, as a chance of failure; the rest is ε-DP.
func Approximate(adj Adjacency, epsilon, delta float64) (Event, error) {
	if err := cost("Approximate: epsilon", epsilon); err != nil {
		return Event{}, err
	}
	if !(delta >= 0 && delta < 1) {
		return Event{}, fmt.Errorf("accountant: Approximate: delta %v: must be in [0, 1)", delta)
	}
	return newEvent(adj, approximate{epsilon, delta})
}

// ZCDP is any ρ-zCDP release (Bun, Steinke 2016), rho ≥ 0.
func ZCDP(adj Adjacency, rho float64) (Event, error) {
	if err := cost("ZCDP: rho", rho); err != nil {
		return Event{}, err
	}
	return newEvent(adj, zcdp{rho})
}

// GaussianDP is any µ-GDP release (Dong, Roth, Su 2022), mu ≥ 0.
func GaussianDP(adj Adjacency, mu float64) (Event, error) {
	if err := cost("GaussianDP: mu", mu); err != nil {
		return Event{}, err
	}
	return newEvent(adj, gaussianDP{mu})
}

// RandomizedResponse reports one of categories ≥ 2 values, the true one
// e^ε times as likely as each other one. epsilon ≥ 0.
func RandomizedResponse(adj Adjacency, epsilon float64, categories int64) (Event, error) {
	if err := cost("RandomizedResponse: epsilon", epsilon); err != nil {
		return Event{}, err
	}
	if categories < 2 {
		return Event{}, fmt.Errorf("accountant: RandomizedResponse: categories %d: must be at least 2", categories)
	}
	return newEvent(adj, randomizedResponse{epsilon, categories})
}

// BoundedRange is any release whose log-likelihood ratio between adjacent data
// sets varies over outputs within an interval of length s ≥ 0 (Durfee, Rogers
// 2019), such as the exponential mechanism, or one exact posterior draw with
// s = 2·R_ℓ (theory §2.9). Its curve is theory §2.2.
func BoundedRange(adj Adjacency, s float64) (Event, error) {
	if err := cost("BoundedRange: range", s); err != nil {
		return Event{}, err
	}
	return newEvent(adj, boundedRange{s})
}
