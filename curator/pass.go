package curator

import (
	"math"
	"runtime"
	"slices"

	"github.com/dpmcmc/dpmcmc/internal/record"
	"github.com/dpmcmc/dpmcmc/internal/vec"
	"github.com/dpmcmc/dpmcmc/targets"
)

// pass evaluates every record's contribution τ·(ℓ(z;θ) − ℓ(z;θ′)) to the
// log-likelihood ratio of a move, clips it, rounds it to the grid and sums the
// integers. With the full data it keeps the current state's losses, so that a
// step evaluates only the proposal.
type pass struct {
	set    *record.Set
	ratios bool // ask for one-pass ratios
	tau    float64
	slope  float64 // τ·L: the clip of a record is slope·|x·δ|; +Inf for none
	grid   grid

	pool    *pool
	workers []worker
	do      func(worker, block int)

	// One evaluation's arguments.
	theta, next, step []float64
	index             []int32 // nil for the full data
	fill              bool    // evaluate the current state's losses instead
	// take, if not nil, receives each block's losses at the two states instead of their
	// being added.
	take func(w *worker, at int, rows targets.Rows, loss, lossNext []float64)

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
	along          []float64 // x·δ
	total          totals
	_              [64]byte // keeps workers' sums on different cache lines
}

// totals are the integer sums of one evaluation's contributions: in grid steps,
// and in coarse steps of 2^coarseShift grid steps, whose squares fit too.
type totals struct{ sum, coarse, squares int64 }

// coarseShift is how many bits of a contribution are dropped before it is
// squared, so that a sum of maxRecords squares fits int64.
const coarseShift = 15

// add counts a contribution of k grid steps. Division rounds towards zero, so
// the coarse contribution is never the larger one.
func (t *totals) add(k int64) {
	c := k / (1 << coarseShift)
	t.sum += k
	t.coarse += c
	t.squares += c * c
}

// newPass returns a pass over set. slope is finite when contributions are to
// be clipped along the move, which needs a linear target.
func newPass(t *subject, set *record.Set, tau, slope float64, g grid, full bool) *pass {
	p := &pass{set: set, ratios: t.ratio != nil, tau: tau, slope: slope, grid: g}
	p.pool = newPool(t.ours, set.Len())
	p.workers = make([]worker, p.pool.workers)
	for i := range p.workers {
		w := &p.workers[i]
		w.door = newDoor(t, p.pool, set.Features(), 1)
		w.loss, w.lossNext = make([]float64, blockRows), make([]float64, blockRows)
		w.along = make([]float64, blockRows)
		w.x, w.y = make([]float64, blockRows*set.Features()), make([]float64, blockRows)
	}
	p.step = make([]float64, t.dim)
	if full {
		p.cache = newCache(t.dim, set.Len())
	}
	p.do = p.block
	runtime.AddCleanup(p, (*pool).stop, p.pool)
	return p
}

// sums evaluates the move theta→next (by step) on the records of index, or on
// the full data when the pass is over those.
func (p *pass) sums(theta, next, step []float64, index []int32) (t totals) {
	p.theta, p.next, p.index = theta, next, index
	copy(p.step, step)
	n := len(index)
	if p.cache != nil {
		n = p.set.Len()
		p.refresh(theta)
		copy(p.cache.next, next)
	}
	for i := range p.workers {
		p.workers[i].total = totals{}
	}
	p.pool.run((n+blockRows-1)/blockRows, p.do)
	for i := range p.workers {
		w := &p.workers[i].total
		t.sum, t.coarse, t.squares = t.sum+w.sum, t.coarse+w.coarse, t.squares+w.squares
	}
	p.theta, p.next, p.index = nil, nil, nil
	return t
}

// refresh makes the cache hold the losses at theta.
func (p *pass) refresh(theta []float64) {
	if p.cache.holds(theta) {
		return
	}
	p.fill = true
	p.pool.run((p.set.Len()+blockRows-1)/blockRows, p.do)
	p.fill = false
	copy(p.cache.theta, theta)
}

// block evaluates one block of records on one worker's buffers.
func (p *pass) block(id, b int) {
	w := &p.workers[id]
	lo := b * blockRows
	if p.cache != nil {
		hi := min(lo+blockRows, p.set.Len())
		rows := p.rows(p.set.Block(w.x, w.y, lo, hi))
		if p.fill {
			w.door.ask(lossOf, p.cache.current[lo:hi], p.theta, nil, rows)
			return
		}
		next := p.cache.proposed[lo:hi]
		w.door.ask(lossOf, next, p.next, nil, rows)
		p.accumulate(w, rows, p.cache.current[lo:hi], next)
		return
	}
	hi := min(lo+blockRows, len(p.index))
	rows, loss, next := p.gathered(w, p.index[lo:hi])
	if p.take != nil {
		p.take(w, lo, rows, loss, next)
		return
	}
	p.accumulate(w, rows, loss, next)
}

// gathered evaluates a block of records, in a worker's buffers.
func (p *pass) gathered(w *worker, index []int32) (rows targets.Rows, loss, next []float64) {
	rows = p.rows(p.set.Gather(w.x, w.y, index))
	loss, next = w.loss[:len(index)], w.lossNext[:len(index)]
	if p.ratios {
		w.door.ask(ratioOf, loss, p.theta, p.next, rows)
		clear(next)
	} else {
		w.door.ask(lossOf, loss, p.theta, nil, rows)
		w.door.ask(lossOf, next, p.next, nil, rows)
	}
	return rows, loss, next
}

func (p *pass) rows(x, y []float64) targets.Rows {
	return targets.Rows{X: x, P: p.set.Features(), Y: y}
}

// accumulate adds the clipped, rounded contributions τ(loss − lossNext).
func (p *pass) accumulate(w *worker, rows targets.Rows, loss, lossNext []float64) {
	total, top := w.total, p.grid.top
	if math.IsInf(p.slope, 1) {
		for i, l := range loss {
			total.add(p.grid.round(p.tau*(l-lossNext[i]), top))
		}
	} else {
		along := w.along[:len(loss)]
		vec.MulVec(along, rows.X, p.step)
		for i, l := range loss {
			// A row that is not finite was zeroed at sealing, so along is finite.
			bound := p.slope * math.Abs(along[i]) * p.grid.inverse
			if !(bound < top) {
				bound = top
			}
			total.add(p.grid.round(p.tau*(l-lossNext[i]), bound))
		}
	}
	w.total = total
}
