package record

// Proof: docs/proofs/curator.md.

// Rows is a read-only batch of n records, row-major. A target must neither
// change nor keep it.
//
// Numeric quantities are in X; the outcome a model predicts, when it has one, is
// in Y. A model of the records themselves (a mean, a mixture) reads X alone and
// Y is nil; a model of outcomes without features has P = 0 and reads Y alone.
type Rows struct {
	X []float64 // n×P features, row-major
	P int       // features per record, at least 0
	Y []float64 // n responses; nil when the model has none
}

// Len returns the number of records.
func (r Rows) Len() int {
	if r.P == 0 {
		return len(r.Y)
	}
	return len(r.X) / r.P
}

// Row returns the P features of record i, sharing memory with r.
func (r Rows) Row(i int) []float64 {
	return r.X[i*r.P : (i+1)*r.P : (i+1)*r.P]
}

// Slice returns records lo to hi−1, sharing memory with r.
func (r Rows) Slice(lo, hi int) Rows {
	s := Rows{X: r.X[lo*r.P : hi*r.P : hi*r.P], P: r.P}
	if r.Y != nil {
		s.Y = r.Y[lo:hi:hi]
	}
	return s
}
