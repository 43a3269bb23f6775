//go:build unix

package experiment

import (
	"os"
	"syscall"
)

// lock keeps other processes from writing to a journal, until it is closed or the
// process ends.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
