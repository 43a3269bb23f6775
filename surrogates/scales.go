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

// spreadSD is the prior's standard deviation of the logarithm of a sum of squares: that of a column is
// 7 times too large, or small, within one of them.
const spreadSD = 2

// farSpread is how many of them from the middle the prior ends.
const farSpread = 3

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
	if m.squares == nil {
		m.squares = make([]*square, m.d)
		for j, typical := range m.typical {
			if noise := m.noise[j*m.d+j]; typical > 0 && noise > 0 {
				m.squares[j] = newSquare(m.released[j*m.d+j], math.Sqrt(noise), min(typical, m.most), m.most)
			}
		}
	}
	out := m.pooled(rng)
	for j, s := range m.squares {
		if s != nil {
			out[j] = math.Sqrt(s.quantile(rng.Float64()))
		}
	}
	return out
}

// squareCells are those of a square's table.
const squareCells = 256

// square is the posterior of a number up to most, given it with normal noise, whose logarithm is normal
// about that of typical beforehand: a table over logarithms.
type square struct {
	from, step float64 // the first number, and the logarithm between neighbours
	below      [squareCells + 1]float64
}

func newSquare(released, sd, typical, most float64) *square {
	const reach = 6 // standard deviations of noise
	least := typical * math.Exp(-farSpread*spreadSD)
	s := &square{from: max(least, min(released, most)-reach*sd)}
	s.step = math.Log(min(most, max(released, least)+reach*sd)/s.from) / squareCells
	near := max(s.from, min(released, most)) // the likeliest, so that no release is too far off to compute
	var density [squareCells + 1]float64
	for i := range density {
		x := s.at(float64(i))
		z := math.Log(x/typical) / spreadSD
		density[i] = -((x-near)/sd*((x+near-2*released)/sd) + z*z) / 2
	}
	top := slices.Max(density[:])
	for i, l := range density {
		density[i] = math.Exp(l - top)
		if i > 0 {
			s.below[i] = s.below[i-1] + (density[i-1]+density[i])/2
		}
	}
	return s
}

func (s *square) at(cell float64) float64 { return s.from * math.Exp(cell*s.step) }

// quantile is that of probability p.
func (s *square) quantile(p float64) float64 {
	p *= s.below[squareCells]
	i := max(1, sort.SearchFloat64s(s.below[:], p))
	part := (p - s.below[i-1]) / (s.below[i] - s.below[i-1] + math.SmallestNonzeroFloat64)
	return s.at(float64(i-1) + min(1, part))
}
