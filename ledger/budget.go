package ledger

import (
	"fmt"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// Budget returns a budget for one run, whose every charge is in the ledger before it
// takes effect: what curator.Seal takes. The run's own limit is c, and the ledger's
// holds as well. The zero c stands for the ledger's limit, at its order. The budget
// counts what this run was charged; Last says what was spent by all.
func (l *Ledger) Budget(c accountant.BudgetConfig, note Note) (*accountant.Budget, error) {
	if c == (accountant.BudgetConfig{}) {
		last, err := l.Last()
		if err != nil {
			return nil, err
		}
		if last.Limit.Epsilon == 0 {
			return nil, fmt.Errorf("ledger: %s: it has no limit, so the run needs one: give a BudgetConfig", l.path)
		}
		c = accountant.BudgetConfig{Epsilon: last.Limit.Epsilon, Delta: last.Limit.Delta, Adjacency: last.Limit.Adjacency,
			Order: last.Limit.Order}
	}
	return accountant.NewBudget(c, &session{ledger: l, note: note})
}

// session charges a ledger for one run.
type session struct {
	ledger *Ledger
	note   Note
}

// Record implements accountant.Recorder.
func (s *session) Record(e accountant.Event, count int64) error {
	if count == 0 {
		return nil
	}
	_, err := s.ledger.Charge(e, count, s.note)
	return err
}

// Resume records that a run goes on, with what is left of its charges, under a mark that
// its folder has written before. It costs nothing. marks are all that the folder has,
// this one included. Errors: a run that was not charged here for those events, one
// charge each; one that went on under a mark that the folder does not have, which is an
// old copy.
func (l *Ledger) Resume(note Note, charged []accountant.Event, mark string, marks []string) error {
	return l.update(func(last Entry, w *writer) error {
		unpaid, elsewhere := slices.Clone(charged), false
		err := l.scan(w.tx, func(n int64, raw []byte) error {
			e, err := decode(raw)
			if err != nil {
				return &DamagedError{l.path, n, fmt.Sprintf("it cannot be read (%v)", err)}
			}
			if e.Run == note.Run {
				elsewhere = elsewhere || e.Kind == Resumed && !slices.Contains(marks, e.Label)
				if i := slices.IndexFunc(unpaid, e.covers); e.Kind == Charged && i >= 0 {
					unpaid = slices.Delete(unpaid, i, i+1)
				}
			}
			return nil
		})
		switch {
		case err != nil:
			return err
		case len(unpaid) > 0:
			return fmt.Errorf("ledger: %s: the run was not charged here, or for other releases: it cannot go on", l.path)
		case elsewhere:
			return fmt.Errorf("ledger: %s: the run went on from another folder: this is an old copy, whose steps were made "+
				"elsewhere", l.path)
		}
		e := last.carry(Resumed, note)
		e.Label = shorten(mark)
		return w.append(e)
	})
}

// covers reports whether an entry charged an event, or its restatement.
func (e Entry) covers(charged accountant.Event) bool {
	if e.Event == nil {
		return false
	}
	paid, err := e.Event.Times(e.Count)
	if err != nil {
		return false
	}
	if charged.Adjacency() != paid.Adjacency() {
		if charged, err = charged.Substitution(); err != nil {
			return false
		}
	}
	return paid.Equal(charged)
}
