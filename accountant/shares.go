package accountant

import (
	"encoding/json"
	"fmt"
)

// Remaining returns how many more releases of the event fit, math.MaxInt64 for
// an event without cost.
func (b *Budget) Remaining(e Event) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return largestCount(func(n int64) (bool, error) {
		more, err := e.Times(n)
		if err != nil {
			return false, err
		}
		_, fits, err := b.with(more)
		return fits, err
	})
}

// Split pays for one child budget per share and returns them, all or nothing.
// Child i may spend share·ε with share·δ (the shares of the whole budget, each
// in (0, 1], adding up to at most 1), whatever the others do: the parent is
// charged Approximate(share·ε, share·δ) for each. Chains that draw on one
// budget together get more out of it than chains with a budget each.
func (b *Budget) Split(shares ...float64) ([]*Budget, error) {
	var grants []Event
	var children []*Budget
	for i, s := range shares {
		if !(s > 0 && s <= 1) {
			return nil, fmt.Errorf("accountant: Split: share %d is %v: must be in (0, 1]", i, s)
		}
		// Rounded down, so that shares adding up to 1 fit the whole.
		s *= 1 - 1e-14
		c := BudgetConfig{Epsilon: s * b.config.Epsilon, Delta: s * b.config.Delta, Adjacency: b.config.Adjacency}
		child, err := NewBudget(c)
		if err != nil {
			return nil, err
		}
		grant, err := Approximate(c.Adjacency, c.Epsilon, c.Delta)
		if err != nil {
			return nil, err
		}
		children, grants = append(children, child), append(grants, grant)
	}
	if len(grants) == 0 {
		return nil, fmt.Errorf("accountant: Split: no shares: give one number in (0, 1] per child")
	}
	whole, err := Compose(grants...)
	if err != nil {
		return nil, err
	}
	if err := b.Charge(whole, 1); err != nil {
		return nil, err
	}
	return children, nil
}

// budgetState is the JSON form of a Budget.
type budgetState struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Order   float64 `json:"order,omitempty"`
	Spent   Event   `json:"spent"`
}

// MarshalJSON writes the budget and everything charged to it.
func (b *Budget) MarshalJSON() ([]byte, error) {
	return json.Marshal(budgetState{b.config.Epsilon, b.config.Delta, b.config.Order, b.Events()})
}

// UnmarshalJSON restores exactly what MarshalJSON wrote, into a new Budget: one
// that was made already, and may have been spent from, is left as it is, with an
// error.
func (b *Budget) UnmarshalJSON(data []byte) error {
	var s budgetState
	if err := strict(data, &s); err != nil {
		return fmt.Errorf("accountant: budget: %w", err)
	}
	c := BudgetConfig{s.Epsilon, s.Delta, s.Spent.adj, s.Order}
	if err := c.check("Budget"); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.config != (BudgetConfig{}) {
		return fmt.Errorf("accountant: budget: a budget in use cannot be replaced: read the document into a new Budget")
	}
	b.config, b.spent = c, s.Spent
	return nil
}

// Spent returns the guarantee of everything charged, at the budget's δ: with an
// Order a report, not a stopping rule (see Odometer).
func (b *Budget) Spent() (Guarantee, error) { return b.config.cost(b.Events()) }

// Events returns everything charged, as one composition.
func (b *Budget) Events() Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	charged, err := b.charged()
	if err != nil {
		return b.spent // unreachable: charges were composed when they were admitted
	}
	return charged
}
