package room

// Proof: docs/proofs/curator.md, docs/proofs/gradients.md.

import (
	"math"
	"runtime"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// Clipper clips vectors in Euclidean norm, rounds them to a grid and adds them.
type Clipper struct {
	Grid    Grid
	tau     float64
	shorten float64 // clip in grid steps, less what rounding can add to a norm
}

// NewClipper returns a clipper of vectors of dim numbers, times tau.
func NewClipper(dim int, tau float64, g Grid) Clipper {
	return Clipper{Grid: g, tau: tau, shorten: g.Top - math.Sqrt(float64(dim))}
}

// VectorPass sums clipped per-record gradients on a grid.
type VectorPass struct {
	Clipper
	asks    question // slopes where a gradient is a slope times the row
	set     *record.Set
	pool    *pool
	workers []vectorWorker
	do      func(worker, block int)
	theta   []float64
	index   []int32
	full    bool
}

type vectorWorker struct {
	door     *door
	x, y     []float64
	gradient []float64 // BlockRows×dim, or one slope for each row of a linear target
	sums     []int64
}

// NewVectorPass returns a pass over set.
func NewVectorPass(t *Subject, set *record.Set, tau float64, g Grid) *VectorPass {
	p := &VectorPass{Clipper: NewClipper(t.Dim, tau, g), asks: gradientOf, set: set}
	width := t.Dim
	if t.Linear {
		p.asks, width = slopeOf, 1
	}
	p.pool = newPool(t.ours, set.Len())
	p.workers = make([]vectorWorker, p.pool.workers)
	for i := range p.workers {
		w := &p.workers[i]
		w.door = newDoor(t, p.pool, set.Features(), width)
		w.x, w.y = make([]float64, BlockRows*set.Features()), make([]float64, BlockRows)
		w.gradient, w.sums = make([]float64, BlockRows*width), make([]int64, t.Dim)
	}
	p.do = p.block
	runtime.AddCleanup(p, (*pool).stop, p.pool)
	return p
}

// Sum sets dst to the sum of the records' clipped, rounded gradients, in grid
// steps: those of index, or all when full.
func (p *VectorPass) Sum(dst []int64, theta []float64, index []int32, full bool) {
	p.theta, p.index, p.full = theta, index, full
	n := len(index)
	if full {
		n = p.set.Len()
	}
	for i := range p.workers {
		clear(p.workers[i].sums)
	}
	p.pool.run((n+BlockRows-1)/BlockRows, p.do)
	clear(dst)
	for i := range p.workers {
		for j, s := range p.workers[i].sums {
			dst[j] += s
		}
	}
	p.theta, p.index = nil, nil
}

func (p *VectorPass) block(id, b int) {
	w := &p.workers[id]
	lo := b * BlockRows
	var rows record.Rows
	rows.P = p.set.Features()
	if p.full {
		rows.X, rows.Y = p.set.Block(w.x, w.y, lo, min(lo+BlockRows, p.set.Len()))
	} else {
		rows.X, rows.Y = p.set.Gather(w.x, w.y, p.index[lo:min(lo+BlockRows, len(p.index))])
	}
	n, width := rows.Len(), w.door.width
	g := w.gradient[:n*width]
	w.door.ask(p.asks, g, p.theta, nil, rows)
	for i := range n {
		if p.asks == slopeOf {
			p.Add(w.sums, g[i], rows.Row(i))
		} else {
			p.Add(w.sums, 1, g[i*width:(i+1)*width])
		}
	}
}

// Add clips one record's vector, slope times row, and adds it. One
// with a NaN, or one whose norm is infinite, which has no direction, contributes
// nothing.
func (p *Clipper) Add(sums []int64, slope float64, row []float64) {
	factor := slope * p.tau * p.Grid.inverse
	// In grid steps from the start, so that nothing that counts underflows.
	square := 0.0
	for _, v := range row {
		step := v * factor
		square += float64(step * step)
	}
	length := math.Sqrt(square)
	if math.IsNaN(length) || math.IsInf(length, 1) {
		return
	}
	if length > p.shorten {
		factor *= p.shorten / length
	}
	for j, v := range row {
		sums[j] += roundSmall(float64(v * factor))
	}
}

// roundSmall rounds |v| < 2⁵¹ to the nearest integer, ties to even: adding
// 1.5·2⁵² leaves it in the low bits.
func roundSmall(v float64) int64 {
	const shift = 3 << 51
	return int64(math.Float64bits(v+shift)) - int64(math.Float64bits(shift))
}
