package main

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestDefectsMatch: what each defect changes stands in its file, once.
func TestDefectsMatch(t *testing.T) {
	all, err := deliberate(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.at < 0 {
			t.Errorf("%s does not have %q once", d.file, d.old)
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
