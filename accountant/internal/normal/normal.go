// Package normal holds the tails of the standard normal law in the forms that
// privacy profiles need: accurate far out, where differences of plain tails
// cancel or underflow.
package normal

// Proof: docs/proofs/accountant-curves.md.

import "math"

// Density is φ(x).
func Density(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }

// Tail is P(Z > x).
func Tail(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }

// Mills is the Mills ratio m(y) = Tail(y)/Density(y).
func Mills(y float64) float64 {
	const root = 5 * math.Sqrt2
	if y < root {
		return math.Sqrt(math.Pi/2) * math.Exp(y*y/2) * math.Erfc(y/math.Sqrt2)
	}
	// Laplace's continued fraction 1/(y + 1/(y + 2/(y + 3/(y + …)))).
	t := y
	for k := 40.0; k >= 1; k-- {
		t = y + k/t
	}
	return 1 / t
}

// MillsFall is −m′(y) = 1 − y·m(y).
func MillsFall(y float64) float64 {
	if y < 30 {
		return 1 - y*Mills(y)
	}
	z := 1 / (y * y)
	return z * (1 - z*(3-z*(15-z*(105-z*945))))
}
