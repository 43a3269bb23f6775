package view_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/view"
)

// wrongImage says what is wrong with what a row is seen as through a matrix, beside exact products
// and lengths. What overflows on the way may be dropped.
func wrongImage(got, matrix, row []float64, radius float64) error {
	if how := tooLong(got, radius); how != "" {
		return fmt.Errorf("%v is longer than %v, %v", got, radius, how)
	}
	zero := !slices.ContainsFunc(got, func(v float64) bool { return v != 0 })
	if !finite(row) {
		if !zero {
			return fmt.Errorf("a row that is not finite is seen as %v", got)
		}
		return nil
	}
	product := func(a, b float64) *big.Float {
		return new(big.Float).SetPrec(300).Mul(big.NewFloat(a), big.NewFloat(b))
	}
	p, square, off, overflows := len(row), new(big.Float).SetPrec(300), 0.0, false
	for j := range p {
		exact, size := new(big.Float).SetPrec(300), new(big.Float).SetPrec(300)
		for k, x := range row {
			v := product(matrix[j*p+k], x)
			exact.Add(exact, v)
			size.Add(size, v.Abs(v))
		}
		s, _ := size.Float64()
		overflows = overflows || s > math.MaxFloat64/2
		rounding := float64(p+1) * (0x1p-52*s + 0x1p-1074)
		miss, _ := new(big.Float).Sub(exact, big.NewFloat(got[j])).Float64()
		if !zero && !(math.Abs(miss) <= rounding) {
			return fmt.Errorf("entry %d of the image is %v, want %v", j, got[j], exact)
		}
		off += rounding
		square.Add(square, exact.Mul(exact, exact))
	}
	length, _ := square.Sqrt(square).Float64()
	if zero && !overflows && length > off && length+off < radius*(1-0x1p-50*float64(p+4)) {
		return fmt.Errorf("an image of length %v, below %v, is dropped", length, radius)
	}
	return nil
}

// through is what a row of any source is seen as.
func through(matrix, row []float64, radius float64) []float64 {
	s := view.Through(record.New(row, len(row), nil, 1, 0), radius)
	s.Aim(matrix)
	x, _ := s.Block(make([]float64, len(row)), nil, 0, 1)
	return x
}

var (
	anyEntry = rapid.OneOf(rapid.Float64Range(-2, 2), rapid.Float64(), rapid.SampledFrom([]float64{0, 1, -1,
		5e-324, -1e-160, 1e100, -1e300, math.MaxFloat64}))
	anyFloat = rapid.OneOf(anyEntry, anyEntry, anyEntry, rapid.SampledFrom([]float64{math.NaN(), math.Inf(1),
		math.Inf(-1)}))
)

// TestThroughIsTheImageOrNothing: whatever a row and a finite matrix hold, the row is seen as the
// image, no longer than the radius, or as the zero row where the image is longer.
func TestThroughIsTheImageOrNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.IntRange(1, 4).Draw(t, "features")
		row := rapid.SliceOfN(anyFloat, p, p).Draw(t, "row")
		matrix := rapid.SliceOfN(anyEntry, p*p, p*p).Draw(t, "matrix")
		radius := math.Pow(10, rapid.Float64Range(-100, 100).Draw(t, "log10 of the radius"))
		switch rapid.IntRange(0, 2).Draw(t, "kind of radius") {
		case 1:
			radius = rapid.Float64Range(0.1, 10).Draw(t, "radius")
		case 2: // just inside and just outside
			if finite(row) {
				length := record.Norm(through(matrix, row, 1e100))
				radius = length * (1 + 0x1p-53*float64(rapid.IntRange(-4, 40).Draw(t, "units")))
			}
			radius = min(max(radius, 1e-100), 1e100)
		}
		if err := wrongImage(through(matrix, row, radius), matrix, row, radius); err != nil {
			t.Fatalf("%v through %v within %v: %v", row, matrix, radius, err)
		}
	})
}

