package room

import (
	"math"
	"testing"
)

func TestRoundSmall(t *testing.T) {
	for _, v := range []float64{0, 0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 1 << 31, -(1<<31 - 0.5),
		1e-300, -7.25} {
		if got := roundSmall(v); got != int64(math.RoundToEven(v)) {
			t.Errorf("%v rounds to %d", v, got)
		}
	}
}

// TestClippedVectorsStayInside: rounded vectors are no longer than the grid's top, in any number
// of dimensions, and one without a direction or a length adds nothing.
func TestClippedVectorsStayInside(t *testing.T) {
	for _, dim := range []int{1, 2, 7, 100} {
		for _, bound := range []float64{0.3, 5} {
			grid := ExactGrid(bound)
			c := NewClipper(dim, 2, grid)
			for _, size := range []float64{0.9 / 4, 1 / 4., 1.1, 1e100} { // of four times each, of τ and slope
				v, sums := make([]float64, dim), make([]int64, dim)
				for j := range v {
					v[j] = size * bound / math.Sqrt(float64(dim)) * math.Copysign(1, float64(j%2)-0.5)
				}
				c.Add(sums, -2, v)
				square := 0.0
				for j, k := range sums {
					square += float64(k) * float64(k)
					if math.Signbit(float64(k)) == math.Signbit(v[j]) {
						t.Errorf("%v became %v", v[j], k)
					}
				}
				if length, want := math.Sqrt(square), min(4*size, 1)*grid.Top; length > grid.Top ||
					math.Abs(length-want) > 3*math.Sqrt(float64(dim)) {
					t.Errorf("%d dimensions, a length of %v bounds: %v steps of %v", dim, 4*size, length, grid.Top)
				}
			}
		}
	}
	c, sums := NewClipper(2, 1, ExactGrid(1)), make([]int64, 2)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300} {
		if c.Add(sums, 1, []float64{0.5, bad}); sums[0] != 0 || sums[1] != 0 {
			t.Errorf("%v added %v", bad, sums)
		}
		if c.Add(sums, bad, []float64{1e10, 0}); sums[0] != 0 || sums[1] != 0 {
			t.Errorf("a slope of %v added %v", bad, sums)
		}
	}
}
