package accountant

import (
	"cmp"
	"math"
	"slices"
)

// bestOrder minimises an objective over real orders. The objective at an order
// is never below free(order), which falls with the order, nor below
// floor(cost, order), which rises with it, so orders that cannot win are
// not evaluated. Grid first, then Brent's method around each local minimum;
// whichever order is found, the bound at it is valid.
func bestOrder(e Event, objective func(order, rdp float64) float64, free, rise func(order, rdp float64) float64) (order,
	value, rdp float64) {
	s := orderSearch{e: e, objective: objective, value: math.Inf(1)}
	const start, lowest, highest = 4, -14, 60
	var grid orderGrid
	for k := start; k <= highest; k++ {
		r := grid.add(&s, float64(k))
		if math.IsInf(r, 1) || rise(1+math.Ldexp(1, k), r) > s.value {
			break
		}
	}
	for k := start - 1; k >= lowest && free(1+math.Ldexp(1, k), 0) <= s.value; k-- {
		grid.add(&s, float64(k))
	}
	last := e.fallsUntil() // narrow minima may be anywhere up to it, also far from a wider one
	for x, k := 0.125, 1; 1+math.Exp2(x) < last; x, k = x+0.125, k+1 {
		if k%8 != 0 {
			grid.add(&s, x)
		}
	}
	grid.refine(&s)
	if last > 0 { // from it on, the curve is another
		s.at(math.Nextafter(last, 1))
	}
	if s.order < 1e6 && s.order > 1.5 { // curves with kinks have them at integers
		f := math.Floor(s.order)
		s.at(max(2, f))
		s.at(f + 1)
	}
	return s.order, s.value, s.cost
}

// orderGrid are the orders 1 + 2^x that were tried before any was refined.
type orderGrid []triedOrder

type triedOrder struct{ x, value float64 }

func (g *orderGrid) add(s *orderSearch, x float64) (rdp float64) {
	value, rdp := s.at(1 + math.Exp2(x))
	*g = append(*g, triedOrder{x, value})
	return rdp
}

// refine searches around each local minimum that is not far above the best.
func (g orderGrid) refine(s *orderSearch) {
	slices.SortFunc(g, func(a, b triedOrder) int { return cmp.Compare(a.x, b.x) })
	bar := s.value + 0.5*math.Abs(s.value)
	for i, m := range g {
		left, right := m.x-1, m.x+1
		if i > 0 {
			left = g[i-1].x
		}
		if i+1 < len(g) {
			right = g[i+1].x
		}
		if math.IsInf(m.value, 1) || m.value > bar || i > 0 && g[i-1].value < m.value ||
			i+1 < len(g) && g[i+1].value <= m.value {
			continue
		}
		s.refine(left, m.x, right, m.value)
	}
}

// orderSearch keeps the best order seen.
type orderSearch struct {
	e                  Event
	objective          func(order, rdp float64) float64
	order, value, cost float64
}

func (s *orderSearch) at(order float64) (value, rdp float64) {
	rdp = s.e.RDP(order)
	value = s.objective(order, rdp)
	if value < s.value || s.order == 0 {
		s.order, s.value, s.cost = order, value, rdp
	}
	return value, rdp
}

// refine runs Brent's minimiser on x ↦ objective(1 + 2^x) from a bracket
// a < m < b whose middle has value fm.
func (s *orderSearch) refine(a, m, b, fm float64) {
	const golden, tolerance = 0.3819660112501051, 1e-5
	x, w, v := m, m, m
	fx, fw, fv := fm, fm, fm
	var d, step float64
	for range 60 {
		mid := (a + b) / 2
		if math.Abs(x-mid) <= 2*tolerance-(b-a)/2 {
			return
		}
		useGolden := true
		if math.Abs(step) > tolerance {
			r, q := (x-w)*(fx-fv), (x-v)*(fx-fw)
			p := (x-v)*q - (x-w)*r
			q = 2 * (q - r)
			if q > 0 {
				p = -p
			}
			q = math.Abs(q)
			if math.Abs(p) < math.Abs(q*step/2) && p > q*(a-x) && p < q*(b-x) {
				step, d = d, p/q
				useGolden = false
				if u := x + d; u-a < 2*tolerance || b-u < 2*tolerance {
					d = math.Copysign(tolerance, mid-x)
				}
			}
		}
		if useGolden {
			step = b - x
			if x >= mid {
				step = a - x
			}
			d = golden * step
		}
		u := x + d
		if math.Abs(d) < tolerance {
			u = x + math.Copysign(tolerance, d)
		}
		fu, _ := s.at(1 + math.Exp2(u))
		switch {
		case fu <= fx:
			if u >= x {
				a = x
			} else {
				b = x
			}
			v, fv, w, fw, x, fx = w, fw, x, fx, u, fu
		default:
			if u < x {
				a = u
			} else {
				b = u
			}
			if fu <= fw || w == x {
				v, fv, w, fw = w, fw, u, fu
			} else if fu <= fv || v == x || v == w {
				v, fv = u, fu
			}
		}
	}
}
