//go:build !slow

package proptest_test

// slow leaves out the efforts that take minutes.
const slow = false
