package proptest

import "testing"

// TestLongTablesAreShort: numbers that repeat are written once, and those in between as they are.
func TestLongTablesAreShort(t *testing.T) {
	table := cycled([]float64{1, 0.3}, 1000)
	table[499] = 10
	const want = "slices.Concat(slices.Repeat([]float64{1, 0.3}, 249), []float64{1, 10}, " +
		"slices.Repeat([]float64{1, 0.3}, 250))"
	if got := source(table); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
