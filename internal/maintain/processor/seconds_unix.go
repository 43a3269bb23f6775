//go:build unix

// Package processor measures processor time, for benchmarks on busy machines.
package processor

import "syscall"

// Seconds is the processor time that this process has used, which other
// processes on the machine do not change much.
func Seconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(u.Utime) + seconds(u.Stime)
}
