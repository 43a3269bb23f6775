package surrogates

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// Sums of squares of numbers have a log-normal prior about those of columns whose bounds are chosen
// well. One that is flat in the sum makes wide columns of all that noise hides: few draws are then of
// a column that hardly spreads, and intervals are too short. One that is flat in the logarithm makes
// them too wide where columns are ordinary and noise large.
//
// How far the columns of a table fill their bounds, and how alike, is learnt from all of them. So a column that
// noise hides is about as wide as the others are. One in ten is unlike them.

// spreadSD is the prior's standard deviation of the logarithm of one sum of squares: that of a column is
// 7 times too large, or small, within one of them.
const spreadSD = 2

// farSpread is how many of them from the middle the prior ends.
const farSpread = 3

// oddShare is that of columns which fill their bounds otherwise than the others do.
const oddShare = 0.1

// fill is how the columns of a table fill their bounds: a normal law of the logarithms of their sums of
// squares over typical ones.
type fill struct{ centre, sd float64 }

// fills are those there may be. Standard deviations are as likely as each other, and centres normal with
// fillSD. So that of one logarithm is about spreadSD.
var fills = func() (all []fill) {
	for _, sd := range []float64{0.1, 0.2, 0.4, 0.7, 1.2, 1.8, 2.4} {
		for centre := -3 * fillSD; centre <= 3*fillSD; centre += fillSD / 4 {
			all = append(all, fill{centre, sd})
		}
	}
	return all
}()

const fillSD = 1.5

// normalWithin is a normal density between bounds, up to a constant.
func normalWithin(mean, sd, lower, upper float64) func(x float64) float64 {
	scale := sd * max(cdf((upper-mean)/sd)-cdf((lower-mean)/sd), 1e-12)
	return func(x float64) float64 {
		z := (x - mean) / sd
		return math.Exp(-z*z/2) / scale
	}
}

// typicalOf are the sums of squares of numbers with a typical spread within their bounds, 0 for other
// columns. Columns share most, that of the longest rows, as their bounds do.
func typicalOf(columns []Column, most float64, d int) []float64 {
	typical, whole := make([]float64, d), 0.0
	for _, c := range columns {
		whole += c.Farthest() * c.Farthest()
	}
	for j := range typical {
		if columns != nil && columns[j].Kind != Number {
			continue
		}
		share := 1 / float64(d)
		if columns != nil && columns[j].Farthest() > 0 {
			share = columns[j].Farthest() * columns[j].Farthest() / whole
		}
		typical[j] = typicalSpread * typicalSpread * share * most
	}
	return typical
}

// Farthest is the largest absolute value of a column.
func (c Column) Farthest() float64 { return max(math.Abs(c.Lower), math.Abs(c.Upper)) }

// scales draws the square roots of the diagonal entries.
func (m *moments) scales(rng *rand.Rand) []float64 {
	if m.fill == nil {
		m.fill = m.filled()
	}
	out := m.pooled(rng)
	m.fill.draw(out, rng)
	return out
}

// filled are the posterior of how columns fill their bounds, and with it of the sums of squares of numbers.
type filled struct {
	columns []int
	squares []*square
	below   []float64   // cumulative, of fills
	given   [][]*square // those given a fill, once asked for
}

func (m *moments) filled() *filled {
	s := &filled{below: make([]float64, len(fills)), given: make([][]*square, len(fills))}
	for j, typical := range m.typical {
		if noise := m.noise[j*m.d+j]; typical > 0 && noise > 0 {
			s.columns = append(s.columns, j)
			s.squares = append(s.squares, newSquare(m.released[j*m.d+j], math.Sqrt(noise), min(typical, m.most), m.most))
		}
	}
	logs := make([]float64, len(fills))
	for i, f := range fills {
		z := f.centre / fillSD
		logs[i] = -z * z / 2
		for _, one := range s.squares {
			logs[i] += math.Log(one.given(f).below[squareCells])
		}
	}
	top, sum := slices.Max(logs), 0.0
	for i, l := range logs {
		sum += math.Exp(l - top)
		s.below[i] = sum
	}
	return s
}

// draw sets the square roots of numbers.
func (s *filled) draw(scales []float64, rng *rand.Rand) {
	i := min(len(fills)-1, sort.SearchFloat64s(s.below, rng.Float64()*s.below[len(fills)-1]))
	if s.given[i] == nil {
		for _, one := range s.squares {
			s.given[i] = append(s.given[i], one.given(fills[i]))
		}
	}
	for k, j := range s.columns {
		scales[j] = math.Sqrt(s.given[i][k].quantile(rng.Float64()))
	}
}

// squareCells are those of a square's table.
const squareCells = 256

// square is a number up to most that was released with normal noise: a table over its logarithm.
type square struct {
	from, step   float64 // the first number, and the logarithm between neighbours
	typical      float64
	lower, upper float64 // bounds of its logarithm over typical
	likelihood   [squareCells + 1]float64
	below        [squareCells + 1]float64 // the posterior, given a fill
}

func newSquare(released, sd, typical, most float64) *square {
	const reach = 6 // standard deviations of noise
	s := &square{typical: typical, lower: -farSpread * spreadSD, upper: math.Log(most / typical)}
	least := typical * math.Exp(s.lower)
	s.from = max(least, min(released, most)-reach*sd)
	s.step = math.Log(min(most, max(released, least)+reach*sd)/s.from) / squareCells
	near := max(s.from, min(released, most)) // the likeliest, so that no release is too far off to compute
	for i := range s.likelihood {
		x := s.at(float64(i))
		s.likelihood[i] = -(x - near) / sd * ((x + near - 2*released) / sd) / 2
	}
	top := slices.Max(s.likelihood[:])
	for i, l := range s.likelihood {
		s.likelihood[i] = math.Exp(l - top)
	}
	return s
}

// given is its posterior where columns fill their bounds so.
func (s *square) given(f fill) *square {
	out := *s
	like, unlike := normalWithin(f.centre, f.sd, s.lower, s.upper), normalWithin(0, spreadSD, s.lower, s.upper)
	first, last := math.Log(s.from/s.typical), 0.0
	for i, likelihood := range s.likelihood {
		l := first + float64(i)*s.step
		density := likelihood * ((1-oddShare)*like(l) + oddShare*unlike(l))
		if i > 0 {
			out.below[i] = out.below[i-1] + (density+last)/2
		}
		last = density
	}
	return &out
}

func (s *square) at(cell float64) float64 { return s.from * math.Exp(cell*s.step) }

// quantile is that of probability p.
func (s *square) quantile(p float64) float64 {
	p *= s.below[squareCells]
	i := max(1, sort.SearchFloat64s(s.below[:], p))
	part := (p - s.below[i-1]) / (s.below[i] - s.below[i-1] + math.SmallestNonzeroFloat64)
	return s.at(float64(i-1) + min(1, part))
}
