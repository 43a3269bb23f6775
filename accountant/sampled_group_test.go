package accountant

import (
	"math"
	"testing"
)

// TestSampledGroupsMayBeDrawnInParts: of a person's k records any may be in a
// batch, with chance 1−(1−q)^k. A release that reveals its whole batch shows a
// person with that chance, which δ at a small ε may not be below, by any bound and
// in either order of group and sample; a rate of q alone would claim it is.
func TestSampledGroupsMayBeDrawnInParts(t *testing.T) {
	const q, rows, records = 0.01, 3, 1000
	chance := -math.Expm1(rows * math.Log1p(-q))
	fixed, err := withoutReplacement(records, q*records)
	if err != nil {
		t.Fatal(err)
	}
	poisson, err := poisson(q)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		s    sampling
		base Event
	}{
		{"gaussian, poisson", poisson, must(Gaussian(AddRemove, 0.05))},
		{"pure, poisson", poisson, must(Pure(AddRemove, 30))},
		{"gaussian, poisson, substitution", poisson, must(Gaussian(Substitute, 0.05))},
		{"gaussian, fixed size", fixed, must(Gaussian(Substitute, 0.05))},
		{"bounded range, fixed size", fixed, must(BoundedRange(Substitute, 30))},
		{"approximate, fixed size", fixed, must(Approximate(Substitute, 30, 0))},
	} {
		group, err := c.base.Group(rows)
		if err != nil {
			t.Fatal(err)
		}
		e, err := group.on(c.s)
		if err != nil {
			t.Fatal(err)
		}
		if single := must(c.base.on(c.s)); !(e.RDP(2) > single.RDP(2)) {
			t.Errorf("%s: a group costs %v, one record %v", c.name, e.RDP(2), single.RDP(2))
		}
		g, _, err := e.RefineDelta(0.01)
		if err != nil {
			t.Fatal(err)
		}
		for name, d := range g.Alternatives {
			if d < 0.98*(chance-0.011*(1-chance)) {
				t.Errorf("%s: δ is %v by %s, but a person is in the batch with chance %v", c.name, d, name, chance)
			}
		}
		p := e.Mechanisms()[0]
		if p.sampling.rate != q {
			t.Errorf("%s: the stated rate is %v, want %v", c.name, p.sampling.rate, q)
		}
	}
	// Half of the data in the batch: any of three records always may be.
	half, err := withoutReplacement(records, records/2)
	if err != nil {
		t.Fatal(err)
	}
	base := must(must(BoundedRange(Substitute, 0.1)).Group(rows))
	if got, want := must(base.on(half)).RDP(4), base.RDP(4); got < want*(1-1e-9) {
		t.Errorf("half of the data: %v, the whole costs %v", got, want)
	}
}