// TestWrongImagesAreFound: the check sees an image that is projected instead of dropped, a radius
// without a margin, a transposed matrix, a row that is not mapped, and one that is always dropped.
func TestWrongImagesAreFound(t *testing.T) {
	image := func(matrix, row []float64) []float64 {
		out := make([]float64, len(row))
		for j := range out {
			for k, x := range row {
				out[j] += matrix[j*len(row)+k] * x
			}
		}
		return out
	}
	wrong := map[string]func(matrix, row []float64, radius float64) []float64{
		"projected": func(matrix, row []float64, radius float64) []float64 {
			out := image(matrix, row)
			record.Project(out, radius)
			return out
		},
		"no margin": func(matrix, row []float64, radius float64) []float64 {
			out := image(matrix, row)
			if !(record.Norm(out) <= radius) {
				clear(out)
			}
			return out
		},
		"transposed": func(matrix, row []float64, radius float64) []float64 {
			p := len(row)
			turned := make([]float64, p*p)
			for i, a := range matrix {
				turned[i%p*p+i/p] = a
			}
			return through(turned, row, radius)
		},
		"as it is": func(_, row []float64, radius float64) []float64 {
			out := slices.Clone(row)
			record.Project(out, radius)
			return out
		},
		"dropped": func(_, row []float64, _ float64) []float64 { return make([]float64, len(row)) },
	}
	rng, found := rand.New(rand.NewPCG(3, 4)), map[string]bool{}
	for range 2000 {
		p := 2 + rng.IntN(3)
		row, matrix := make([]float64, p), make([]float64, p*p)
		for i := range row {
			row[i] = rng.NormFloat64()
		}
		for i := range matrix {
			matrix[i] = rng.NormFloat64()
		}
		radius := record.Norm(image(matrix, row)) * []float64{0.5, 1, 2}[rng.IntN(3)]
		if err := wrongImage(through(matrix, row, radius), matrix, row, radius); err != nil {
			t.Fatal(err)
		}
		for name, mutant := range wrong {
			found[name] = found[name] || wrongImage(mutant(matrix, row, radius), matrix, row, radius) != nil
		}
	}
	for name := range wrong {
		if !found[name] {
			t.Errorf("%s: not found out", name)
		}
	}
}

// TestThroughIsTheSameHoweverItIsRead: a block and single records, of a copied
// table and of shared ones of either precision, with their responses. One record is one row:
// replacing it changes no other.
func TestThroughIsTheSameHoweverItIsRead(t *testing.T) {
	single := rapid.Custom(func(t *rapid.T) float64 {
		return float64(rapid.OneOf(rapid.Float32Range(-2, 2), rapid.Float32(), rapid.SampledFrom([]float32{
			float32(math.NaN()), float32(math.Inf(1)), math.MaxFloat32})).Draw(t, "entry"))
	})
	rapid.Check(t, func(t *rapid.T) {
		const n = 4
		p := rapid.IntRange(1, 3).Draw(t, "features")
		x := rapid.SliceOfN(single, n*p, n*p).Draw(t, "x")
		matrix := rapid.SliceOfN(rapid.Float64Range(-2, 2), p*p, p*p).Draw(t, "matrix")
		ball := rapid.SampledFrom([]float64{0, 1.5}).Draw(t, "ball of the table")
		y, radius, changed := []float64{5, 6, 7, 8}, 1.25, rapid.IntRange(0, n-1).Draw(t, "changed")
		read := func(x []float64) []float64 {
			narrow := make([]float32, len(x))
			for i, v := range x {
				narrow[i] = float32(v)
			}
			var first []float64
			for _, source := range []*record.Set{record.New(x, p, y, n, ball), record.Share(x, nil, p, y, n, ball),
				record.Share(nil, narrow, p, y, n, ball)} {
				s := view.Through(source, radius)
				s.Aim(matrix)
				if s.Len() != n || s.Features() != p {
					t.Fatalf("%d records of %d", s.Len(), s.Features())
				}
				block, by := s.Block(make([]float64, n*p), make([]float64, n), 0, n)
				for i := range n {
					row := block[i*p : (i+1)*p]
					one, oneY := s.Block(make([]float64, p), make([]float64, 1), i, i+1)
					if !slices.Equal(one, row) || by[i] != y[i] || oneY[0] != y[i] {
						t.Fatalf("record %d is %v of a block, and %v alone", i, row, one)
					}
				}
				if first == nil {
					first = block
				}
				if !slices.Equal(block, first) {
					t.Fatalf("tables differ: %v, the copied one is %v", block, first)
				}
			}
			return first
		}
		before := read(x)
		other := slices.Clone(x)
		copy(other[changed*p:(changed+1)*p], rapid.SliceOfN(single, p, p).Draw(t, "substitute"))
		after := read(other)
		for i := range n {
			if i != changed && !slices.Equal(before[i*p:(i+1)*p], after[i*p:(i+1)*p]) {
				t.Fatalf("record %d changed with record %d: %v became %v", i, changed, before, after)
			}
		}
	})
}

