package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/dpmcmc/dpmcmc/internal/durable"
)

// Compact rewrites the file without its free space, and returns its sizes in bytes.
// Every entry stays. Other processes wait meanwhile; a crash leaves the old file or
// the new one.
func (l *Ledger) Compact() (before, after int64, err error) {
	err = l.with(false, func(db *bbolt.DB) error {
		if err := db.View(l.verify); err != nil {
			return err
		}
		if before, err = size(l.path); err != nil {
			return err
		}
		if err := l.rewrite(db); err != nil {
			return fmt.Errorf("ledger: %s: compacting failed and the file is as it was: %w", l.path, err)
		}
		after, err = size(l.path)
		return err
	})
	return before, after, err
}

// rewrite copies the entries into a new file that takes the old one's place. The
// caller holds the old one's lock until then.
func (l *Ledger) rewrite(db *bbolt.DB) error {
	dir := filepath.Dir(l.path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(l.path)+".new-*")
	if err != nil {
		return err
	}
	temporary := f.Name()
	defer os.Remove(temporary)
	if err := f.Close(); err != nil {
		return err
	}
	fresh, err := bbolt.Open(temporary, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	const batch = 1 << 20
	if err := errors.Join(bbolt.Compact(fresh, db, batch), fresh.Sync(), fresh.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary, l.path); err != nil {
		return err
	}
	return durable.SyncDir(dir)
}

func size(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
