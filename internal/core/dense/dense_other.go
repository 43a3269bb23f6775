//go:build !amd64

package dense

// Proof: docs/proofs/curator.md.

// Wide says that loops work on four numbers at a time. They do not on this machine.
const Wide = false

// Wider says that they work on eight.
const Wider = false

func mulVec4(dst, x, v *float64, n, d int) {}

func mulVecs4(dst, other, x, v, w *float64, n, d int) {}

func gather4(dst, x, y *float64, d int, index *int32, n, rows int) int { return 0 }
