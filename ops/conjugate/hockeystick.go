package conjugate

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// pair is one category's concentration from, another's to, and the weight r that
// one record moves between them: what the release is under one data set and its
// neighbour differs in the share of the first of the two categories alone, which
// is Beta(from, to) under one and Beta(from − r, to + r) under the other.
type pair struct{ from, to, r float64 }

// delta returns the hockey-stick divergence at epsilon, rounded up. On the log
// odds u of the share the log likelihood ratio is r·u plus a constant, so it is
// ∫ p(u)·(1 − e^(−r(u−u₀))) over u > u₀, where the ratio is e^epsilon.
func (p pair) delta(epsilon float64) float64 {
	if !(p.from > p.r) {
		return 1
	}
	total := lgamma(p.from + p.to)
	here := lgamma(p.from) + lgamma(p.to) - total
	there := lgamma(p.from-p.r) + lgamma(p.to+p.r) - total
	errors := 0x1p-48 * (math.Abs(here) + math.Abs(there) + 2*math.Abs(total) + 4)
	start := (epsilon - 4*errors - (there - here)) / p.r
	logDensity := func(u float64) float64 {
		return -p.from*softplus(-u) - p.to*softplus(u) - here
	}
	slope := func(u float64) float64 { return p.from/(1+math.Exp(u)) - p.to/(1+math.Exp(-u)) }
	part := func(u float64) float64 { return math.Exp(logDensity(u)) * -math.Expm1(-p.r*(u-start)) }

	mode, width := math.Log(p.from/p.to), math.Min(1, math.Sqrt(1/p.from+1/p.to))
	u, sum := start, 0.0
	if far := mode - 50*width; u < far { // a log-concave density is at most an exponential beyond
		u, sum = far, math.Exp(logDensity(far))/slope(far)
	}
	for range 10_000 {
		step := width / 2
		if u > max(mode, start)+45 {
			step = 0.5 / max(p.to, p.r)
		}
		sum += quad.Fixed(part, u, u+step, 16, nil, 0)
		u += step
		if rest := -math.Exp(logDensity(u)) / slope(u); u > mode && rest >= 0 && rest <= 1e-12*sum {
			return (sum + rest) * (1 + 1e-9 + errors)
		}
	}
	return 1
}

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// hockeyStick returns the greatest delta over adjacent pairs of posteriors, within
// a thousandth. A pair with smaller concentrations dominates one with larger:
// adding independent gamma variables turns one into the other
// (docs/proofs/ops-conjugate.md). With three categories the least are those of one
// record and none. With two the counts add up to n, and intervals of them are
// bounded by their least counts and halved until the rest lies below.
func (mech *Mechanism) hockeyStick(epsilon float64) float64 {
	top := 0.0
	prior, n := mech.cfg.Prior, mech.cfg.Records
	for i, a := range prior {
		for j, b := range prior {
			if i == j {
				continue
			}
			at := func(ci, cj int) float64 {
				return pair{a/mech.m + mech.r*float64(min(ci, enough)), b/mech.m + mech.r*float64(min(cj, enough)),
					mech.r}.delta(epsilon)
			}
			if len(prior) > 2 {
				top = max(top, at(1, 0))
				continue
			}
			top = max(top, at(1, n-1), at(n, 0))
			for open := [][2]int{{1, n}}; len(open) > 0; {
				c := open[len(open)-1]
				open = open[:len(open)-1]
				if at(c[0], n-c[1]) <= top*(1+1e-3) {
					continue
				}
				if c[0] == c[1] {
					top = max(top, at(c[0], n-c[0]))
					continue
				}
				middle := c[0] + (c[1]-c[0])/2
				open = append(open, [2]int{c[0], middle}, [2]int{middle + 1, c[1]})
			}
		}
	}
	return top * (1 + 1e-3)
}

// enough caps the counts whose log Γ is computed: smaller ones dominate.
const enough = 100_000

// exactEpsilon returns the least ε of one release at delta by the hockey-stick
// divergence, rounded up, or known if that is no larger.
func (mech *Mechanism) exactEpsilon(known, delta float64) float64 {
	lo, hi := 0.0, known
	if math.IsInf(known, 1) {
		for hi = 1; mech.hockeyStick(hi) > delta; hi *= 2 {
			if hi > 1e6 {
				return known
			}
		}
	}
	for range 60 {
		if hi-lo <= 1e-9*hi {
			break
		}
		if mid := lo + (hi-lo)/2; mech.hockeyStick(mid) <= delta {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
