package curator

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// TestPublishedAccountingCoversTheBit: the published theorems are about a test
// that is not continued beyond a limit and subtracts another variance, so what
// makes their charge valid here is that it is never below that of the bit.
func TestPublishedAccountingCoversTheBit(t *testing.T) {
	check := func(m AcceptanceBit, records int64, accounting string) {
		t.Helper()
		f := Facts{Records: records, Features: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
		bit, err := m.Event(f)
		if err != nil {
			t.Fatal(err)
		}
		m.Accounting = accounting
		published, err := m.Event(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, order := range []float64{1.01, 1.5, 2, 5, 20, 100} {
			if b, p := bit.RDP(order), published.RDP(order); p < b {
				t.Errorf("%v, %v of %d records, order %v: %v is charged, the bit costs %v", accounting, m.Batch, records,
					order, p, b)
			}
		}
	}
	for _, records := range []int64{12, 10_000} {
		for _, size := range []int64{6, 12, 100, 1000} {
			if size <= records {
				m := AcceptanceBit{Target: newToy(1), Clip: math.Sqrt(float64(size)) / float64(records) * (1 - 1e-9),
					Test: Test{Corrected: 2}, Batch: Batch{Size: size}}
				check(m, records, "published")
				check(m, records, "tightened")
			}
		}
	}
	for _, variance := range []float64{0.5, 1, 1.5, 2} {
		check(AcceptanceBit{Target: newToy(1), Clip: 0.01, Test: Test{Corrected: variance}}, 100, "published")
		check(AcceptanceBit{Target: newToy(1), Clip: 2, Test: Test{Corrected: variance}}, 100, "published")
	}
}
