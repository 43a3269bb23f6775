package targets

// Proof: docs/proofs/targets-certificates.md.

import "math"

// ceiling returns an upper bound of a function on [lo, hi] that exceeds its
// maximum by a share of slack at most, unless the search ends first. over bounds
// the function from above on an interval, and is the function itself on a point;
// it must be at least 0. Intervals are halved until over says that the rest lies
// below (1 + slack) times a value that was found, so the result rests on over
// alone and not on where the function was looked at.
//
// The search takes at most maxBoxes halvings. The greatest bound of what is then
// left is an upper bound too, though a looser one. Where over is no number, the
// answer is +Inf.
func ceiling(slack, lo, hi float64, over func(lo, hi float64) float64) float64 {
	return ceiling2(slack, [2]float64{lo, hi}, [2]float64{}, func(x, _ [2]float64) float64 { return over(x[0], x[1]) })
}

// maxBoxes is the most halvings of one search. At ordinary settings most take a
// few thousand, and the longest, of the mixture, 40,060.
const maxBoxes = 1 << 16

// maxAhead is how many times more often one side of a box may be halved than the
// other. Without it a search may halve for ever a side that does not matter.
const maxAhead = 6

// box is a part of the plane with an upper bound of a function on it.
type box struct {
	x, y  [2]float64
	bound float64
	ahead int // how many more times it was halved across x than across y
}

// ceiling2 is ceiling over a box. The box of greatest bound comes first, and is
// halved across x or y, whichever lowers the bounds more.
func ceiling2(slack float64, x, y [2]float64, over func(x, y [2]float64) float64) float64 {
	sure := func(x, y [2]float64) float64 {
		if v := over(x, y); v >= 0 {
			return v
		}
		return math.Inf(1) // NaN bounds nothing
	}
	limit := 0.0
	open := boxes{{x: x, y: y, bound: sure(x, y)}}
	for range maxBoxes {
		b := open[0]
		if centre := sure(point(middle(b.x)), point(middle(b.y))); centre > limit/(1+slack) {
			limit = centre * (1 + slack)
		}
		if b.bound <= limit {
			return up(limit)
		}
		first, second, ok := b.halve(sure)
		if !ok {
			return up(b.bound) // as fine as numbers are
		}
		open.replace(first)
		open.push(second)
	}
	return up(max(limit, open[0].bound))
}

// halve cuts the box across the side that lowers the bounds more; it fails when
// no side has a number inside.
func (b box) halve(over func(x, y [2]float64) float64) (first, second box, ok bool) {
	best := math.Inf(1)
	inX, inY := inside(b.x), inside(b.y)
	if m := middle(b.x); inX && (b.ahead < maxAhead || !inY) {
		low, high := [2]float64{b.x[0], m}, [2]float64{m, b.x[1]}
		first, second = box{low, b.y, over(low, b.y), b.ahead + 1}, box{high, b.y, over(high, b.y), b.ahead + 1}
		best, ok = first.bound+second.bound, true
	}
	if m := middle(b.y); inY && (b.ahead > -maxAhead || !inX) {
		low, high := [2]float64{b.y[0], m}, [2]float64{m, b.y[1]}
		u, v := over(b.x, low), over(b.x, high)
		if !ok || u+v < best {
			first, second, ok = box{b.x, low, u, b.ahead - 1}, box{b.x, high, v, b.ahead - 1}, true
		}
	}
	return first, second, ok
}

// inside reports whether there is a number between the ends, their middle.
func inside(s [2]float64) bool { m := middle(s); return s[0] < m && m < s[1] }

func middle(s [2]float64) float64 { return s[0] + (s[1]-s[0])/2 }

func point(v float64) [2]float64 { return [2]float64{v, v} }

// boxes is a heap with the greatest bound first.
type boxes []box

// replace puts b in place of the first box.
func (h boxes) replace(b box) {
	at := 0
	for {
		next := 2*at + 1
		if next >= len(h) {
			break
		}
		if next+1 < len(h) && h[next+1].bound > h[next].bound {
			next++
		}
		if b.bound >= h[next].bound {
			break
		}
		h[at], at = h[next], next
	}
	h[at] = b
}

// push adds b.
func (h *boxes) push(b box) {
	*h = append(*h, b)
	s := *h
	at := len(s) - 1
	for at > 0 && s[(at-1)/2].bound < b.bound {
		s[at], at = s[(at-1)/2], (at-1)/2
	}
	s[at] = b
}
