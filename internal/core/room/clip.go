package room

// Proof: docs/proofs/curator.md.

import (
	"math"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
)

// Totals are the integer sums of one evaluation's contributions: in grid steps,
// and in coarse steps of 2^CoarseShift grid steps, whose squares fit too.
type Totals struct{ Sum, Coarse, Squares int64 }

// CoarseShift is how many bits of a contribution are dropped before it is
// squared, so that a sum of maxRecords squares fits int64.
const CoarseShift = 15

// add counts a contribution of k grid steps. Division rounds towards zero, so
// the coarse contribution is never the larger one.
func (t *Totals) add(k int64) {
	c := k / (1 << CoarseShift)
	t.Sum += k
	t.Coarse += c
	t.Squares += c * c
}

// clipping is how contributions τ(loss − next) become whole steps of a grid: clipped to
// slope·|x·δ|, and to the grid's top. The slope is +Inf for none.
type clipping struct {
	tau, slope float64
	grid       Grid
}

// steps are those of one record.
func (c clipping) steps(loss, next, along float64) int64 {
	bound := c.slope * math.Abs(along) * c.grid.inverse
	if !(bound < c.grid.Top) { // for a slope of +Inf too
		bound = c.grid.Top
	}
	return c.grid.Round(c.tau*(loss-next), bound)
}

// addBlock adds the contributions of at most BlockRows records.
func (t *Totals) addBlock(c clipping, loss, next, along []float64) {
	next, along = next[:len(loss)], along[:len(loss)]
	at := 0
	if dense.Wide && len(loss) >= 4 {
		at = len(loss) &^ 3
		// Both 2⁹ contributions below 2³⁰ and as many squares are exact in float64.
		var parts [3][4]float64
		clip4(&parts, &loss[0], &next[0], &along[0], at, &c)
		for i := range parts[0] {
			t.Sum += int64(parts[0][i])
			t.Coarse += int64(parts[1][i])
			t.Squares += int64(parts[2][i])
		}
	}
	for ; at < len(loss); at++ {
		t.add(c.steps(loss[at], next[at], along[at]))
	}
}

// clip sets dst to the clipped contributions τ(loss − next). NaN is 0.
func (p *Pass) clip(dst []float64, w *worker, loss, next []float64) {
	for i, l := range loss {
		limit := p.bound
		if b := p.slope * math.Abs(w.along[i]); b < limit { // not for a slope of +Inf
			limit = b
		}
		switch term := p.tau * (l - next[i]); {
		case term > limit:
			dst[i] = limit
		case term < -limit:
			dst[i] = -limit
		case !math.IsNaN(term):
			dst[i] = term
		default:
			dst[i] = 0
		}
	}
}