// TestThroughCopiesItsMatrix: it is zero before Aim, and later changes of what was given change
// nothing. The table itself stays as it is.
func TestThroughCopiesItsMatrix(t *testing.T) {
	source := record.New([]float64{1, 2, 3, 4}, 2, nil, 2, 10)
	s := view.Through(source, 10)
	read := func(s interface {
		Block(x, y []float64, lo, hi int) (bx, by []float64)
	}) []float64 {
		x, _ := s.Block(make([]float64, 4), nil, 0, 2)
		return slices.Clone(x)
	}
	if x := read(s); !slices.Equal(x, make([]float64, 4)) {
		t.Errorf("before Aim the records are %v", x)
	}
	matrix := []float64{0, 2, 1, 0}
	s.Aim(matrix)
	matrix[1] = 100
	if x := read(s); !slices.Equal(x, []float64{4, 1, 8, 3}) {
		t.Errorf("the records are %v", x)
	}
	if x := read(source); !slices.Equal(x, []float64{1, 2, 3, 4}) {
		t.Errorf("the table became %v", x)
	}
}

// TestThroughOfManyFeatures: beyond those that need no memory of their own, too.
func TestThroughOfManyFeatures(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, p := range []int{63, 64, 65, 130} {
		row, matrix := make([]float64, p), make([]float64, p*p)
		for i := range row {
			row[i] = rng.NormFloat64()
		}
		for i := range matrix {
			matrix[i] = rng.NormFloat64()
		}
		for _, radius := range []float64{1, 1e3} {
			got := through(matrix, row, radius)
			if err := wrongImage(got, matrix, row, radius); err != nil || (record.Norm(got) == 0) != (radius == 1) {
				t.Errorf("%d features within %v: %v, length %v", p, radius, err, record.Norm(got))
			}
		}
	}
}

// tooLong says how a row is longer than radius: exactly, or by a computed norm.
func tooLong(row []float64, radius float64) string {
	exact := new(big.Float).SetPrec(2000)
	for _, v := range row {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "not finite"
		}
		exact.Add(exact, new(big.Float).SetPrec(2000).Mul(big.NewFloat(v), big.NewFloat(v)))
	}
	r := big.NewFloat(radius)
	switch {
	case exact.Cmp(new(big.Float).SetPrec(2000).Mul(r, r)) > 0:
		return "exactly"
	case record.Norm(row) > radius:
		return "as computed"
	}
	return ""
}

