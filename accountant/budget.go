package accountant

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
)

// BudgetConfig states what a budget allows. Every field but Order is required.
type BudgetConfig struct {
	// Epsilon is the largest total ε, > 0 and finite.
	Epsilon float64
	// Delta is the total δ, in [0, 1).
	Delta float64
	// Adjacency is that of every event to be charged.
	Adjacency Adjacency
	// Order, if not 0, is the one finite Rényi order > 1 at which all charges are
	// summed, chosen before the first: charges may then depend on released values,
	// as for a Filter. It needs a positive Delta, and pays for no event that may
	// fail outright, so that it cannot be split.
	Order float64
}

// Budget is an (ε, δ) to be spent on releases. Unless it has an Order, charges
// must be chosen without looking at released values that depend on the data
// (prepaid constant costs). It is safe for concurrent use.
type Budget struct {
	mu       sync.Mutex
	config   BudgetConfig
	spent    Event
	recorder Recorder
	pending  []*Event // charged here and being recorded
}

// Recorder keeps charges where they outlast the process, as a ledger does. It must
// be safe for concurrent use.
type Recorder interface {
	// Record keeps a charge of count releases of an event, or refuses it with an
	// error. Once it returned nil the charge is never lost.
	Record(e Event, count int64) error
}

// NewBudget returns an untouched budget, or an error naming the missing or
// impossible field.
func NewBudget(c BudgetConfig) (*Budget, error) {
	if err := c.check("Budget"); err != nil {
		return nil, err
	}
	return &Budget{config: c, spent: empty(c.Adjacency)}, nil
}

// NewRecordedBudget returns an untouched budget whose every charge that fits is
// recorded before Charge returns. What the recorder refuses is not charged. Errors
// are those of NewBudget.
func NewRecordedBudget(c BudgetConfig, r Recorder) (*Budget, error) {
	if r == nil {
		return nil, fmt.Errorf("accountant: NewRecordedBudget: no recorder was given: use NewBudget for a budget in memory")
	}
	b, err := NewBudget(c)
	if err == nil {
		b.recorder = r
	}
	return b, err
}

func (c BudgetConfig) check(what string) error {
	if !(c.Epsilon > 0) || math.IsInf(c.Epsilon, 1) {
		return fmt.Errorf("accountant: %s: Epsilon %v: is required and must be a finite number > 0", what, c.Epsilon)
	}
	if !(c.Delta >= 0 && c.Delta < 1) {
		return fmt.Errorf("accountant: %s: Delta %v: must be in [0, 1)", what, c.Delta)
	}
	if c.Order != 0 {
		if err := checkOrder(what, c.Order); err != nil {
			return err
		}
		if c.Delta == 0 || !(limitAt(c.Order, c.Epsilon, c.Delta) > 0) {
			return fmt.Errorf("accountant: %s: at Order %v the conversion to δ %v costs more than ε %v: choose a larger order or δ, or 0 for charges chosen in advance", what, c.Order, c.Delta, c.Epsilon)
		}
	}
	return c.Adjacency.check()
}

// cost is what events cost of a budget.
func (c BudgetConfig) cost(e Event) (Guarantee, error) {
	if c.Order == 0 {
		return e.Epsilon(c.Delta)
	}
	if e.failureProbability() > 0 {
		return Guarantee{}, fmt.Errorf("accountant: %v may fail outright, which a budget of one Rényi order does not cover: charge it to one without", e)
	}
	eps := epsilonAt(c.Order, e.RDP(c.Order), math.Log(c.Delta))
	return Guarantee{eps, c.Delta, e.adj, MethodRDP, theoremFilter, c.Order, map[string]float64{"rdp": eps}}, nil
}

// covers reports whether a budget allows events of a cost.
func (c BudgetConfig) covers(e Event, cost Guarantee) bool {
	if c.Order == 0 {
		return cost.Epsilon <= c.Epsilon
	}
	return e.RDP(c.Order) <= limitAt(c.Order, c.Epsilon, c.Delta)
}

func empty(adj Adjacency) Event { return Event{adj: adj, cache: new(answers)} }

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
	return fmt.Sprintf("accountant: budget exceeded: asked ε %.6g for %v; spent ε %.6g, left ε %.6g of %.6g at δ %.3g (%v); together ε %.6g: ask for fewer or noisier releases (Budget.Remaining says how many fit)",
		e.AskedEpsilon, e.Asked, e.SpentEpsilon, e.Left(), e.Limit.Epsilon, e.Limit.Delta, e.Limit.Adjacency, e.TotalEpsilon)
}

// Charge pays for count ≥ 0 releases of the event, all or nothing. If the whole
// would exceed the budget it returns an *ExceededError and charges nothing. The
// decision depends on events alone, never on data.
func (b *Budget) Charge(e Event, count int64) error {
	asked, err := e.Times(count)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	total, fits, err := b.with(asked)
	if err != nil {
		return err
	}
	if !fits {
		return b.refusal(asked, total)
	}
	if b.recorder == nil {
		b.spent = total
		return nil
	}
	return b.record(e, count, &asked)
}

// record has a charge recorded. Meanwhile it counts as spent and the lock, which
// the caller holds, is open, so that a recorder can keep several charges at once.
func (b *Budget) record(e Event, count int64, asked *Event) error {
	b.pending = append(b.pending, asked)
	b.mu.Unlock()
	err := b.recorder.Record(e, count)
	b.mu.Lock()
	if err == nil {
		if b.spent, err = Compose(b.spent, *asked); err != nil {
			return err // unreachable: it was composed before; asked stays pending
		}
	}
	b.pending = slices.DeleteFunc(b.pending, func(p *Event) bool { return p == asked })
	return err
}

// charged is everything charged, what is being recorded included. The caller holds
// the lock.
func (b *Budget) charged() (Event, error) {
	if len(b.pending) == 0 {
		return b.spent, nil
	}
	all := []Event{b.spent}
	for _, p := range b.pending {
		all = append(all, *p)
	}
	return Compose(all...)
}

// with composes the spent events with more and says whether the budget covers
// the whole. The caller holds the lock.
func (b *Budget) with(more Event) (total Event, fits bool, err error) {
	if more.adj != b.config.Adjacency {
		return Event{}, false, fmt.Errorf("accountant: budget under %s cannot be charged an event under %s: restate the event, or convert with FromAddRemove", b.config.Adjacency, more.adj)
	}
	charged, err := b.charged()
	if err == nil {
		total, err = Compose(charged, more)
	}
	if err != nil {
		return Event{}, false, err
	}
	g, err := b.config.cost(total)
	return total, err == nil && b.config.covers(total, g), err
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

// Config returns what the budget allows.
func (b *Budget) Config() BudgetConfig { return b.config }

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
