//go:build !unix

package processor

import "time"

var processStart = time.Now()

// Seconds is the time since the process began: here nothing better is
// known.
func Seconds() float64 { return time.Since(processStart).Seconds() }
