package pld

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant/internal/normal"
)

// GaussianAllocation is an epoch of steps ≥ 1 releases with Gaussian noise, each record in
// one of them, drawn uniformly and secretly, under addition or removal of one record. sigma
// is the noise's standard deviation over the record's norm bound. The likelihood ratio S of
// the worst pair is a mean of lognormal numbers (docs/proofs/allocation.md), which numbers on
// a grid bound in convex order. Errors: noise and steps for which no grid is fine enough.
func GaussianAllocation(sigma float64, steps int64) (Mechanism, error) {
	const what = "GaussianAllocation"
	a, m, err := allocation(what, sigma, steps)
	if a == nil || err != nil {
		return m, err
	}
	m.forward, m.backward = a.gain, a.loss
	m.failures = [2]float64{a.gain(math.Inf(1)), a.loss(math.Inf(1))}
	base, err := Gaussian(sigma)
	if err != nil {
		return Mechanism{}, err
	}
	worst, err := PoissonAddRemove(1/float64(steps), base) // a record that adds to one step only
	m.worst = &worst
	return m, err
}

// GaussianAllocationSubstitution is GaussianAllocation under substitution: both versions of
// the record are in the same step. The profile is that of removal followed by addition,
//
//	f(u) = min over v in [1, u] of E(S − v)₊ + v·E(1 − uS/v)₊.
func GaussianAllocationSubstitution(sigma float64, steps int64) (Mechanism, error) {
	const what = "GaussianAllocationSubstitution"
	a, m, err := allocation(what, sigma, steps)
	if err != nil {
		return m, err
	}
	if a == nil {
		return Gaussian(sigma / 2)
	}
	far := math.Log(a.above.end()) - math.Log(leastRatio)
	m = symmetric(m.name, func(eps float64) float64 { return a.replaced(min(eps, far)) })
	m.failures = [2]float64{m.forward(far), m.forward(far)}
	worst, err := PoissonGaussianSubstitution(1/float64(steps), sigma)
	m.worst = &worst
	return m, err
}

// allocated is the law of S. Of each of its lognormal summands L the grid holds what lies
// between two quantiles; escaped is E(L − highest)₊, and sunk bounds the chance that one of
// the L is below the lowest, under both worlds.
type allocated struct {
	escaped, sunk float64
	above, below  calls // of S, and of −S
}

const (
	lowestQuantile, highestQuantile = 9, 7.65
	allocationPoints                = 1 << 18
	finest, coarsestGrid            = 64, 8 // points in a standard deviation of L
	leastRatio                      = 1e-3  // e^−ε from which on losses under removal are one
	leastShift                      = 1e-3  // below, rounding of a quantile is more than atomError
	// Rounding of tables: of sums of that many positive numbers, and of a quadrature.
	tableError, atomError = 1e-9, 4e-12
)

// allocation returns the law, or nil for one step, with its mechanism's name.
func allocation(what string, sigma float64, steps int64) (*allocated, Mechanism, error) {
	if err := checkNoise(what, sigma); err != nil {
		return nil, Mechanism{}, err
	}
	if steps < 1 {
		return nil, Mechanism{}, fmt.Errorf("pld: %s: steps %d: must be at least 1", what, steps)
	}
	m := Mechanism{name: fmt.Sprintf("%s(%g, %d)", what, sigma, steps)}
	if steps == 1 || sigma < leastNoise || math.IsInf(sigma, 1) {
		gaussian, err := Gaussian(sigma)
		return nil, gaussian, err
	}
	mu, t := 1/min(sigma, mostNoise), float64(steps)
	sd := math.Sqrt(math.Expm1(mu * mu))
	low, high := math.Exp(-mu*mu/2-lowestQuantile*mu), math.Exp(mu*mu/2+highestQuantile*mu)
	h := max(sd/finest, max(3*(high-low), 16*math.Sqrt(t)*sd)/allocationPoints)
	if h > sd/coarsestGrid || mu < leastShift || math.IsInf(h, 1) {
		return nil, m, fmt.Errorf("pld: %s: noise multiplier %v over %d steps: no grid is fine enough; use RDP", what, sigma,
			steps)
	}
	s := summand{mu: mu, h: h, first: int(low / h)}
	s.spread(int(math.Ceil(high / h)))
	top := h * float64(s.first+len(s.mass)-1)
	a := &allocated{escaped: normal.Tail((math.Log(top) - mu*mu/2) / mu), sunk: t * normal.Tail(lowestQuantile)}
	narrow := math.Sqrt(t) / sd // over the standard deviation of S
	a.above = newCalls(s.lattice(+1, min(15*t/top, narrow), steps), min(15*t/top, narrow))
	a.below = newCalls(s.lattice(-1, narrow, steps), narrow)
	return a, m, nil
}

// gain is E(S − e^ε)₊ and loss E(1 − e^ε·S)₊, bounded above.
func (a *allocated) gain(eps float64) float64 {
	return a.above.over(math.Exp(eps)) + a.above.err(1) + a.escaped + a.sunk
}

