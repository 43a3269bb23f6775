package anchors

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/surrogates"
)

// TestRareLevelsAreNotStretched: a level that one record in fifty has makes rows long, and long rows weigh less
// in later looks. Its variance in the map stays about 1 all the same, since the first look says it. Where noise hides
// that, each look stretches it further. Moments are exact, and nothing is drawn.
func TestRareLevelsAreNotStretched(t *testing.T) {
	const n = 1000
	rows := mat.NewDense(n, 3, nil)
	for i := range n {
		rows.Set(i, 0, 1)
		rows.Set(i, 1, math.Sqrt2*math.Erfinv(2*(float64(i)+0.5)/n-1))
		if i%50 == 0 {
			rows.Set(i, 2, 1)
		}
	}
	for _, noise := range []float64{0, 1e9} {
		columns := []surrogates.Column{{Kind: surrogates.Constant, Upper: 1}, {}, {}}
		f := &fit{columns: columns, bounds: columns, numbers: []int{1, 2},
			facts: curator.Facts{Records: n, Radius: 10}, radius: math.Sqrt(3), fewest: 0.1, matrix: mat.NewDense(3, 3, nil)}
		for j := range 3 {
			f.matrix.Set(j, j, 1)
		}
		moment := seenMoment(rows, f.matrix, math.Inf(1))
		f.next(moment, 0, true)
		f.wholeNoise = noise
		for range 4 {
			f.next(seenMoment(rows, f.matrix, f.radius), 0, false)
		}
		_, covariance := f.covariance(seenMoment(rows, f.matrix, math.Inf(1)), 1, n)
		if got := covariance.At(1, 1); noise == 0 != (got < 1.2) || noise > 0 && got < 3 {
			t.Errorf("noise %v: the level has the variance %v in the map", noise, got)
		}
	}
}

// seenMoment is that of rows through a map, those that are longer than most shortened to it.
func seenMoment(rows, through *mat.Dense, most float64) *mat.SymDense {
	n, d := rows.Dims()
	out := mat.NewSymDense(d, nil)
	for i := range n {
		var seen mat.VecDense
		seen.MulVec(through, rows.RowView(i))
		out.SymRankOne(out, math.Pow(min(1, most/mat.Norm(&seen, 2)), 2), &seen)
	}
	return out
}

// TestLighter: the variance of normal numbers of which long rows weigh less is that of 10⁵ draws, to 1%: five
// standard errors and more. The seed is fixed. Where none is long it is 1.
func TestLighter(t *testing.T) {
	if got := lighter(3, 1e6); math.Abs(got-1) > 1e-3 {
		t.Errorf("where no row is long the variance is %v", got)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		k    int
		most float64
	}{{1, 1.4}, {2, 2.1}, {9, 7}} {
		weight, square := 0.0, 0.0
		for range 100_000 {
			s := 0.0
			for range c.k {
				z := rng.NormFloat64()
				s += z * z
			}
			w := min(1, c.most/(1+s))
			weight, square = weight+w, square+w*s/float64(c.k)
		}
		if got, want := lighter(float64(c.k), c.most), square/weight; math.Abs(got/want-1) > 0.01 {
			t.Errorf("%d numbers, rows up to %v: %v, and drawn %v", c.k, c.most, got, want)
		}
	}
}

// TestFarIsOfBounds: a number that is 0.5 + 2z of z in the map, within −3.5 and 8.5, makes rows as long as 4 at its
// upper bound. Levels do not count, and without bounds any row may be long.
func TestFarIsOfBounds(t *testing.T) {
	columns := []surrogates.Column{{Kind: surrogates.Constant, Upper: 1}, {Lower: -3.5, Upper: 8.5}, {Lower: -1, Upper: 1}}
	f := &fit{columns: []surrogates.Column{{Kind: surrogates.Constant, Upper: 1}, {}, {}}, bounds: columns,
		numbers: []int{1, 2}, matrix: mat.NewDense(3, 3, []float64{1, 0, 0, -0.25, 0.5, 0, 0, 0, 1})}
	if got := f.far(); math.Abs(got-4) > 1e-12 {
		t.Errorf("a row may be as long as %v, want 4", got)
	}
	columns[1].Kind = surrogates.Level
	if got := f.far(); math.Abs(got-1) > 1e-12 {
		t.Errorf("beside a level a row may be as long as %v, want 1", got)
	}
	columns[2] = surrogates.Column{}
	if got := f.far(); !math.IsInf(got, 1) {
		t.Errorf("without bounds a row is at most %v", got)
	}
}
