package forecasts

import (
	"slices"
	"strings"
	"testing"
)

// TestLeast: the first round number above one's own at which something holds is found with few
// looks, and none where it holds nowhere.
func TestLeast(t *testing.T) {
	xs := grid(0.3, 50)
	if want := []float64{0.5, 1, 2, 5, 10, 20, 50}; !slices.Equal(xs, want) {
		t.Fatalf("%v; want %v", xs, want)
	}
	looks := 0
	from := func(least float64) func(float64) bool {
		return func(x float64) bool {
			looks++
			return x >= least
		}
	}
	for _, want := range xs {
		looks = 0
		if x, ok := least(xs, from(want)); !ok || x != want || looks > 3 {
			t.Errorf("%v after %d looks; want %v", x, looks, want)
		}
	}
	if x, ok := least(xs, from(51)); ok {
		t.Errorf("found %v", x)
	}
	if x, ok := least(grid(60, 50), from(1)); ok {
		t.Errorf("found %v beyond the largest", x)
	}
}

// TestNoRemedyClaimsNothing: of steps that are too few only more of them are tried, so nothing is said of an ε.
func TestNoRemedyClaimsNothing(t *testing.T) {
	if said := Remedies(nil).words("anchored"); strings.Contains(said, "ε") || !strings.Contains(said, "tried") {
		t.Errorf("%q", said)
	}
}
