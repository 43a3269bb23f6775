package ledger

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// Options says how a ledger's file is waited for.
type Options struct {
	// Patience is how long another process is waited for. Defaults to one minute.
	Patience time.Duration
	// Waiting, if not nil, is called after a second of waiting and every five seconds
	// from then on.
	Waiting func(waited time.Duration)
}

// Ledger is the accounts of one group of people. It holds no file open between
// calls, and is safe for concurrent use.
type Ledger struct {
	path    string
	options Options

	whole atomic.Bool // the file's pages were checked

	mu      sync.Mutex
	queue   []*request // waiting for the next commit
	leading bool       // a goroutine is committing
	prices  map[string]price
}

func handle(path string, o Options) *Ledger {
	o.Patience = cmp.Or(o.Patience, time.Minute)
	return &Ledger{path: path, options: o, prices: map[string]price{}}
}

// Create makes a ledger at a path where there is none.
func Create(path string, limit Limit, note Note, o Options) (*Ledger, error) {
	if err := limit.check(); err != nil {
		return nil, err
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("ledger: the operating system gave no randomness: %w", err)
	}
	first := Entry{Kind: Opened, Note: note, Limit: limit, Version: version, KeyHash: hash(key)}
	err := create(path, func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{entriesBucket, filesBucket, aboutBucket} {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		if err := tx.Bucket(aboutBucket).Put(keyName, key); err != nil {
			return err
		}
		w := &writer{tx: tx, next: 0}
		return w.append(first)
	})
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("ledger: %s: %w: open it, or choose another path", path, fs.ErrExist)
	}
	if err != nil {
		return nil, fmt.Errorf("ledger: %s cannot be made: %w", path, err)
	}
	return handle(path, o), nil
}

// Open returns the ledger at a path. It reads the whole file once: a chain of entries
// that is broken is a *DamagedError with the entry's number. A ledger that does not
// exist is fs.ErrNotExist.
func Open(path string, o Options) (*Ledger, error) {
	l := handle(path, o)
	if err := l.view(l.verify); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("ledger: %s: %w: name one that a run has made beside its data, or make it (dpmcmc ledger "+
				"init, or ledger.Create)", path, fs.ErrNotExist)
		}
		return nil, err
	}
	return l, nil
}

// Path is the ledger's file.
func (l *Ledger) Path() string { return l.path }

// check reports limits that mean nothing.
func (c Limit) check() error {
	if _, err := c.Adjacency.MarshalText(); err != nil {
		return fmt.Errorf("ledger: the adjacency is not stated: use accountant.Substitute or accountant.AddRemove")
	}
	if !(c.Epsilon >= 0) || math.IsInf(c.Epsilon, 1) {
		return fmt.Errorf("ledger: a limit of ε %v: must be a finite number > 0, or 0 for a ledger that only counts",
			c.Epsilon)
	}
	if !(c.Delta > 0 && c.Delta < 1) {
		return fmt.Errorf("ledger: δ %v: is required and must be in (0, 1)", c.Delta)
	}
	if !(c.Failure >= 0 && c.Failure < c.Delta) {
		return fmt.Errorf("ledger: %v of δ %v for failures: must be at least 0 and less than δ", c.Failure, c.Delta)
	}
	if c.Order != 0 && (!(c.Order > 1) || math.IsInf(c.Order, 1)) {
		return fmt.Errorf("ledger: order %v: must be a finite number > 1, or 0 to have the first charge set it", c.Order)
	}
	return nil
}

// view reads under a shared lock.
func (l *Ledger) view(fn func(*bbolt.Tx) error) error {
	return l.with(true, func(db *bbolt.DB) error { return db.View(fn) })
}

// verify checks that the file is a ledger and that every entry names the hash of the
// one before.
func (l *Ledger) verify(tx *bbolt.Tx) error {
	return l.scan(tx, func(int64, []byte) error { return nil })
}

// scan calls fn with every entry as it is kept, in order, each checked to follow the
// one before.
func (l *Ledger) scan(tx *bbolt.Tx, fn func(number int64, raw []byte) error) error {
	if err := l.shape(tx); err != nil {
		return err
	}
	next, previous := int64(0), ""
	err := tx.Bucket(entriesBucket).ForEach(func(k, raw []byte) error {
		switch {
		case string(k) != string(numberKey(next)):
			return &DamagedError{l.path, next, "it is missing"}
		case !follows(raw, previous):
			return &DamagedError{l.path, next, "it does not follow the entry before: the chain of hashes is broken"}
		}
		previous = hash(raw)
		next++
		return fn(next-1, raw)
	})
	if err == nil && next == 0 {
		err = &DamagedError{l.path, 0, "it is missing"}
	}
	return err
}

// shape reports a file of another kind.
func (l *Ledger) shape(tx *bbolt.Tx) error {
	for _, name := range [][]byte{entriesBucket, filesBucket, aboutBucket} {
		if tx.Bucket(name) == nil {
			return &DamagedError{l.path, -1, fmt.Sprintf("this is not a ledger: it has no part %q", name)}
		}
	}
	return nil
}

