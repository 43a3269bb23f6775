//go:build unix

package durable

import (
	"errors"
	"os"
	"syscall"
)

// Lock keeps other processes from locking a file until it is closed or the process ends.
// Errors: ErrLocked where another process holds it.
func Lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
