package anchors

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/surrogates"
)

// TestLeftOutIsSeen: rows that are surely left out are said to be. Where bounds leave room for rows beyond the radius
// and noise does not show that few are long, so are those that noise may hide. Where they leave none, or rows are
// seen to be short, they are not. Values are exact.
func TestLeftOutIsSeen(t *testing.T) {
	const n, radius = 10_000, 3.4
	for _, c := range []struct {
		bound, before, seen, noise, share float64
	}{
		{4, 1, 0.9, 0.01, 0.09},
		{4, 0.9, 1, 0.01, 0},
		{9, 0.9, 1, 0.01, 0.01},
		{9, 0.9, 0.95, 0.01, 0.06},
		{9, 1, 1, 0.01, 0},
		{9, 1, 1, 0.05, 0.05},
	} {
		columns := []surrogates.Column{{Kind: surrogates.Constant, Upper: 1}, {Lower: -c.bound, Upper: c.bound}}
		f := &fitScore{fit: fit{columns: columns, bounds: columns, numbers: []int{1},
			facts: curator.Facts{Records: n}, radius: radius, matrix: mat.NewDense(2, 2, []float64{1, 0, 0, 1})}, reach: 1.3}
		f.noise[fitLooks-1] = c.noise * n
		r := &Release{Values: make([]float64, fitLooks*4+2)}
		r.Values[(fitLooks-1)*4] = c.before * n
		r.Statistics = surrogates.Statistics{Moment: []float64{c.seen * n, 0, 0, n}, MomentSD: c.noise * n, ScoreSD: 10}
		got, err := f.leftOut(r)
		if err != nil || math.Abs(got.Share-c.share) > 3e-3 {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
		// So many rows of that length with slopes that are off by a tenth, over labels and noise.
		want := got.Share * n * 1.3 * radius * 0.1 * math.Sqrt(0.06/(0.06*n+100))
		if math.Abs(got.Shift-want) > 1e-9 {
			t.Errorf("%+v: the score moves by %v, not %v", c, got.Shift, want)
		}
	}
}