// last is the newest entry, which carries the state, and its hash.
func (l *Ledger) last(tx *bbolt.Tx) (Entry, string, error) {
	if err := l.shape(tx); err != nil {
		return Entry{}, "", err
	}
	k, raw := tx.Bucket(entriesBucket).Cursor().Last()
	if k == nil {
		return Entry{}, "", &DamagedError{l.path, 0, "it is missing"}
	}
	e, err := decode(raw)
	if err != nil {
		return Entry{}, "", &DamagedError{l.path, -1, fmt.Sprintf("the last entry cannot be read (%v)", err)}
	}
	if string(numberKey(e.Number)) != string(k) {
		return Entry{}, "", &DamagedError{l.path, e.Number, "it stands in the wrong place"}
	}
	return e, hash(raw), nil
}

// Last is the newest entry, with the totals so far.
func (l *Ledger) Last() (Entry, error) {
	var e Entry
	err := l.view(func(tx *bbolt.Tx) (err error) {
		e, _, err = l.last(tx)
		return err
	})
	return e, err
}

// Entries calls fn with every entry in order, while the ledger is locked for writers.
func (l *Ledger) Entries(fn func(Entry) error) error {
	return l.view(func(tx *bbolt.Tx) error {
		return l.scan(tx, func(n int64, raw []byte) error {
			e, err := decode(raw)
			if err != nil {
				return &DamagedError{l.path, n, fmt.Sprintf("it cannot be read (%v)", err)}
			}
			return fn(e)
		})
	})
}

// writer appends entries to a transaction.
type writer struct {
	tx       *bbolt.Tx
	next     int64
	previous string
}

func (w *writer) append(e Entry) error {
	e.Number, e.Previous, e.Note = w.next, w.previous, e.Note.short()
	e.Time = time.Now().UTC()
	raw, err := e.encode()
	if err != nil {
		return err
	}
	b := w.tx.Bucket(entriesBucket)
	b.FillPercent = 0.95 // entries are only appended
	if err := b.Put(numberKey(e.Number), raw); err != nil {
		return err
	}
	w.next, w.previous = w.next+1, hash(raw)
	return nil
}

// update appends entries under the lock: fn is given the newest one and a writer.
func (l *Ledger) update(fn func(last Entry, w *writer) error) error {
	return l.with(false, func(db *bbolt.DB) error {
		return db.Update(func(tx *bbolt.Tx) error {
			last, h, err := l.last(tx)
			if err != nil {
				return err
			}
			return fn(last, &writer{tx, last.Number + 1, h})
		})
	})
}

// carry is the next entry with the state of the last one.
func (e Entry) carry(k Kind, note Note) Entry {
	next := e
	next.Kind, next.Note = k, note
	next.Event, next.Count, next.Epsilon, next.Cost, next.Failure = nil, 0, 0, 0, 0
	next.Label, next.Print, next.KeyHash, next.Version = "", "", "", 0
	return next
}

// Theorem names the theorem that TotalEpsilon rests on. PlainEpsilon is a plain sum.
func (e Entry) Theorem() string {
	if a, err := newAccount(e); err == nil && a.filter != nil && e.Charges == 1 && a.epsilon() > e.TotalEpsilon {
		return "the accounting of the one charge that used up the limit"
	}
	if e.Limit.Epsilon > 0 {
		return new(accountant.Filter).Theorem()
	}
	return new(accountant.Odometer).Theorem()
}

// TotalDelta is the δ that TotalEpsilon holds at.
func (e Entry) TotalDelta() float64 {
	if e.Limit.Epsilon > 0 {
		return e.Limit.Delta
	}
	return min(1, above(e.Limit.Delta+e.TotalFailure))
}

// Share is the part of the limit that was used up after an entry, in [0, 1]; 0 for a
// ledger without one.
func (e Entry) Share() float64 {
	a, err := newAccount(e)
	if err != nil || a.filter == nil {
		return 0
	}
	return a.filter.Share()
}

// SetLimit changes what the ledger allows; epsilon 0 turns it into one that only
// counts. A limit that is below what was spent, or at which the ledger's order
// allows nothing, is an error. A limit chosen by looking at results is not covered by
// the guarantee: it holds as if it had been chosen in advance.
func (l *Ledger) SetLimit(epsilon, delta float64, note Note) error {
	return l.update(func(last Entry, w *writer) error {
		e := last.carry(Limited, note)
		e.Limit.Epsilon, e.Limit.Delta = epsilon, delta
		if err := e.Limit.check(); err != nil {
			return err
		}
		if e.TotalFailure > e.Limit.Failure && epsilon > 0 {
			return fmt.Errorf("ledger: %s: charges that may fail outright were counted, and a limit has no δ for them", l.path)
		}
		if epsilon > 0 {
			e.Limit.Epsilon = math.MaxFloat64 // at which nothing is too much
			spent, err := newAccount(e)
			if err != nil {
				return err
			}
			if e.Limit.Epsilon = epsilon; spent.epsilon() > epsilon {
				return fmt.Errorf("ledger: %s: a limit of ε %v at δ %v is below the ε %.6g spent so far: give a larger one", l.path,
					epsilon, delta, spent.epsilon())
			}
		}
		account, err := newAccount(e)
		if err != nil {
			return fmt.Errorf("ledger: %s: a limit of ε %v at δ %v allows nothing at the ledger's order %v: give a larger "+
				"one: %w", l.path, epsilon, delta, e.Limit.Order, err)
		}
		e.TotalEpsilon = account.epsilon()
		return w.append(e)
	})
}
