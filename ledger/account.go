package ledger

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// account adds up charges as the ledger's limit says: with a filter, or with an
// odometer where there is no limit.
type account struct {
	limit    Limit
	filter   *accountant.Filter
	odometer *accountant.Odometer
}

// newAccount continues from the state that an entry carries. Before the first charge
// there may be no order, and so no account.
func newAccount(e Entry) (a account, err error) {
	a.limit = e.Limit
	c := e.Limit
	switch {
	case c.Order == 0:
	case c.Epsilon > 0:
		a.filter, err = accountant.NewFilter(accountant.BudgetConfig{
			Epsilon: c.Epsilon, Delta: c.Delta - c.Failure, Adjacency: c.Adjacency, Order: c.Order}, e.TotalCost)
	default:
		a.odometer, err = accountant.NewOdometer(c.Adjacency, c.Delta, c.Order, e.TotalCost)
	}
	if err != nil {
		err = fmt.Errorf("ledger: %w", err)
	}
	return a, err
}

// begin chooses the order for an account whose first charge this is: the one that leaves
// most to later ones. Without a limit, it is that for a limit of twice the charge. No
// result has been seen that the choice could depend on. It reports whether this is such a
// charge.
func (a *account) begin(first accountant.Event) (bool, error) {
	if a.limit.Order != 0 {
		return false, nil
	}
	epsilon := a.limit.Epsilon
	if epsilon > 0 {
		b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: epsilon, Delta: a.limit.Delta,
			Adjacency: a.limit.Adjacency})
		if err != nil {
			return false, err
		}
		if err := b.Charge(first, 1); err != nil {
			return false, err
		}
	} else {
		two, err := first.Times(2)
		if err != nil {
			return false, err
		}
		g, err := two.Epsilon(a.limit.Delta)
		if err != nil {
			return false, err
		}
		if epsilon = g.Epsilon; epsilon == 0 || math.IsInf(epsilon, 1) {
			epsilon = 1 // what costs nothing, or too much at any order, says nothing of later charges
		}
	}
	order, err := first.FilterOrder(epsilon, a.limit.Delta-a.limit.Failure)
	if err != nil {
		return false, err
	}
	a.limit.Order = order
	fresh, err := newAccount(Entry{Limit: a.limit})
	if err != nil {
		return false, err
	}
	*a = fresh
	return true, nil
}

// fill admits a first charge that the limit covers by the charge's own accounting, and the
// order does not. Nothing is then left.
func (a *account) fill(e accountant.Event, count int64) error {
	whole, err := e.Times(count)
	if err == nil {
		*a, err = newAccount(Entry{Limit: a.limit, TotalCost: whole.RDP(a.limit.Order)})
	}
	return err
}

// charge admits count releases, or refuses them, but for their failures.
func (a *account) charge(e accountant.Event, count int64) error {
	if a.filter != nil {
		return a.filter.ChargeUnfailed(e, count)
	}
	return a.odometer.ChargeUnfailed(e, count)
}

// cost is the Rényi cost so far.
func (a *account) cost() float64 {
	switch {
	case a.filter != nil:
		return a.filter.Cost()
	case a.odometer != nil:
		return a.odometer.Cost()
	}
	return 0
}

// epsilon is what was spent so far at the limit's δ.
func (a *account) epsilon() float64 {
	switch {
	case a.filter != nil:
		return a.filter.Spent().Epsilon
	case a.odometer != nil:
		return a.odometer.Spent().Epsilon
	}
	return 0
}
