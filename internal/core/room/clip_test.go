package room

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestTotals: the three sums are those of the contributions, of what is left
// of them without their low bits, rounded towards zero, and of its squares.
func TestTotals(t *testing.T) {
	const coarse = 1 << CoarseShift
	var got Totals
	for _, k := range []int64{3*coarse + 7, -2*coarse - 9, coarse - 1, -coarse + 1, 0} {
		got.add(k)
	}
	if want := (Totals{Sum: coarse - 2, Coarse: 1, Squares: 13}); got != want {
		t.Errorf("totals %+v, want %+v", got, want)
	}
}

// TestBlocksAddUpTheirRecords: a block's totals are those of its records one by one, for
// any numbers: also NaN, infinities, negative zeros and denormals, of losses, moves and slopes.
func TestBlocksAddUpTheirRecords(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, -1e-310, 0.5, -0.5, 1.5,
		1 << 30, -1 << 30, 1<<30 - 0.5, 1 << 51, -1 << 53, 1e300, -1e300, math.MaxFloat64}
	number := rapid.OneOf(rapid.SampledFrom(special), rapid.Float64Range(-4, 4), rapid.Float64Range(-1<<31, 1<<31),
		rapid.Map(rapid.Uint64(), math.Float64frombits))
	rapid.Check(t, func(t *rapid.T) {
		c := clipping{tau: rapid.Float64Range(1e-3, 1).Draw(t, "tau"),
			slope: rapid.OneOf(rapid.Just(math.Inf(1)), rapid.Float64Range(0, 4), rapid.Float64Range(0, 1e300)).Draw(t, "slope"),
			grid:  NewGrid(rapid.SampledFrom([]float64{1e-200, 0.3, 1, 1 << 29, 1<<30 - 1, 1e200}).Draw(t, "bound"))}
		n := rapid.IntRange(0, 23).Draw(t, "n")
		draw := func(name string) []float64 { return rapid.SliceOfN(number, n, n).Draw(t, name) }
		loss, next, along := draw("loss"), draw("next"), draw("along")
		var got, want Totals
		got.addBlock(c, loss, next, along)
		for i := range loss {
			want.add(c.steps(loss[i], next[i], along[i]))
		}
		if got != want {
			t.Fatalf("%+v, but one by one %+v", got, want)
		}
	})
}

// TestBlocksAreExact: the most that a block can hold is added up without rounding.
func TestBlocksAreExact(t *testing.T) {
	c := clipping{tau: 1, slope: math.Inf(1), grid: ExactGrid(1 << GridBits)}
	loss, zeros := make([]float64, BlockRows), make([]float64, BlockRows)
	for i := range loss {
		loss[i] = 1<<GridBits - float64(i%2)
	}
	var got Totals
	got.addBlock(c, loss, zeros, zeros)
	const half = BlockRows / 2
	low := int64(1<<(GridBits-CoarseShift) - 1) // what is left of the lesser ones
	want := Totals{Sum: half * (2<<GridBits - 1), Coarse: half * (2*low + 1),
		Squares: half * (low*low + (low+1)*(low+1))}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestBlocksWithoutASlope do not read what is along the move.
func TestBlocksWithoutASlope(t *testing.T) {
	c := clipping{tau: 1, slope: math.Inf(1), grid: ExactGrid(1 << GridBits)}
	loss, zeros := []float64{1, 2, 3, 4, 5}, make([]float64, 5)
	for _, v := range []float64{0, 1e-320, -7, math.NaN(), math.Inf(-1)} {
		var got Totals
		if got.addBlock(c, loss, zeros, []float64{v, v, v, v, v}); got.Sum != 15 {
			t.Errorf("along %v: %+v", v, got)
		}
	}
}
