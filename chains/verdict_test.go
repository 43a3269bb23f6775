package chains

import (
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/diag"
)

// TestVerdictNamesParameters: whole, although names have blanks and commas, and the first of
// many.
func TestVerdictNamesParameters(t *testing.T) {
	apart := func(names ...string) string {
		var table diag.Table
		for _, name := range names {
			summary := diag.Summary{Chains: 4, Draws: 400, RHat: 2, ESSBulk: 1000, ESSTail: 1000}
			table = append(table, diag.Row{Name: name, Summary: summary})
		}
		return strings.Join(Judge(table, &Certificate{}).Reasons, " ")
	}
	if got := apart("age, bus", "scale of the errors"); !strings.HasSuffix(got, ": age, bus; scale of the errors.") {
		t.Error(got)
	}
	if got := apart("a", "b", "c", "d", "e", "f", "g", "h"); !strings.HasSuffix(got, ": a; b; c; d; e; f; and 2 more.") {
		t.Error(got)
	}
	if got := apart("a", "b", "c", "d", "e", "f", "g"); !strings.HasSuffix(got, "; f; g.") {
		t.Error(got)
	}
}
