package curator

// Proof: docs/proofs/accountant-curves.md.

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
)

// published prices a bit by the theorems of Heikkilä et al. (2019), whose
// assumptions it checks.
func (m AcceptanceBit) published(f Facts, p plan) (event accountant.Event, err error) {
	if err := m.checkPublished(f, p); err != nil {
		return event, err
	}
	if m.Batch.IsFull() {
		return accountant.Gaussian(f.Adjacency, math.Sqrt(m.Test.variance())/(2*room.Padded(p.constant)))
	}
	if event, err = accountant.SubsampledBarker(int(m.Batch.Size), m.Accounting == "tightened"); err != nil {
		return event, err
	}
	return m.Batch.charge(f, event)
}

// checkPublished reports what the theorems do not cover.
func (m AcceptanceBit) checkPublished(f Facts, p plan) error {
	switch {
	case m.Accounting != "published" && m.Accounting != "tightened":
		return fmt.Errorf("curator: the accounting is %q; give published or tightened, or leave it out to charge the bit",
			m.Accounting)
	case m.Test.kind() != correctedTest:
		return fmt.Errorf("curator: %v accounting is for the Gaussian-mixture corrected test, not %v", m.Accounting, m.Test)
	case p.averaged || f.RowsPerPerson != 1 || f.Adjacency != accountant.Substitute:
		return fmt.Errorf("curator: %v accounting needs a constant Clip, one row a person and substitution", m.Accounting)
	case m.Batch.IsFull():
		return nil
	case m.Batch.scheme() != fixedBatch:
		return fmt.Errorf("curator: %v accounting is for the full data and fixed-size batches, not %v", m.Accounting, m.Batch)
	}
	if limit := 1 / math.Sqrt(float64(m.Batch.Size)); m.Test.variance() != 2 || p.contribution > limit {
		return fmt.Errorf("curator: %v accounting needs Test{Corrected: 2} and a Clip of at most √b/N = %v, so that a "+
			"record moves the log-odds by at most 1/√b", m.Accounting, limit/p.scale)
	}
	return nil
}
