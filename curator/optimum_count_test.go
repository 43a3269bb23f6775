package curator

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// TestOptimumKeepsTheNumberOfRecords: under add/remove the law of the noise is the
// same for one record more, or the optimum is refused; under substitution, where
// their number is public, it may follow the rounding of their sum.
func TestOptimumKeepsTheNumberOfRecords(t *testing.T) {
	m := LogisticOptimum{Ridge: 1, NoiseMultiplier: 10}
	facts := Facts{Records: 10_000, Features: 5, Response: true, Radius: 1, RowsPerPerson: 1, Adjacency: accountant.AddRemove}
	sd := func(n int64) float64 {
		f := facts
		f.Records = n
		v, err := m.OutputSD(f)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if a, b := sd(10_000), sd(10_001); a != b {
		t.Errorf("noise of %v for 10000 records, %v for one more", a, b)
	}
	facts.Records = 100_000_000
	if _, err := m.Event(facts); err == nil {
		t.Error("an optimum whose tolerance depends on the number of records was priced under add/remove")
	}
	facts.Adjacency = accountant.Substitute
	if a, b := sd(100_000_000), sd(50_000_000); a == b {
		t.Error("the tolerance does not depend on the number of records: the test proves nothing")
	}
}
