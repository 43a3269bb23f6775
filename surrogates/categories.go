package surrogates

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// byCategory turns the posterior of Σ xxᵀ, with its mean and variances, into one of the
// curvature Σ w·xxᵀ at the anchor, where columns are levels of categories. Rows of levels are
// far from normal, and weights differ between them. So weights are those of synthetic rows, which
// have at most one level of a category.
func (c Config) byCategory(m *moments, rng *rand.Rand) {
	d, n, s := m.d, float64(c.Statistics.Records), c.Statistics
	each := m.positive()
	each.ScaleSym(1/n, each)
	law := newSynthetic(each, s.Columns)
	square, curvature := law.curvature(s.Anchor, c.Link, s.Radius*s.Radius/(n*float64(d)), rng)
	open := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range j + 1 {
			w := math.Sqrt(curvature.At(j, j) * curvature.At(k, k) / (square.At(j, j) * square.At(k, k)))
			doubt := weightDoubt * n * curvature.At(j, k)
			open.SetSym(j, k, w*w*m.open.At(j, k)+doubt*doubt)
		}
	}
	curvature = law.turned(curvature, square, each)
	curvature.ScaleSym(n, curvature)
	m.mean, m.open, m.plain = curvature, open, each
}

// syntheticRows is how many are drawn.
const syntheticRows = 1 << 14

// weightDoubt is the relative standard deviation that synthetic rows leave to a curvature, since
// mean squares alone do not say which levels of three categories go together.
const weightDoubt = 0.05

// synthetic is a law of rows that have at most one level of each category, with about the mean
// squares that were released. Columns follow one another: given those before, a category's levels
// have the chances that the best linear prediction gives them, and a number has its mean and what
// variance it leaves.
type synthetic struct {
	columns []Column
	blocks  []block
}

// block is a category's levels or another column.
type block struct {
	first, size int
	given       *mat.Dense // coefficients of the columns before, one row each
	rest        float64    // variance of a number, given these
}

// newSynthetic takes mean squares, positive definite.
func newSynthetic(each *mat.SymDense, columns []Column) *synthetic {
	s := &synthetic{columns: columns}
	d := each.SymmetricDim()
	for j := 0; j < d; {
		b := block{first: j, size: 1, rest: each.At(j, j)}
		for s.level(j) && j+b.size < d && s.level(j+b.size) && columns[j+b.size].Group == columns[j].Group {
			b.size++
		}
		if j > 0 {
			b.given, b.rest = predicted(each, b)
		}
		s.blocks = append(s.blocks, b)
		j += b.size
	}
	return s
}

// level reports whether a column is the indicator of a level.
func (s *synthetic) level(j int) bool { return s.columns[j].Kind == Level && s.columns[j].Lower == 0 }

// predicted is the best linear prediction of a block's columns by those before, and what it leaves
// of the first one's mean square.
func predicted(each *mat.SymDense, b block) (*mat.Dense, float64) {
	before, with := mat.NewSymDense(b.first, nil), mat.NewDense(b.first, b.size, nil)
	for j := range b.first {
		for k := range j + 1 {
			before.SetSym(j, k, each.At(j, k))
		}
		for k := range b.size {
			with.Set(j, k, each.At(j, b.first+k))
		}
	}
	var chol mat.Cholesky
	given := new(mat.Dense)
	if !chol.Factorize(before) {
		panic("surrogates: mean squares that were made positive definite are not")
	}
	_ = chol.SolveTo(given, with) // an ill condition is no failure: chances are cut
	whole := each.At(b.first, b.first)
	return given, max(least*whole, whole-mat.Dot(given.ColView(0), with.ColView(0)))
}

