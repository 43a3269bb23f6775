// Package record holds the sealed records: a private copy of the table that
// only the curator reads.
package record

// Set is a table of n records: row-major features, and responses when the
// model has them. It is written once, by New, and only read afterwards.
type Set struct {
	x, y []float64
	p, n int
}

// New copies n rows of p features (row-major) and, when y is not nil, n
// responses. A positive radius projects every row onto the ball of that
// Euclidean norm; a row that is not finite has no direction and becomes the
// zero row. Both rules look at one row at a time, so one record changes one row.
func New(x []float64, p int, y []float64, n int, radius float64) *Set {
	s := &Set{x: append([]float64(nil), x[:n*p]...), p: p, n: n}
	if y != nil {
		s.y = append([]float64(nil), y[:n]...)
	}
	if radius > 0 {
		for i := range n {
			Project(s.x[i*p:(i+1)*p], radius)
		}
	}
	return s
}

// Len is the number of records.
func (s *Set) Len() int { return s.n }

// Features is the number of features of a record.
func (s *Set) Features() int { return s.p }

// Block returns records lo to hi-1 without copying.
func (s *Set) Block(lo, hi int) (x, y []float64) {
	if s.y != nil {
		y = s.y[lo:hi]
	}
	return s.x[lo*s.p : hi*s.p], y
}

// ahead is how many records are brought into the cache at once.
const ahead = 64

// touch reads a number from every cache line of the records named by index, in a
// loop that waits for none of them, so that copying them does not wait for one
// after the other. What it reads goes to dst, which the copies overwrite.
func (s *Set) touch(dst []float64, index []int32) {
	if s.p == 0 {
		return
	}
	sum := 0.0
	for _, i := range index {
		row := s.x[int(i)*s.p : (int(i)+1)*s.p]
		for j := 0; j < len(row); j += 8 {
			sum += row[j]
		}
		sum += row[len(row)-1]
	}
	dst[0] = sum
}

// Gather copies the records named by index into x and y, in that order, and
// returns the filled prefixes. y is returned nil when records have no response.
func (s *Set) Gather(x, y []float64, index []int32) (gx, gy []float64) {
	p := s.p
	for lo := 0; lo < len(index); lo += ahead {
		part := index[lo:min(lo+ahead, len(index))]
		s.touch(x[lo*p:], part)
		for k, i := range part {
			copy(x[(lo+k)*p:(lo+k+1)*p], s.x[int(i)*p:(int(i)+1)*p])
		}
	}
	if s.y == nil {
		return x[:len(index)*p], nil
	}
	for k, i := range index {
		y[k] = s.y[i]
	}
	return x[:len(index)*p], y[:len(index)]
}
