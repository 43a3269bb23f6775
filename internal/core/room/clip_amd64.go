package room

// Proof: docs/proofs/curator.md.

// clip4 sets parts to the totals of n records, rounded down to fours, each in four parts.
//
//go:noescape
func clip4(parts *[3][4]float64, loss, next, along *float64, n int, c *clipping)
