package accountant

import (
	"fmt"
	"math"
	"sync"
)

func checkCost(what string, cost float64) error {
	if !(cost >= 0) || math.IsInf(cost, 1) {
		return fmt.Errorf("accountant: %s: a restored cost of %v: must be a finite number ≥ 0", what, cost)
	}
	return nil
}

// Cost is the Rényi cost, at the filter's order, of what was admitted so far:
// what NewFilter takes to go on.
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
	return min(1, f.spent/f.limit)
}

// Odometer reports, at any time and as often as wanted, an ε that holds for all
// adaptively chosen releases so far, at all times at once (Lécuyer 2021): a
// sequence of filters whose limits double, the f-th with δ·6/(π²f²). Its δ does not
// hold what drawn batches depart by (docs/accountant.md, "What departs").
type Odometer struct {
	delta, order float64
	adj          Adjacency
	mu           sync.Mutex
	spent        float64
}

// NewOdometer returns an odometer that has recorded releases of the given Cost before, 0
// for a new one. Delta in (0, 1), adjacency and the order > 1 at which costs are summed are
// required. Errors: one of these out of range, a cost that is negative or not finite.
func NewOdometer(adj Adjacency, delta, order, spent float64) (*Odometer, error) {
	if err := adj.check(); err != nil {
		return nil, err
	}
	if !(delta > 0 && delta < 1) {
		return nil, fmt.Errorf("accountant: Odometer: delta %v: must be in (0, 1)", delta)
	}
	if err := checkOrder("Odometer", order); err != nil {
		return nil, err
	}
	if err := checkCost("Odometer", spent); err != nil {
		return nil, err
	}
	return &Odometer{delta: delta, order: order, adj: adj, spent: spent}, nil
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
	g := Guarantee{Delta: o.delta, Adjacency: o.adj, Method: methodRDP, Theorem: theoremOdometer, Order: o.order}
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

// Theorem names what a filter's guarantee rests on.
func (*Filter) Theorem() string { return theoremFilter }

// Theorem names what an odometer's guarantee rests on.
func (*Odometer) Theorem() string { return theoremOdometer }

// FilterOrder is the Rényi order for a filter of ε > 0 at δ in (0, 1) whose first charge
// an event is: the one that leaves most Gaussian releases to later charges. An event that
// some order admits is admitted at this one.
func (e Event) FilterOrder(epsilon, delta float64) (float64, error) {
	if err := e.valid(); err != nil {
		return 0, err
	}
	if !(delta > 0 && delta < 1) || !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return 0, fmt.Errorf("accountant: FilterOrder: epsilon %v, delta %v: must be positive, and delta below 1",
			epsilon, delta)
	}
	// A Gaussian release costs in proportion to the order.
	objective := func(order, rdp float64) float64 { return (rdp - limitAt(order, epsilon, delta)) / order }
	order, value, _ := bestOrder(e, objective,
		func(order, _ float64) float64 { return objective(order, 0) },
		func(order, rdp float64) float64 { return min(0, rdp-limitAt(order, epsilon, 1)) / order })
	// What all but fills the limit fits at few orders besides the one that is best for it alone.
	if alone := min(e.rdpEpsilon(delta).order, 1<<60); objective(alone, e.RDP(alone)) < value {
		order = alone
	}
	return order, nil
}

// theoremOdometer is for releases that earlier ones chose, without a budget.
const theoremOdometer = "Rényi odometer (Lécuyer 2021)"
