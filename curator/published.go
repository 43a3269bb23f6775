package curator

// Proof: docs/proofs/accountant-curves.md.

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
)

// Accounting selects the theorem that prices an acceptance bit.
type Accounting uint8

const (
	// ByBit charges the bit that is released: a bounded-range mechanism
	// (theory 2.2, 2.3, 2.6, 2.7). It is the default and the cheapest.
	ByBit Accounting = iota
	// Published charges what the papers do, as if the noisy log-ratio behind the
	// bit had been released: Heikkilä et al. 2019, Theorem 1 on the full data and
	// Theorem 2 with Corollary 2 on fixed-size batches.
	Published
	// PublishedTightened is Published with the constant of Theorem 2 mended
	// (theory 2.6).
	PublishedTightened
)

// String names the accounting.
func (a Accounting) String() string {
	switch a {
	case ByBit:
		return "acceptance bit"
	case Published:
		return "published"
	case PublishedTightened:
		return "published, tightened"
	}
	return fmt.Sprintf("Accounting(%d)", uint8(a))
}

// published prices a bit by the theorems of Heikkilä et al. (2019), whose
// assumptions it checks.
func (m AcceptanceBit) published(f Facts, p plan) (accountant.Event, error) {
	switch {
	case m.Test.kind != correctedTest:
		return accountant.Event{}, fmt.Errorf("curator: %v accounting is for the Gaussian-mixture corrected test, not %v",
			m.Accounting, m.Test)
	case p.averaged || f.RowsPerPerson != 1 || f.Adjacency != accountant.Substitute:
		return accountant.Event{},
			fmt.Errorf("curator: %v accounting needs a constant Clip, one row a person and substitution", m.Accounting)
	case m.Batch.IsFull():
		return accountant.Gaussian(f.Adjacency, math.Sqrt(m.Test.c)/(2*room.Padded(p.constant)))
	case m.Batch.scheme != fixedBatch:
		return accountant.Event{}, fmt.Errorf("curator: %v accounting is for the full data and fixed-size batches, not %v",
			m.Accounting, m.Batch)
	}
	b := m.Batch.size
	if limit := 1 / math.Sqrt(float64(b)); m.Test.c != 2 || p.contribution > limit {
		return accountant.Event{}, fmt.Errorf("curator: %v accounting needs Corrected(2) and a Clip of at most √b/N = %v, "+
			"so that a record moves the log-odds by at most 1/√b",
			m.Accounting, limit/p.scale)
	}
	price := accountant.SubsampledBarkerPublished
	if m.Accounting == PublishedTightened {
		price = accountant.SubsampledBarkerTightened
	}
	event, err := price(int(b))
	if err != nil {
		return accountant.Event{}, err
	}
	return m.Batch.charge(f, event)
}
