package accountant

// Proof: docs/proofs/accountant-isotropic.md.

import (
	"math"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// isotropicBit is an acceptance bit whose contribution is scale·|Z|, Z a
// standard normal that is published and independent of the data (theory §2.7).
type isotropicBit struct{ scale float64 }

func (m isotropicBit) kind() string              { return "isotropic_bit" }
func (m isotropicBit) fields() []field           { return []field{{"scale", m.scale}} }
func (m isotropicBit) memory(name string) memory { return recall(name) }

// rdp uses that the moment e^{(α−1)ε_BR(α; s)} is convex in s, so that it lies
// below its chords.
func (m isotropicBit) rdp(adj Adjacency, order float64) float64 {
	s := acceptanceBit{m.scale}.spread(adj)
	switch {
	case s == 0:
		return 0
	case math.IsInf(order, 1):
		return math.Inf(1)
	}
	end, logTail := halfNormalRange(order, s)
	const cells = 512
	excess := newLogSum()
	excess.add(logTail)
	last := math.Inf(-1)
	for i := range cells {
		a, b := end*float64(i)/cells, end*float64(i+1)/cells
		next := logExpm1((order - 1) * boundedRangeRDP(order, s*b))
		addChord(&excess, a, b, last, next, math.Inf(-1))
		last = next
	}
	return fromExcess(order, excess.log()+quadratureMargin)
}

// halfNormalRange returns where to stop integrating the moment of a range
// s·|Z|, and the logarithm of what is beyond, from the bounds
// ε_BR(α; s) ≤ min(αs²/8, s). Each has an end of its own. The nearer makes the
// narrower cells, and is continuous in s, as the price must be.
func halfNormalRange(order, s float64) (end, logTail float64) {
	const y = 9.5
	l := (order - 1) * s // of E[e^{l|Z|}; |Z| > end]
	g := (order - 1) * order * s * s / 8
	if root := math.Sqrt(1 - 2*g); g < 0.25 && y/root <= l+y {
		// E[e^{gZ²} − 1; |Z| > end] ≤ g·E[Z² e^{gZ²}; |Z| > end].
		return y / root, math.Log(2*g/(root*root*root)) + math.Log(y*normal.Density(y)+normal.Tail(y))
	}
	return l + y, math.Ln2 + l*l/2 + math.Log(normal.Tail(y))
}

// addChord adds to s the expectation over |Z| in [a, b] of the linear
// interpolation between e^{fa} at a and e^{fb} at b, plus the constant
// e^{bend}; but no more than that of the constant e^{fb}.
func addChord(s *logSum, a, b, fa, fb, bend float64) {
	// In units of 2φ(a): i0 = P(|Z| in cell), i1 = E[|Z|; cell].
	fall := math.Exp(-(b - a) * (b + a) / 2)
	i0 := normal.Mills(a) - normal.Mills(b)*fall
	i1 := 1 - fall
	unit := math.Ln2 - math.Log(2*math.Pi)/2 - a*a/2
	t := newLogSum()
	t.add(fa + math.Log(max(0, b*i0-i1)/(b-a)))
	t.add(fb + math.Log(max(0, i1-a*i0)/(b-a)))
	t.add(bend + math.Log(i0))
	s.add(unit + min(t.log(), fb+math.Log(i0)))
}

// sampledIsotropicBit is the cost of an isotropic bit on a Poisson batch of
// rate q. The move is common to both data sets, so the average is outside the
// sampling.
type sampledIsotropicBit struct {
	q, scale float64 // scale of one record's contribution
	adj      Adjacency
	whole    isotropicBit
}

func (m *sampledIsotropicBit) rdp(order float64) float64 {
	eps := m.amplified(order)
	if !(eps < math.Inf(1)) {
		return m.whole.rdp(m.adj, order)
	}
	// By Jensen the cost without sampling is at least that at E|Z| = √(2/π).
	if s := (acceptanceBit{m.whole.scale}).spread(m.adj); eps <= boundedRangeRDP(order, 0.797*s) {
		return eps
	}
	return min(eps, m.whole.rdp(m.adj, order))
}

func (m *sampledIsotropicBit) amplified(order float64) float64 {
	if m.adj == AddRemove {
		return fromExcess(order, max(m.logExcess(true, order), m.logExcess(false, order)))
	}
	// Two records with different contributions: Hölder's inequality splits the
	// moment at the law without either.
	w := order / (2*order - 1)
	return fromExcess(order, logAddExp(math.Log(w)+m.logExcess(true, 2*order-1),
		math.Log1p(-w)+m.logExcess(false, 2*order)))
}

// isotropicTolerance is the gap allowed to each supremum inside the average.
const isotropicTolerance = 1e-4

// The cells of the average over |Z|: fine where the mass of a small
// contribution lies, with suprema up to searchEnd, closed forms beyond.
const (
	fineCell, fineEnd     = 0.1, 3.0
	coarseCell, searchEnd = 0.25, 5.0
	closedCells           = 96
)

// logExcess bounds log E[sup_x M(x; scale·|Z|) − 1], M the moment of one bit
// with one record (up) against without it, or the reverse, by the mean of a convex
// majorant. The second derivative of M in the contribution is at least −bend, so
// the supremum exceeds its chord on a cell of width w by at most bend·w²/8; the
// closed form is convex.
func (m *sampledIsotropicBit) logExcess(up bool, order float64) float64 {
	k, x := majorant{}, 0.0
	k.add(0, math.Inf(-1))
	for a := 0.0; a < searchEnd; {
		b := a + fineCell
		if a > fineEnd-fineCell/2 {
			b = a + coarseCell
		}
		p := newBitPair(m.q, m.scale*b, up, !up)
		next := m.logClosed(order, b)
		if p.c <= largestBitContribution {
			s := p.search(order, x, isotropicTolerance)
			if v := logExpm1(math.Exp(s.top.v + isotropicTolerance)); v < next {
				next = v
			}
			x = s.top.x
		}
		w, d := m.scale*(b-a), amplifiedPure(m.q, p.c)
		k.add(b, next)
		k.cover(math.Log(order*(order-1)*d*m.q*0.0963*w*w/8) + order*d)
		a = b
	}
	// The closed form from here on; beyond, its tail and the last chord.
	n := len(k.at) - 1
	start := k.at[n]
	k.above[n] = max(k.above[n], m.logClosed(order, start))
	end, logTail := m.tail(order)
	for i := range closedCells {
		b := start + (end-start)*float64(i+1)/closedCells
		k.add(b, m.logClosed(order, b))
	}
	last := len(k.at) - 1
	k.touch(k.value[last], k.slope(k.value, last))
	k.straighten()
	excess := newLogSum()
	k.addMean(&excess)
	excess.add(logTail)
	return excess.log() + quadratureMargin
}

// logClosed is the logarithm of the closed-form bound on M − 1 at |Z| = z.
func (m *sampledIsotropicBit) logClosed(order, z float64) float64 {
	return logExpm1((order - 1) * boundedRangeRDP(order, amplifiedPure(m.q, m.scale*z)))
}

// tail returns where to stop and the logarithm of what is beyond. The unsampled
// bound serves for small contributions; for large ones the closed form's range
// grows at most as fast as the contribution.
func (m *sampledIsotropicBit) tail(order float64) (end, logTail float64) {
	if (order-1)*order*m.scale*m.scale/8 < 0.25 {
		return halfNormalRange(order, m.scale)
	}
	l := (order - 1) * m.scale
	end = l + 9.5
	saved := m.scale*end - amplifiedPure(m.q, m.scale*end)
	return end, math.Ln2 + l*l/2 - (order-1)*saved + math.Log(normal.Tail(9.5))
}
