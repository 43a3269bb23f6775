package room

// Proof: docs/proofs/curator.md.

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// BlockRows is the number of records evaluated at a time: small enough for the
// buffers of a block to stay in the first-level cache.
const BlockRows = 512

// streamRows is how many of them a pass over all records evaluates at a time: so few that
// rows to come arrive from memory meanwhile.
const streamRows = BlockRows / 4

// ParallelRows is the number of records from which a pass is worth sharing.
const ParallelRows = 16 * BlockRows

// pool runs the blocks of a pass on several processors. Its goroutines are
// started once, so that a pass allocates nothing.
//
// A target may end the goroutine that evaluates it (runtime.Goexit, as FailNow of
// package testing does), which nothing can prevent or undo. So a user's target is
// evaluated on the pool's goroutines alone, never on a chain's: one that ends is
// replaced, and evaluates the same block again, warily.
type pool struct {
	workers int
	wake    []chan struct{}         // of the goroutines, the last of the workers
	at      []int                   // the block that a worker is at
	do      func(worker, block int) // set during a pass only, so that an idle pool keeps nothing alive
	blocks  int64
	next    atomic.Int64
	done    sync.WaitGroup
	wary    atomic.Bool // a goroutine has ended: evaluate on ones of their own
}

// newPool returns a pool for passes of a target over up to n records; ours are known
// to return, or panic, on every record. stop ends its goroutines.
func newPool(ours bool, n int) *pool {
	p := &pool{workers: 1}
	if n >= ParallelRows {
		p.workers = runtime.GOMAXPROCS(0)
	}
	p.at = make([]int, p.workers)
	first := 1
	if !ours {
		first = 0
	}
	for w := first; w < p.workers; w++ {
		wake := make(chan struct{})
		p.wake = append(p.wake, wake)
		go p.serve(w, wake)
	}
	return p
}

// serve is a worker's goroutine.
func (p *pool) serve(worker int, wake chan struct{}) {
	ended := true
	defer func() {
		if ended { // amid a block
			p.wary.Store(true)
			go p.resume(worker, wake)
		}
	}()
	for range wake {
		p.drain(worker)
		p.done.Done()
	}
	ended = false
}

// resume takes over from a goroutine that ended.
func (p *pool) resume(worker int, wake chan struct{}) {
	p.do(worker, p.at[worker])
	p.drain(worker)
	p.done.Done()
	p.serve(worker, wake)
}

// run calls do for blocks 0 to blocks-1 and returns when all are done.
func (p *pool) run(blocks int, do func(worker, block int)) {
	p.do, p.blocks = do, int64(blocks)
	defer func() { p.do = nil }()
	p.next.Store(0)
	helpers := p.wake
	if blocks*BlockRows < ParallelRows {
		helpers = p.wake[:len(p.wake)+1-p.workers]
	}
	p.done.Add(len(helpers))
	for _, w := range helpers {
		w <- struct{}{}
	}
	if len(p.wake) < p.workers {
		p.drain(0)
	}
	p.done.Wait()
}

func (p *pool) drain(worker int) {
	for {
		b := p.next.Add(1) - 1
		if b >= p.blocks {
			return
		}
		p.at[worker] = int(b)
		p.do(worker, int(b))
	}
}

// alone evaluates on a goroutine of its own, for a wary pool, and reports whether
// that returned.
func alone(evaluate func()) bool {
	result := make(chan bool, 1)
	go func() {
		returned := false
		defer func() {
			panicked := recover() != nil
			result <- returned && !panicked
		}()
		evaluate()
		returned = true
	}()
	return <-result
}

func (p *pool) stop() {
	for _, w := range p.wake {
		close(w)
	}
}
