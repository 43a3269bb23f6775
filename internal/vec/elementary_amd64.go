package vec

// Proof: docs/proofs/elementary.md.

// expNegAbs4 and expm1All4 set the first elements of dst, in fours, and return how
// many: n rounded down, or those before a four that holds an exponent beyond
// [expMin, expMax].
//
//go:noescape
func expNegAbs4(dst, x *float64, n int, table *exp2Entry) int

//go:noescape
func expm1All4(dst, x *float64, n int, table *exp2Entry) int

// softplus4 is the same for Softplus, up to a four with a number beyond ±tailMax.
//
//go:noescape
func softplus4(dst, x *float64, n int, table *tailEntry) int

// softplus8 is the same for eights.
//
//go:noescape
func softplus8(dst, x *float64, n int, table *tailEntry) int

// addLog1p4 sets dst[i] = max(x[i], 0) + log(1 + u[i]) for n elements, rounded down
// to fours.
//
//go:noescape
func addLog1p4(dst, x, u *float64, n int, table *log1pEntry)

// against4 is Against for n elements, rounded down to fours.
//
//go:noescape
func against4(dst, eta, y *float64, n int)
