package accountant

// Proof: docs/proofs/accountant-curves.md.

import "sync"

// memo remembers a curve's values. It is shared by all events that contain
// the same part and never grows beyond memoLimit orders.
type memo struct {
	mu     sync.Mutex
	values map[float64]float64
}

const memoLimit = 4096

func newMemo() memory { return &memo{values: make(map[float64]float64)} }

func (c *memo) get(order float64, compute func() float64) float64 {
	c.mu.Lock()
	v, ok := c.values[order]
	c.mu.Unlock()
	if ok {
		return v
	}
	v = compute()
	c.mu.Lock()
	if len(c.values) >= memoLimit {
		clear(c.values)
	}
	c.values[order] = v
	c.mu.Unlock()
	return v
}
