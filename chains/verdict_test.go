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

// TestVerdictHasAllConditions: the first line names the condition of every doubt that has one, the gravest first and
// each once. One alone keeps what it says beside, and a doubt without a condition decides by itself.
func TestVerdictHasAllConditions(t *testing.T) {
	a := Doubt{Headline: "Usable if a holds: this is why.", Conditional: true}
	b := Doubt{Headline: "Usable if b, or c, holds: and this.", Conditional: true}
	one := Doubt{Headline: "Usable for one mode: that of the anchor.", Conditional: true}
	refused := Doubt{Headline: "Not usable: it is not."}
	for _, c := range []struct {
		doubts   []Doubt
		headline string
	}{
		{[]Doubt{a}, a.Headline},
		{[]Doubt{a, a}, a.Headline},
		{[]Doubt{a, b}, "Usable if b, or c, holds and if a holds."},
		{[]Doubt{b, one, a, b}, "Usable if b, or c, holds, if a holds and for one mode."},
		{[]Doubt{a, refused, b}, refused.Headline},
	} {
		if got := Gravest(c.doubts); got.Headline != c.headline || got.Conditional != (c.headline != refused.Headline) {
			t.Errorf("of %v: %+v", c.doubts, got)
		}
	}
	if Gravest(nil) != nil || a.Headline != "Usable if a holds: this is why." {
		t.Error("no doubt is grave, or a doubt was changed")
	}
}

// TestAdviceIsGivenOnce: of two doubts that have one remedy.
func TestAdviceIsGivenOnce(t *testing.T) {
	c := &Certificate{Doubts: []Doubt{{Headline: "Usable if a.", Reason: "a", Advice: "mend", Conditional: true},
		{Headline: "Usable if b.", Reason: "b", Advice: "mend", Conditional: true}}}
	table := diag.Table{{Name: "a", Summary: diag.Summary{Chains: 4, Draws: 4000, RHat: 1, ESSBulk: 4000, ESSTail: 4000}}}
	if v := Judge(table, c); len(v.Advice) != 1 || len(v.Reasons) != 2 {
		t.Errorf("%q, %q", v.Reasons, v.Advice)
	}
}
