package accountant

// Proof: docs/proofs/accountant-bits.md.

import "fmt"

// Bit is one released decision to accept a move or not. Adding or removing a record
// moves its log-odds by at most Contribution: by twice that under substitution (theory
// §2.2, §2.3). What is charged is a factor 1+1e-9 larger, for the rounding of the
// mechanism's acceptance probability.
type Bit struct {
	// Contribution is finite and at least 0.
	Contribution float64
	// Isotropic says that the move is Gaussian, isotropic, public and independent of the
	// data. A record then moves the log-odds by at most Contribution·|Z|, Z ~ N(0,1), and
	// the cost averages over Z (theory §2.7, docs/proofs/accountant-isotropic.md).
	Isotropic bool
	// Growth and Most are those of an Isotropic bit from a thinned batch: with
	// b = min(Contribution·|Z|, Most) a record moves the log-odds by at most b + Growth·b²
	// (docs/proofs/tunamh.md, §3). Both are finite and at least 0. Both 0 is no thinning.
	Growth, Most float64
	// Variance, in [0.25, 9], is that of the Gaussian noise of a penalty test (Ceperley,
	// Dewing 1999; Yıldırım, Ermiş 2019), which accepts with probability
	//
	//	a(u) = Φ(u/σ − σ/2) + e^u Φ(−u/σ − σ/2),
	//
	// the smaller of a and 1−a raised to 2⁻⁶⁴ where it is below. Contributions are to u.
	// The cost is the supremum over u of the divergence of the two bits (theory §2.4,
	// docs/proofs/penalty.md), never more than that of releasing the noisy u. If Isotropic,
	// Rényi orders from about σ/(2·Contribution) under substitution cost +Inf, and from
	// twice that under add/remove. 0 is a test whose bit is a Bernoulli draw of the log-odds.
	Variance float64
}

// Event is the cost of one such bit. Errors: a number out of range; a thinned bit that is
// not isotropic, or of a penalty test.
func (b Bit) Event(adj Adjacency) (Event, error) {
	thinned := b.Growth != 0 || b.Most != 0
	switch {
	case thinned && (!b.Isotropic || b.Variance != 0):
		return Event{}, fmt.Errorf("accountant: Bit: growth %v and most %v are for isotropic bits without a variance",
			b.Growth, b.Most)
	case thinned:
		return stated(adj, thinnedIsotropicBit{b.Contribution, b.Growth, b.Most})
	case b.Variance != 0 && b.Isotropic:
		return stated(adj, isotropicPenaltyBit{b.Variance, b.Contribution})
	case b.Variance != 0:
		return stated(adj, penaltyBit{b.Variance, b.Contribution})
	case b.Isotropic:
		return stated(adj, isotropicBit{b.Contribution})
	}
	return stated(adj, acceptanceBit{b.Contribution})
}

func (m acceptanceBit) check() error { return cost("contribution of a bit", m.c) }

func (m isotropicBit) check() error { return cost("scale of a bit", m.scale) }

func (m thinnedIsotropicBit) check() error {
	for _, p := range []field{{"scale", m.scale}, {"growth", m.growth}, {"most", m.most}} {
		if err := cost(p.name+" of a thinned bit", p.value.(float64)); err != nil {
			return err
		}
	}
	return nil
}

func (m penaltyBit) check() error { return penaltyParameters(m.variance, m.c) }

func (m isotropicPenaltyBit) check() error { return penaltyParameters(m.variance, m.scale) }

func penaltyParameters(variance, contribution float64) error {
	if !(variance >= leastPenaltyVariance && variance <= mostPenaltyVariance) {
		return fmt.Errorf("accountant: variance %v of a penalty test: must be in [%v, %v]", variance, leastPenaltyVariance,
			mostPenaltyVariance)
	}
	return cost("contribution of a penalty test", contribution)
}
