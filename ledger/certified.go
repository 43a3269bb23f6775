package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// CertificateHash is how a certificate's file is named in a ledger.
func CertificateHash(file []byte) string {
	h := sha256.Sum256(file)
	return hex.EncodeToString(h[:])
}

// Certify names the certificate of what a run was charged for: the note's hash of it,
// for the note's run.
func (l *Ledger) Certify(note Note) error {
	if note.Run == "" || note.Certificate == "" {
		return fmt.Errorf("ledger: %s: Certify needs the run and the hash of its certificate", l.path)
	}
	return l.update(func(last Entry, w *writer) error { return w.append(last.carry(Certified, note)) })
}

// RunReport is what a ledger knows of a run.
type RunReport struct {
	// ID is the ledger's own, which no other ledger has.
	ID string
	// Charges are the run's charges, and Certificate is the newest hash of its certificate.
	Charges     []Entry
	Certificate string
}

// Run returns what the ledger knows of a run, which is nothing of one that it does not
// know.
func (l *Ledger) Run(run string) (RunReport, error) {
	var r RunReport
	err := l.Entries(func(e Entry) error {
		switch {
		case e.Kind == Opened:
			r.ID = e.KeyHash
		case run == "" || e.Run != run:
		case e.Kind == Charged:
			r.Charges = append(r.Charges, e)
		case e.Kind == Certified:
			r.Certificate = e.Certificate
		}
		return nil
	})
	return r, err
}

// Entries are the numbers of the run's charges.
func (r RunReport) Entries() []int64 {
	var out []int64
	for _, e := range r.Charges {
		out = append(out, e.Number)
	}
	return out
}

// Covers reports charges that do not pay for what a certificate states, with the entries
// that it names.
func (r RunReport) Covers(stated accountant.Event, entries []int64) error {
	if !slices.Equal(r.Entries(), entries) {
		return fmt.Errorf("the ledger has the run's charges in the entries %v, and the certificate names %v", r.Entries(),
			entries)
	}
	paid, order := 0.0, 0.0
	for _, e := range r.Charges {
		var err error
		if stated.Adjacency() != e.Event.Adjacency() {
			if stated, err = stated.Substitution(); err != nil {
				return err
			}
		}
		whole, err := e.Event.Times(e.Count)
		if err != nil {
			return err
		}
		order = e.Limit.Order
		paid += whole.RDP(order)
	}
	if len(r.Charges) == 0 && len(stated.Mechanisms()) == 0 {
		return nil
	}
	const rounding = 1e-9
	if cost := stated.RDP(order); !(cost <= paid*(1+rounding)) {
		return fmt.Errorf("the run was charged %.6g at order %.4g, and what the certificate states costs %.6g", paid,
			order, cost)
	}
	return nil
}
