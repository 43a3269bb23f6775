package accountant

// Proof: docs/proofs/optimum.md.

import (
	"math"
	"sync"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

func init() { otherBounds = append(otherBounds, dominatingBounds) }

type (
	// gaussianAtMost mechanisms can be computed from a Gaussian release of this µ.
	gaussianAtMost interface{ muAtMost(adj Adjacency) float64 }
	// convexLike mechanisms have a loss that is at most a variable in increasing convex order.
	convexLike interface {
		lossAtMost(adj Adjacency) convexLoss
	}
)

// convexLoss is the variable base + f(sN), N standard normal, or base + f(s|N|) if even. f is
// convex, increasing from 0 on, and has slopes from 0 to 1.
type convexLoss struct {
	base, s float64
	f       func(y float64) float64
	even    bool
}

// muAtMost: a bit's probits differ by at most √(2π)/4 times what its logits do.
func (m acceptanceBit) muAtMost(adj Adjacency) float64 {
	return m.spread(adj) * math.Sqrt(2*math.Pi) / 4
}

func (m objectivePerturbation) lossAtMost(adj Adjacency) convexLoss {
	s, f := 1/m.sigma, func(y float64) float64 { return foldedAt(y, m.curvature) }
	if adj == Substitute {
		f = func(y float64) float64 { return (foldedAt(y, 2*m.curvature) + max(y, 0)) / 2 }
	}
	return convexLoss{s * s / 2, s, f, false}
}

func (m convexPerturbation) lossAtMost(Adjacency) convexLoss {
	s := 1 / m.sigma
	return convexLoss{s*s/2 + m.curvature, s, func(y float64) float64 { return y }, true}
}

// foldedAt is f_t(y), the largest of p·y + p(1−p)·t over p in [0, 1].
func foldedAt(y, t float64) float64 {
	switch {
	case y >= t:
		return y
	case y <= -t:
		return 0
	}
	return (y + t) / (4 * t) * (y + t)
}

// dominating is what the losses of an event are below: a Gaussian release of this µ beside
// at most one convex loss or one randomised response of pure ε.
type dominating struct {
	mu, pure float64
	loss     *convexLoss
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
			if d.loss != nil || p.count != 1 {
				return d, false
			}
			loss := m.lossAtMost(e.adj)
			d.loss, noisy = &loss, true
		case pureLike:
			if d.pure > 0 || p.count != 1 {
				return d, false
			}
			d.pure = m.pureEpsilon(e.adj)
		default:
			return d, false
		}
		square += float64(p.count) * each * each
	}
	d.mu = math.Sqrt(square) * (1 + slack)
	if d.loss != nil && (d.pure > 0 || d.loss.s > mostDominated || d.loss.base > mostDominated) {
		return d, false
	}
	return d, noisy && d.mu <= mostDominated && d.pure <= mostDominated
}

const (
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
	if d.loss != nil {
		return d.loss.excess(d.mu, eps)
	}
	truth := logistic(d.pure) // the response's probability of a loss of pure
	return (truth*gaussianDelta(d.mu, eps-d.pure) + (1-truth)*gaussianDelta(d.mu, eps+d.pure)) * (1 + 1e-12)
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
	gaussian := gaussianEpsilon(d.mu, logDelta)
	switch {
	case d.loss == nil && d.pure == 0:
		return gaussian
	case !(logDelta >= math.Log(leastDominated)):
		return math.Inf(1)
	}
	gap := func(eps float64) float64 { return math.Log(d.excess(eps)) - logDelta }
	low, step := gaussian, d.pure
	if d.loss != nil { // X is at least its linear part
		low = gaussianEpsilon(math.Hypot(d.mu, d.loss.s), logDelta)
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

// The nodes of the normal law, and how far below 0 they begin where f is not even.
const (
	cellsPerUnit = 32
	nodesFrom    = -5
	nodesTo      = 40
)

// nodes are points z of the normal law with what a convex function's chords weigh there, and
// with P(N > z) and E(N − z)₊.
var nodes = sync.OnceValue(func() []node {
	out := make([]node, (nodesTo-nodesFrom)*cellsPerUnit+1)
	for i := range out {
		z := nodesFrom + float64(i)/cellsPerUnit
		out[i] = node{z: z, tail: normal.Tail(z), call: call(z)}
	}
	for i := range out[1:] {
		lo, hi := &out[i], &out[i+1]
		between := lo.tail - hi.tail
		if lo.z < 0 {
			between = normal.Tail(-hi.z) - normal.Tail(-lo.z)
		}
		right := (normal.Density(lo.z) - normal.Density(hi.z) - lo.z*between) * cellsPerUnit
		lo.after, hi.before = max(0, between-right), max(0, right)
	}
	return out
})

// node is a point with its part of the cell that ends and of the one that begins there.
type node struct{ z, before, after, tail, call float64 }

// call is E(N − z)₊.
func call(z float64) float64 {
	value := normal.Density(z) * normal.MillsFall(math.Abs(z))
	if z < 0 {
		return value - z
	}
	return value
}

// excess bounds E(X + µ²/2 + µN′ − ε)₊, X being the variable. That is convex in N, so that it
// is below its chords. Beyond the last node its slope is at most s.
func (l convexLoss) excess(mu, eps float64) float64 {
	given := func(z float64) float64 {
		mean := l.base + l.f(l.s*z) + mu*mu/2 - eps
		if mu < 1e-9 {
			return max(mean, 0) + mu
		}
		return mu * call(-mean/mu)
	}
	all, sum := nodes(), 0.0
	if l.even {
		all = all[-nodesFrom*cellsPerUnit:]
		sum = -given(0) * all[0].before // of the other half
	} else {
		sum = given(nodesFrom) * normal.Tail(-nodesFrom)
	}
	for i, n := range all {
		v := given(n.z)
		sum += v * n.before
		beyond := v*n.tail + l.s*n.call
		if beyond < 1e-6*sum || i == len(all)-1 {
			sum += beyond
			break
		}
		sum += v * n.after
	}
	if l.even {
		sum *= 2
	}
	return sum*(1+1e-9) + 1e-200
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
