package accountant

// Proof: docs/proofs/accountant-curves.md.

import (
	"fmt"
	"math"
)

// Gaussian is the release of a query with Gaussian noise whose standard
// deviation is noiseMultiplier times the query's L2 sensitivity under adj.
// It must be ≥ 0; 0 is no noise and costs +Inf, +Inf costs nothing.
func Gaussian(adj Adjacency, noiseMultiplier float64) (Event, error) {
	return stated(adj, gaussian{noiseMultiplier})
}

func (m gaussian) check() error { return noise("Gaussian", m.sigma) }

// DiscreteGaussian is Gaussian with noise from the discrete Gaussian on a grid
// that also holds the query's values; noiseMultiplier as in Gaussian. It costs
// at most as much under every Rényi order (Canonne, Kamath, Steinke 2020).
func DiscreteGaussian(adj Adjacency, noiseMultiplier float64) (Event, error) {
	return stated(adj, discreteGaussian{noiseMultiplier})
}

func (m discreteGaussian) check() error { return noise("DiscreteGaussian", m.sigma) }

// Laplace is the release of a query with Laplace noise whose scale is
// noiseMultiplier ≥ 0 times its L1 sensitivity under adj (Mironov 2017).
func Laplace(adj Adjacency, noiseMultiplier float64) (Event, error) {
	return stated(adj, laplace{noiseMultiplier})
}

func (m laplace) check() error { return noise("Laplace", m.b) }

// Pure is any ε-DP release, epsilon ≥ 0.
func Pure(adj Adjacency, epsilon float64) (Event, error) { return stated(adj, pure{epsilon}) }

func (m pure) check() error { return cost("Pure: epsilon", m.eps) }

// Approximate is any (ε, δ)-DP release, epsilon ≥ 0 and 0 ≤ delta < 1. Its δ is
// added to the composition's, as a chance of failure; the rest is ε-DP.
func Approximate(adj Adjacency, epsilon, delta float64) (Event, error) {
	return stated(adj, approximate{epsilon, delta})
}

func (m approximate) check() error {
	if err := cost("Approximate: epsilon", m.eps); err != nil {
		return err
	}
	if !(m.delta >= 0 && m.delta < 1) {
		return fmt.Errorf("accountant: Approximate: delta %v: must be in [0, 1)", m.delta)
	}
	return nil
}

// ZCDP is any ρ-zCDP release (Bun, Steinke 2016), rho ≥ 0.
func ZCDP(adj Adjacency, rho float64) (Event, error) { return stated(adj, zcdp{rho}) }

func (m zcdp) check() error { return cost("ZCDP: rho", m.rho) }

// GaussianDP is any µ-GDP release (Dong, Roth, Su 2022), mu ≥ 0.
func GaussianDP(adj Adjacency, mu float64) (Event, error) { return stated(adj, gaussianDP{mu}) }

func (m gaussianDP) check() error { return cost("GaussianDP: mu", m.m) }

// RandomizedResponse reports one of categories ≥ 2 values, the true one
// e^ε times as likely as each other one. epsilon ≥ 0.
func RandomizedResponse(adj Adjacency, epsilon float64, categories int64) (Event, error) {
	return stated(adj, randomizedResponse{epsilon, categories})
}

func (m randomizedResponse) check() error {
	if err := cost("RandomizedResponse: epsilon", m.eps); err != nil {
		return err
	}
	if m.k < 2 {
		return fmt.Errorf("accountant: RandomizedResponse: categories %d: must be at least 2", m.k)
	}
	return nil
}

// BoundedRange is any release whose log-likelihood ratio between adjacent data
// sets varies over outputs within an interval of length s ≥ 0 (Durfee, Rogers
// 2019), such as the exponential mechanism, or one exact posterior draw with
// s = 2·R_ℓ (theory §2.9). Its curve is theory §2.2.
func BoundedRange(adj Adjacency, s float64) (Event, error) { return stated(adj, boundedRange{s}) }

func (m boundedRange) check() error { return cost("BoundedRange: range", m.s) }

func noise(what string, x float64) error {
	if !(x >= 0) {
		return fmt.Errorf("accountant: %s: noise multiplier %v: must be a number ≥ 0 (noise scale over sensitivity)", what, x)
	}
	return nil
}

func cost(what string, x float64) error {
	if !(x >= 0) || math.IsInf(x, 1) {
		return fmt.Errorf("accountant: %s %v: must be a finite number ≥ 0", what, x)
	}
	return nil
}
