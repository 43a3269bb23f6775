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

// TestExplanationsMatch: every mutant that is explained can be drawn.
func TestExplanationsMatch(t *testing.T) {
	all, err := randomMutants(filepath.Join("..", "..", ".."), 1<<20, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range explained {
		if !slices.ContainsFunc(all, func(d defect) bool {
			return d.file == e.file && d.within == e.old && (e.new == anything || e.new == d.new)
		}) {
			t.Errorf("no mutant of %s is %q with %q", e.file, e.old, e.new)
		}
	}
}
