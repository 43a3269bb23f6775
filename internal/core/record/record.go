// Package record holds the sealed records, which only the curator reads.
package record

// Proof: docs/proofs/curator.md.

import (
	"slices"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
)

// Set is a table of n records: row-major features, and responses when the model has
// them. It is a private copy, written once by New and only read afterwards; or it lies
// over memory that others may write to, such as a mapped file.
type Set struct {
	x, y   []float64
	narrow []float32 // instead of x, in shared memory
	p, n   int
	shared bool
	radius float64 // of the ball that rows are projected onto; 0 for none
}

// New copies n rows of p features (row-major) and, when y is not nil, n
// responses. A positive radius projects every row onto the ball of that
// Euclidean norm; a row that is not finite has no direction and becomes the
// zero row. Both rules look at one row at a time, so one record changes one row.
func New(x []float64, p int, y []float64, n int, radius float64) *Set {
	s := &Set{x: slices.Clone(x[:n*p]), p: p, y: slices.Clone(y), n: n, radius: radius}
	if radius > 0 {
		for i := range n {
			Project(s.x[i*p:(i+1)*p], radius)
		}
	}
	return s
}

// Share is New without the copy, of rows in x or else in narrow. They are copied and
// projected each time they are read. So whoever writes to that memory changes what a
// record is, and never puts one outside the ball.
func Share(x []float64, narrow []float32, p int, y []float64, n int, radius float64) *Set {
	return &Set{x: x, narrow: narrow, p: p, y: y, n: n, shared: true, radius: radius}
}

// Len is the number of records.
func (s *Set) Len() int { return s.n }

// Features is the number of features of a record.
func (s *Set) Features() int { return s.p }

// Response reports whether records have a response.
func (s *Set) Response() bool { return s.y != nil }

// Radius is that of the ball that rows were projected onto; 0 for none.
func (s *Set) Radius() float64 { return s.radius }

// row copies record i's features to dst.
func (s *Set) row(dst []float64, i int) {
	if s.narrow == nil {
		copy(dst, s.x[i*s.p:(i+1)*s.p])
	} else {
		for j, v := range s.narrow[i*s.p : (i+1)*s.p] {
			dst[j] = float64(v)
		}
	}
	if s.shared && s.radius > 0 {
		Project(dst, s.radius)
	}
}

// Block returns records lo to hi-1: those of the private copy, or else in x and y.
func (s *Set) Block(x, y []float64, lo, hi int) (bx, by []float64) {
	if !s.shared {
		if s.y != nil {
			by = s.y[lo:hi]
		}
		return s.x[lo*s.p : hi*s.p], by
	}
	for i := lo; i < hi; i++ {
		s.row(x[(i-lo)*s.p:(i-lo+1)*s.p], i)
	}
	if s.y != nil {
		by = y[:copy(y, s.y[lo:hi])]
	}
	return x[:(hi-lo)*s.p], by
}

// ahead is how many records are brought into the cache at once.
const ahead = 64

// touch reads a number from every cache line of the rows named by index, in a loop
// that waits for none of them, so that copying them does not wait for one after the
// other. What it reads goes to dst, which the copies overwrite.
func touch[T float32 | float64](dst []float64, x []T, p int, index []int32) {
	if p == 0 || x == nil {
		return
	}
	var sum T
	for _, i := range index {
		row := x[int(i)*p : (int(i)+1)*p]
		for j := 0; j < len(row); j += 8 {
			sum += row[j]
		}
		sum += row[len(row)-1]
	}
	dst[0] = float64(sum)
}

// Gather copies the records named by index into x and y, in that order, and
// returns the filled prefixes. y is returned nil when records have no response.
func (s *Set) Gather(x, y []float64, index []int32) (gx, gy []float64) {
	p, done := s.p, 0
	if !s.shared {
		done = dense.Gather(x, s.x, s.y, p, index)
	}
	for lo := done; lo < len(index); lo += ahead {
		part := index[lo:min(lo+ahead, len(index))]
		touch(x[lo*p:], s.x, p, part)
		touch(x[lo*p:], s.narrow, p, part)
		for k, i := range part {
			s.row(x[(lo+k)*p:(lo+k+1)*p], int(i))
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
