package surrogates

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// followed are rows of an intercept, a number, a long-tailed one and four categories of seven
// levels besides the reference, with the columns' facts. A level follows that of the category before
// in nine of ten rows. The last category has its levels 1 and 2 in nearly all rows that have the reference
// of the first, as husbands and wives are married.
func followed(n int, rng *rand.Rand) (rows [][]float64, columns []Column) {
	const categories, levels = 4, 7
	unit := 1 / math.Sqrt(3+categories)
	columns = []Column{{Kind: Constant, Upper: unit}, {Lower: -3 * unit, Upper: 3 * unit}, {Upper: 5 * unit}}
	for g := range categories {
		for range levels {
			columns = append(columns, Column{Kind: Level, Upper: unit, Group: g})
		}
	}
	for range n {
		row := make([]float64, len(columns))
		row[0], row[1] = unit, unit*max(-3, min(3, rng.NormFloat64()))
		if rng.Float64() < 0.02 {
			row[2] = 5 * unit
		}
		var level [categories]int
		for g := range level {
			switch {
			case g == categories-1 && level[0] == 0 && rng.Float64() < 0.98:
				level[g] = 1
				if row[1] < 0 && level[1] == 0 {
					level[g] = 2
				}
			case g == categories-1:
				if k := rng.IntN(levels - 1); k > 0 {
					level[g] = k + 2
				}
			case g > 0 && rng.Float64() < 0.9:
				level[g] = level[g-1]
			default:
				level[g] = int(float64(levels+1) * math.Pow(rng.Float64(), 1.5))
			}
			if level[g] > 0 {
				row[2+g*levels+level[g]] = unit
			}
		}
		rows = append(rows, row)
	}
	return rows, columns
}

// squares are Σ w(x)·xxᵀ.
func squares(rows [][]float64, weight func(row []float64) float64) *mat.SymDense {
	d := len(rows[0])
	out := mat.NewSymDense(d, nil)
	for _, row := range rows {
		out.SymRankOne(out, weight(row), mat.NewVecDense(d, row))
	}
	return out
}

// TestSyntheticRows: rows have at most one level of a category, numbers within their bounds and
// the mean squares that they were made from, to six standard errors of squares below 9/d (false
// alarm 10⁻⁶) and what cuts of chances blur.
func TestSyntheticRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	rows, columns := followed(20_000, rng)
	each := squares(rows, func([]float64) float64 { return 1.0 / 20_000 })
	law, row := newSynthetic(each, columns), make([]float64, len(columns))
	var drawn [][]float64
	for range syntheticRows {
		law.draw(row, rng)
		count := map[int]int{}
		for j, c := range columns {
			switch {
			case c.Kind == Level && row[j] != 0:
				count[c.Group]++
				if row[j] != c.Upper || count[c.Group] > 1 {
					t.Fatalf("levels of category %d are %v", c.Group, row)
				}
			case c.Kind == Constant && row[j] != c.Upper, row[j] < c.Lower && c.Kind == Number, row[j] > c.Upper:
				t.Fatalf("column %d is %v", j, row[j])
			}
		}
		drawn = append(drawn, append([]float64(nil), row...))
	}
	got := squares(drawn, func([]float64) float64 { return 1.0 / syntheticRows })
	for j := range columns {
		for k := range j + 1 {
			if off := math.Abs(got.At(j, k) - each.At(j, k)); off > 6*1.5/6/math.Sqrt(syntheticRows) {
				t.Errorf("the mean product of columns %d and %d is %v, want %v", j, k, got.At(j, k), each.At(j, k))
			}
		}
	}
}