func (a *allocated) loss(eps float64) float64 {
	v := max(math.Exp(-eps), leastRatio)
	return a.below.over(-v)/v + max(a.below.err(-1), a.below.err(-leastRatio)/leastRatio) + a.sunk
}

// replaced minimises the profile under substitution, which is convex in v.
func (a *allocated) replaced(eps float64) float64 {
	_, least := leastOn(0, eps, 40, func(v float64) float64 { return a.gain(v) + math.Exp(v)*a.loss(eps-v) })
	return min(1, least)
}

// summand is the law of L on the multiples of h, from first·h: every piece between two of
// them is moved to these so that its mean stays, which raises the law in convex order.
type summand struct {
	mu, h float64
	first int
	mass  []float64
}

// legendre are the nodes and weights of Gauss's rule of four points on [−1, 1].
var legendre = [4][2]float64{{-0.8611363115940526, 0.3478548451374538}, {-0.3399810435848563, 0.6521451548625461},
	{0.3399810435848563, 0.6521451548625461}, {0.8611363115940526, 0.3478548451374538}}

// spread fills mass up to last·h, where all that is above is put too. What lies below the
// first multiple is left out.
func (s *summand) spread(last int) {
	s.mass = make([]float64, last-s.first+1)
	at := func(x float64) float64 { return (math.Log(x) + s.mu*s.mu/2) / s.mu } // the quantile of x
	for i := range last - s.first {
		if k := float64(s.first + i); k > 0 {
			s.piece(i, k, at(k*s.h))
			continue
		}
		y := at(s.h)
		whole := normal.Tail(-y)
		up := normal.Tail(s.mu-y) / s.h // the mean, over h
		s.mass[0] += whole - up
		s.mass[1] += up
	}
	s.mass[len(s.mass)-1] += normal.Tail(at(float64(last) * s.h))
}

// piece moves what lies between k·h, of quantile y, and the next multiple.
func (s *summand) piece(i int, k, y float64) {
	const widest = 0.05
	width := math.Log1p(1/k) / s.mu
	parts := math.Ceil(width / widest)
	half := width / parts / 2
	for p := range int(parts) {
		for _, node := range &legendre {
			beyond := half * (float64(2*p+1) + node[0])
			mass := node[1] * half * normal.Density(y+beyond)
			share := k * math.Expm1(s.mu*beyond)
			s.mass[i] += mass * (1 - share)
			s.mass[i+1] += mass * share
		}
	}
}

// lattice is the law of sign·S, S being the mean of so many, tilted by e^{θ·sign·S}.
func (s *summand) lattice(sign int, theta float64, steps int64) *lattice {
	n := len(s.mass)
	d := &lattice{step: s.h / float64(steps), first: s.first, mass: make([]float64, n)}
	if sign < 0 {
		d.first = -(s.first + n - 1)
	}
	centre := float64(sign) / s.h // the mean
	for i := range d.mass {
		from := i
		if sign < 0 {
			from = n - 1 - i
		}
		d.mass[i] = s.mass[from] * math.Exp(theta*d.step*(float64(d.first+i)-centre))
	}
	d.log = theta * d.step * centre
	d.normalise()
	d.slip = atomError
	return convolve([]term{{d, steps}}, nil, 1e-17)
}

// calls are E(X − x)₊ for a variable X on a grid.
type calls struct {
	first        int
	step         float64
	beyond, call []float64 // P(X ≥ x) and E(X − x)₊ at the points of the grid
	theta        float64
	log, each    float64 // of the bound on errors: each·e^{log − θx}
}

// newCalls adds up a lattice that is tilted by theta.
func newCalls(d *lattice, theta float64) calls {
	n := len(d.mass)
	c := calls{first: d.first, step: d.step, theta: theta, log: d.log, beyond: make([]float64, n),
		call: make([]float64, n)}
	beyond, call := 0.0, 0.0
	for i := n - 1; i >= 0; i-- {
		call += beyond * d.step
		beyond += d.mass[i] * math.Exp(d.log-theta*d.step*float64(d.first+i))
		c.beyond[i], c.call[i] = beyond, call
	}
	// A mass that errs is worth (X − x)₊e^{−θ(X−x)}: its maximum, or its norm on the grid.
	most := 1 / (math.E * theta)
	c.each = d.slip*most + d.noise*math.Sqrt(1/(4*theta*theta*theta*d.step)+most*most)
	return c
}

// end is the last point of the grid.
func (c *calls) end() float64 { return c.step * float64(c.first+len(c.call)-1) }

// err bounds what errors of masses add at x and beyond.
func (c *calls) err(x float64) float64 { return c.each * math.Exp(c.log-c.theta*x) }

// over is E(X − x)₊, rounded up.
func (c *calls) over(x float64) float64 {
	if x >= c.end() {
		return 0
	}
	i := min(max(0, int(math.Ceil(x/c.step))-c.first), len(c.call)-1)
	return (c.call[i] + c.beyond[i]*max(0, c.step*float64(c.first+i)-x)) * (1 + tableError)
}
