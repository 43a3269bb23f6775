package priors

// Proof: docs/proofs/targets-certificates.md.

import (
	"fmt"
	"math"
)

// Dirichlet is a Dirichlet distribution over class probabilities, a beta
// distribution when there are two.
type Dirichlet struct {
	Alpha []float64 // concentrations, positive, at least two
}

// Check refuses fewer than two concentrations, or ones that are not positive and
// finite.
func (d Dirichlet) Check() error {
	if len(d.Alpha) < 2 {
		return fmt.Errorf("priors: Dirichlet: %d concentrations, but it needs at least 2", len(d.Alpha))
	}
	for k, a := range d.Alpha {
		if err := positive(fmt.Sprintf("Dirichlet: Alpha[%d]", k), a); err != nil {
			return err
		}
	}
	return nil
}

// logBeta returns the log of the multivariate beta function.
func logBeta(alpha []float64) float64 {
	var sum, total float64
	for _, a := range alpha {
		v, _ := math.Lgamma(a)
		sum += v
		total += a
	}
	v, _ := math.Lgamma(total)
	return sum - v
}

// Renyi returns the Rényi divergence D_order(d‖other) in closed form (Geumlek et
// al. 2017, §2): +Inf where order·α + (1−order)·α′ is not positive in every
// class. order must exceed 1. It panics when the numbers of classes differ.
func (d Dirichlet) Renyi(order float64, other Dirichlet) float64 {
	if len(d.Alpha) != len(other.Alpha) {
		panic(fmt.Sprintf("priors: Rényi divergence between Dirichlet distributions over %d and %d classes", len(d.Alpha),
			len(other.Alpha)))
	}
	if !(order > 1) {
		panic(fmt.Sprintf("priors: Rényi divergence of order %v; it must exceed 1", order))
	}
	tilted := make([]float64, len(d.Alpha))
	for k, a := range d.Alpha {
		tilted[k] = order*a + (1-order)*other.Alpha[k]
		if !(tilted[k] > 0) {
			return math.Inf(1)
		}
	}
	p, q := logBeta(d.Alpha), logBeta(other.Alpha)
	return max(0, q-p+(logBeta(tilted)-p)/(order-1))
}
