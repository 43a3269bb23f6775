package ledger

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/dpmcmc/dpmcmc/internal/durable"
)

var (
	entriesBucket = []byte("entries") // number → entry
	filesBucket   = []byte("files")   // fingerprint → label
	aboutBucket   = []byte("about")   // "key" → the key of fingerprints
	keyName       = []byte("key")
)

// Waits between attempts to lock, and between messages while waiting.
const (
	firstWait, longestWait = 200 * time.Microsecond, 10 * time.Millisecond
	sayAfter               = time.Second
	sayEvery               = 5 * time.Second
)

// BusyError says that another process kept the ledger locked for too long.
type BusyError struct {
	Path   string
	Waited time.Duration
}

// Error says what to do.
func (e *BusyError) Error() string {
	return fmt.Sprintf("ledger: %s: another process has held the ledger for %v: nothing was charged; see what is using "+
		"it and try again",
		e.Path, e.Waited.Round(time.Millisecond))
}

// DamagedError says that a ledger cannot be trusted. Nothing was charged.
type DamagedError struct {
	Path string
	// Entry is the first entry that is wrong, -1 if the file as a whole is.
	Entry  int64
	Reason string
}

// Error names the entry and says what to do.
func (e *DamagedError) Error() string {
	where := ""
	if e.Entry >= 0 {
		where = fmt.Sprintf("entry %d: ", e.Entry)
	}
	return fmt.Sprintf("ledger: %s: %s%s: nothing is charged to a damaged ledger; restore the newest backup and "+
		"charge again what was spent since, or keep the file and ask who changed it", e.Path, where, e.Reason)
}

// with opens the file under its lock, for fn alone unless it only reads, and closes
// it again. Locks are held for the length of one transaction, so that processes
// take turns.
func (l *Ledger) with(readOnly bool, fn func(*bbolt.DB) error) error {
	db, err := l.lock(readOnly)
	if err != nil {
		return err
	}
	err = l.guard(func() error { return fn(db) })
	return errors.Join(err, db.Close())
}

// lock opens the file when no other process has it.
func (l *Ledger) lock(readOnly bool) (*bbolt.DB, error) {
	begun, wait, say := time.Now(), firstWait, sayAfter
	for {
		db, err := l.attempt(readOnly)
		if !errors.Is(err, bolterrors.ErrTimeout) && !errors.Is(err, errMoved) {
			return db, err
		}
		waited := time.Since(begun)
		if waited > l.options.Patience {
			return nil, &BusyError{l.path, waited}
		}
		if waited > say {
			say = waited + sayEvery
			if l.options.Waiting != nil {
				l.options.Waiting(waited)
			}
		}
		time.Sleep(wait)
		wait = min(2*wait, longestWait)
	}
}

// errMoved says that the file that was locked is no longer the ledger's: it was
// compacted or replaced between opening and locking.
var errMoved = errors.New("ledger: the file was replaced")

// attempt opens the file if it is free now.
func (l *Ledger) attempt(readOnly bool) (db *bbolt.DB, err error) {
	var opened *os.File
	options := &bbolt.Options{
		Timeout: 1, ReadOnly: readOnly, FreelistType: bbolt.FreelistMapType,
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			f, err := os.OpenFile(name, flag&^os.O_CREATE, mode)
			if err != nil {
				return nil, err
			}
			opened = f
			if info, err := f.Stat(); err != nil || info.Size() == 0 { // which the store would make a new one of
				return nil, cmp.Or(err, errors.New("it is empty"))
			}
			return f, nil
		},
	}
	err = l.guard(func() (err error) {
		db, err = bbolt.Open(l.path, 0o600, options)
		return err
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, err
	case err != nil:
		if opened != nil {
			opened.Close() // releases the lock that a panic may have left
		}
		return nil, l.unreadable(err)
	}
	err = l.stillThere(opened)
	if err == nil && !l.whole.Load() {
		err = l.followable(opened)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// followable reports a file whose pages must not be followed, once: from then on only
// the store changes them.
func (l *Ledger) followable(opened *os.File) error {
	info, err := opened.Stat()
	if err != nil {
		return err
	}
	if err := pagesAreWhole(opened, info.Size()); err != nil {
		return &DamagedError{l.path, -1, err.Error()}
	}
	l.whole.Store(true)
	return nil
}

// stillThere reports a locked file that is no longer the one at the path, or whose
// newest state may be lost.
func (l *Ledger) stillThere(opened *os.File) error {
	locked, err := opened.Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(l.path)
	switch {
	case err != nil:
		return err
	case !os.SameFile(locked, named):
		return errMoved
	case !metasAreWhole(opened):
		return &DamagedError{l.path, -1, "its newest state is damaged, and an older one would forget charges"}
	}
	return nil
}

// unreadable explains an error of the store.
func (l *Ledger) unreadable(err error) error {
	var damaged *DamagedError
	if errors.As(err, &damaged) {
		return err
	}
	if errno := syscall.Errno(0); errors.As(err, &errno) { // the operating system's
		return fmt.Errorf("ledger: %s: %w", l.path, err)
	}
	return &DamagedError{l.path, -1, "this is not a ledger, or it is damaged (" + err.Error() + ")"}
}

// guard turns what a damaged file makes the store do, a panic or a fault in the
// mapped file, into an error.
func (l *Ledger) guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = &DamagedError{l.path, -1, fmt.Sprintf("the file is damaged (%v)", p)}
		}
	}()
	return fn()
}

// create makes the file with its first content, complete or not at all, and fails
// with fs.ErrExist if there is one.
func create(path string, fill func(*bbolt.Tx) error) error {
	return place(path, func(db *bbolt.DB) error { return db.Update(fill) }, os.Link)
}

// place writes a new file beside a path, and puts it there as a whole.
func place(path string, write func(*bbolt.DB) error, put func(temporary, path string) error) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	temporary := f.Name()
	defer os.Remove(temporary)
	if err := f.Close(); err != nil {
		return err
	}
	db, err := bbolt.Open(temporary, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	if err := errors.Join(write(db), db.Close()); err != nil {
		return err
	}
	if err := put(temporary, path); err != nil {
		return err
	}
	return durable.SyncDir(dir)
}

func numberKey(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
