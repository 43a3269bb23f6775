package proptest

import (
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"
)

// checkGrid expects values that are on the grid, use all of it, and repeat no
// more than chance.
func checkGrid(t rapid.TB, m Additive, e *evidence, v []float64, j int, gaussian bool, o MechanismOptions) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(v))
	n := float64(len(v))
	spread := sorted[len(v)*5/6] - sorted[len(v)/6]
	spacing := m.Step()
	if spacing == 0 {
		spacing = spread * 0x1p-30 // what grids that are not stated, and normals in float64, may come down to
	}
	pairs, run := 0.0, 0.0
	var most float64
	longest := 0.0
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			run++
			pairs += run
			if run > longest {
				longest, most = run, sorted[i]
			}
		} else {
			run = 0
		}
	}
	if chance := n * n * spacing / (2 * max(spread, spacing)); spread > 1e4*spacing && pairs > 20+3*chance {
		failf(t, "coordinate %d of %d releases repeats values: %.0f pairs are equal where chance gives %.2g; %v comes %.0f "+
			"times (Seed %d)%s", j, len(v), pairs, chance, most, longest+1, o.Seed, o.test())
		return
	}
	if m.Step() == 0 {
		return
	}
	index := make([]int64, len(v)) // counted from the first release, which leaves the others as even as they were
	for i, x := range v {
		steps := (x - v[0]) / m.Step()
		if math.Abs(steps-math.Round(steps)) > 1e-3 {
			failf(t, "the releases %v and %v differ by %v grid steps, not a whole number (Seed %d)", x, v[0], steps, o.Seed)
			return
		}
		index[i] = int64(math.Round(steps))
	}
	short := spread / m.Step() / 2000 // any smooth law is even over so short periods
	if gaussian {
		short = spread / m.Step() / 4 // to 10⁻¹⁵
	}
	for period := int64(2); float64(period) <= min(short, 1<<40); period *= 2 {
		even(e, index[1:], period, j)
	}
}

// even expects indices on a grid to fall into either half of a period alike,
// wherever the halves begin: each bit is fair, and so is each carry.
func even(e *evidence, index []int64, period int64, coordinate int) {
	cells := min(8, period)
	counts := make([]int, cells)
	for _, k := range index {
		counts[(k&(period-1))/(period/cells)]++
	}
	for from := range cells / 2 {
		in := 0
		for _, k := range counts[from : from+cells/2] {
			in += k
		}
		e.see(fair(in, len(index)-in), func() string {
			return fmt.Sprintf("%d of %d grid indices of coordinate %d, counted from the first release, lie in one half of a "+
				"period of %d", in, len(index), coordinate, period)
		})
	}
}
