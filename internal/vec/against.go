package vec

// Proof: docs/proofs/elementary.md.

import (
	"math"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
)

// Against sets dst[i] to −v[i] for a response y[i] that counts as 1, to v[i] for one that
// counts as 0, and to NaN for one that is not finite: from log-odds of a 1, those against
// the response. dst may be v.
func Against(dst, v, y []float64) {
	dst, y = dst[:len(v)], y[:len(v)]
	at := 0
	if dense.Wide && len(v) >= 4 {
		at = len(v) &^ 3
		against4(&dst[0], &v[0], &y[0], at)
	}
	for ; at < len(v); at++ {
		dst[at] = against(v[at], y[at])
	}
}

// against is Against for one number. Labels are as good as random, so there is no branch
// to predict wrongly: the sign bit of y − ½ flips that of v.
func against(v, y float64) float64 {
	const signBit = 1 << 63
	flip := math.Float64bits(y-0.5) & signBit
	return -(math.Float64frombits(math.Float64bits(v)^flip) + (y - y))
}
