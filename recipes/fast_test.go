//go:build !slow

package recipes_test

const situationsDrawn = 3