// draw sets a row, and returns the columns that are not 0.
func (s *synthetic) draw(row []float64, rng *rand.Rand) (at []int) {
	clear(row)
	for _, b := range s.blocks {
		mean := func(k int) (v float64) {
			for _, j := range at {
				v += b.given.At(j, k) * row[j]
			}
			return v
		}
		j, value := b.first, 0.0
		switch c := s.columns[b.first]; {
		case c.Kind == Constant:
			value = c.Upper
		case s.level(b.first):
			j, value = s.one(b, mean, rng)
		default:
			value = c.draw(mean(0), b.rest, rng)
		}
		if row[j] = value; value != 0 {
			at = append(at, j)
		}
	}
	return at
}

// curvature are the mean squares of rows and their mean curvature at an anchor, least added to the
// diagonal of the first, and of the second what belongs to that: no row may have a rare level.
func (s *synthetic) curvature(anchor []float64, link Link, least float64, rng *rand.Rand) (square,
	curvature *mat.SymDense) {
	d := len(anchor)
	square, curvature = mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
	row := make([]float64, d)
	for range syntheticRows {
		at := s.draw(row, rng)
		eta := floats.Dot(row, anchor)
		w := link.Weight(eta, eta) / syntheticRows
		for i, j := range at {
			for _, k := range at[i:] {
				square.SetSym(j, k, square.At(j, k)+row[j]*row[k]/syntheticRows)
				curvature.SetSym(j, k, curvature.At(j, k)+w*row[j]*row[k])
			}
		}
	}
	whole := mat.Trace(curvature) / mat.Trace(square)
	for j := range d {
		square.SetSym(j, j, square.At(j, j)+least)
		curvature.SetSym(j, j, curvature.At(j, j)+whole*least)
	}
	return square, curvature
}

// turned is the curvature of rows whose levels are turned so that they have the mean squares of
// each, and not square: chances that were below 0 or above 1 in all have blurred levels that go
// together. Numbers stay: where weights vanish at their tails, turning would blur these.
func (s *synthetic) turned(curvature, square, each *mat.SymDense) *mat.SymDense {
	turn, ok := between(square, each)
	if !ok {
		return curvature
	}
	d := len(s.columns)
	for j := range d {
		if !s.level(j) {
			row := turn.RawRowView(j)
			clear(row)
			row[j] = 1
		}
	}
	var product mat.Dense
	product.Product(turn, curvature, turn.T())
	out := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range j + 1 {
			out.SetSym(j, k, (product.At(j, k)+product.At(k, j))/2)
		}
	}
	return out
}

// one draws which of a category's levels a row has, or none.
func (s *synthetic) one(b block, mean func(int) float64, rng *rand.Rand) (int, float64) {
	chances := make([]float64, b.size)
	for k := range chances {
		chances[k] = max(0, mean(k)/s.columns[b.first+k].Upper)
	}
	u := rng.Float64() * max(1, floats.Sum(chances))
	for k, p := range chances {
		if u -= p; u < 0 {
			return b.first + k, s.columns[b.first+k].Upper
		}
	}
	return b.first, 0
}

// draw draws a number with a mean and a variance: normal without bounds, and else with the beta law
// between them, which is about normal far from them and long-tailed near one. A level of two values
// has one of them.
func (c Column) draw(mean, variance float64, rng *rand.Rand) float64 {
	width := c.Upper - c.Lower
	if width == 0 {
		return mean + math.Sqrt(variance)*rng.NormFloat64()
	}
	const edge = 1e-4
	q := min(max((mean-c.Lower)/width, edge), 1-edge)
	if c.Kind == Level {
		if rng.Float64() < q {
			return c.Upper
		}
		return c.Lower
	}
	size := q*(1-q)/min(variance/(width*width), (1-edge)*q*(1-q)) - 1
	return c.Lower + width/(1+math.Exp(logGamma((1-q)*size, rng)-logGamma(q*size, rng)))
}

// logGamma is the logarithm of a gamma variate, of a shape however small.
func logGamma(shape float64, rng *rand.Rand) float64 {
	return math.Log(distuv.Gamma{Alpha: shape + 1, Beta: 1, Src: rng}.Rand()) - rng.ExpFloat64()/shape
}
