package record_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// TestProjectOfAnyRow holds the norm bound for every float a row can hold.
func TestProjectOfAnyRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SliceOfN(rapid.OneOf(rapid.Float64(), rapid.Float64Range(-3, 3)), 1, 8).Draw(t, "row")
		radius := math.Pow(10, rapid.Float64Range(-90, 90).Draw(t, "log10 of the radius"))
		got := slices.Clone(row)
		record.Project(got, radius)
		if n := record.Norm(got); !(n <= radius) {
			t.Fatalf("%v projected to %v: norm %v exceeds %v", row, got, n, radius)
		}
		again := slices.Clone(got)
		record.Project(again, radius)
		if !slices.Equal(got, again) {
			t.Fatalf("projecting twice moves %v to %v", got, again)
		}
		if finite(row) && record.Norm(row) <= radius/2 && !slices.Equal(got, row) {
			t.Fatalf("%v is inside the ball of %v and was moved to %v", row, radius, got)
		}
	})
}

func finite(row []float64) bool {
	for _, v := range row {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// TestTheMarginIsWhatTheProofTakes: 2(len + 4) units of 2⁻⁵³, inside which rows are left alone.
func TestTheMarginIsWhatTheProofTakes(t *testing.T) {
	for units, left := range map[float64]bool{9: false, 11: true, 13: true} { // of 10
		row := []float64{1 - units*0x1p-53}
		if record.Project(row, 1); (row[0] == 1-units*0x1p-53) != left {
			t.Errorf("a row %v units inside became one %v inside", units, (1-row[0])*0x1p53)
		}
	}
}

func TestHugeRowsKeepTheirDirection(t *testing.T) {
	row := []float64{math.MaxFloat64, -math.MaxFloat64 / 2}
	record.Project(row, 1)
	if r := row[1] / row[0]; math.Abs(r+0.5) > 1e-15 || math.Abs(record.Norm(row)-1) > 1e-14 {
		t.Errorf("a huge row was projected to %v", row)
	}
}

// TestRowsWithoutDirection: one number that is not finite makes the zero row, in a ball of any
// radius; rows of no ball are left.
func TestRowsWithoutDirection(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, radius := range []float64{1e-100, 0.5, 1, 1e100} {
			x, _ := record.New([]float64{1e-101, bad, 1e-101}, 3, nil, 1, radius).Block(nil, nil, 0, 1)
			if !slices.Equal(x, []float64{0, 0, 0}) {
				t.Errorf("a row with %v in a ball of %v is %v", bad, radius, x)
			}
		}
		x, _ := record.New([]float64{bad}, 1, nil, 1, 0).Block(nil, nil, 0, 1)
		if math.Float64bits(x[0]) != math.Float64bits(bad) {
			t.Errorf("%v in no ball is %v", bad, x[0])
		}
	}
}

// TestSetsOfFeaturesAlone have no response, whichever way they are read.
func TestSetsOfFeaturesAlone(t *testing.T) {
	x := []float64{0.3, 0.4, 3, 4, 30, 40}
	inside := []float64{0.3, 0.4, 0.3, 0.4, 0.3, 0.4}
	for name, s := range map[string]*record.Set{"copied": record.New(x, 2, nil, 3, 0.5),
		"shared": record.Share(x, nil, 2, nil, 3, 0.5)} {
		bx, by := s.Block(make([]float64, 6), nil, 0, 3)
		gx, gy := s.Gather(make([]float64, 8), make([]float64, 3), []int32{0, 1, 2})
		if s.Response() || by != nil || gy != nil || len(bx) != 6 || len(gx) != 6 || !slices.Equal(bx, gx) {
			t.Errorf("%s: a block is %v and %v, gathered %v and %v", name, bx, by, gx, gy)
		}
		for i, v := range gx {
			if math.Abs(v-inside[i]) > 1e-14 {
				t.Errorf("%s: gathered %v", name, gx)
			}
		}
	}
	if !record.New(x, 2, []float64{1, 2, 3}, 3, 0.5).Response() {
		t.Error("a set with responses has none")
	}
}

func TestSetCopiesAndGathers(t *testing.T) {
	x, y := []float64{1, 2, 3, 4, math.Inf(1), 6}, []float64{7, 8, 9}
	s := record.New(x, 2, y, 3, 10)
	x[0], y[0] = 100, 100
	gx, gy := s.Gather(make([]float64, 4), make([]float64, 2), []int32{2, 0})
	if !slices.Equal(gx, []float64{0, 0, 1, 2}) || !slices.Equal(gy, []float64{9, 7}) {
		t.Errorf("gathered %v and %v", gx, gy)
	}
	if bx, by := s.Block(nil, nil, 1, 2); !slices.Equal(bx, []float64{3, 4}) || !slices.Equal(by, []float64{8}) {
		t.Errorf("block is %v and %v", bx, by)
	}
}

// TestRecordsWithoutFeatures have a response alone.
func TestRecordsWithoutFeatures(t *testing.T) {
	for name, s := range map[string]*record.Set{
		"copied": record.New([]float64{}, 0, []float64{7, 8, 9}, 3, 0),
		"shared": record.Share([]float64{}, nil, 0, []float64{7, 8, 9}, 3, 0),
		"none":   record.New(nil, 0, []float64{7, 8, 9}, 3, 0),
	} {
		gx, gy := s.Gather(make([]float64, 0), make([]float64, 2), []int32{2, 0})
		if len(gx) != 0 || !slices.Equal(gy, []float64{9, 7}) {
			t.Errorf("%s: gathered %v and %v", name, gx, gy)
		}
	}
}

// TestRowsAreParts: a row and a slice of a batch share its memory, and end where they end, so
// that what is appended to them overwrites nothing.
func TestRowsAreParts(t *testing.T) {
	x, y := []float64{1, 2, 3, 4, 5, 6, 7, 8}, []float64{10, 20, 30, 40}
	all := record.Rows{X: x, P: 2, Y: y}
	if row := all.Row(2); all.Len() != 4 || !slices.Equal(row, []float64{5, 6}) || &row[0] != &x[4] || cap(row) != 2 {
		t.Errorf("of %d rows number 2 is %v, with room for %d", all.Len(), row, cap(row))
	}
	part := all.Slice(1, 3)
	if part.P != 2 || part.Len() != 2 || !slices.Equal(part.X, x[2:6]) || !slices.Equal(part.Y, y[1:3]) ||
		cap(part.X) != 4 || cap(part.Y) != 2 || &part.X[0] != &x[2] {
		t.Errorf("rows 1 and 2 are %+v, with room for %d and %d", part, cap(part.X), cap(part.Y))
	}
	if part := (record.Rows{X: x, P: 2}).Slice(1, 3); part.Y != nil || part.Len() != 2 {
		t.Errorf("rows without responses have %+v", part)
	}
	if part := (record.Rows{Y: y}).Slice(1, 3); part.Len() != 2 || len(part.X) != 0 {
		t.Errorf("rows without features have %+v", part)
	}
}

// TestSharedRowsAreProjectedWheneverTheyAreRead: whoever writes to shared memory changes
// a record, and never puts one outside the ball. In single precision it is the widened row.
func TestSharedRowsAreProjectedWheneverTheyAreRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const p, n = 3, 4
		radius := rapid.SampledFrom([]float64{0.5, 1.5}).Draw(rt, "radius")
		single := rapid.Bool().Draw(rt, "single")
		y := []float64{1, 2, 3, 4}
		x, narrow := make([]float64, n*p), make([]float32, n*p)
		s := record.Share(x, nil, p, y, n, radius)
		if single {
			s = record.Share(nil, narrow, p, y, n, radius)
		}
		buf, bufY := make([]float64, n*p), make([]float64, n)
		for range 3 {
			for i := range x {
				narrow[i] = rapid.OneOf(rapid.Float32(), rapid.Float32Range(-1, 1)).Draw(rt, "entry")
				x[i] = float64(narrow[i])
			}
			y[0]++
			want := record.New(x, p, y, n, radius)
			wantX, wantY := want.Block(nil, nil, 1, 4)
			if gx, gy := s.Block(buf, bufY, 1, 4); !slices.Equal(gx, wantX) || !slices.Equal(gy, wantY) {
				rt.Fatalf("a block is %v and %v, want %v and %v", gx, gy, wantX, wantY)
			}
			index := []int32{3, 0}
			wantX, wantY = want.Gather(make([]float64, n*p), make([]float64, n), index)
			if gx, gy := s.Gather(buf, bufY, index); !slices.Equal(gx, wantX) || !slices.Equal(gy, wantY) {
				rt.Fatalf("gathered %v and %v, want %v and %v", gx, gy, wantX, wantY)
			}
		}
	})
}

