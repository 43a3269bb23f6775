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
