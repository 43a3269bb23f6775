package accountant

// Proof: docs/proofs/optimum.md.

import "math"

func init() { otherBounds = append(otherBounds, dominatingBounds) }

// gaussianAtMost mechanisms can be computed from a Gaussian release of this µ.
type gaussianAtMost interface{ muAtMost(adj Adjacency) float64 }

// muAtMost: a bit's probits differ by at most √(2π)/4 times what its logits do.
func (m acceptanceBit) muAtMost(adj Adjacency) float64 {
	return m.spread(adj) * math.Sqrt(2*math.Pi) / 4
}

// dominating is what the losses of an event are below: a Gaussian release of this µ beside
// a few convex losses and at most one randomised response of pure ε.
type dominating struct {
	mu, pure float64
	losses   []convexLoss
	sum      atoms // of the losses, if any
}

// dominated returns it for events of such mechanisms alone, at least one of them more than a
// bit, whose own bounds are lower.
func (e Event) dominated() (d dominating, ok bool) {
	square, noisy := 0.0, false
	for _, p := range e.flat().parts {
		each := 0.0
		switch m := p.m.(type) {
		case gaussianLike:
			each, noisy = m.mu(), true
		case gaussianAtMost:
			each = m.muAtMost(e.adj)
		case convexLike:
			if p.count > mostLosses-int64(len(d.losses)) {
				return d, false
			}
			for range p.count {
				d.losses = append(d.losses, m.lossAtMost(e.adj))
			}
			noisy = true
		case pureLike:
			pure := m.pureEpsilon(e.adj)
			if pure > 0 && (d.pure > 0 || p.count != 1) {
				return d, false
			}
			d.pure += pure
		default:
			return d, false
		}
		square += float64(p.count) * each * each
	}
	d.mu = math.Sqrt(square) * (1 + slack)
	if !noisy || !(d.mu <= mostDominated && d.pure <= mostDominated) {
		return d, false
	}
	if len(d.losses) > 0 {
		d.sum, ok = sumOf(d.losses, d.mu)
		return d, ok
	}
	return d, true
}

const (
	// mostLosses bounds the work, which grows with the square of it.
	mostLosses = 8
	// mostDominated bounds losses that are looked at: larger ones are no privacy.
	mostDominated = 1e3
	// leastDominated is the smallest δ that is looked at. What underflows is far below it.
	leastDominated = 1e-100
)

// delta bounds δ(ε), for a real ε.
func (d dominating) delta(eps float64) float64 {
	return min(1, d.excess(eps))
}

// excess is delta, or what it is the lesser of and 1.
func (d dominating) excess(eps float64) float64 {
	given := func(eps float64) float64 { return gaussianDelta(d.mu, eps) }
	if len(d.losses) > 0 {
		given = func(eps float64) float64 { return d.sum.excess(d.mu, eps) }
	}
	if d.pure == 0 {
		return given(eps)
	}
	truth := logistic(d.pure) // the response's probability of a loss of pure
	return (truth*given(eps-d.pure) + (1-truth)*given(eps+d.pure)) * (1 + 1e-12)
}

// gaussianDelta is δ(ε) of the pair N(µ,1), N(0,1). It is symmetric, which says what δ is
// below 0.
func gaussianDelta(mu, eps float64) float64 {
	if eps >= 0 {
		return math.Exp(logGaussianDelta(mu, eps))
	}
	return -math.Expm1(eps) + math.Exp(eps+logGaussianDelta(mu, -eps))
}

// epsilon is the smallest ε ≥ 0 with delta(ε) ≤ e^logDelta, rounded up.
func (d dominating) epsilon(logDelta float64) float64 {
	square := d.mu * d.mu
	for _, l := range d.losses { // a loss is at least its linear part
		square += l.s * l.s
	}
	low := gaussianEpsilon(math.Sqrt(square), logDelta)
	switch {
	case len(d.losses) == 0 && d.pure == 0:
		return low
	case !(logDelta >= math.Log(leastDominated)):
		return math.Inf(1)
	}
	gap := func(eps float64) float64 { return math.Log(d.excess(eps)) - logDelta }
	step := d.pure
	if len(d.losses) > 0 {
		step = max(low/100, 1e-6)
	}
	above := gap(low)
	if above <= 0 {
		return low
	}
	high, below := low, above
	for ; below > 0; step *= 4 {
		if step > 1e9 {
			return math.Inf(1)
		}
		high = low + step
		below = gap(high)
	}
	return falsePosition(gap, low, high, above, below) * (1 + slack)
}

// falsePosition narrows a bracket, where a falling function is above and below 0, by the
// Illinois method, and returns its upper end.
func falsePosition(f func(float64) float64, low, high, above, below float64) float64 {
	last := 0.0
	for range 100 {
		width := high - low
		if width <= 1e-7*high {
			break
		}
		// A step past the root, so that both ends close in.
		x := low + max(min(width*above/(above-below), width-3e-8*high), 3e-8*high)
		at := f(x)
		if at > 0 {
			low, above = x, at
			if last > 0 {
				below /= 2
			}
		} else {
			high, below = x, at
			if last <= 0 {
				above /= 2
			}
		}
		last = at
	}
	return high
}

// dominatingBounds are the bounds on ε of dominated events with something that is not
// Gaussian.
func dominatingBounds(e Event, _, rest float64) []candidate {
	if _, gaussian := e.gaussianMu(); gaussian || rest <= 0 || rest >= 1 {
		return nil
	}
	d, ok := e.dominated()
	if !ok {
		return nil
	}
	return []candidate{{methodDominating, methodDominating, theoremDominating, e.departed(d.epsilon, rest), 0}}
}

const (
	methodDominating  = "dominating"
	theoremDominating = "dominating losses composed in closed form (docs/proofs/optimum.md)"
)
