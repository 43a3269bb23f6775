package room

// Proof: docs/proofs/curator.md.

import (
	"fmt"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// Request is a grant of Count releases that has not been paid for. Prepare plans a
// mechanism on records with the given facts: it returns the price of one release, and
// what takes the grant once that is paid. It may keep the set, and must read nothing
// of it.
type Request struct {
	Count   int64
	Prepare func(f Facts, set *record.Set) (accountant.Event, func(*Grant), error)
}

// Grant charges several requests as one, all or nothing: a kernel whose step needs
// releases of two kinds never pays for the first and then finds that the budget does
// not cover the second. Every charge to the budget and every grant is made here.
func (r *Room) Grant(requests ...Request) error {
	events := make([]accountant.Event, len(requests))
	totals := make([]accountant.Event, len(requests))
	fulfil := make([]func(*Grant), len(requests))
	for i, q := range requests {
		if q.Count < 1 {
			return fmt.Errorf("curator: %d releases were asked for; at least 1 is needed", q.Count)
		}
		var err error
		if events[i], fulfil[i], err = q.Prepare(r.facts, r.set); err != nil {
			return err
		}
		if totals[i], err = events[i].Times(q.Count); err != nil {
			return err
		}
	}
	total, err := accountant.Compose(totals...)
	if err != nil {
		return err
	}
	if err := r.budget.Charge(total, 1); err != nil {
		return fmt.Errorf("curator: the grant was refused and nothing was read: %w", err)
	}
	for i, q := range requests {
		fulfil[i](r.open(events[i], q.Count))
	}
	return nil
}
