//go:build !unix

package durable

import "os"

// Lock does nothing where the system has no such lock: that one process alone writes is
// left to the caller.
func Lock(*os.File) error { return nil }
