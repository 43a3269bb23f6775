package accountant

// Proof: docs/proofs/accountant-curves.md.

import "math"

// slack covers the rounding of closed-form curves and of the sums of small
// compositions: every reported cost is multiplied by 1 + slack.
const slack = 1e-13

// RDP bounds the Rényi divergence of the given order > 1 between the outputs
// on any two adjacent data sets, in both directions, rounded up. It is +Inf
// where no finite bound is known, in particular for the zero Event, for NaN
// and for orders ≤ 1. Order +Inf gives the pure-DP cost. A part of the event
// that may fail outright (Approximate) is left out here and accounted in
// Epsilon and Delta.
func (e Event) RDP(order float64) float64 {
	if e.adj == 0 || !(order > 1) {
		return math.Inf(1)
	}
	total := 0.0
	for i := range e.parts {
		total += float64(e.parts[i].count) * e.parts[i].rdp(e.adj, order)
	}
	if len(e.parts) >= manyParts {
		total *= 1 + 0x1p-52*float64(len(e.parts))
	}
	return total
}

// manyParts is the size from which the rounding of a composition's sum is charged
// beside slack.
const manyParts = 256

func (p *part) rdp(adj Adjacency, order float64) float64 {
	if p.memo == nil {
		return outward(p.m.rdp(adj, order))
	}
	return p.memo.get(order, func() float64 { return outward(p.m.rdp(adj, order)) })
}

// outward rounds a cost up and turns an undefined one into +Inf.
func outward(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	return max(0, x*(1+slack))
}
