package anchors

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/surrogates"
)

// A number that is one of its bounds in every record varies as much as any with its mean can. The rarer bound is so
// many standard deviations off that the map would leave its records out. The others say that the number does not vary,
// and each look would stretch it further. So such a number is seen by its bounds, and not by its spread.
const (
	endsSpread = 1.0 / 3 // variance over the most that there can be, from which a number counts as such
	endsNoise  = 2       // standard deviations of noise by which a variance is known
)

// findEnds says which numbers count as being at their bounds, by moments of rows in the map, with such a level of the
// constant and so much noise in a mean square. At first these are the numbers that surely vary so much. Where bounds
// lead to expect it (Column.Ends) they are all that may. Later looks see the records of these, and noise is less. So
// they let go what surely varies less.
func (t *fit) findEnds(mean []float64, level float64, covariance *mat.SymDense, noise float64, first bool) {
	back := new(mat.Dense)
	if back.Inverse(t.among()) != nil { // its condition is beyond 10¹⁶
		return
	}
	if first {
		t.ends = make([]float64, len(t.numbers))
	}
	constant, k := surrogates.ConstantOf(t.columns), float64(len(t.numbers))
	at, whole := mat.NewVecDense(len(mean), mean), mat.NewVecDense(len(mean), nil)
	for a, j := range t.numbers { // the map takes a number's mean away
		whole.SetVec(a, mean[a]-t.matrix.At(j, constant)*t.columns[constant].Upper)
	}
	for a, j := range t.numbers {
		column, row, sure := t.bounds[j], back.RowView(a), 1.0
		if !(column.Lower < column.Upper) || !first && t.ends[a] == 0 {
			continue
		}
		up, down := column.Upper-mat.Dot(row, whole), mat.Dot(row, whole)-column.Lower
		sd := noise * (mat.Dot(row, row) + math.Pow(mat.Dot(row, at)/level, 2))
		if first && !column.Ends {
			sure = -1
		}
		t.ends[a] = 0
		if mat.Inner(row, covariance, row)+sure*endsNoise*sd > endsSpread*max(0, up*down) {
			// The square of the radius less that of a row as it usually is, but for this number, is 2√(2k) + 3 of
			// Score's numbers.
			t.ends[a] = math.Pow(max(up, down), 2) / (2*math.Sqrt(2*k) + 3)
		}
	}
}

// twoValued are the numbers at their bounds, of fitted columns.
func (t *fit) twoValued() (all []surrogates.TwoValued) {
	var back mat.Dense
	if back.Inverse(t.matrix) != nil { // its condition is beyond 10¹⁶
		return nil
	}
	for a, least := range t.ends {
		if j := t.numbers[a]; least > 0 {
			all = append(all, surrogates.TwoValued{Along: slices.Clone(back.RawRowView(j)), Lower: t.bounds[j].Lower,
				Upper: t.bounds[j].Upper})
		}
	}
	return all
}

// withEnds is a whitener of rows in the map that leaves numbers at their bounds a conditional variance of ends, as
// they are, at least. So their farther bound is within the radius beside others as these usually are.
func (t *fit) withEnds(white *mat.Dense) *mat.Dense {
	as, k := t.among(), len(t.numbers)
	var rows, precision, covariance mat.Dense
	rows.Mul(white, as)
	precision.Mul(white.T(), white)
	wider, more := mat.NewSymDense(k, nil), false
	for a, least := range t.ends {
		if own := 1 / mat.Dot(rows.ColView(a), rows.ColView(a)); own < least {
			wider.SymRankOne(wider, least-own, as.ColView(a))
			more = true
		}
	}
	if !more || covariance.Inverse(&precision) != nil {
		return white
	}
	for a := range k {
		for b := range a + 1 {
			wider.SetSym(a, b, wider.At(a, b)+covariance.At(a, b))
		}
	}
	return whitener(wider, func(mat.Vector) float64 { return 0 })
}
