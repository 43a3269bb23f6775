package accountant

import (
	"fmt"
	"math"
	"sync"
)

// Filter admits releases whose costs may depend on earlier outputs, as long as
// their sum at one order chosen in advance stays within the guarantee (Feldman,
// Zrnic 2021, Thm 4.3; Lécuyer 2021). It is safe for concurrent use.
type Filter struct {
	config BudgetConfig
	limit  float64 // Rényi cost allowed at config.Order
	mu     sync.Mutex
	spent  float64
}

// NewFilter returns a filter that has admitted releases of the given Cost before, 0 for an
// unused one. The config's Delta and Order are required; a good order is the
// Guarantee.Order of an expected plan. Errors: one of these out of range; an order at which
// nothing fits, because the conversion alone costs more than Epsilon; a cost that is negative
// or not finite.
func NewFilter(c BudgetConfig, spent float64) (*Filter, error) {
	if err := c.check("Filter"); err != nil {
		return nil, err
	}
	if err := checkOrder("Filter", c.Order); err != nil {
		return nil, err
	}
	if err := checkCost("Filter", spent); err != nil {
		return nil, err
	}
	return &Filter{config: c, limit: limitAt(c.Order, c.Epsilon, c.Delta), spent: spent}, nil
}

// Charge admits count ≥ 0 releases of the event, or returns an *ExceededError
// and admits none.
func (f *Filter) Charge(e Event, count int64) error { return f.charge(e, count, false) }

// ChargeUnfailed is Charge for events that may fail outright: the filter's guarantee
// then holds with the sum of their FailureProbability added to δ, which the caller
// limits in advance (docs/proofs/ledger.md).
func (f *Filter) ChargeUnfailed(e Event, count int64) error { return f.charge(e, count, true) }

func (f *Filter) charge(e Event, count int64, mayFail bool) error {
	asked, rho, err := adaptiveCost(e, count, f.config.Adjacency, f.config.Order, mayFail)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if total := addUp(f.spent, rho); !(total <= f.limit) {
		c := f.config
		l := math.Log(c.Delta)
		return &ExceededError{asked, epsilonAt(c.Order, rho, l), epsilonAt(c.Order, f.spent, l), epsilonAt(c.Order, total, l),
			c}
	}
	f.spent = addUp(f.spent, rho)
	return nil
}

// addUp is the sum of two costs, rounded up: however many charges there are, and
// however small beside what was spent, their sum is not less than they are.
func addUp(spent, cost float64) float64 {
	switch {
	case cost == 0:
		return spent
	case spent == 0:
		return cost
	}
	return math.Nextafter(spent+cost, math.Inf(1))
}

// adaptiveCost is the cost of one charge at one order.
func adaptiveCost(e Event, count int64, adj Adjacency, order float64, mayFail bool) (Event, float64, error) {
	asked, err := e.Times(count)
	if err != nil {
		return Event{}, 0, err
	}
	if e.adj != adj {
		return Event{}, 0, fmt.Errorf("accountant: an event under %s cannot be charged under %s: restate it, or convert "+
			"with Event.Substitution", e.adj, adj)
	}
	if asked.FailureProbability() > 0 && !mayFail {
		return Event{}, 0, fmt.Errorf("accountant: %v may fail outright, which a Rényi filter does not cover: charge it to "+
			"a Budget", asked)
	}
	return asked, asked.RDP(order), nil
}

// Spent returns the guarantee at δ of what was admitted so far. It is a report,
// not a stopping rule: use an Odometer to stop by what was spent.
func (f *Filter) Spent() Guarantee {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.config
	eps := epsilonAt(c.Order, f.spent, math.Log(c.Delta))
	return Guarantee{eps, c.Delta, c.Adjacency, methodRDP, theoremFilter, c.Order, map[string]float64{"rdp": eps}}
}
