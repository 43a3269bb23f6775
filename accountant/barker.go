package accountant

// Proof: docs/proofs/accountant-curves.md.

import (
	"fmt"
	"math"
)

// barkerVariance is the subsampled Barker test of Heikkilä et al. 2019 on a
// given batch (their Thm 2): a Gaussian log-ratio release whose variance
// depends on the batch. It is stated under substitution within the batch.
type barkerVariance struct {
	batch     int64
	tightened bool
}

// SubsampledBarker is the released log-ratio of the subsampled Barker test on one
// batch, as accounted in Heikkilä et al. 2019, Thm 2: substitution, C = 2,
// |τN rᵢ| ≤ √batch, orders α < batch/5. Sampled without replacement it is their
// Cor. 2. batch must be at least 6.
//
// Tightened, the theorem's avoidable constant is removed (theory §2.6): with
// k = 4(b−1)/b the exact sensitivity of b times the batch variance (with divisor b),
// ε(α) = ½log(1+k/b) + log(1/(1−k(α−1)/b))/(2(α−1)) + 2α/(b−k(α−1)) for
// k(α−1) < b.
func SubsampledBarker(batch int, tightened bool) (Event, error) {
	return stated(Substitute, barkerVariance{int64(batch), tightened})
}

func (m barkerVariance) check() error {
	if m.batch < 6 {
		return fmt.Errorf("accountant: SubsampledBarker: batch %d: must be at least 6, for an order above 1 to be covered",
			m.batch)
	}
	return nil
}

func (m barkerVariance) kind() string {
	if m.tightened {
		return "barker_thm2_tightened"
	}
	return "barker_thm2"
}

func (m barkerVariance) fields() []field { return []field{{"batch", m.batch}} }

func (m barkerVariance) rdp(_ Adjacency, order float64) float64 {
	b := float64(m.batch)
	if m.tightened {
		k := 4 * (b - 1) / b
		left := 1 - k*(order-1)/b
		if !(left > 0) {
			return math.Inf(1)
		}
		return math.Log1p(k/b)/2 - math.Log(left)/(2*(order-1)) + 2*order/(b*left)
	}
	left := b - 5*order
	if !(left > 0) {
		return math.Inf(1)
	}
	return 5/(2*b) + math.Log(2*b/left)/(2*(order-1)) + 2*order/left
}
