package accountant

import (
	"fmt"
	"math"
	"sync"
)

// FilterConfig states what a Filter allows. Every field is required.
type FilterConfig struct {
	// Epsilon > 0 and Delta in (0, 1) are the guarantee the filter enforces.
	Epsilon, Delta float64
	// Adjacency is that of every event to be charged.
	Adjacency Adjacency
	// Order > 1 is the one Rényi order all charges are summed at, chosen before
	// the first. A good choice is the Guarantee.Order of an expected plan.
	Order float64
}

// Filter admits releases whose costs may depend on earlier outputs, as long as
// their sum at one order chosen in advance stays within the guarantee (Feldman,
// Zrnic 2021, Thm 4.3; Lécuyer 2021). It is safe for concurrent use.
type Filter struct {
	config FilterConfig
	limit  float64 // Rényi cost allowed at config.Order
	mu     sync.Mutex
	spent  float64
}

// NewFilter returns an unused filter. An order at which nothing fits, because
// the conversion alone costs more than Epsilon, is an error.
func NewFilter(c FilterConfig) (*Filter, error) {
	budget := BudgetConfig{Epsilon: c.Epsilon, Delta: c.Delta, Adjacency: c.Adjacency}
	if err := budget.check("Filter"); err != nil {
		return nil, err
	}
	if c.Delta == 0 {
		return nil, fmt.Errorf("accountant: Filter: Delta 0: must be in (0, 1)")
	}
	if err := checkOrder("Filter", c.Order); err != nil {
		return nil, err
	}
	limit := limitAt(c.Order, c.Epsilon, c.Delta)
	if !(limit > 0) {
		return nil, fmt.Errorf("accountant: Filter: at order %v the conversion to δ %v costs more than ε %v: choose a larger order", c.Order, c.Delta, c.Epsilon)
	}
	return &Filter{config: c, limit: limit}, nil
}

// RestoreFilter returns a filter that has admitted releases of the given Cost
// before. Errors are those of NewFilter, and a cost that is negative or not finite.
func RestoreFilter(c FilterConfig, cost float64) (*Filter, error) {
	f, err := NewFilter(c)
	if err != nil {
		return nil, err
	}
	if err := checkCost("Filter", cost); err != nil {
		return nil, err
	}
	f.spent = cost
	return f, nil
}

func checkCost(what string, cost float64) error {
	if !(cost >= 0) || math.IsInf(cost, 1) {
		return fmt.Errorf("accountant: %s: a restored cost of %v: must be a finite number ≥ 0", what, cost)
	}
	return nil
}

// Cost is the Rényi cost, at the filter's order, of what was admitted so far:
// what RestoreFilter takes.
func (f *Filter) Cost() float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.spent
}

// Share is the part, in [0, 1], of what the guarantee allows that was admitted so far.
// Spent starts at what the conversion to δ costs; Share starts at 0.
func (f *Filter) Share() float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.spent / f.limit
}

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
			BudgetConfig(c)}
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
		return Event{}, 0, fmt.Errorf("accountant: an event under %s cannot be charged under %s: restate it, or convert with FromAddRemove", e.adj, adj)
	}
	if asked.failureProbability() > 0 && !mayFail {
		return Event{}, 0, fmt.Errorf("accountant: %v may fail outright, which a Rényi filter does not cover: charge it to a Budget", asked)
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
	return Guarantee{eps, c.Delta, c.Adjacency, MethodRDP, theoremFilter, c.Order, map[string]float64{"rdp": eps}}
}

// Odometer reports, at any time and as often as wanted, an ε that holds for all
// adaptively chosen releases so far, at all times at once (Lécuyer 2021): a
// sequence of filters whose limits double, the f-th with δ·6/(π²f²).
type Odometer struct {
	delta, order float64
	adj          Adjacency
	mu           sync.Mutex
	spent        float64
}

// NewOdometer returns an odometer at zero. Delta in (0, 1), adjacency and the
// order > 1 at which costs are summed are required.
func NewOdometer(adj Adjacency, delta, order float64) (*Odometer, error) {
	if err := adj.check(); err != nil {
		return nil, err
	}
	if !(delta > 0 && delta < 1) {
		return nil, fmt.Errorf("accountant: Odometer: delta %v: must be in (0, 1)", delta)
	}
	if err := checkOrder("Odometer", order); err != nil {
		return nil, err
	}
	return &Odometer{delta: delta, order: order, adj: adj}, nil
}

// RestoreOdometer returns an odometer that has recorded releases of the given Cost
// before. Errors are those of NewOdometer, and a cost that is negative or not finite.
func RestoreOdometer(adj Adjacency, delta, order, cost float64) (*Odometer, error) {
	o, err := NewOdometer(adj, delta, order)
	if err != nil {
		return nil, err
	}
	if err := checkCost("Odometer", cost); err != nil {
		return nil, err
	}
	o.spent = cost
	return o, nil
}

// Cost is the Rényi cost, at the odometer's order, of what was recorded so far.
func (o *Odometer) Cost() float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.spent
}

// Charge records count ≥ 0 releases of the event.
func (o *Odometer) Charge(e Event, count int64) error { return o.charge(e, count, false) }

// ChargeUnfailed is Charge for events that may fail outright: the odometer's guarantee
// then holds with the sum of their FailureProbability added to δ.
func (o *Odometer) ChargeUnfailed(e Event, count int64) error { return o.charge(e, count, true) }

func (o *Odometer) charge(e Event, count int64, mayFail bool) error {
	_, rho, err := adaptiveCost(e, count, o.adj, o.order, mayFail)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.spent = addUp(o.spent, rho)
	return nil
}

// Spent returns the current (ε, δ). It is (0, δ) before the first charge.
func (o *Odometer) Spent() Guarantee {
	o.mu.Lock()
	spent := o.spent
	o.mu.Unlock()
	g := Guarantee{Delta: o.delta, Adjacency: o.adj, Method: MethodRDP, Theorem: theoremOdometer, Order: o.order}
	switch {
	case math.IsInf(spent, 1):
		g.Epsilon = spent
	case spent > 0:
		// The first limit is what the conversion costs anyway.
		limit := -math.Log(o.delta) / (o.order - 1)
		f := 1.0
		for ; spent*(1+slack) > limit; f++ {
			limit *= 2
		}
		logDelta := math.Log(o.delta * 6 / (math.Pi * math.Pi * f * f))
		g.Epsilon = (limit - logDelta/(o.order-1)) * (1 + slack)
	}
	g.Alternatives = map[string]float64{"rdp": g.Epsilon}
	return g
}

// BestOrder is the finite Rényi order at which an event alone costs the least ε at
// δ in (0, 1), for filters and odometers that expect such releases. Where larger
// orders are always better it is 2¹⁶.
func (e Event) BestOrder(delta float64) (float64, error) {
	if err := e.valid(); err != nil {
		return 0, err
	}
	if !(delta > 0 && delta < 1) {
		return 0, fmt.Errorf("accountant: BestOrder: delta %v: must be in (0, 1)", delta)
	}
	order := e.rdpEpsilon(delta).order
	return min(max(order, lowestOrder), 1<<16), nil
}
