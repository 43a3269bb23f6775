//go:build unix

package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/durable"
)

// TestLock: a file that is locked is refused to others until it is closed.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first, second := open(), open()
	if err := durable.Lock(first); err != nil {
		t.Fatal(err)
	}
	if err := durable.Lock(second); !errors.Is(err, durable.ErrLocked) {
		t.Errorf("two have the lock: %v", err)
	}
	if err := errors.Join(first.Close(), durable.Lock(second), second.Close()); err != nil {
		t.Error(err)
	}
}
