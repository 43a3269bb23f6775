package surrogates

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestSmoothedTable: between the entries of the table, and beyond it, the smoothed function and its
// first derivatives are those of an integral.
func TestSmoothedTable(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		sd := rapid.OneOf(rapid.Float64Range(0, 2.5), rapid.Float64Range(2, 33)).Draw(r, "sd")
		mean := (1 + sd/3) * rapid.Float64Range(-25, 25).Draw(r, "mean")
		by := smoothingBy(sd)
		got, want := by.at(mean), smoothedAt(mean, sd)
		for n, most := range [6]float64{1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 1e-4} {
			if off := math.Abs(got[n] - want[n]); off > most {
				r.Errorf("derivative %d is %v, not %v", n, got[n], want[n])
			}
		}
	})
}

// TestSmoothedSlopes: sums of halved slopes over the predictor are those of the link's own slopes, which
// the trapezoid rule sums over nodes.
func TestSmoothedSlopes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		own, eta := rapid.Float64Range(0, 3).Draw(r, "own"), rapid.Float64Range(-20, 20).Draw(r, "eta")
		s := newSlopes(halved{}, rapid.Float64Range(-3, 3).Draw(r, "mean"), rapid.Float64Range(0, 3).Draw(r, "sd"), true)
		i := rapid.IntRange(0, len(s.at)-1).Draw(r, "node")
		by, n := smoothingBy(own), nodesFor(max(1, 3*own))
		got := s.smoothed(i, eta, &by)
		var want [4][4]float64
		for k, w := range n.weights {
			u := n.at(k)
			w /= n.total
			m, v, dm, dv := s.link.Slope(s.at[i], eta+own*u)
			for q := range 4 {
				for f, x := range [4]float64{m, v, dm, dv} {
					want[f][q] += w * x
				}
				w *= u
			}
		}
		for f := range want {
			for q, v := range want[f] {
				if math.Abs(got[f][q]-v) > 2e-5 {
					r.Errorf("function %d times u^%d is %v, not %v", f, q, got[f][q], v)
				}
			}
		}
	})
}
