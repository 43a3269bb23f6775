// Package view shows sealed records through a public linear map.
package view

// Proof: docs/proofs/curator.md, "Records through a map".

import (
	"math"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// Set is the records of a table as they are seen: row x is Ax, and the zero row where that is
// longer than the radius or not finite. So one record is one row, no longer than that, whatever A
// is. Where responses are seen too, response y is b·x + cy, and a row that is longer is shortened
// to the radius, with its response as it is. It is not safe for concurrent use.
type Set struct {
	from     *record.Set
	matrix   []float64
	response []float64 // b and c, if responses are seen too
	radius   float64
}

// Through returns the records as they are seen within a radius. A, with a row and a column for each
// feature, row-major, is zero until Aim sets it.
func Through(from *record.Set, radius float64) *Set {
	return &Set{from: from, matrix: make([]float64, from.Features()*from.Features()), radius: radius}
}

// Aim copies A and, where responses are seen too, b and c that follow it.
func (s *Set) Aim(matrix []float64) {
	n := copy(s.matrix, matrix)
	s.response = append(s.response[:0], matrix[n:]...)
}

// Len is the number of records.
func (s *Set) Len() int { return s.from.Len() }

// Features is the number of features of a record.
func (s *Set) Features() int { return s.from.Features() }

// Block returns records lo to hi−1 in x, and their responses, which may be in y.
func (s *Set) Block(x, y []float64, lo, hi int) (bx, by []float64) {
	p := s.Features()
	rows, by := s.from.Block(x, y, lo, hi)
	for i := range hi - lo {
		row := rows[i*p : (i+1)*p]
		if len(s.response) == 0 {
			s.see(x[i*p:(i+1)*p], row, false)
			continue
		}
		seen := float64(s.response[p] * by[i])
		for k, b := range s.response[:p] {
			seen += float64(b * row[k])
		}
		y[i] = seen * s.see(x[i*p:(i+1)*p], row, true)
	}
	if len(s.response) > 0 {
		by = y[:hi-lo]
	}
	return x[:(hi-lo)*p], by
}

// see sets dst, which may be row, to what the row is seen as, shortened or left out where it is too
// long. It returns by how much it is shortened, 0 where it is left out.
func (s *Set) see(dst, row []float64, shorten bool) float64 {
	var space [64]float64 // more features take memory of their own
	x := append(space[:0], row...)
	for j := range dst {
		dst[j] = 0
		for k, a := range s.matrix[j*len(x) : (j+1)*len(x)] {
			dst[j] += float64(a * x[k]) // not fused, so that it is the same on every machine
		}
	}
	long := record.Norm(dst)
	record.Project(dst, s.radius)
	switch now := record.Norm(dst); {
	case now == long: // NaN is not itself
		return 1
	case shorten && long <= math.MaxFloat64:
		return now / long
	}
	clear(dst)
	return 0
}
