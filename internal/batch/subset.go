package batch

// Proof: docs/proofs/noise.md.

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/dpmcmc/dpmcmc/internal/core/noise"
)

// Subset draws subsets of {0, …, n−1} without replacement: the records of a
// batch. It keeps one bit for each element, so that a draw costs time in
// proportion to its size and no allocation. It is not safe for concurrent use.
type Subset struct {
	n      int
	marked []uint64 // all zero between draws
}

// NewSubset returns a sampler of subsets of {0, …, n−1}, 0 ≤ n < 2^31. Elements
// are int32, which number the rows of any table that fits in memory and halve
// the traffic of a batch compared with int.
func NewSubset(n int) (*Subset, error) {
	if n < 0 || n > math.MaxInt32 {
		return nil, fmt.Errorf("batch: subsets of %d elements, allowed are 0 to 2^31−1: use fewer rows", n)
	}
	return &Subset{n: n, marked: make([]uint64, (n+63)/64)}, nil
}

// Sample fills dst with a subset of len(dst) elements in which every such subset
// has exactly the same probability (docs/proofs/noise.md §9). The order of the
// elements carries no further randomness: it is increasing for more than n/2 of
// them and random otherwise. It panics if dst is longer than n.
func (s *Subset) Sample(src *noise.Source, dst []int32) {
	m := len(dst)
	if m > s.n {
		panic(fmt.Sprintf("batch: a subset of %d elements was asked for, there are %d", m, s.n))
	}
	if m <= s.n/2 {
		s.mark(src, m, dst)
		for _, i := range dst {
			s.marked[i>>6] = 0
		}
		return
	}
	s.mark(src, s.n-m, nil)
	s.unmarked(dst)
	clear(s.marked)
}

// mark marks m different elements, and lists them in dst unless it is nil. A
// marked element that comes up again is drawn anew. A word is drawn for two.
func (s *Subset) mark(src *noise.Source, m int, dst []int32) {
	for k := 0; k < m; {
		w := src.Uint64()
		for _, half := range [2]uint32{uint32(w), uint32(w >> 32)} {
			i, ok := below(half, uint32(s.n))
			word, bit := &s.marked[i>>6], uint64(1)<<(i&63)
			if !ok || k == m || *word&bit != 0 {
				continue
			}
			*word |= bit
			if dst != nil {
				dst[k] = int32(i)
			}
			k++
		}
	}
}

// below makes an integer in [0, n), n > 0, of a uniform half word. Those for which it
// is ok make each of them equally often (Lemire 2019; docs/proofs/noise.md §1).
func below(half, n uint32) (i uint32, ok bool) {
	product := uint64(half) * uint64(n)
	low := uint32(product)
	return uint32(product >> 32), low >= n || low >= -n%n
}

// unmarked lists the elements that are not marked, in increasing order.
func (s *Subset) unmarked(dst []int32) {
	k := 0
	for w, word := range s.marked {
		for free := ^word; free != 0 && k < len(dst); free &= free - 1 {
			dst[k] = int32(w<<6 + bits.TrailingZeros64(free))
			k++
		}
	}
}
