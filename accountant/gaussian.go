package accountant

// Proof: docs/proofs/accountant-curves.md.

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

func gaussianRDP(order, mu float64) float64 {
	if mu == 0 {
		return 0
	}
	return order * mu * mu / 2
}
