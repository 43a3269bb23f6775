package accountant

// Proof: docs/proofs/accountant-curves.md.

import "sync"

// memo remembers a curve's values. It is shared by all events that contain
// the same part and never grows beyond memoLimit orders.
type memo struct {
	mu     sync.Mutex
	values map[float64]float64
}

const memoLimit = 1024

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

// recalled are the memories of mechanisms that were stated of late. A curve is a function of
// its name, so that what is stated again, as by every chain of one configuration, need not be
// computed again.
var recalled = struct {
	mu   sync.Mutex
	kept map[string]memory
}{kept: make(map[string]memory)}

const recallLimit = 512

// recall returns the memory of one mechanism under one adjacency, which together are its name.
func recall(name string) memory {
	recalled.mu.Lock()
	defer recalled.mu.Unlock()
	if kept, ok := recalled.kept[name]; ok {
		return kept
	}
	if len(recalled.kept) >= recallLimit {
		clear(recalled.kept)
	}
	fresh := &memo{values: make(map[float64]float64)}
	recalled.kept[name] = fresh
	return fresh
}
