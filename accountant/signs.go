package accountant

// Proof: docs/proofs/barker-dynamics.md.

import (
	"fmt"
	"math"
)

// signBits is a vector of bits released with a public, isotropic Gaussian move
// that is independent of the data, and perhaps one further bit.
type signBits struct {
	dim                   int64
	contribution, further float64
}

// SignBits is the release of Z ~ N(0, I) in dim ≥ 1 dimensions, public and
// independent of the data, with one bit for each coordinate, drawn independently
// given Z. A record that is added or removed moves the log-odds of bit j by
// Z_j·v_j with ‖v‖₂ ≤ contribution, where v does not depend on Z. With further > 0
// one more bit follows, whose log-odds a record moves by at most further·‖Z‖₂,
// whatever the other bits were. These are the signs and the acceptance of Barker
// proposal dynamics (Livingstone and Zanella 2022). Averaged over Z, with
// κ = α(α−1)/4 and a, b the two numbers (twice them under substitution),
//
//	ε(α) = −[log(1 − κ(a² + b²)) + (dim−1)·log(1 − κb²)]/(2(α−1)),
//
// and +Inf once an argument is not positive: to first order αa²/8 + dim·αb²/8
// (docs/proofs/barker-dynamics.md). The charged numbers are inflated as
// a Bit's are.
func SignBits(adj Adjacency, dim int64, contribution, further float64) (Event, error) {
	return stated(adj, signBits{dim, contribution, further})
}

func (m signBits) check() error {
	if m.dim < 1 {
		return fmt.Errorf("accountant: SignBits: dimension %d: must be at least 1", m.dim)
	}
	if err := cost("SignBits: contribution", m.contribution); err != nil {
		return err
	}
	return cost("SignBits: further contribution", m.further)
}

func (m signBits) kind() string { return "sign_bits" }
func (m signBits) fields() []field {
	return []field{{"dimension", m.dim}, {"contribution", m.contribution}, {"further", m.further}}
}

func (m signBits) rdp(adj Adjacency, order float64) float64 {
	if m.contribution == 0 && m.further == 0 {
		return 0
	}
	a, b := acceptanceBit{m.contribution}.spread(adj), acceptanceBit{m.further}.spread(adj)
	// A hair larger, for the rounding of what is close to 1.
	kappa := order * (order - 1) / 4 * (1 + 0x1p-49)
	along, across := kappa*(a*a+b*b), kappa*b*b
	if !(along < 1) {
		return math.Inf(1)
	}
	return -(math.Log1p(-along) + float64(m.dim-1)*math.Log1p(-across)) / (2 * (order - 1))
}
