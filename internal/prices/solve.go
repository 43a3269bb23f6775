package prices

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/planning"
)

// Answer is a solved plan with what lies around it.
type Answer struct {
	asked     Question     // the solved value filled in
	plan      *chains.Plan // and everything else
	none      bool         // no iterations were asked for
	value     float64
	event     accountant.Event // the whole run
	guarantee accountant.Guarantee
	atEnd     bool // the budget covers more than the range
	counts    []int64
	lengths   []planning.Curve // ε against iterations, a curve for each batch size
	batches   planning.Curve   // ε against the batch size, if there are batches
	worst     *worstCase
}

// Solve finds the value of what is asked, and tabulates what lies around it. Errors name
// settings as flags.
func Solve(q Question) (*Answer, error) {
	a, err := q.solved()
	if err == nil {
		err = a.explore()
	}
	return a, setting.Flagged(err)
}

func (s *Question) solved() (*Answer, error) {
	a := &Answer{asked: *s}
	if s.Solve == "epsilon" || s.Solve == "delta" {
		return a, a.price()
	}
	if s.Solve == "beta" {
		return a, solveInto(a, &a.asked.Options.Beta, 1+1e-6, 20)
	}
	v, _ := chains.Lookup(s.Solve)
	p, err := s.problem()
	if err != nil {
		return nil, err
	}
	low, high := v.Span(s.Kernel, p.Facts, s.Chains)
	if v.Name == "batch" || v.Name == "rate" {
		a.asked.FullData = false
	}
	switch field := v.At(&a.asked.Settings).(type) {
	case *float64:
		err = solveInto(a, field, low, high)
	case *int64:
		if high < 2 {
			return nil, fmt.Errorf("--%s can only be 1 here; there is nothing to solve", s.Solve)
		}
		err = solveInto(a, field, int64(low), int64(high))
	}
	return a, err
}

// total is all that the chains release, with as many iterations as were asked for.
func (a *Answer) total() (accountant.Event, error) {
	var err error
	if a.plan == nil || a.asked.Solve != "iterations" { // whose steps all cost the same
		s := a.asked
		if a.asked.Solve == "iterations" || a.none {
			s.Iterations = 1
		}
		if a.plan, err = s.priced(); err != nil {
			return accountant.Event{}, err
		}
	}
	return a.plan.CostAt(a.iterations())
}

// iterations is the number of steps of a chain, which may be none.
func (a *Answer) iterations() int64 {
	if a.asked.Iterations != 0 || a.none {
		return a.asked.Iterations
	}
	return a.plan.Settings.Iterations
}

// solveInto solves for a field of a's settings and leaves the solution there.
func solveInto[T int64 | float64](a *Answer, field *T, low, high T) error {
	p := planning.Parameter[T]{Name: "--" + a.asked.Solve, Low: low, High: high,
		Event: func(x T) (accountant.Event, error) {
			*field = x
			return a.total()
		}}
	least, errLow := p.Event(p.Low)
	most, errHigh := p.Event(p.High)
	if errLow == nil && errHigh == nil && least.Equal(most) {
		return fmt.Errorf("%s makes no difference to what this run costs; other settings bound it", p.Name)
	}
	plan, err := planning.Solve(p, planning.Budget{Epsilon: a.asked.Epsilon, Delta: a.asked.Delta})
	if err != nil {
		return err
	}
	*field = plan.Value
	a.value, a.event, a.guarantee, a.atEnd = float64(plan.Value), plan.Event, plan.Guarantee, plan.AtEnd
	a.plan, err = a.asked.priced()
	return err
}

// price answers for epsilon and delta. A budget that is given all
// the same is a limit: a run that exceeds it is refused.
func (a *Answer) price() error {
	s := &a.asked
	a.none = s.NoSteps
	var err error
	if a.event, err = a.total(); err != nil {
		return err
	}
	if s.Solve == "epsilon" {
		a.guarantee, err = a.event.Epsilon(s.Delta)
		a.value = a.guarantee.Epsilon
	} else {
		a.guarantee, err = a.event.Delta(s.Epsilon)
		a.value = a.guarantee.Delta
	}
	if err != nil || !s.Limited {
		return err
	}
	needed, err := a.event.Epsilon(s.Delta)
	if err == nil && needed.Epsilon > s.Epsilon {
		return &accountant.ExceededError{
			Asked: a.event, AskedEpsilon: needed.Epsilon, TotalEpsilon: needed.Epsilon,
			Limit: accountant.BudgetConfig{Epsilon: s.Epsilon, Delta: s.Delta, Adjacency: needed.Adjacency},
		}
	}
	return err
}

// worstCase compares the price of a step, which averages over the direction of
// the move, with that of the move's worst direction (theory 2.7).
type worstCase struct {
	Dimension int     `json:"dimension"`
	Order     float64 `json:"order"`
	Averaged  float64 `json:"averaged"`
	Worst     float64 `json:"worst"`
	Ratio     float64 `json:"ratio"`
}

// compareWorst fills in the comparison where the price is an average.
func (a *Answer) compareWorst() error {
	s := a.asked
	order := a.guarantee.Order
	if s.Dimension == 1 || !averages(a.event) || !(order > 1) || math.IsInf(order, 1) {
		return nil
	}
	// Moves are about step·√dimension long; truncated there, they pay for the
	// worst direction of that length.
	s.Settings = a.plan.Settings
	s.Proposal = fmt.Sprintf("truncated:%v", math.Nextafter(math.Sqrt(float64(s.Dimension)), math.Inf(1)))
	dear, err := s.priced()
	if err != nil {
		return err
	}
	worst, err := dear.CostAt(a.iterations())
	if err != nil {
		return err
	}
	steps := float64(a.iterations()) * float64(s.Chains)
	w := &worstCase{Dimension: s.Dimension, Order: order, Averaged: a.event.RDP(order) / steps,
		Worst: worst.RDP(order) / steps}
	w.Ratio = w.Worst / w.Averaged
	a.worst = w
	return nil
}

// averages reports whether a run's price averages over isotropic moves.
func averages(e accountant.Event) bool {
	for _, m := range e.Mechanisms() {
		if m.Kind == "isotropic_bit" || averages(m.Inner) {
			return true
		}
	}
	return false
}
