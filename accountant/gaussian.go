package accountant

// Proof: docs/proofs/accountant-curves.md.

import (
	"fmt"
	"math"
)

// The optional abilities of a mechanism. Each bounds the same release, so a
// caller may use whichever is smallest.
type (
	// gaussianLike mechanisms are exactly the trade-off of N(0,1) and N(µ,1).
	gaussianLike interface{ mu() float64 }
	// failing mechanisms reveal everything with this probability; their curve
	// holds otherwise.
	failing interface{ failure() float64 }
	// departing mechanisms have the profile of the pair that mu or a numerical
	// accountant states, but for so much in the logarithm of either probability.
	departing interface{ departure() float64 }
)

// gaussian noise whose standard deviation is sigma times the sensitivity.
type gaussian struct{ sigma float64 }

func (m gaussian) kind() string { return "gaussian" }

func (m gaussian) fields() []field { return []field{{"noise_multiplier", m.sigma}} }

func (m gaussian) mu() float64 { return 1 / m.sigma }

func (m gaussian) rdp(_ Adjacency, order float64) float64 { return gaussianRDP(order, 1/m.sigma) }

// gridGaussian is gaussian but for a departure of its log-probabilities.
type gridGaussian struct {
	gaussian
	departs float64
}

func (m gridGaussian) kind() string { return "grid_gaussian" }

func (m gridGaussian) fields() []field {
	return append(m.gaussian.fields(), field{"departure", m.departs})
}

func (m gridGaussian) departure() float64 { return m.departs }

func gaussianRDP(order, mu float64) float64 {
	if mu == 0 {
		return 0
	}
	return order * mu * mu / 2
}

// GridGaussian is Gaussian with noise from the discrete Gaussian on a grid so fine
// that it departs little from the continuous one: log-probabilities of what is
// released differ from those of the rounded continuous noise by at most departure ≥ 0,
// over both data sets together (docs/proofs/curator.md §6). Its Rényi curve is at most
// Gaussian's; the exact trade-off is charged with the departure of every release.
func GridGaussian(adj Adjacency, noiseMultiplier, departure float64) (Event, error) {
	if err := noise("GridGaussian", noiseMultiplier); err != nil {
		return Event{}, err
	}
	if err := cost("GridGaussian: departure", departure); err != nil {
		return Event{}, err
	}
	return newEvent(adj, gridGaussian{gaussian{noiseMultiplier}, departure})
}

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
