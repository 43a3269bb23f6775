package vec

// Proof: docs/proofs/targets-certificates.md.

import "math"

// StudentLog returns −½(ν+1)·log(1 + z²/ν): the log density at z of a standard
// Student-t variable with nu degrees of freedom, less that at 0.
func StudentLog(nu, z float64) float64 {
	w := z / math.Sqrt(nu)
	if math.Abs(w) > 1e8 {
		return -(nu + 1) * math.Log(math.Abs(w)) // w² could overflow
	}
	return -(nu + 1) / 2 * math.Log1p(w*w)
}

// StudentScore returns minus the derivative of StudentLog in z.
func StudentScore(nu, z float64) float64 {
	if math.Abs(z) > 1e8*math.Sqrt(nu) {
		return (nu + 1) / z
	}
	return (nu + 1) * z / (nu + z*z)
}
