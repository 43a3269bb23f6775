package accept

// Proof: docs/proofs/acceptance.md.

import (
	"container/heap"
	"math"
)

const (
	// How far certified suprema may lie above a value that is attained. The slope
	// in v is multiplied by a change of variance, which is far smaller than the
	// change of the log-odds beside it.
	slopeGap, driftGap = 0x1p-9, 0x1p-6
	// outward covers the rounding of the bounds themselves: each is a sum of
	// positive terms with relative errors far below it.
	outward = 1 + 0x1p-32
	// maxCells ends the refinement of a cover; it then bounds as it stands.
	maxCells = 1 << 16
)

// cell is a rectangle [u0, u1] × [v0, v1] of log-odds and batch variances.
type cell struct{ u0, u1, v0, v1 float64 }

// centre returns the degenerate cell in the middle.
func (c cell) centre() cell {
	u, v := c.u0+(c.u1-c.u0)/2, c.v0+(c.v1-c.v0)/2
	return cell{u, u, v, v}
}

// halves cuts the longer side.
func (c cell) halves() (cell, cell) {
	low, high, mid := c, c, c.centre()
	if c.u1-c.u0 >= c.v1-c.v0 {
		low.u1, high.u0 = mid.u0, mid.u0
	} else {
		low.v1, high.v0 = mid.v0, mid.v0
	}
	return low, high
}

// corners returns the four corners as degenerate cells.
func (c cell) corners() [4]cell {
	return [4]cell{{c.u0, c.u0, c.v0, c.v0}, {c.u0, c.u0, c.v1, c.v1}, {c.u1, c.u1, c.v0, c.v0}, {c.u1, c.u1, c.v1, c.v1}}
}

// bounded is a cell with an upper bound of a function on it.
type bounded struct {
	cell
	bound float64
}

// agenda is a heap of cells, the largest bound first.
type agenda []bounded

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].bound > a[j].bound }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)        { *a = append(*a, x.(bounded)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// supremum returns an upper bound of a non-negative function on a cell, within a
// factor 1+gap of its supremum unless maxCells is reached first. bound(c) must be
// an upper bound of the function on c, exact when c is a point, and shrink to the
// values as cells shrink. The cell with the largest bound is halved until that
// bound is within the gap of a value that is attained.
func supremum(whole cell, gap float64, bound func(cell) float64) float64 {
	attained := 0.0
	for _, p := range whole.corners() {
		attained = max(attained, bound(p))
	}
	cells := &agenda{{whole, bound(whole)}}
	for (*cells)[0].bound > attained*(1+gap) && cells.Len() < maxCells {
		top := heap.Pop(cells).(bounded)
		attained = max(attained, bound(top.centre()))
		low, high := top.halves()
		heap.Push(cells, bounded{low, bound(low)})
		heap.Push(cells, bounded{high, bound(high)})
	}
	return (*cells)[0].bound * outward
}

// kernelRange returns the least and the largest value of s^−k·φ(d/s), φ the
// standard normal density, over d in [d0, d1] and 0 < s0 ≤ s ≤ s1. It falls in
// |d|; in s it rises up to |d|/√k and falls after.
func kernelRange(k int, d0, d1, s0, s1 float64) (low, high float64) {
	near, far := max(d0, -d1, 0), max(-d0, d1)
	peak := min(max(near/math.Sqrt(float64(k)), s0), s1)
	return min(kernel(k, far, s0), kernel(k, far, s1)), kernel(k, near, peak)
}

// kernel returns s^−k·φ(d/s) for k = 1 or 3.
func kernel(k int, d, s float64) float64 {
	const inverseRoot2Pi = 1 / (math.Sqrt2 * math.SqrtPi)
	z := d / s
	value := inverseRoot2Pi * math.Exp(-z*z/2) / s
	if k == 3 {
		value /= s * s
	}
	return value
}

// normalTail returns P(N(0,1) > z).
func normalTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
