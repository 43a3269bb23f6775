package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDefectsMatch: what each defect changes stands in its file, once.
func TestDefectsMatch(t *testing.T) {
	for _, d := range slices.Concat(targetDefects, curatorDefects, accountantDefects, noiseDefects, samplerDefects) {
		source, err := os.ReadFile(filepath.Join("..", "..", "..", d.file))
		if err != nil {
			t.Error(err)
			continue
		}
		if n := strings.Count(string(source), d.old); n != 1 {
			t.Errorf("%s has %q %d times", d.file, d.old, n)
		}
	}
}
