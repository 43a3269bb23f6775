package ledger

import (
	"encoding/hex"
	"fmt"

	"go.etcd.io/bbolt"
)

// Report is what Check found in a ledger that is whole.
type Report struct {
	// Entries and Charges count them.
	Entries, Charges int64
	// Last is the newest entry, with the totals.
	Last Entry
	// Files are the labels of the files that it keeps the accounts of.
	Files []string
	// Repriced is the Rényi cost of all charges at this software's prices. It is
	// above Last.TotalCost if a price was found too low since and mended.
	Repriced float64
}

// Check reads every entry, adds everything up again and compares. What does not agree
// is a *DamagedError with the entry's number.
func (l *Ledger) Check() (Report, error) {
	var r Report
	err := l.view(func(tx *bbolt.Tx) error {
		r = Report{}
		c := checker{path: l.path, tx: tx, report: &r}
		err := l.scan(tx, c.entry)
		if err == nil {
			err = c.files()
		}
		return err
	})
	return r, err
}

// checker folds a ledger's entries.
type checker struct {
	path   string
	tx     *bbolt.Tx
	report *Report
	prints int
}

// entry checks one entry against the state before it.
func (c *checker) entry(n int64, raw []byte) error {
	wrong := func(format string, args ...any) error {
		return &DamagedError{c.path, n, fmt.Sprintf(format, args...)}
	}
	e, err := decode(raw)
	if err != nil {
		return wrong("it cannot be read (%v)", err)
	}
	if e.Number != n {
		return wrong("it calls itself entry %d", e.Number)
	}
	before := c.report.Last
	switch {
	case n == 0:
		if err := c.opened(e); err != nil {
			return wrong("%v", err)
		}
	case e.Kind == Charged:
		if err := c.charged(before, e); err != nil {
			return wrong("%v", err)
		}
	case e.Kind == File:
		if err := c.file(e); err != nil {
			return wrong("%v", err)
		}
		fallthrough
	case e.Kind == Limited, e.Kind == Certified, e.Kind == Resumed:
		if e.Charges != before.Charges || e.TotalCost != before.TotalCost || e.PlainEpsilon != before.PlainEpsilon ||
			e.PlainDelta != before.PlainDelta || e.TotalFailure != before.TotalFailure {
			return wrong("it is no charge and changes the totals")
		}
	default:
		return wrong("unknown kind %q", e.Kind)
	}
	c.report.Entries, c.report.Charges, c.report.Last = n+1, e.Charges, e
	return nil
}

func (c *checker) opened(e Entry) error {
	key := c.tx.Bucket(aboutBucket).Get(keyName)
	switch {
	case e.Kind != Opened || e.Charges != 0 || e.TotalCost != 0:
		return fmt.Errorf("a ledger does not begin with it")
	case e.Version != version:
		return fmt.Errorf("the file has version %d and this software reads version %d", e.Version, version)
	case hash(key) != e.KeyHash:
		return fmt.Errorf("the key of fingerprints is another one")
	}
	return nil
}

// charged adds a charge up again.
func (c *checker) charged(before, e Entry) error {
	if e.Event == nil || e.Count < 1 || e.Limit.Order == 0 {
		return fmt.Errorf("it is a charge without an event, a count or an order")
	}
	if before.Limit.Order != 0 && before.Limit.Order != e.Limit.Order {
		return fmt.Errorf("the order changed from %v to %v", before.Limit.Order, e.Limit.Order)
	}
	// Recorded costs are added up, not today's prices. Each sum was rounded up.
	sum := before.TotalCost + e.Cost
	if !(e.Cost >= 0) || !(e.TotalCost >= sum) || e.TotalCost > above(sum) || e.Charges != before.Charges+1 {
		return fmt.Errorf("the totals do not add up: %v and %v make %v, and %v is recorded", before.TotalCost, e.Cost, sum,
			e.TotalCost)
	}
	if e.PlainEpsilon != above(before.PlainEpsilon+e.Epsilon) ||
		e.PlainDelta != min(1, above(before.PlainDelta+e.Limit.Delta)) {
		return fmt.Errorf("the plain sums do not add up")
	}
	if e.TotalFailure != add(before.TotalFailure, e.Failure) {
		return fmt.Errorf("the failures do not add up")
	}
	whole, err := e.Event.Times(e.Count)
	if err != nil {
		return err
	}
	c.report.Repriced = above(c.report.Repriced + whole.RDP(e.Limit.Order))
	return nil
}

func (c *checker) file(e Entry) error {
	print, err := hex.DecodeString(e.Print)
	if err != nil || string(c.tx.Bucket(filesBucket).Get(print)) != e.Label {
		return fmt.Errorf("the fingerprint of %q is missing", e.Label)
	}
	c.prints++
	return nil
}

// files compares the fingerprints with the entries about them.
func (c *checker) files() error {
	c.report.Files = labels(c.tx)
	if len(c.report.Files) != c.prints {
		return &DamagedError{c.path, -1, fmt.Sprintf("%d fingerprints are kept and %d entries speak of them",
			len(c.report.Files), c.prints)}
	}
	return nil
}
