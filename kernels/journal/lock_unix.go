//go:build unix

package journal

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps other processes from going on with a run that is going.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrRunning
	}
	return err
}
