package room

// Proof: docs/proofs/curator.md.

import (
	"math"
	"runtime"
	"slices"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// Pass evaluates every record's contribution τ·(ℓ(z;θ) − ℓ(z;θ′)) to the
// log-likelihood ratio of a move, clips it, rounds it to the grid and sums the
// integers. With the full data it keeps the current state's losses, so that a
// step evaluates only the proposal.
type Pass struct {
	// Grid is what contributions are rounded to and clipped by.
	Grid Grid

	set    *record.Set
	ratios bool // ask for one-pass ratios
	fused  bool // find x·θ′ and x·δ in one reading of x
	tau    float64
	slope  float64 // τ·L: the clip of a record is slope·|x·δ|; +Inf for none

	pool    *pool
	workers []worker
	do      func(worker, block int)

	// One evaluation's arguments.
	theta, next, step []float64
	index             []int32   // nil for the full data
	fill              bool      // evaluate the current state's losses instead
	terms             []float64 // receives contributions instead of their being added
	bound             float64   // their clip

	cache *cache // nil unless passes are over the full data
}

// cache holds the losses of two states: the one the chain is at, and its last
// proposal, so that a chain that moved finds its losses ready.
type cache struct {
	theta, next       []float64 // NaN when nothing is held
	current, proposed []float64
}

func newCache(dim, n int) *cache {
	c := &cache{theta: make([]float64, dim), next: make([]float64, dim), current: make([]float64, n),
		proposed: make([]float64, n)}
	c.theta[0], c.next[0] = math.NaN(), math.NaN()
	return c
}

// holds reports whether the losses at theta are the current ones, after
// swapping the two states when theta is the last proposal.
func (c *cache) holds(theta []float64) bool {
	if slices.Equal(c.theta, theta) {
		return true
	}
	if !slices.Equal(c.next, theta) {
		return false
	}
	c.theta, c.next = c.next, c.theta
	c.current, c.proposed = c.proposed, c.current
	return true
}

// worker is one goroutine's buffers and partial sums.
type worker struct {
	door           *door
	x, y           []float64
	loss, lossNext []float64
	along, none    []float64 // x·δ where contributions are clipped along the move, and zeros
	total          Totals
	_              [64]byte // keeps workers' sums on different cache lines
}

// NewPass returns a pass over set. slope is finite when contributions are to
// be clipped along the move, which needs a linear target.
func NewPass(t *Subject, set *record.Set, tau, slope float64, g Grid, full bool) *Pass {
	p := &Pass{Grid: g, set: set, ratios: t.ratio != nil, tau: tau, slope: slope,
		fused: t.ours && t.Linear && !math.IsInf(slope, 1)}
	p.pool = newPool(t.ours, set.Len())
	p.workers = make([]worker, p.pool.workers)
	for i := range p.workers {
		w := &p.workers[i]
		w.door = newDoor(t, p.pool, set.Features(), 1)
		w.loss, w.lossNext = make([]float64, BlockRows), make([]float64, BlockRows)
		w.along, w.none = make([]float64, BlockRows), make([]float64, BlockRows)
		w.x, w.y = make([]float64, BlockRows*set.Features()), make([]float64, BlockRows)
	}
	p.step = make([]float64, t.Dim)
	if full {
		p.cache = newCache(t.Dim, set.Len())
	}
	p.do = p.block
	runtime.AddCleanup(p, (*pool).stop, p.pool)
	return p
}

// Sums evaluates the move theta→next (by step) on the records of index, or on
// the full data when the pass is over those.
func (p *Pass) Sums(theta, next, step []float64, index []int32) (t Totals) {
	p.theta, p.next, p.index = theta, next, index
	copy(p.step, step)
	n := len(index)
	if p.cache != nil {
		n = p.set.Len()
		p.refresh(theta)
		copy(p.cache.next, next)
	}
	for i := range p.workers {
		p.workers[i].total = Totals{}
	}
	p.pool.run((n+BlockRows-1)/BlockRows, p.do)
	for i := range p.workers {
		w := &p.workers[i].total
		t.Sum, t.Coarse, t.Squares = t.Sum+w.Sum, t.Coarse+w.Coarse, t.Squares+w.Squares
	}
	p.theta, p.next, p.index = nil, nil, nil
	return t
}

// Terms sets dst to the contributions of the records of index, of a pass that is not
// over the full data: clipped, to bound too, and neither rounded nor added.
func (p *Pass) Terms(dst, theta, next, step []float64, index []int32, bound float64) {
	p.terms, p.bound = dst, bound
	p.Sums(theta, next, step, index)
	p.terms = nil
}

// refresh makes the cache hold the losses at theta.
func (p *Pass) refresh(theta []float64) {
	if p.cache.holds(theta) {
		return
	}
	p.fill = true
	p.pool.run((p.set.Len()+BlockRows-1)/BlockRows, p.do)
	p.fill = false
	copy(p.cache.theta, theta)
}

// block evaluates one block of records on one worker's buffers.
func (p *Pass) block(id, b int) {
	w := &p.workers[id]
	lo := b * BlockRows
	if p.cache != nil {
		for end := min(lo+BlockRows, p.set.Len()); lo < end; lo += streamRows {
			p.stream(w, lo, min(lo+streamRows, end))
		}
		return
	}
	hi := min(lo+BlockRows, len(p.index))
	rows, loss, next := p.gathered(w, p.index[lo:hi])
	p.alongMove(w, rows)
	if p.terms != nil {
		p.clip(p.terms[lo:hi], w, loss, next)
		return
	}
	w.total.addBlock(p.clipping(), loss, next, w.along)
}

// stream evaluates records lo to hi-1 of all, with the losses that are kept.
func (p *Pass) stream(w *worker, lo, hi int) {
	rows := p.rows(p.set.Block(w.x, w.y, lo, hi))
	if p.fill {
		w.door.ask(lossOf, p.cache.current[lo:hi], p.theta, nil, rows)
		return
	}
	next := p.cache.proposed[lo:hi]
	if p.fused {
		dense.MulVecs(w.door.eta[:hi-lo], w.along, rows.X, p.next, p.step)
		w.door.ask(lossAt, next, p.next, nil, rows)
	} else {
		w.door.ask(lossOf, next, p.next, nil, rows)
		p.alongMove(w, rows)
	}
	w.total.addBlock(p.clipping(), p.cache.current[lo:hi], next, w.along)
}

// alongMove sets a worker's x·δ where contributions are clipped along the move.
func (p *Pass) alongMove(w *worker, rows record.Rows) {
	if !math.IsInf(p.slope, 1) {
		dense.MulVec(w.along[:rows.Len()], rows.X, p.step)
	}
}

func (p *Pass) clipping() clipping { return clipping{tau: p.tau, slope: p.slope, grid: p.Grid} }

// gathered evaluates a block of records, in a worker's buffers.
func (p *Pass) gathered(w *worker, index []int32) (rows record.Rows, loss, next []float64) {
	rows = p.rows(p.set.Gather(w.x, w.y, index))
	loss, next = w.loss[:len(index)], w.lossNext[:len(index)]
	if p.ratios {
		w.door.ask(ratioOf, loss, p.theta, p.next, rows)
		next = w.none[:len(index)]
	} else {
		w.door.ask(lossOf, loss, p.theta, nil, rows)
		w.door.ask(lossOf, next, p.next, nil, rows)
	}
	return rows, loss, next
}

func (p *Pass) rows(x, y []float64) record.Rows {
	return record.Rows{X: x, P: p.set.Features(), Y: y}
}
