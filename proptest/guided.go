package proptest

import "math"

// guided are sorted numbers among which places are found quickly.
type guided struct {
	sorted []float64
	steps  []uint16 // how many of them lie below each of some even steps
	pace   float64  // steps for a unit
}

// guide takes at most 65 535 sorted numbers.
func guide(sorted []float64) guided {
	g := guided{sorted: sorted}
	n := len(sorted)
	if n < 2 || math.IsInf(sorted[0], 0) || !finite(sorted[n-1]-sorted[0]) || sorted[n-1] == sorted[0] {
		return g
	}
	size := max(n, 256)
	g.pace = float64(size) / (sorted[n-1] - sorted[0])
	if !finite(g.pace) {
		return g
	}
	g.steps = make([]uint16, size+1)
	for k, i := 0, 0; k <= size; k++ {
		for i < n && g.step(sorted[i]) < float64(k) {
			i++
		}
		g.steps[k] = uint16(i)
	}
	return g
}

func (g *guided) step(v float64) float64 { return (v - g.sorted[0]) * g.pace }

// below is how many of the numbers lie below v.
func (g *guided) below(v float64) int {
	i, n := 0, len(g.sorted)
	if len(g.steps) > 0 {
		if k := g.step(v); k >= 0 && k < float64(len(g.steps)-1) {
			i, n = int(g.steps[int(k)]), int(g.steps[int(k)+1])
		}
	}
	for i < n {
		if m := int(uint(i+n) >> 1); g.sorted[m] < v {
			i = m + 1
		} else {
			n = m
		}
	}
	return i
}
