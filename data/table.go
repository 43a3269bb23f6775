package data

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Table is a loaded or simulated table: a public shape, a design matrix, and a
// response if there is one.
type Table struct {
	Shape
	X []float64 // Records × Features, row-major
	Y []float64 // Records responses, or nil without a target
	// X32 is X in single precision, instead of X, and Shared says that both and Y are
	// memory of a mapped file: see package packed.
	X32    []float32
	Shared bool
	// Weighed says that rows longer than the Radius have had what models.Model.Weigh does.
	Weighed bool
	// Source is the file's name as given, or the name of a built-in table.
	Source string
}

// Row returns row i of the design matrix, sharing memory with X.
func (t *Table) Row(i int) []float64 {
	p := t.Features()
	if t.X32 != nil {
		row := make([]float64, p)
		t.CopyRow(row, i)
		return row
	}
	return t.X[i*p : (i+1)*p : (i+1)*p]
}

// CopyRow sets dst, of as many entries, to row i of the design matrix.
func (t *Table) CopyRow(dst []float64, i int) {
	p := t.Features()
	if t.X32 == nil {
		copy(dst, t.X[i*p:(i+1)*p])
		return
	}
	for j, v := range t.X32[i*p : (i+1)*p] {
		dst[j] = float64(v)
	}
}

// Split copies a random ⌊fraction·N⌋ records, without replacement, into one table
// and the others into a second one, both in random order. It is for experiments on
// public data: a private analysis has no held-out records that cost nothing.
//
// It returns an error if fraction is not in (0, 1) or leaves a part empty, and
// panics if rng is nil.
func Split(t *Table, fraction float64, rng *rand.Rand) (first, second *Table, err error) {
	if rng == nil {
		panic("data: Split needs a generator, not nil")
	}
	if !(fraction > 0 && fraction < 1) {
		return nil, nil, fmt.Errorf("data: split fraction %v, but it must lie strictly between 0 and 1", fraction)
	}
	n := int(math.Floor(fraction * float64(t.Records)))
	if n == 0 || n == t.Records {
		return nil, nil, fmt.Errorf("data: split fraction %v of %d records leaves a part empty; take one nearer to a half",
			fraction, t.Records)
	}
	order := rng.Perm(t.Records)
	return t.gather(order[:n]), t.gather(order[n:]), nil
}

// gather copies the records with the given indices.
func (t *Table) gather(index []int) *Table {
	part := Table{Shape: t.Shape, Weighed: t.Weighed, Source: t.Source}
	part.Records = len(index)
	part.X = make([]float64, 0, len(index)*t.Features())
	for _, i := range index {
		part.X = append(part.X, t.Row(i)...)
	}
	if t.Y != nil {
		part.Y = make([]float64, 0, len(index))
		for _, i := range index {
			part.Y = append(part.Y, t.Y[i])
		}
	}
	return &part
}
