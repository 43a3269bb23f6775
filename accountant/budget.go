package accountant

// Proof: docs/proofs/curator.md.

import (
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

// NewBudget returns an untouched budget, in memory or kept by at most one recorder. Every
// charge that fits is recorded before Charge returns, and what the recorder refuses is not
// charged. Errors: a field of c that is missing or impossible; a nil recorder, or several.
func NewBudget(c BudgetConfig, keep ...Recorder) (*Budget, error) {
	if err := c.check("Budget"); err != nil {
		return nil, err
	}
	b := &Budget{config: c, spent: empty(c.Adjacency)}
	if len(keep) > 0 {
		if len(keep) > 1 || keep[0] == nil {
			return nil, fmt.Errorf("accountant: NewBudget: give one recorder, or none for a budget in memory")
		}
		b.recorder = keep[0]
	}
	return b, nil
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
		if !(limitAt(c.Order, c.Epsilon, c.Delta) > 0) { // nor at δ = 0
			return fmt.Errorf("accountant: %s: at Order %v the conversion to δ %v costs more than ε %v: choose a larger order "+
				"or δ, or 0 for charges chosen in advance", what, c.Order, c.Delta, c.Epsilon)
		}
	}
	return c.Adjacency.check()
}

// cost is what events cost of a budget.
func (c BudgetConfig) cost(e Event) (Guarantee, error) {
	if c.Order == 0 {
		return e.Epsilon(c.Delta)
	}
	if e.FailureProbability() > 0 {
		return Guarantee{}, fmt.Errorf("accountant: %v may fail outright, which a budget of one Rényi order does not "+
			"cover: charge it to one without", e)
	}
	eps := epsilonAt(c.Order, e.RDP(c.Order), math.Log(c.Delta))
	return Guarantee{eps, c.Delta, e.adj, methodRDP, theoremFilter, c.Order, map[string]float64{"rdp": eps}}, nil
}

// covers reports whether a budget allows events of a cost.
func (c BudgetConfig) covers(e Event, cost Guarantee) bool {
	if c.Order == 0 {
		return cost.Epsilon <= c.Epsilon
	}
	return e.RDP(c.Order) <= limitAt(c.Order, c.Epsilon, c.Delta)
}

func empty(adj Adjacency) Event { return Event{adj: adj} }

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
	err := func() error {
		b.mu.Unlock()
		defer b.mu.Lock() // though it panics, when asked stays pending
		return b.recorder.Record(e, count)
	}()
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
		return Event{}, false, fmt.Errorf("accountant: budget under %s cannot be charged an event under %s: restate the "+
			"event, or convert with Event.Substitution", b.config.Adjacency, more.adj)
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

// Config returns what the budget allows.
func (b *Budget) Config() BudgetConfig { return b.config }

// limitAt is the Rényi cost that a guarantee allows at one order, rounded down.
func limitAt(order, epsilon, delta float64) float64 {
	limit := epsilon - conversionCost(order, math.Log(delta))
	return limit - math.Abs(limit)*slack
}

func checkOrder(what string, order float64) error {
	if !(order > 1) || math.IsInf(order, 1) {
		return fmt.Errorf("accountant: %s: Order %v: is required and must be a finite number > 1", what, order)
	}
	return nil
}
