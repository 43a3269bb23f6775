package dense

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestMulVecRowsStandAlone: a row's product is that of Dot bit for bit, wherever
// the batch is cut.
func TestMulVecRowsStandAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(0, 11).Draw(t, "n"), rapid.IntRange(0, 7).Draw(t, "d")
		x := rapid.SliceOfN(rapid.Float64(), n*d, n*d).Draw(t, "x")
		v := rapid.SliceOfN(rapid.Float64(), d, d).Draw(t, "v")
		dst := make([]float64, n)
		MulVec(dst, x, v)
		for i := range n {
			want := Dot(v, x[i*d:(i+1)*d])
			if math.Float64bits(dst[i]) != math.Float64bits(want) && !(math.IsNaN(dst[i]) && math.IsNaN(want)) {
				t.Fatalf("row %d: %v, but Dot gives %v", i, dst[i], want)
			}
		}
	})
}
