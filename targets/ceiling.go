package targets

import "math"

// ceiling returns an upper bound of a function on [lo, hi] that exceeds its
// maximum by a share of slack at most. over bounds the function from above on an
// interval, and is the function itself on a point; it must be at least 0.
// Intervals are halved until over says that the rest lies below (1 + slack)
// times a value that was found, so the result rests on over alone and not on
// where the function was looked at.
func ceiling(slack, lo, hi float64, over func(lo, hi float64) float64) float64 {
	return ceiling2(slack, [2]float64{lo, hi}, [2]float64{}, func(x, _ [2]float64) float64 { return over(x[0], x[1]) })
}

// box is a part of the plane with an upper bound of a function on it.
type box struct {
	x, y  [2]float64
	bound float64
}

// ceiling2 is ceiling over a box. It is halved across x or y, whichever lowers
// the bounds more.
func ceiling2(slack float64, x, y [2]float64, over func(x, y [2]float64) float64) float64 {
	limit := 0.0
	for open := []box{{x, y, over(x, y)}}; len(open) > 0; {
		b := open[0]
		open = open[1:]
		if b.bound <= limit {
			continue
		}
		centre := over(point(middle(b.x)), point(middle(b.y)))
		if limit = max(limit, centre*(1+slack)); b.bound <= limit {
			continue
		}
		first, second, ok := b.halve(over)
		if !ok {
			limit = b.bound // as fine as numbers are
			continue
		}
		open = append(open, first, second)
	}
	return up(limit)
}

// halve cuts the box across the side that lowers the bounds more; it fails when
// no side has a number inside.
func (b box) halve(over func(x, y [2]float64) float64) (first, second box, ok bool) {
	best := math.Inf(1)
	if m := middle(b.x); b.x[0] < m && m < b.x[1] {
		first.x, second.x = [2]float64{b.x[0], m}, [2]float64{m, b.x[1]}
		first.y, second.y = b.y, b.y
		first.bound, second.bound, ok = over(first.x, b.y), over(second.x, b.y), true
		best = first.bound + second.bound
	}
	if m := middle(b.y); b.y[0] < m && m < b.y[1] {
		low, high := [2]float64{b.y[0], m}, [2]float64{m, b.y[1]}
		u, v := over(b.x, low), over(b.x, high)
		if !ok || u+v < best {
			first, second, ok = box{b.x, low, u}, box{b.x, high, v}, true
		}
	}
	return first, second, ok
}

func middle(s [2]float64) float64 { return s[0] + (s[1]-s[0])/2 }

func point(v float64) [2]float64 { return [2]float64{v, v} }
