//go:build !unix

package main

import "time"

var processStart = time.Now()

// processorSeconds is the time since the process began: here nothing better is
// known.
func processorSeconds() float64 { return time.Since(processStart).Seconds() }
