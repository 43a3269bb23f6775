//go:build slow

package proptest_test

// slow tries what takes minutes too.
const slow = true
