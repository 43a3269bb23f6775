//go:build !amd64

package room

// Proof: docs/proofs/curator.md.

func clip4(parts *[3][4]float64, loss, next, along *float64, n int, c *clipping) {}
