package ledger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// example is a ledger of a few entries, as a file and as its entries.
func example(t testing.TB) (file []byte, entries [][]byte) {
	t.Helper()
	l := create4(t, limited(8))
	for i := range 3 {
		if _, err := l.Charge(gaussian(t, 30), int64(i+1), Note{Who: "ada", Command: "dpmcmc sample"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(l.SetLimit(9, 1e-5, Note{}),
		l.Meet("a.csv", bytes.NewReader([]byte("1,2\n")), false, Note{})); err != nil {
		t.Fatal(err)
	}
	err := l.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(entriesBucket).ForEach(func(_, v []byte) error {
			entries = append(entries, bytes.Clone(v))
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if file, err = os.ReadFile(l.Path()); err != nil {
		t.Fatal(err)
	}
	return file, entries
}

// FuzzEntry: no text makes reading an entry panic, and what is read is written and read
// again as it was.
func FuzzEntry(f *testing.F) {
	_, entries := example(f)
	for _, raw := range entries {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := decode(raw)
		if err != nil {
			return
		}
		again, err := e.encode()
		if err != nil {
			t.Fatalf("%s was read and cannot be written: %v", raw, err)
		}
		if o, err := decode(again); err != nil || o.TotalCost != e.TotalCost || o.Limit != e.Limit {
			t.Fatalf("%s was written as %s: %v", raw, again, err)
		}
	})
}

// FuzzEntries: whatever stands where an entry stood in a file, reading refuses it or
// agrees with it, and never panics.
func FuzzEntries(f *testing.F) {
	file, entries := example(f)
	for i, raw := range entries {
		f.Add(byte(i), raw)
		f.Add(byte(i), bytes.Replace(raw, []byte("count"), []byte("Count"), 1))
		f.Add(byte(i), bytes.Replace(raw, []byte("1e-05"), []byte("NaN"), 1))
	}
	f.Add(byte(1), []byte("null"))
	path := filepath.Join(f.TempDir(), "l")
	f.Fuzz(func(t *testing.T, at byte, raw []byte) {
		n := int64(at) % int64(len(entries))
		if bytes.Equal(raw, entries[n]) {
			return
		}
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(entriesBucket).Put(numberKey(n), raw) })
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		refuses(t, path, n)
	})
}

// refuses checks that a ledger with a changed entry is refused, with a number from
// the change on.
func refuses(t *testing.T, path string, n int64) {
	t.Helper()
	l := handle(path, Options{})
	var damaged *DamagedError
	if _, err := l.Check(); !errors.As(err, &damaged) || (damaged.Entry >= 0 && damaged.Entry < n) {
		if n < int64(lastEntry) || err != nil {
			t.Fatalf("entry %d was changed: %v", n, err)
		}
	}
	if _, err := l.Last(); err != nil && !errors.As(err, &damaged) {
		t.Fatalf("%v", err)
	}
}

// lastEntry is the number of the example's newest entry: a change to it leaves a chain
// that is whole, and is refused only if it does not add up.
const lastEntry = 5

// FuzzPages: bytes that are overwritten anywhere behind the meta pages never make the
// check of pages panic or hang.
func FuzzPages(f *testing.F) {
	file, _ := example(f)
	content := bytes.Clone(file)
	for at := 2 * pageSize; at < len(file); at += pageSize {
		f.Add(uint32(at), []byte{1, 0, 0, 0, 0, 0, 0, 0, 2}, uint32(at+pageHeader), []byte{0xff, 0xff})
	}
	f.Fuzz(func(t *testing.T, at uint32, bad []byte, where uint32, worse []byte) {
		overwrite := func(at uint32, with []byte) {
			copy(content[2*pageSize+int(at)%(len(content)-2*pageSize):], with)
		}
		overwrite(at, bad)
		overwrite(where, worse)
		if err := pagesAreWhole(bytes.NewReader(content), int64(len(content))); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
		copy(content, file)
	})
}

// FuzzFile: bytes that are overwritten anywhere in a file never make reading panic or
// hang, nor make it believe that less was spent.
func FuzzFile(f *testing.F) {
	file, _ := example(f)
	for _, at := range []uint32{0, 16, 40, 4096, 4176, 8192, 8200, 12288, 16384, 20480, 24576} {
		f.Add(at, []byte{0xff, 0xff})
		f.Add(at, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
	path := filepath.Join(f.TempDir(), "l")
	l := handle(path, Options{})
	if err := os.WriteFile(path, file, 0o600); err != nil {
		f.Fatal(err)
	}
	honest, err := l.Check()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, at uint32, bad []byte) {
		content := bytes.Clone(file)
		copy(content[int(at)%len(content):], bad)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Open(path, Options{})
		if err != nil {
			return
		}
		if r, err := m.Check(); err == nil && r.Last.TotalCost < honest.Last.TotalCost {
			t.Errorf("overwritten at %d: less is spent", int(at)%len(content))
		}
	})
}
