package dense

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestMulVecRowsStandAlone: a row's product is that of Dot bit for bit, wherever
// the batch is cut, and with two vectors at once.
func TestMulVecRowsStandAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(0, 11).Draw(t, "n"), rapid.IntRange(0, 9).Draw(t, "d")
		x := rapid.SliceOfN(rapid.Float64(), n*d, n*d).Draw(t, "x")
		v := rapid.SliceOfN(rapid.Float64(), d, d).Draw(t, "v")
		w := rapid.SliceOfN(rapid.Float64(), d, d).Draw(t, "w")
		alone, dst, other := make([]float64, n), make([]float64, n), make([]float64, n+3)
		other[n] = -1
		MulVec(alone, x, v)
		MulVecs(dst, other, x, v, w)
		for i := range n {
			row := x[i*d : (i+1)*d]
			check(t, i, alone[i], Dot(v, row))
			check(t, i, dst[i], Dot(v, row))
			check(t, i, other[i], Dot(w, row))
		}
		if other[n] != -1 {
			t.Fatalf("after %d rows there is %v", n, other[n])
		}
	})
}

func check(t *rapid.T, row int, got, want float64) {
	if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
		t.Fatalf("row %d: %v, but Dot gives %v", row, got, want)
	}
}

// TestGatherCopiesRows: rows are those that are named, up to one that is not in x; nothing
// is written beyond, and rows of fewer than four numbers are left to the caller.
func TestGatherCopiesRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(0, 9).Draw(t, "n"), rapid.IntRange(1, 14).Draw(t, "d")
		x := rapid.SliceOfN(rapid.Float64Range(0, 1), n*d, n*d).Draw(t, "x")
		y := x[:rapid.SampledFrom([]int{0, n}).Draw(t, "responses")]
		inside := rapid.Int32Range(0, int32(max(n-1, 0)))
		index := rapid.SliceOfN(inside, 0, 120).Draw(t, "index") // some beyond what is asked for ahead
		if len(index) > 0 && rapid.Bool().Draw(t, "stray") {
			index[rapid.IntRange(0, len(index)-1).Draw(t, "at")] = rapid.OneOf(rapid.Int32(),
				rapid.SampledFrom([]int32{-1, int32(n)})).Draw(t, "one")
		}
		const mark = -1
		dst := slices.Repeat([]float64{mark}, len(index)*d)
		copied := Gather(dst, x, y, d, index)
		stop := slices.IndexFunc(index, func(i int32) bool { return i < 0 || int(i) >= n })
		if want := len(index); stop >= 0 && copied > stop || d >= 4 && Wide && stop < 0 && n > 0 && copied != want {
			t.Fatalf("%d rows of %v were copied, of %d", copied, index, n)
		}
		for k, i := range index[:copied] {
			if row := x[int(i)*d : int(i+1)*d]; !slices.Equal(dst[k*d:(k+1)*d], row) {
				t.Fatalf("row %d is %v, not %v", i, dst[k*d:(k+1)*d], row)
			}
		}
		if rest := dst[copied*d:]; slices.ContainsFunc(rest, func(v float64) bool { return v != mark }) {
			t.Fatalf("after %d rows there is %v", copied, rest)
		}
	})
}
