package curator

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// TestAdaptiveGrants: with a budget of one order, grants may be asked for by what
// was released before; what is left is what a filter leaves.
func TestAdaptiveGrants(t *testing.T) {
	b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute,
		Order: 20})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Seal(Records{X: []float64{0.5, -1, 0.25}, Features: 1, Radius: 1}, b, InsecureSeed(3))
	if err != nil {
		t.Fatal(err)
	}
	scale, theta := 0.02, []float64{0}
	sum := 0.0
	for range 40 {
		m := AcceptanceBit{Target: newToy(1), Proposal: Proposal{Scale: scale}}
		event, err := m.Event(c.Facts())
		if err != nil {
			t.Fatal(err)
		}
		bits, err := Charge(c, m, 1)
		if err != nil {
			break
		}
		sum += event.RDP(20)
		next := []float64{0}
		accepted, err := bits.Move(next, theta, func([]float64) float64 { return 0 })
		if err != nil {
			t.Fatal(err)
		}
		if accepted {
			theta, scale = next, scale*1.2
		}
	}
	spent, err := b.Spent()
	if err != nil || spent.Order != 20 || spent.Epsilon > 1 || b.Events().RDP(20) < sum*(1-1e-9) {
		t.Errorf("spent %+v (%v), releases cost %v in all", spent, err, sum)
	}
	if scale == 0.02 {
		t.Error("nothing was accepted: the scales are not adaptive")
	}
}
