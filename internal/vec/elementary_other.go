//go:build !amd64

package vec

// Proof: docs/proofs/elementary.md.

func expNegAbs4(dst, x *float64, n int, table *exp2Entry) int { return 0 }

func expm1All4(dst, x *float64, n int, table *exp2Entry) int { return 0 }

func softplus4(dst, x *float64, n int, table *tailEntry) int { return 0 }

func softplus8(dst, x *float64, n int, table *tailEntry) int { return 0 }

func addLog1p4(dst, x, u *float64, n int, table *log1pEntry) {}

func against4(dst, eta, y *float64, n int) {}
