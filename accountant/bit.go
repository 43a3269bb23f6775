package accountant

// Proof: docs/proofs/accountant-bits.md.

import "math"

// bitPair is the family of worst pairs of one sampled acceptance bit, indexed
// by x, the log-odds of A: Bernoulli(p) against Bernoulli(r) with
//
//	p = (1−q)A + qB,  logit B = x + c if up, else B = A;
//	r = (1−q)A + qB′, logit B′ = x − c if down, else B′ = A.
//
// The proofs are in docs/proofs/accountant-bits.md.
type bitPair struct {
	q, c     float64
	up, down bool
	odds     float64 // q(e^c − 1)
	k        float64 // q + (1−q)e^c
	tilt     float64 // bounds |d/dx log d|
	bend     float64 // bounds the second derivative of log(e^shift − 1)
}

func newBitPair(q, c float64, up, down bool) bitPair {
	k := q + (1-q)*math.Exp(c)
	return bitPair{q: q, c: c, up: up, down: down,
		odds: q * math.Expm1(c), k: k,
		tilt: math.Tanh(math.Log(k) / 4), bend: min(0.25, 0.0963*math.Log(k))}
}

// shift returns logit((1−q)A + qB) − x for logit A = x, logit B = x + c. It
// falls from log(1+q(e^c−1)) to −log(1−q+qe^{−c}) as x grows.
func (b *bitPair) shift(x float64) float64 {
	y := math.Exp(-math.Abs(x))
	if x > 0 {
		return math.Log1p(b.odds * (1 + y) / (y + b.k))
	}
	return math.Log1p(b.odds * (1 + y) / (1 + y*b.k))
}

// at returns u = logit r and d = logit p − logit r, d in its two parts: above
// falls with x and below grows with x, as does u.
func (b *bitPair) at(x float64) (u, above, below float64) {
	u = x
	if b.up {
		above = b.shift(x)
	}
	if b.down {
		below = b.shift(-x)
		u -= below
	}
	return u, above, below
}

// logMoment returns log M, M = Σ p^α r^{1−α} over the values of two bits with
// logit r = u and logit p = u + d, d ≥ 0.
func logMoment(order, u, d float64) float64 {
	r := logistic(u)
	e := math.Expm1(d)
	t0 := -e * r / (1 + e*r)      // (1−p)/(1−r) − 1
	t1 := e * (1 - r) / (1 + e*r) // p/r − 1
	l0 := math.Log1p(t0)
	l1 := d + l0
	if order*l1 > 700 {
		return softplus(math.Log(r) + order*l1)
	}
	return math.Log1p(r*powerExcess(order, t1, l1) + (1-r)*powerExcess(order, t0, l0))
}

// worstLogit returns the u at which bits d apart in log-odds diverge most.
func worstLogit(order, d float64) float64 {
	w := math.Expm1(d)
	var r float64
	if x := order * d; x > 600 {
		r = 1 / (w * (order - 1))
	} else {
		r = (expm1MinusX(x) - order*expm1MinusX(d)) / (w * math.Expm1(x) * (order - 1))
	}
	return math.Log(r) - math.Log1p(-r)
}

// bitTolerance is the proven relative gap between the reported supremum of
// the divergence and the largest value found.
const bitTolerance = 1e-8

// sag holds on every interval.
func (b *bitPair) sag(_, _, order, d float64) float64 {
	slope := 1 + order*b.tilt*d
	return 2*(b.bend+b.tilt*b.tilt) + slope*slope/2 + (1+order)*d*(b.tilt*b.tilt+b.bend)
}

// supremum returns an upper bound on log sup_x log M(x), within tolerance of
// it: branch and bound excludes anything larger than the best value found.
func (b bitPair) supremum(order, tolerance float64) float64 {
	return b.search(order, 0, tolerance).top.v + tolerance
}

// search is supremum from a starting point, with the place of the best value.
func (b bitPair) search(order, start, tolerance float64) bitSearch {
	return searchPairs(&b, order, start, tolerance)
}

// pairFamily is a one-parameter family of pairs of bits with logit r = u and
// logit p = u + above + below, where u and below grow with x and above falls.
type pairFamily interface {
	at(x float64) (u, above, below float64)
	// sag bounds the negative part of the second derivative of log log M between
	// lo and hi where d is at most the given one; +Inf when no bound is known.
	sag(lo, hi, order, d float64) float64
}

// searchPairs looks for the worst pair of a family, from a starting point.
func searchPairs(f pairFamily, order, start, tolerance float64) bitSearch {
	s := bitSearch{pair: f, order: order, resolution: math.Sqrt(tolerance)}
	s.climb(s.edge(start))
	for s.exclude(tolerance) {
		s.climb(s.top)
	}
	return s
}

// bitSearch looks for the worst x of one pair family at one order.
type bitSearch struct {
	pair  pairFamily
	order float64
	// resolution is how finely climb locates a maximum.
	resolution float64
	top        edge // the best point found
	evaluated  int  // points so far
}

// mostPoints ends a search whose values have no digits left to tell points
// apart, as when contributions are so small that their squares underflow. The
// searches of contributions that matter need some hundreds.
const mostPoints = 4096

// edge is a point x with u and d = above + below there and the value
// v = log log M.
type edge struct{ x, u, above, below, v float64 }

