package pld

import (
	"math"

	"github.com/dpmcmc/dpmcmc/internal/vec"
)

// bound is a bound on one direction's profile, ready for queries.
type bound struct {
	below  bool
	single *pair // one release: its profile itself; all else is unset
	step   float64
	first  int
	// Of the losses from index i on: their expected 1 − e^{x_i − loss}, which is
	// δ(x_i), and their expected e^{x_i − loss}.
	excess, near []float64
	best         []float64 // lower bounds only: the largest at any loss from x_i on
	escape       float64
	theta        float64
	logSlip      float64 // log of slip·c(θ)e^{K}
}

// arithmetic bounds the relative rounding error of sums and products outside
// the transforms, for n steps: each moves a weight by a few units in the last
// place of its logarithm.
func arithmetic(n float64) float64 { return 1e-12 + 4e-15*n }

// bound makes the composition d of all parts ready for queries.
func (p *plan) bound(d *lattice, escape float64) bound {
	steps := 0.0
	for _, s := range p.parts {
		steps += s.count
	}
	scale := 1 + arithmetic(steps)
	if p.below {
		scale = max(0, 1-arithmetic(steps))
	}
	escape *= scale
	if d.first < 0 { // losses below 0 answer no query
		from := min(-d.first, len(d.mass))
		d = &lattice{step: d.step, first: d.first + from, mass: d.mass[from:], log: d.log, slip: d.slip, noise: d.noise}
	}
	b := bound{below: p.below, step: d.step, first: d.first, escape: escape, theta: p.theta,
		logSlip: math.Log(d.slip*math.Exp(logShare(p.theta))+d.noise*shareNorm(p.theta, d.step)) + d.log,
		excess:  make([]float64, len(d.mass)+1), near: make([]float64, len(d.mass)+1)}
	fall, lost := math.Exp(-d.step), -math.Expm1(-d.step)
	for i := len(d.mass) - 1; i >= 0; i-- {
		// A probability is at most 1, whatever the noise of the transform.
		w := min(1, scale*d.mass[i]*vec.Exp(d.log-p.theta*float64(d.first+i)*d.step))
		b.excess[i] = b.excess[i+1] + lost*b.near[i+1]
		b.near[i] = b.near[i+1]*fall + w
	}
	if p.below {
		b.best = make([]float64, len(d.mass)+1)
		b.best[len(d.mass)] = escape
		for i := len(d.mass) - 1; i >= 0; i-- {
			b.best[i] = b.best[i+1]
			if v := escape + b.excess[i] - b.slip(float64(b.first+i)*b.step); v > b.best[i] {
				b.best[i] = v
			}
		}
	}
	return b
}

// slip is what truncation, aliasing and the rounding of transforms hide at ε.
func (b *bound) slip(eps float64) float64 { return math.Exp(b.logSlip - b.theta*eps) }

// delta is the bound at ε.
func (b *bound) delta(eps float64) float64 {
	switch {
	case b.single != nil && b.below:
		return b.single.forward.lower(eps)
	case b.single != nil:
		return b.single.forward.alone(eps)
	}
	i := max(0, int(math.Ceil(eps/b.step))-b.first)
	v := 0.0
	if i < len(b.near) {
		x := float64(b.first+i) * b.step
		v = b.excess[i] - math.Expm1(min(0, eps-x))*b.near[i]
	}
	if b.below {
		best := b.best[min(i, len(b.best)-1)]
		if v += b.escape - b.slip(eps); v > best {
			return v
		}
		return best
	}
	if v += b.escape + b.slip(eps); v < 1 {
		return v
	}
	return 1
}

// epsilon is the least ε ≥ 0, to rounding, with delta(ε) ≤ delta, or +Inf. It
// is rounded up, and down for a lower bound.
func (b *bound) epsilon(delta float64) float64 {
	if b.delta(0) <= delta {
		return 0
	}
	lo, hi := 0.0, b.step
	if hi == 0 {
		hi = 1
	}
	for b.delta(hi) > delta {
		if hi *= 2; hi > 1e18 {
			return math.Inf(1)
		}
	}
	for {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi || hi-lo < 1e-14*hi {
			break
		}
		if b.delta(mid) > delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	if b.below {
		return lo
	}
	return hi
}
