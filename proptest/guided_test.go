package proptest

import (
	"math"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

// TestGuidedIsASearch: places among any sorted numbers are those of a binary search.
func TestGuidedIsASearch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.OneOf(rapid.Float64Range(-3, 3), rapid.Float64(), rapid.SampledFrom([]float64{0, 1, 1e300, -1e300,
			math.Inf(1), math.Inf(-1)}))
		sorted := rapid.SliceOfN(number, 1, 200).Draw(rt, "numbers")
		slices.Sort(sorted)
		g := guide(sorted)
		for _, v := range append(slices.Clone(sorted), rapid.SliceOf(number).Draw(rt, "others")...) {
			if got, want := g.below(v), sort.SearchFloat64s(sorted, v); got != want {
				rt.Fatalf("%d of %v lie below %v, not %d", want, sorted, v, got)
			}
		}
	})
}

// TestNeighboursDifferInARow: data sets that one row tells apart are neighbours, wherever it is, and
// others are none.
func TestNeighboursDifferInARow(t *testing.T) {
	rows := func(x ...float64) curator.Records { return curator.Records{X: x, Features: 1} }
	for _, c := range []struct {
		a, b curator.Records
		adj  accountant.Adjacency
		want int // −1 for none
	}{
		{rows(1, 2, 3), rows(9, 2, 3), accountant.Substitute, 0},
		{rows(1, 2, 3), rows(1, 2, 9), accountant.Substitute, 2},
		{rows(1, 2, 3), rows(1, 2, 3), accountant.Substitute, 0},
		{rows(1, 2, 3), rows(9, 2, 9), accountant.Substitute, -1},
		{rows(1, 2, 3), rows(2, 3), accountant.AddRemove, 0},
		{rows(1, 2, 3), rows(1, 3), accountant.AddRemove, 1},
		{rows(1, 2, 3), rows(1, 2), accountant.AddRemove, 2},
		{rows(1, 1, 1), rows(1, 1), accountant.AddRemove, 0},
		{rows(1, 2, 3), rows(3, 2), accountant.AddRemove, -1},
		{rows(1, 2, 3), rows(1, 2), accountant.Substitute, -1},
		{rows(1), rows(), accountant.AddRemove, 0},
	} {
		if got, err := neighbours(c.a, c.b, c.adj); (err != nil) != (c.want < 0) || err == nil && got != c.want {
			t.Errorf("%v and %v under %v: %d, %v, not %d", c.a.X, c.b.X, c.adj, got, err, c.want)
		}
	}
}