func (s *bitSearch) edge(x float64) edge {
	s.evaluated++
	u, above, below := s.pair.at(x)
	return edge{x, u, above, below, s.value(u, above+below)}
}

func (s *bitSearch) value(u, d float64) float64 {
	return math.Log(logMoment(s.order, u, d))
}

// climb moves top to a local maximum: a coarse walk, then parabolas.
func (s *bitSearch) climb(from edge) {
	const step = 0.5
	s.top = from
	for _, dir := range [2]float64{-step, step} {
		for {
			next := s.edge(s.top.x + dir)
			if !(next.v > s.top.v) || s.evaluated > mostPoints { // also where a value is not a number
				break
			}
			s.top = next
		}
	}
	for width := step; width > s.resolution; width /= 8 {
		s.vertex(width)
	}
}

// vertex moves top to the best of three points around it and of the vertex of
// the parabola through them, until top stays.
func (s *bitSearch) vertex(width float64) {
	for range 16 {
		mid := s.top
		lo, hi := s.edge(mid.x-width), s.edge(mid.x+width)
		for _, e := range [2]edge{lo, hi} {
			if e.v > s.top.v {
				s.top = e
			}
		}
		if s.top.x != mid.x {
			continue
		}
		if bend := lo.v - 2*mid.v + hi.v; bend < 0 {
			if e := s.edge(mid.x + width*(lo.v-hi.v)/(2*bend)); e.v > s.top.v {
				s.top = e
			}
		}
		return
	}
}

// covered proves that no value between two edges exceeds limit, by either of
// two bounds. First: the value's second derivative in x is at least −m, so it
// exceeds its chord by at most m·(width)²/8. Second: d is at most
// lo.above + hi.below, u is between the edges', and the value grows with d and
// is unimodal in u with its peak at worstLogit.
func (s *bitSearch) covered(lo, hi edge, limit float64) bool {
	d := lo.above + hi.below
	if w := hi.x - lo.x; !math.IsInf(w, 1) {
		if max(lo.v, hi.v)+s.pair.sag(lo.x, hi.x, s.order, d)*w*w/8 <= limit {
			return true
		}
	}
	u := max(lo.u, min(hi.u, worstLogit(s.order, d)))
	return s.value(u, d) <= limit
}

// exclude runs branch and bound over the whole line. It returns true after
// moving top to a point better by more than the tolerance, and false once no
// such point can exist.
func (s *bitSearch) exclude(tolerance float64) bool {
	var stack [256]edge
	depth, lo := 0, s.edge(math.Inf(-1))
	for _, x := range [4]float64{math.Inf(1), s.top.x + 2, s.top.x, s.top.x - 2} {
		stack[depth] = s.edge(x)
		depth++
	}
	for depth > 0 {
		hi := stack[depth-1]
		if s.covered(lo, hi, s.top.v+tolerance) {
			lo = hi
			depth--
			continue
		}
		mid := s.edge(split(lo.x, hi.x))
		if mid.v > s.top.v+tolerance {
			s.top = mid
			return true
		}
		if depth == len(stack) || s.evaluated > mostPoints {
			s.top.v = math.Inf(1) // no proof: the caller falls back on closed forms
			return false
		}
		stack[depth] = mid
		depth++
	}
	return false
}

func split(lo, hi float64) float64 {
	switch {
	case math.IsInf(lo, -1):
		return hi - max(2, math.Abs(hi))
	case math.IsInf(hi, 1):
		return lo + max(2, math.Abs(lo))
	}
	return lo + (hi-lo)/2
}

// sampledBit is the cost of an acceptance bit computed on a minibatch.
type sampledBit struct {
	pairs  []bitPair // all must be covered
	spread float64   // range of the bit without sampling
	closed float64   // range of the bit after sampling, the pure cost
}

// largestBitContribution is the largest contribution that is analysed with its
// sampling; beyond it the bit says everything whatever the rate.
const largestBitContribution = 300

func newSampledBit(scheme string, adj Adjacency, q float64, bit acceptanceBit) *sampledBit {
	c := bit.c * inflation
	b := &sampledBit{spread: bit.spread(adj)}
	switch {
	case b.spread > largestBitContribution:
		b.closed = amplifiedPure(q, b.spread)
		return b
	case scheme == schemePoisson && adj == Substitute:
		b.pairs = []bitPair{newBitPair(q, c, true, true)}
		b.closed = math.Log1p(q*math.Expm1(c)) - math.Log1p(q*math.Expm1(-c))
	default:
		b.pairs = []bitPair{newBitPair(q, b.spread, true, false), newBitPair(q, b.spread, false, true)}
		b.closed = math.Log1p(q * math.Expm1(b.spread))
	}
	return b
}

func (b *sampledBit) pureEpsilon() float64 { return min(b.closed, b.spread) }

func (b *sampledBit) rdp(order float64) float64 {
	least := min(boundedRangeRDP(order, b.closed), boundedRangeRDP(order, b.spread))
	if b.closed == 0 || len(b.pairs) == 0 {
		return least
	}
	worst := math.Inf(-1)
	for _, p := range b.pairs {
		worst = max(worst, p.supremum(order, bitTolerance))
	}
	return min(least, math.Exp(worst)/(order-1))
}
