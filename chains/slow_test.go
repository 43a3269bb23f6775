//go:build slow

package chains_test

const situationsDrawn = 40
