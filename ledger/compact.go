package ledger

import (
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
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
	const batch = 1 << 20
	return place(l.path, func(fresh *bbolt.DB) error {
		return errors.Join(bbolt.Compact(fresh, db, batch), fresh.Sync())
	}, os.Rename)
}

func size(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
