package curator

import (
	"math"
	"runtime"

	"github.com/dpmcmc/dpmcmc/internal/record"
	"github.com/dpmcmc/dpmcmc/targets"
)

// gradientPass sums clipped per-record gradients on a grid.
type gradientPass struct {
	asks    question // slopes where a gradient is a slope times the row
	set     *record.Set
	tau     float64
	grid    grid
	shorten float64 // clip in grid steps, less what rounding can add to a norm
	pool    *pool
	workers []gradientWorker
	do      func(worker, block int)
	theta   []float64
	index   []int32
	full    bool
}

type gradientWorker struct {
	door     *door
	x, y     []float64
	gradient []float64 // blockRows×dim, or one slope for each row of a linear target
	sums     []int64
}

func newGradientPass(t *subject, set *record.Set, tau float64, g grid) *gradientPass {
	p := &gradientPass{asks: gradientOf, set: set, tau: tau, grid: g}
	p.shorten = g.top - math.Sqrt(float64(t.dim))
	width := t.dim
	if t.linear != nil {
		p.asks, width = slopeOf, 1
	}
	p.pool = newPool(t.ours, set.Len())
	p.workers = make([]gradientWorker, p.pool.workers)
	for i := range p.workers {
		w := &p.workers[i]
		w.door = newDoor(t, p.pool, set.Features(), width)
		w.x, w.y = make([]float64, blockRows*set.Features()), make([]float64, blockRows)
		w.gradient, w.sums = make([]float64, blockRows*width), make([]int64, t.dim)
	}
	p.do = p.block
	runtime.AddCleanup(p, (*pool).stop, p.pool)
	return p
}

// sum sets dst to the sum of the records' clipped, rounded gradients, in grid
// steps: those of index, or all when full.
func (p *gradientPass) sum(dst []int64, theta []float64, index []int32, full bool) {
	p.theta, p.index, p.full = theta, index, full
	n := len(index)
	if full {
		n = p.set.Len()
	}
	for i := range p.workers {
		clear(p.workers[i].sums)
	}
	p.pool.run((n+blockRows-1)/blockRows, p.do)
	clear(dst)
	for i := range p.workers {
		for j, s := range p.workers[i].sums {
			dst[j] += s
		}
	}
	p.theta, p.index = nil, nil
}

func (p *gradientPass) block(id, b int) {
	w := &p.workers[id]
	lo := b * blockRows
	var rows targets.Rows
	rows.P = p.set.Features()
	if p.full {
		rows.X, rows.Y = p.set.Block(w.x, w.y, lo, min(lo+blockRows, p.set.Len()))
	} else {
		rows.X, rows.Y = p.set.Gather(w.x, w.y, p.index[lo:min(lo+blockRows, len(p.index))])
	}
	n, width := rows.Len(), w.door.width
	g := w.gradient[:n*width]
	w.door.ask(p.asks, g, p.theta, nil, rows)
	for i := range n {
		if p.asks == slopeOf {
			p.add(w.sums, g[i], rows.Row(i))
		} else {
			p.add(w.sums, 1, g[i*width:(i+1)*width])
		}
	}
}

// add clips one record's gradient, slope times row, and adds it. A gradient
// with a NaN, or one whose norm is infinite, which has no direction, contributes
// nothing.
func (p *gradientPass) add(sums []int64, slope float64, row []float64) {
	factor := slope * p.tau * p.grid.inverse
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
