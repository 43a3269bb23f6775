package ledger

import (
	"fmt"

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
		c = accountant.BudgetConfig{Epsilon: last.Limit.Epsilon, Delta: last.Limit.Delta, Adjacency: last.Limit.Adjacency, Order: last.Limit.Order}
	}
	return accountant.NewRecordedBudget(c, &session{ledger: l, note: note})
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

// Certify names the certificate of what a run was charged for: the note's hash of it,
// for the note's run.
func (l *Ledger) Certify(note Note) error {
	if note.Run == "" || note.Certificate == "" {
		return fmt.Errorf("ledger: %s: Certify needs the run and the hash of its certificate", l.path)
	}
	return l.update(func(last Entry, w *writer) error { return w.append(last.carry(Certified, note)) })
}

// Resume records that a run goes on for the given time (1 for the first), with what is
// left of its charge. It costs nothing. Errors: a run that was not charged here for that
// event; one that went on more often than the caller knows, so that the caller has an
// old copy of its folder.
func (l *Ledger) Resume(note Note, charged accountant.Event, time int) error {
	return l.update(func(last Entry, w *writer) error {
		paid, times := false, 0
		err := l.scan(w.tx, func(n int64, raw []byte) error {
			e, err := decode(raw)
			if err != nil {
				return &DamagedError{l.path, n, fmt.Sprintf("it cannot be read (%v)", err)}
			}
			if e.Run == note.Run && e.Kind == Resumed {
				times++
			}
			if e.Run == note.Run && e.Kind == Charged {
				paid = paid || e.covers(charged)
			}
			return nil
		})
		switch {
		case err != nil:
			return err
		case !paid:
			return fmt.Errorf("ledger: %s: the run was not charged here, or for other releases: it cannot go on", l.path)
		case times != time-1:
			return fmt.Errorf("ledger: %s: the run went on %d times, and its folder knows of %d: this is an old copy, whose steps were made elsewhere", l.path, times, time-1)
		}
		return w.append(last.carry(Resumed, note))
	})
}

// covers reports whether an entry charged an event, or its restatement.
func (e Entry) covers(charged accountant.Event) bool {
	paid, err := e.Event.Times(e.Count)
	if err != nil {
		return false
	}
	if charged.Adjacency() != paid.Adjacency() {
		if charged, err = accountant.FromAddRemove(charged); err != nil {
			return false
		}
	}
	return paid.Equal(charged)
}
