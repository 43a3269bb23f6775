package anchors

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// endsRows are rows of a constant, a normal number, and two of 0 and 1 that hardly go together.
func endsRows(n int) *mat.Dense {
	rows := mat.NewDense(n, 4, nil)
	for i := range n {
		rows.Set(i, 0, 1)
		rows.Set(i, 1, math.Sqrt2*math.Erfinv(2*(float64(i)+0.5)/float64(n)-1))
		if i%20 == 0 {
			rows.Set(i, 2, 1)
		}
		if i%20 == 0 && i%40 > 0 || i%33 == 0 {
			rows.Set(i, 3, 1)
		}
	}
	return rows
}

// within is the matrix of second moments of rows through a map, those that are longer than most left out.
func within(rows, through *mat.Dense, most float64) *mat.SymDense {
	n, d := rows.Dims()
	out := mat.NewSymDense(d, nil)
	for i := range n {
		var seen mat.VecDense
		if seen.MulVec(through, rows.RowView(i)); mat.Norm(&seen, 2) <= most {
			out.SymRankOne(out, 1, &seen)
		}
	}
	return out
}

// TestNumbersAtTheirBounds: numbers that are 1 in one record in twenty and in thirty are seen by nearly all looks that
// leave long rows out, and have variances of a tenth to 1 there. Where bounds are ten times as far nothing says so, and
// the map stretches them until their records are left out, since noise hides what the first look surely says. Moments
// are exact, and nothing is drawn.
func TestNumbersAtTheirBounds(t *testing.T) {
	const n = 1320
	rows := endsRows(n)
	for _, upper := range []float64{1, 10} {
		columns := []surrogates.Column{{Kind: surrogates.Constant, Upper: 1}, {Lower: -8, Upper: 8},
			{Upper: upper}, {Upper: upper}}
		f := &fit{columns: columns, bounds: columns, numbers: []int{1, 2, 3}, facts: curator.Facts{Records: n, Radius: 20},
			radius: math.Sqrt(6 + 2*math.Sqrt(6)), fewest: 0.1, matrix: mat.NewDense(4, 4, nil)}
		for j := range 4 {
			f.matrix.Set(j, j, 1)
		}
		f.next(within(rows, f.matrix, math.Inf(1)), 0, true)
		f.wholeNoise = 1e9
		for range 4 {
			f.next(within(rows, f.matrix, f.radius), 1e-3*n, false)
		}
		seen := within(rows, f.matrix, f.radius).At(0, 0) / n
		for _, by := range f.twoValued() {
			for i := range n {
				var row mat.VecDense
				row.MulVec(f.matrix, rows.RowView(i))
				if v := floats.Dot(by.Along, row.RawVector().Data); math.Abs(v) > 1e-9 && math.Abs(v-1) > 1e-9 {
					t.Fatalf("row %d in the map has %v of a number that is 0 or 1", i, v)
				}
			}
		}
		if got := len(f.twoValued()); got != map[float64]int{1: 2, 10: 0}[upper] {
			t.Errorf("upper bounds %v: %d numbers are at their bounds", upper, got)
		}
		_, covariance := f.covariance(within(rows, f.matrix, math.Inf(1)), 1, n)
		for a := 1; a < 3; a++ {
			if v := covariance.At(a, a); (upper == 1) != (v > 0.1 && v < 1.5) {
				t.Errorf("upper bounds %v: number %d has the variance %v in the map", upper, a, v)
			}
		}
		if (upper == 1) != (seen > 0.95) {
			t.Errorf("upper bounds %v: %v of the rows are seen", upper, seen)
		}
	}
}