// TestGatherIsRows: many rows, of one number to more than two cache lines, are gathered as
// they stand, from a copy and from shared memory of either precision, with a ball or none.
func TestGatherIsRows(t *testing.T) {
	const n = 200
	for p := 1; p <= 17; p++ {
		x, narrow, y := make([]float64, n*p), make([]float32, n*p), make([]float64, n)
		for i := range x {
			x[i] = float64(i%1001) / 1024 // exact in either precision
			narrow[i] = float32(x[i])
		}
		index := make([]int32, 320) // whole groups of those that are brought in at once
		for i := range index {
			index[i] = int32(n - 1 - i*7%n)
		}
		for _, radius := range []float64{0, 1e6} {
			for name, s := range map[string]*record.Set{"copied": record.New(x, p, y, n, radius),
				"shared": record.Share(x, nil, p, y, n, radius), "narrow": record.Share(nil, narrow, p, y, n, radius)} {
				got, _ := s.Gather(make([]float64, len(index)*p), make([]float64, len(index)), index)
				for k, i := range index {
					if row := x[int(i)*p : int(i+1)*p]; !slices.Equal(got[k*p:(k+1)*p], row) {
						t.Fatalf("%s rows of %d in a ball of %v: number %d is %v, want row %d, %v", name, p, radius, k,
							got[k*p:(k+1)*p], i, row)
					}
				}
			}
		}
	}
}
