package accountant

// Proof: docs/proofs/penalty.md.

import (
	"math"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// The noise variances of penalty tests that have a price.
const (
	leastPenaltyVariance = 0.25
	mostPenaltyVariance  = 9
)

type penaltyBit struct{ variance, c float64 }

func (m penaltyBit) kind() string              { return "penalty_bit" }
func (m penaltyBit) memory(name string) memory { return recall(name) }
func (m penaltyBit) fields() []field {
	return []field{{"variance", m.variance}, {"contribution", m.c}}
}

func (m penaltyBit) rdp(adj Adjacency, order float64) float64 {
	s := acceptanceBit{m.c}.spread(adj)
	sd := math.Sqrt(m.variance)
	limit := min(gaussianRDP(order, s/sd), mostPenaltyRange)
	if s == 0 || s > largestPenaltyMove || math.IsInf(order, 1) {
		return limit
	}
	worst, _ := worstPenalty(sd, s, order, s, penaltyTolerance, [2]float64{})
	return min(limit, math.Exp(worst)/(order-1))
}

const (
	// mostPenaltyRange bounds any divergence of two bits of this kind: no
	// probability is below 2⁻⁶⁴.
	mostPenaltyRange = 64 * math.Ln2
	// largestPenaltyMove is the largest move that is searched; beyond it the
	// Gaussian release's cost stands.
	largestPenaltyMove = 6
	// penaltyTolerance is the relative gap between a reported supremum and the
	// largest divergence found.
	penaltyTolerance = 1e-4
	// averageTolerance is the same inside an average over moves.
	averageTolerance = 1e-3
)

// worstPenalty bounds log log M over both directions of a move of s, and
// returns where each was worst, as a start for a neighbouring search. The
// domain searched is one for all moves up to longest.
func worstPenalty(sd, s, order, longest, tolerance float64, start [2]float64) (float64, [2]float64) {
	worst := math.Inf(-1)
	for i, down := range [2]bool{false, true} {
		found := searchPairs(newPenaltyPair(sd, s, down, longest), order, start[i], tolerance)
		worst, start[i] = max(worst, found.top.v+tolerance), found.top.x
	}
	return worst, start
}

// penaltyPair is the family of pairs of bits at u = x and at u = x + s, the
// latter being p; or, when down, the reverse, told of the chance of rejection.
// The test's noise has a log-concave density, so log a and log(1−a) are concave
// and what they differ by over a move is monotone, as pairFamily asks.
type penaltyPair struct {
	sd, s    float64
	down     bool
	low, top float64 // of u: beyond, all bits are raised to the same 2⁻⁶⁴
}

// newPenaltyPair returns the family on the domain of docs/proofs/penalty.md, §3:
// a(u) < e^u, and 1−a(u) < Φ(σ/2 − u/σ) with Φ(−9.2) < 2⁻⁶⁴.
func newPenaltyPair(sd, s float64, down bool, longest float64) *penaltyPair {
	return &penaltyPair{sd: sd, s: s, down: down, low: -45 - longest, top: sd*(9.2+sd/2) + longest - s}
}

// sag is proved in docs/proofs/penalty.md, §3.
func (p *penaltyPair) sag(lo, hi, order, d float64) float64 {
	if p.down {
		lo, hi = -hi, -lo
	}
	if lo < p.low || hi > p.top {
		return math.Inf(1)
	}
	slope := steep(p.sd, (hi+p.s)/p.sd-p.sd/2)
	tilt := max(1, slope-1)
	bend := max(1/(p.sd*p.sd), slope*slope+tilt*tilt)
	w := slope + order*tilt*d
	return 2*(bend+tilt*tilt) + w*w/2 + tilt*slope + order*bend*d
}

// penaltyRounding is added to the distance of two log-odds: more than the
// rounding of the mechanism's probabilities (2⁻⁴⁰ each) and of those here.
const penaltyRounding = 0x1p-37

func (p *penaltyPair) at(x float64) (u, above, below float64) {
	if p.down {
		x = -x
	}
	x = max(p.low, min(x, p.top))
	a, r := penaltyLogs(x, p.sd)
	an, rn := penaltyLogs(x+p.s, p.sd)
	above, below = max(0, an-a)+penaltyRounding, max(0, r-rn)*(1+0x1p-32)+penaltyRounding
	if p.down {
		return rn - an, below, above
	}
	return a - r, above, below
}

// penaltyLogs returns log a(u) and log(1−a(u)).
func penaltyLogs(u, sd float64) (accept, reject float64) {
	if u < 0 { // detailed balance: a(u) = e^u·a(−u)
		a, _ := penaltyLogs(-u, sd)
		return u + a, math.Log1p(-math.Exp(u + a))
	}
	y := u/sd + sd/2
	r := normal.Tail(y-sd) - math.Exp(u)*normal.Tail(y)
	return math.Log1p(-r), math.Log(r)
}

type isotropicPenaltyBit struct{ variance, scale float64 }

func (m isotropicPenaltyBit) kind() string              { return "isotropic_penalty_bit" }
func (m isotropicPenaltyBit) memory(name string) memory { return recall(name) }
func (m isotropicPenaltyBit) fields() []field {
	return []field{{"variance", m.variance}, {"scale", m.scale}}
}

// rdp averages over |Z| a convex function that is nowhere below the moment of
// the worst bit: convex, because the records of a replacement, or the rows of a
// person, may lie in different directions, and then contribute unequally
// (docs/proofs/penalty.md, §4).
func (m isotropicPenaltyBit) rdp(adj Adjacency, order float64) float64 {
	s := acceptanceBit{m.scale}.spread(adj)
	gain := order * (order - 1) * s * s / m.variance // the Gaussian moment at |Z| is e^{gain·Z²/2}
	switch {
	case s == 0:
		return 0
	case !(gain < 0.98):
		return math.Inf(1)
	}
	k := penaltyMajorant(math.Sqrt(m.variance), s, order, gain)
	excess := newLogSum()
	k.addMean(&excess)
	end, root := k.at[len(k.at)-1], math.Sqrt(1-gain)
	excess.add(math.Log(2 * max(0, normal.Tail(end*root)/root-normal.Tail(end))))
	whole := -math.Log1p(-gain) / 2 / (order - 1)
	return min(whole, fromExcess(order, excess.log()+quadratureMargin))
}

// Beyond searchEnd few values of |Z| are needed to penaltyEnd.
const penaltyCell, penaltyEnd = 1.0, 9.0

// penaltyMajorant bounds the moment of the worst bit less one. Continued by the
// larger of its last slope and the Gaussian release's moment it stays convex and a
// bound.
func penaltyMajorant(sd, s, order, gain float64) majorant {
	k := majorant{}
	k.add(0, math.Inf(-1))
	bend := newPenaltyBend(sd)
	var start [2]float64
	for a := 0.0; a < penaltyEnd-penaltyCell/2; {
		b := a + fineCell
		switch {
		case a > searchEnd-coarseCell/2:
			b = a + penaltyCell
		case a > fineEnd-fineCell/2:
			b = a + coarseCell
		}
		log := gain * b * b / 2
		if move := s * b; move <= largestPenaltyMove {
			var worst float64
			worst, start = worstPenalty(sd, move, order, largestPenaltyMove, averageTolerance, start)
			log = min(log, math.Exp(worst))
		}
		w := s * (b - a)
		k.add(b, logExpm1(log))
		k.cover(bend.log(order, s*b) + math.Log(w*w/8))
		a = b
	}
	end := k.at[len(k.at)-1]
	k.touch(logExpm1(gain*end*end/2), math.Log(gain*end)+gain*end*end/2)
	k.straighten()
	return k
}

// penaltyBend bounds how concave the moment of a bit can be in the move: its
// second derivative is at least −e^{log}. See docs/proofs/penalty.md, §4.
type penaltyBend struct{ sd, up, density float64 }

func newPenaltyBend(sd float64) penaltyBend {
	b := penaltyBend{sd: sd, density: min(1, normal.Density(0)/sd)}
	const step = 0.25
	b.up = normal.Density(0) / sd * steep(sd, 0)
	for w := 0.0; w < 12; w += step {
		b.up = max(b.up, normal.Density(w)/sd*steep(sd, w+step))
	}
	return b
}

// steep bounds 1 + a′/(1−a) where u/σ − σ/2 is at most w.
func steep(sd, w float64) float64 {
	y := max(0, w+sd)
	return -1 / math.Expm1(-sd*2/(math.Sqrt(y*y+8)+y))
}

func (b penaltyBend) log(order, s float64) float64 {
	k := steep(b.sd, s/b.sd)
	up := math.Log(b.up) + (order-1)*s
	down := math.Log(b.density*k) + (order-1)*s*(k-1)
	return math.Log(order*(order-1)*s) + max(up, down)
}
