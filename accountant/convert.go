package accountant

// Proof: docs/proofs/accountant-curves.md.

import "math"

// Conversions from a Rényi curve to (ε, δ): Canonne, Kamath, Steinke 2020,
// Prop. 12 (theory §3.2), and the total-variation bound √(1 − e^{−KL}) of
// Bretagnolle and Huber, which is better when δ is large.

// conversionCost is what the conversion adds to ε(α) at a given log δ.
func conversionCost(order, logDelta float64) float64 {
	if math.IsInf(order, 1) {
		return 0
	}
	return math.Log1p(-1/order) - (logDelta+math.Log(order))/(order-1)
}

// epsilonAt converts a cost at one order.
func epsilonAt(order, rdp, logDelta float64) float64 {
	return max(0, epsilonValue(order, rdp, logDelta))
}

// epsilonValue is epsilonAt without the clamp at 0, so that its minimum has a
// slope to follow; zero stays exact.
func epsilonValue(order, rdp, logDelta float64) float64 {
	value := rdp + conversionCost(order, logDelta)
	if flat(rdp, logDelta) {
		return min(0, value)
	}
	return value
}

// flat reports whether δ² is at least 1 − e^−rdp, which is at least rdp/(1 + rdp).
func flat(rdp, logDelta float64) bool {
	square := math.Exp(2 * logDelta)
	return rdp == 0 || square*(1+rdp) >= rdp && 2*logDelta >= math.Log(-math.Expm1(-rdp))
}