// TestTurnedRows: turned rows have the mean squares of levels that are asked for, and numbers stay.
func TestTurnedRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	rows, columns := followed(5000, rng)
	each := squares(rows, func([]float64) float64 { return 1.0 / 5000 })
	law := newSynthetic(each, columns)
	square, _ := law.curvature(make([]float64, len(columns)), Logistic, 1e-4, rng)
	turned, blurred := law.turned(square, square, each), false
	for j := range columns {
		for k := range j + 1 {
			want := square
			if law.level(j) && law.level(k) {
				want = each
				blurred = blurred || math.Abs(square.At(j, k)-each.At(j, k)) > 1e-3
			} else if law.level(j) || law.level(k) {
				continue
			}
			if math.Abs(turned.At(j, k)-want.At(j, k)) > 1e-9 {
				t.Errorf("columns %d and %d: %v, want %v", j, k, turned.At(j, k), want.At(j, k))
			}
		}
	}
	if !blurred {
		t.Error("synthetic rows have those mean squares: the test sees nothing")
	}
}

// TestChancesAboveOne are in proportion, to six standard errors (false alarm 10⁻⁸).
func TestChancesAboveOne(t *testing.T) {
	law := &synthetic{columns: []Column{{Kind: Level, Upper: 1}, {Kind: Level, Upper: 1}, {Kind: Level, Upper: 1}}}
	rng, count, draws := rand.New(rand.NewPCG(6, 6)), [3]float64{}, 30_000
	for range draws {
		j, v := law.one(block{size: 3}, func(k int) float64 { return []float64{0.8, -0.3, 0.8}[k] }, rng)
		count[j] += v
	}
	if n := float64(draws); math.Abs(count[0]-n/2) > 3*math.Sqrt(n) || count[1] != 0 || count[0]+count[2] != n {
		t.Errorf("levels with chances of 0.8, −0.3 and 0.8 have %v rows", count)
	}
}

// TestColumnsDrawn: numbers have the mean and the variance that they are drawn with, between their
// bounds or without any, whether they are about normal or long-tailed: to six standard errors
// (false alarm 10⁻⁶).
func TestColumnsDrawn(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, c := range []struct {
		column         Column
		mean, variance float64
	}{{Column{}, 2, 9}, {Column{Lower: -1, Upper: 3}, 0.5, 0.1}, {Column{Upper: 5}, 0.05, 0.2},
		{Column{Lower: -5}, -0.01, 0.02}, {Column{Kind: Level, Lower: -1, Upper: 1}, 0.3, 0.91}} {
		const n = 200_000
		var v, e [n]float64
		for i := range v {
			v[i] = c.column.draw(c.mean, c.variance, rng)
			e[i] = (v[i] - c.mean) * (v[i] - c.mean)
			if c.column.Upper > c.column.Lower && (v[i] < c.column.Lower || v[i] > c.column.Upper) {
				t.Fatalf("%v is outside of %+v", v[i], c.column)
			}
		}
		for want, x := range map[float64][]float64{c.mean: v[:], c.variance: e[:]} {
			mean, square := floats.Sum(x)/n, floats.Dot(x, x)/n
			if math.Abs(mean-want) > 6*math.Sqrt((square-mean*mean)/n) {
				t.Errorf("%+v: %v, want %v", c.column, mean, want)
			}
		}
	}
}

// TestCurvatureOfCategories: without noise the curvature is that of the rows, also along
// directions that levels which go together hardly have. Plain moments times one weight are not.
func TestCurvatureOfCategories(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const n = 20_000
	rows, columns := followed(n, rng)
	d := len(columns)
	anchor := make([]float64, d)
	for j := range anchor {
		anchor[j] = 3 * rng.NormFloat64()
	}
	anchor[2] = 3
	plain := squares(rows, func([]float64) float64 { return 1 })
	want := squares(rows, func(row []float64) float64 {
		eta := floats.Dot(row, anchor)
		return Logistic.Weight(eta, eta)
	})
	s := Statistics{Anchor: anchor, Score: make([]float64, d), Moment: dense(plain), Records: n, Radius: 1,
		Columns: columns}
	c := Config{Statistics: s, Link: Logistic}
	m := s.moments(Logistic)
	m.average(rng)
	c.byCategory(m, rng)
	plain.ScaleSym(mat.Trace(want)/mat.Trace(plain), plain)
	if got, flat := apart(m.mean, want), apart(plain, want); got > 0.25 || flat < 0.4 {
		t.Errorf("the curvature is off by a factor of e^%v, and by e^%v with one weight", got, flat)
	}
}