func finite(row []float64) bool {
	return !slices.ContainsFunc(row, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// wrongWhole says what is wrong with a record that is seen whole, where exact arithmetic is near: the row
// is the image, shortened to the radius, and the response the combination, shortened as much.
func wrongWhole(gotX []float64, gotY float64, matrix, row []float64, y, radius float64) error {
	if how := tooLong(gotX, radius); how != "" {
		return fmt.Errorf("%v is longer than %v, %v", gotX, radius, how)
	}
	p := len(row)
	want, seen := make([]float64, p), matrix[p*p+p]*y
	for j := range want {
		for k, x := range row {
			want[j] += matrix[j*p+k] * x
		}
		seen += matrix[p*p+j] * row[j]
	}
	scale := min(1, radius/max(record.Norm(want), 1e-300))
	size := 1.0
	for _, v := range append(slices.Clone(matrix), append(slices.Clone(row), y)...) {
		size = max(size, math.Abs(v))
	}
	for j, v := range want {
		if !(math.Abs(gotX[j]-scale*v) <= 1e-13*size*size) {
			return fmt.Errorf("entry %d is %v, want %v", j, gotX[j], scale*v)
		}
	}
	if !(math.Abs(gotY-scale*seen) <= 1e-13*size*size) {
		return fmt.Errorf("the response is %v, want %v", gotY, scale*seen)
	}
	return nil
}

// TestThroughSeesRecordsWhole: with a row for the response. Responses of a shared table stay as they
// are. Rows that are not finite are left out with their responses, and hostile ones stay in the ball.
// A record that is not shortened, one whose response is not, and one without the features' part are
// found out.
func TestThroughSeesRecordsWhole(t *testing.T) {
	small := rapid.Float64Range(-2, 2)
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.IntRange(1, 4).Draw(t, "features")
		hostile := rapid.Bool().Draw(t, "hostile")
		entry, cell := small, small
		if hostile {
			entry, cell = anyEntry, anyFloat
		}
		row := rapid.SliceOfN(cell, p, p).Draw(t, "row")
		matrix := rapid.SliceOfN(entry, p*p+p+1, p*p+p+1).Draw(t, "matrix")
		y := []float64{cell.Draw(t, "y")}
		radius, kept := rapid.Float64Range(0.1, 4).Draw(t, "radius"), y[0]
		s := view.Through(record.Share(row, nil, p, y, 1, 0), radius)
		s.Aim(matrix)
		gotX, gotY := s.Block(make([]float64, p), make([]float64, 1), 0, 1)
		if math.Float64bits(y[0]) != math.Float64bits(kept) {
			t.Fatalf("the response in the table became %v", y[0])
		}
		if hostile {
			if how := tooLong(gotX, radius); how != "" {
				t.Fatalf("%v is longer than %v, %s", gotX, radius, how)
			}
			if !finite(row) && !(math.IsNaN(gotY[0]) || gotY[0] == 0 && record.Norm(gotX) == 0) {
				t.Fatalf("a row that is not finite is seen as %v, %v", gotX, gotY)
			}
			return
		}
		if err := wrongWhole(gotX, gotY[0], matrix, row, y[0], radius); err != nil {
			t.Fatal(err)
		}
	})
	unit, row := []float64{1, 0, 0, 1, 1, 1, 1}, []float64{3, 4}
	for name, seen := range map[string][]float64{"as it is": {3, 4, 8}, "response as it is": {0.6, 0.8, 8},
		"without features": {0.6, 0.8, 0.2}, "left out": {0, 0, 0}} {
		if wrongWhole(seen[:2], seen[2], unit, row, 1, 1) == nil {
			t.Errorf("%s: not found out", name)
		}
	}
	if err := wrongWhole([]float64{0.59999999999999, 0.79999999999999}, 1.6, unit, row, 1, 1); err != nil {
		t.Error(err)
	}
}

// TestAimForgetsTheResponse: a map without a row for the response follows one that has it.
func TestAimForgetsTheResponse(t *testing.T) {
	s := view.Through(record.Share([]float64{3, 4}, nil, 2, []float64{7}, 1, 0), 10)
	s.Aim([]float64{1, 0, 0, 1, 1, 1, 1})
	s.Aim([]float64{1, 0, 0, 1})
	if x, y := s.Block(make([]float64, 2), make([]float64, 1), 0, 1); y[0] != 7 || x[0] != 3 || x[1] != 4 {
		t.Errorf("the record is seen as %v, %v", x, y)
	}
}
