package targets

// Proof: docs/proofs/curator.md.

import (
	"math"
	"sync"
)

// block is how many records are worked on at once where buffers are needed: all
// of them fit the first-level cache.
const block = 256

// scratch is room for a block of numbers, three times.
type scratch struct{ a, b, c [block]float64 }

// scratches recycles buffers. They could be on the stack, but slices handed
// through an interface are taken to escape, and each batch would then allocate.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

func getScratch() *scratch  { return scratches.Get().(*scratch) }
func putScratch(s *scratch) { scratches.Put(s) }

// choose returns yes or no without a branch, for conditions as good as random.
func choose(cond bool, yes, no float64) float64 {
	bits := math.Float64bits(no)
	if cond {
		bits = math.Float64bits(yes)
	}
	return math.Float64frombits(bits)
}

// lossRatio is LossRatio for any target: two losses, a block at a time while the
// features are in the cache.
func lossRatio(t Target, dst, theta, next []float64, rows Rows) {
	buf := getScratch()
	defer putScratch(buf)
	for lo := 0; lo < len(dst); lo += block {
		part := rows.Slice(lo, min(lo+block, len(dst)))
		now, then := dst[lo:lo+part.Len()], buf.a[:part.Len()]
		t.Loss(now, theta, part)
		t.Loss(then, next, part)
		for i, l := range then {
			now[i] -= l
		}
	}
}

// rowPool recycles vectors whose length only the model knows.
var rowPool = sync.Pool{New: func() any { return new([]float64) }}

func getRow(n int) *[]float64 {
	r := rowPool.Get().(*[]float64)
	if cap(*r) < n {
		*r = make([]float64, n)
	}
	*r = (*r)[:n]
	return r
}

func putRow(r *[]float64) { rowPool.Put(r) }