// apart is the root mean square of the logarithms of a's eigenvalues relative to b.
func apart(a, b *mat.SymDense) float64 {
	var chol mat.Cholesky
	if !chol.Factorize(b) {
		panic("not positive definite")
	}
	var lower mat.TriDense
	var left, both mat.Dense
	chol.LTo(&lower)
	if left.Solve(&lower, a) != nil || both.Solve(&lower, left.T()) != nil {
		panic("singular")
	}
	d := a.SymmetricDim()
	relative := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range j + 1 {
			relative.SetSym(j, k, both.At(j, k))
		}
	}
	var eigen mat.EigenSym
	eigen.Factorize(relative, false)
	sum := 0.0
	for _, v := range eigen.Values(nil) {
		sum += math.Log(v) * math.Log(v) / float64(d)
	}
	return math.Sqrt(sum)
}

// TestManyLevelsAreBelieved: with truths of the prior and levels that go together, 90% intervals
// hold what they should. Parameters of a set are not independent: were sets worth ten each, six
// standard errors would be 0.18 (false alarm 10⁻⁹). Where data dominate, what synthetic rows leave
// open keeps truths from being far off: squares of standardized distances are 6 on average, and
// were 27 without it. Seeds are fixed.
func TestManyLevelsAreBelieved(t *testing.T) {
	for _, c := range []struct {
		sets, records int
		held, far     float64
	}{{10, 4000, 0.72, 6}, {4, 30_000, 0.62, 8}} {
		held, far, count := 0.0, 0.0, 0.0
		for set := range uint64(c.sets) {
			p, truth := manyLevels(t, c.records, rand.New(rand.NewPCG(set, 4)))
			z := make([]float64, len(truth))
			for j, want := range truth {
				z[j] = want - p.mean[j]
				if math.Abs(z[j]) < 1.645*p.sd(j) {
					held++
				}
				count++
			}
			forward(z, p.factor, z)
			far += floats.Dot(z, z)
		}
		t.Logf("%d records: intervals hold %.3f, and truths are %.3g off", c.records, held/count, far/count)
		if held/count < c.held || far/count > c.far {
			t.Errorf("%d records: intervals hold %.3f, and truths are %.3g off", c.records, held/count, far/count)
		}
	}
}

// manyLevels is the posterior of a release at an anchor between the truth and others.
func manyLevels(t *testing.T, n int, rng *rand.Rand) (*Score, []float64) {
	t.Helper()
	const sd, noise = 3, 3
	rows, columns := followed(n, rng)
	d := len(columns)
	truth, s := make([]float64, d), Statistics{Anchor: make([]float64, d), Score: make([]float64, d), ScoreSD: noise,
		Moment: dense(squares(rows, func([]float64) float64 { return 1 })), MomentSD: noise, Records: int64(n), Radius: 1,
		Columns: columns}
	for j := range truth {
		truth[j] = sd * rng.NormFloat64()
		s.Anchor[j] = truth[j]/2 + 1.5*rng.NormFloat64()
	}
	for _, row := range rows {
		slope, _ := shares(floats.Dot(row, s.Anchor))
		if p, _ := shares(floats.Dot(row, truth)); rng.Float64() < p {
			slope--
		}
		floats.AddScaled(s.Score, slope, row)
	}
	for j := range truth {
		s.Score[j] += noise * rng.NormFloat64()
	}
	noisySquares(s.Moment, d, noise, rng)
	p, err := New(Config{Statistics: s, Link: Logistic, Prior: priors.Gaussian{SD: sd}})
	if err != nil {
		t.Fatal(err)
	}
	return p, truth
}
