package accountant

import "testing"

// TestExtremeContributionsArePriced: contributions so small that their squares
// underflow, or so large that a bit says everything, used to keep the search for
// the worst pair busy for ever. They are priced by the closed forms.
func TestExtremeContributionsArePriced(t *testing.T) {
	for _, rate := range []float64{5e-324, 1e-160, 5e-6} {
		for _, size := range []float64{1e-200, 20, 200} {
			for _, adj := range []Adjacency{Substitute, AddRemove} {
				s, err := poisson(rate)
				if err != nil {
					t.Fatal(err)
				}
				for _, bit := range []Event{must(acceptance(adj, size)), must(isotropic(adj, size))} {
					e := must(bit.on(s))
					for _, order := range []float64{1 + 1e-9, 17} {
						if got, most := e.RDP(order), bit.RDP(order); !(got >= 0 && got <= most*(1+1e-9)) {
							t.Errorf("%v costs %v at order %v; unsampled %v", e, got, order, most)
						}
					}
				}
			}
		}
	}
}

// TestLargeBitsOnTinyBatchesArePriced: the same for fixed-size batches, where
// contributions from 25 on used to.
func TestLargeBitsOnTinyBatchesArePriced(t *testing.T) {
	s, err := withoutReplacement(4, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []float64{25, 30, 62.5, 290} {
		bit := must(acceptance(Substitute, c))
		e := must(bit.on(s))
		for _, order := range []float64{1.5, 4, 16, 200} {
			if got, most := e.RDP(order), bit.RDP(order); !(got > 0 && got <= most) {
				t.Errorf("%v costs %v at order %v; unsampled %v", e, got, order, most)
			}
		}
	}
}
