package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// spoil changes a ledger behind its back.
func spoil(t *testing.T, l *Ledger, change func(tx *bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(l.Path(), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(change), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestBrokenChains are refused with the entry's number, and so is what only adding up
// again shows.
func TestBrokenChains(t *testing.T) {
	rewrite := func(n int64, change func(e *Entry)) func(tx *bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			b := tx.Bucket(entriesBucket)
			previous := ""
			for k := n; ; k++ { // the whole rest, as a careful forger would
				raw := b.Get(numberKey(k))
				if raw == nil {
					return nil
				}
				e, err := decode(raw)
				if err != nil {
					return err
				}
				if k == n {
					change(&e)
				} else {
					e.Previous = previous
				}
				out, err := e.encode()
				if err != nil {
					return err
				}
				previous = hash(out)
				if err := b.Put(numberKey(k), out); err != nil {
					return err
				}
			}
		}
	}
	edit := func(tx *bbolt.Tx) error {
		b := tx.Bucket(entriesBucket)
		raw := bytes.Replace(b.Get(numberKey(3)), []byte(`"count":4`), []byte(`"count":1`), 1)
		return b.Put(numberKey(3), raw)
	}
	for name, c := range map[string]struct {
		entry  int64
		change func(tx *bbolt.Tx) error
		opens  bool
	}{
		"edited":   {4, edit, false},
		"deleted":  {2, func(tx *bbolt.Tx) error { return tx.Bucket(entriesBucket).Delete(numberKey(2)) }, false},
		"first":    {0, func(tx *bbolt.Tx) error { return tx.Bucket(entriesBucket).Delete(numberKey(0)) }, false},
		"total":    {3, rewrite(3, func(e *Entry) { e.TotalCost /= 2 }), true},
		"cost":     {3, rewrite(3, func(e *Entry) { e.Cost /= 2 }), true},
		"charges":  {3, rewrite(3, func(e *Entry) { e.Charges-- }), true},
		"order":    {3, rewrite(3, func(e *Entry) { e.Limit.Order++ }), true},
		"kind":     {3, rewrite(3, func(e *Entry) { e.Kind = "gift" }), true},
		"no event": {3, rewrite(3, func(e *Entry) { e.Event = nil }), true},
		"number":   {3, rewrite(3, func(e *Entry) { e.Number = 7 }), true},
		"version":  {0, rewrite(0, func(e *Entry) { e.Version = 9 }), true},
		"key":      {0, func(tx *bbolt.Tx) error { return tx.Bucket(aboutBucket).Put(keyName, []byte("other")) }, true},
		"bucket":   {-1, func(tx *bbolt.Tx) error { return tx.DeleteBucket(filesBucket) }, false},
		"print":    {-1, func(tx *bbolt.Tx) error { return tx.Bucket(filesBucket).Put([]byte("x"), []byte("y")) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := create4(t, limited(8))
			for i := range 5 {
				if _, err := l.Charge(gaussian(t, 30), int64(i+2), Note{}); err != nil {
					t.Fatal(err)
				}
			}
			spoil(t, l, c.change)
			_, oerr := Open(l.Path(), Options{})
			_, cerr := l.Check()
			var damaged *DamagedError
			if !errors.As(cerr, &damaged) || damaged.Entry != c.entry {
				t.Errorf("check: %v, want entry %d", cerr, c.entry)
			}
			if (oerr == nil) != c.opens {
				t.Errorf("open: %v", oerr)
			}
		})
	}
}

// TestDamagedFiles: no byte that is changed makes anything panic, hang or fall short.
func TestDamagedFiles(t *testing.T) {
	l := create4(t, limited(8))
	for range 3 {
		if _, err := l.Charge(gaussian(t, 30), 2, Note{}); err != nil {
			t.Fatal(err)
		}
	}
	spent := last(t, l).TotalCost
	whole, err := os.ReadFile(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, content []byte) {
		path := filepath.Join(t.TempDir(), "l")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Open(path, Options{})
		if err != nil {
			if damaged := new(DamagedError); !errors.As(err, &damaged) {
				t.Errorf("%s: %v", what, err)
			}
			return
		}
		if r, err := m.Check(); err == nil && r.Last.TotalCost < spent {
			t.Errorf("%s: less is spent", what)
		}
	}
	for _, n := range []int{0, 1, 100, 4096, 8192, 12288, len(whole) / 2, len(whole) - 1} {
		try(fmt.Sprintf("cut to %d bytes", n), whole[:n])
	}
	for i := 0; i < len(whole); i += 97 {
		bad := bytes.Clone(whole)
		bad[i] ^= 0x55
		try(fmt.Sprintf("byte %d", i), bad)
	}
}
