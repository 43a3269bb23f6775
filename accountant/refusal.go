package accountant

import "fmt"

// ExceededError refuses a charge that does not fit. Nothing was charged.
type ExceededError struct {
	// Asked is what was to be charged, with its cost alone.
	Asked Event
	// AskedEpsilon, SpentEpsilon and TotalEpsilon are ε at the budget's δ of the
	// charge alone, of what was charged before, and of both together.
	AskedEpsilon, SpentEpsilon, TotalEpsilon float64
	// Limit is the budget.
	Limit BudgetConfig
}

// Left is the ε not yet spent, max(0, limit − spent). Costs do not add up
// linearly, so a charge of more than Left alone can still fit and none of less
// is refused for that reason only.
func (e *ExceededError) Left() float64 { return max(0, e.Limit.Epsilon-e.SpentEpsilon) }

// Error says what was asked, spent and left, and what to do.
func (e *ExceededError) Error() string {
	return fmt.Sprintf("accountant: budget exceeded: asked ε %.6g for %v; spent ε %.6g, left ε %.6g of %.6g at δ %.3g "+
		"(%v); together ε %.6g: ask for fewer or noisier releases",
		e.AskedEpsilon, e.Asked, e.SpentEpsilon, e.Left(), e.Limit.Epsilon, e.Limit.Delta, e.Limit.Adjacency, e.TotalEpsilon)
}

func (b *Budget) refusal(asked, total Event) error {
	charged, err := b.charged()
	if err != nil {
		return err
	}
	out := &ExceededError{Asked: asked, Limit: b.config}
	for _, q := range []struct {
		e   Event
		eps *float64
	}{{asked, &out.AskedEpsilon}, {charged, &out.SpentEpsilon}, {total, &out.TotalEpsilon}} {
		g, err := b.config.cost(q.e)
		if err != nil {
			return err
		}
		*q.eps = g.Epsilon
	}
	return out
}
