package ledger

import (
	"fmt"

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
		a.filter, err = accountant.RestoreFilter(accountant.FilterConfig{
			Epsilon: c.Epsilon, Delta: c.Delta - c.Failure, Adjacency: c.Adjacency, Order: c.Order}, e.TotalCost)
	default:
		a.odometer, err = accountant.RestoreOdometer(c.Adjacency, c.Delta, c.Order, e.TotalCost)
	}
	if err != nil {
		err = fmt.Errorf("ledger: %w", err)
	}
	return a, err
}

// begin chooses the order for an account whose first charge this is: the best for as
// many charges like it as the limit allows, or for two where there is no limit. No
// result has been seen that the choice could depend on.
func (a *account) begin(first accountant.Event) error {
	if a.limit.Order != 0 {
		return nil
	}
	expected := int64(2)
	if a.limit.Epsilon > 0 {
		b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: a.limit.Epsilon, Delta: a.limit.Delta,
			Adjacency: a.limit.Adjacency})
		if err != nil {
			return err
		}
		if expected, err = b.Remaining(first); err != nil {
			return err
		}
		if expected == 0 {
			return b.Charge(first, 1) // refuses, with the figures
		}
	}
	plan, err := first.Times(min(expected, 1<<20))
	if err != nil {
		return err
	}
	order, err := plan.BestOrder(a.limit.Delta - a.limit.Failure)
	if err != nil {
		return err
	}
	a.limit.Order = order
	fresh, err := newAccount(Entry{Limit: a.limit})
	if err != nil {
		return err
	}
	*a = fresh
	return nil
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