// TestFindEnds: at the first look a number counts as being at its bounds if that is sure, or likely and possible. A
// later look with less noise lets go one that varies less. Nothing is drawn.
func TestFindEnds(t *testing.T) {
	const n, share = 1000, 0.1
	for name, c := range map[string]struct {
		variance, noise float64
		likely          bool
		first, later    bool
	}{
		"surely":             {share * (1 - share), 0.01, false, true, true},
		"noise may hide it":  {share * (1 - share), 0.05, false, false, false},
		"likely":             {share * (1 - share), 0.05, true, true, true},
		"likely, but narrow": {0.01, 0.05, true, true, false},
		"narrow":             {0.01, 0.001, true, false, false},
	} {
		columns := []surrogates.Column{{Kind: surrogates.Constant, Upper: 1}, {Upper: 1, Ends: c.likely}}
		f := &fit{columns: columns, bounds: columns, numbers: []int{1}, facts: curator.Facts{Records: n, Radius: 20},
			radius: 3, fewest: 0.1, matrix: mat.NewDense(2, 2, []float64{1, 0, 0, 1})}
		moment := mat.NewSymDense(2, []float64{n, n * share, n * share, n * (c.variance + share*share)})
		for look, want := range []bool{c.first, c.later} {
			var half, whole mat.Dense
			half.Mul(f.matrix, moment)
			whole.Mul(&half, f.matrix.T())
			square := mat.NewSymDense(2, []float64{whole.At(0, 0), whole.At(0, 1), whole.At(1, 0), whole.At(1, 1)})
			noise := n * c.noise
			if look > 0 {
				noise = 0
			}
			f.next(square, noise, look == 0)
			if got := f.ends[0] > 0; got != want {
				t.Errorf("%s: at its bounds %v after look %d", name, got, look)
			}
		}
	}
}

// TestRareNumbersSayMore: of 5000 records with two numbers of 0 and 1, one in thirty and one in fifteen of which are 1,
// and three normal ones, ε = 1, intervals are at most three times as wide as without privacy, in the mean of
// logarithms, and truths are within five standard deviations: of twelve normal coefficients once in 10⁵ runs one is
// farther, and the seeds are fixed. Where bounds ten times as far are stated the ones are left out, and intervals are
// four times as wide or more.
func TestRareNumbersSayMore(t *testing.T) {
	const n = 5000
	truth := []float64{-2, 3, 2, -4, 4, 2}
	for _, upper := range []float64{1, 10} {
		rng := rand.New(rand.NewPCG(5, 6))
		r, information := curator.Records{Features: 6, Radius: 1}, mat.NewSymDense(6, nil)
		columns := []surrogates.Column{{Kind: surrogates.Constant, Upper: 0.4}}
		for j := range 5 {
			columns = append(columns, surrogates.Column{Lower: -0.4, Upper: 0.4})
			if j < 2 {
				columns[j+1] = surrogates.Column{Upper: 0.4 * upper, Ends: upper == 1}
			}
		}
		for range n {
			x := []float64{0.4, 0, 0, 0, 0, 0}
			for j := 1; j < 6; j++ {
				switch {
				case j > 2:
					x[j] = min(0.4, max(-0.4, 0.1*rng.NormFloat64()))
				case rng.IntN(15*(3-j)) == 0:
					x[j] = 0.4
				}
			}
			p := 1 / (1 + math.Exp(-floats.Dot(x, truth)))
			y := 0.0
			if rng.Float64() < p {
				y = 1
			}
			information.SymRankOne(information, p*(1-p), mat.NewVecDense(6, x))
			r.X, r.Y = append(r.X, x...), append(r.Y, y)
		}
		target, err := targets.New(targets.RegressionConfig{Features: 6, Prior: priors.Gaussian{SD: 7}, Standardized: 1.5})
		if err != nil {
			t.Fatal(err)
		}
		_, mean, sd, _ := fittedDraws(t, Config{Target: target, Aim: Score, Columns: columns, Iterations: 200,
			LeastESS: 100, Fit: Fitted}, r)
		got := timesAsWide(t, "rare numbers", information, truth, mean, sd)
		if (upper == 1) != (got < 3) || upper > 1 && got < 4 {
			t.Errorf("upper bounds %v: intervals are %v times as wide as without privacy", upper, got)
		}
	}
}
