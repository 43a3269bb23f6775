package proptest

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/targets"
)

// checkBreakpoints looks for places where the loss breaks along one coordinate of
// the parameters or of the record, by its second differences, narrows them by
// bisection, and holds the laws of scenes, and the certificates of moves, on
// either side of them and across.
func checkBreakpoints(t rapid.TB, target targets.Target, o TargetOptions) {
	t.Helper()
	g := o.stage(target, 24)
	e := newEvaluator(g)
	for range o.Effort.times(40, 4) {
		s := g.plain()
		for j := range g.d + g.p {
			unit := slices.Concat(g.unit, g.unitX)[j]
			at := func(v float64) scene {
				c := s.clone()
				c.set(j, g.d, v*unit)
				return c
			}
			moving := s.clone()
			loss := func(v float64) float64 {
				moving.set(j, g.d, v*unit)
				return e.loss(moving.theta, moving.z)
			}
			for _, b := range breaks(loss) {
				if j < g.d && math.Abs(b) > 100 {
					continue // as certificates, whose differences would be mere roundings
				}
				for _, off := range []float64{-1e-3, -1e-6, -1e-9, 1e-9, 1e-6, 1e-3} {
					c := at(b * (1 + off))
					c.usual, c.plausible = false, false
					if j < g.d {
						copy(c.next, c.theta)
						c.next[j] = b * (1 - off) * unit
					}
					e.hold(t, c)
				}
			}
		}
	}
}

// set changes coordinate j of the parameters and then of the record.
func (s *scene) set(j, d int, v float64) {
	if j < d {
		s.theta[j] = v
		return
	}
	s.z.X[j-d] = v
}

// breaks finds where a function breaks: cells of a grid, fine near 0 and coarse
// far away, whose second difference stands out from those on both sides. Each is
// halved towards the half that stands out more.
func breaks(f func(v float64) float64) (found []float64) {
	const n = 161
	var at, v [n]float64
	for i := range n {
		at[i] = math.Sinh(12 * (2*float64(i)/(n-1) - 1) * 0.75)
		v[i] = f(at[i])
	}
	bend := func(i int) float64 { // of the slopes, so that spacing does not matter
		if i < 1 || i > n-2 {
			return 0
		}
		return math.Abs((v[i+1]-v[i])/(at[i+1]-at[i]) - (v[i]-v[i-1])/(at[i]-at[i-1]))
	}
	for i := 2; i < n-3; i++ {
		if !finite(v[i]) || !finite(v[i+1]) {
			if finite(v[i]) != finite(v[i+1]) {
				found = append(found, halve(f, at[i], at[i+1]))
			}
			continue
		}
		if b := bend(i) + bend(i+1); b > 3*(bend(i-1)+bend(i+2))+1e-9*(1+math.Abs(v[i])) {
			found = append(found, halve(f, at[i], at[i+1]))
		}
	}
	return found[:min(len(found), 6)]
}

// halve narrows a break between a and b.
func halve(f func(v float64) float64, a, b float64) float64 {
	for range 50 {
		m := (a + b) / 2
		if m == a || m == b {
			break
		}
		fa, fm, fb := f(a), f(m), f(b)
		q1, q3 := f((a+m)/2), f((m+b)/2)
		left, right := math.Abs(fa-2*q1+fm), math.Abs(fm-2*q3+fb)
		if !finite(left) || left > right && finite(right) {
			b = m
		} else {
			a = m
		}
	}
	return (a + b) / 2
}
