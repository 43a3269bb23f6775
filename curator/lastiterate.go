package curator

// Proof: docs/proofs/last-iterate.md.

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// LastIterate is the mechanism that runs the unadjusted Langevin algorithm,
//
//	θ ← θ − h∇U(θ) + N(0, 2hI), U = τΣℓ − log prior,
//
// in the locked room, over all records, and releases the last state alone: about a
// posterior draw, biased by h. Its price does not grow with the steps beyond a limit, and
// holds whether or not the chain has converged. It rests on U being strongly convex and
// smooth: a logistic regression under its log loss, with a Gaussian prior, on records sealed
// with a Radius. Both moduli follow from public facts.
type LastIterate struct {
	// Target is a logistic regression with a priors.Gaussian prior. Required.
	Target *targets.Regression
	// Temperature τ in (0, 1] multiplies the loss. Defaults to 1.
	Temperature float64
	// Step is h. Required, below 2 over the smoothness, Λ + τNR²/4 with Λ the largest prior
	// precision.
	Step float64
	// Iterations is the number of steps to a release. Required.
	Iterations int64
}

// iteratePlan is what is charged for and enforced.
type iteratePlan struct {
	subject    *subject
	event      accountant.Event
	tau, clip  float64
	step, unit float64   // h, and the grid of states: a power of two
	sd         float64   // of the noise, in units
	precision  []float64 // of the prior
	iterations int64
}

// stateBits bounds states by 2^stateBits units, 2²² standard deviations of a step's noise.
const stateBits = 52

func (m LastIterate) plan(f Facts) (p iteratePlan, err error) {
	p = iteratePlan{tau: AcceptanceBit{Temperature: m.Temperature}.temperature(), step: m.Step, iterations: m.Iterations}
	if m.Target == nil {
		return p, errors.New("curator: LastIterate.Target is not set")
	}
	if err := errors.Join(f.check(), checkTemperature(p.tau)); err != nil {
		return p, err
	}
	loss, err := m.Target.Convex(targets.Cap{})
	prior, normal := m.Target.Prior().(priors.Gaussian)
	switch {
	case err != nil:
		return p, err
	case !loss.IsLogistic() || !normal:
		return p, errors.New("curator: a LastIterate needs a strongly convex and smooth target: logistic regression with a " +
			"priors.Gaussian prior")
	case f.Radius == 0:
		return p, errors.New("curator: a LastIterate needs records sealed with a Radius, which bounds their gradients")
	case m.Iterations < 1:
		return p, fmt.Errorf("curator: LastIterate.Iterations is %d; at least 1 is needed", m.Iterations)
	}
	if p.subject, err = f.admit(m.Target); err != nil {
		return p, err
	}
	convex, smooth := math.Inf(1), 0.0
	p.precision = make([]float64, p.subject.Dim)
	ones := make([]float64, p.subject.Dim)
	for j := range ones {
		ones[j] = 1
	}
	prior.Grad(p.precision, ones) // of a centred normal: minus the precisions
	for j, g := range p.precision {
		p.precision[j] = -g
		convex, smooth = min(convex, -g), max(smooth, -g)
	}
	curved := p.tau * float64(f.Records) * f.Radius * f.Radius * loss.MaxCurvature()
	smooth += curved
	if !(m.Step > 0 && m.Step*smooth < 2*(1-room.RelativeSlack)) || !(convex > 0) {
		return p, fmt.Errorf("curator: LastIterate.Step is %v; it must be positive and below 2/%v, for steps to contract",
			m.Step, smooth)
	}
	p.clip = p.tau * loss.MaxSlope() * f.Radius
	p.grid()
	p.event, err = p.price(f, max(math.Abs(1-m.Step*convex), math.Abs(1-m.Step*smooth)), m.Step*curved)
	return p, err
}

// grid chooses the unit of states: 2³⁰ to 2³¹ of them are the standard deviation of a
// step's noise.
func (p *iteratePlan) grid() {
	sd := math.Sqrt(2 * p.step)
	_, exp := math.Frexp(sd)
	p.unit = math.Ldexp(1, exp-room.GridBits-1)
	p.sd = sd / p.unit
}

// price is that of a release. curved is the part of hM that is the records'.
func (p *iteratePlan) price(f Facts, contraction, curved float64) (accountant.Event, error) {
	if err := checkNoise(p.clip, 1); err != nil {
		return accountant.Event{}, err
	}
	shift := p.step * p.clip * float64(f.RowsPerPerson)
	if f.Adjacency == accountant.Substitute {
		shift *= 2
	}
	d, n, sd := float64(p.subject.Dim), float64(f.Records), p.sd*p.unit
	rounding := p.step*n*p.clip*(math.Sqrt(d)+1)*0x1p-29 + // sums of gradients, and slopes themselves
		curved*math.Pow(d+2, 1.5)*0x1p-29*sd + // linear predictors
		math.Sqrt(d)*(0x1p-27*sd+0x1p-50*p.step*n*p.clip+p.unit) // states
	multiplier := sd / (shift*(1+room.RelativeSlack) + 4*rounding)
	// Rounded up towards 1: less contraction.
	contraction = min(1, contraction+0x1p-50)
	return accountant.GridGaussian{NoiseMultiplier: multiplier, Coordinates: p.subject.Dim, Steps: p.sd}.
		LastIterate(f.Adjacency, contraction, p.iterations)
}

// Event is the price of one release on records with the given facts. It charges nothing.
// Errors: a target that is not strongly convex and smooth; a step that is too long.
func (m LastIterate) Event(f Facts) (accountant.Event, error) {
	p, err := m.plan(f)
	return p.event, err
}

// Iterates is a prepaid grant of last iterates. It is not safe for concurrent use.
type Iterates struct {
	prepaid
	plan  iteratePlan
	pass  *room.VectorPass
	noise *noise.DiscreteGaussian
	sums  []int64
	state []int64 // in units
	theta []float64
}

func (m LastIterate) prepare(f Facts, set *record.Set) (accountant.Event, *Iterates, error) {
	p, err := m.plan(f)
	if err != nil {
		return accountant.Event{}, nil, err
	}
	normal, err := noise.NewDiscreteGaussian(p.sd)
	if err != nil {
		return accountant.Event{}, nil, err
	}
	return p.event, &Iterates{plan: p, noise: normal, sums: make([]int64, p.subject.Dim),
		state: make([]int64, p.subject.Dim), theta: make([]float64, p.subject.Dim),
		pass: room.NewVectorPass(p.subject.Subject, set, p.tau, room.ExactGrid(p.clip))}, nil
}

// Release sets dst to the last state of a chain from start, which is public. Errors: a start
// of the wrong length or that is not finite; ErrSpent; another release under way. After an error nothing has
// been released or used up.
func (o *Iterates) Release(dst, start []float64) error {
	if err := checkStates(o.plan.subject.Dim, start, start); err != nil {
		return err
	}
	if len(dst) != len(start) {
		return fmt.Errorf("curator: a destination of %d values for %d parameters", len(dst), len(start))
	}
	if err := o.room.Enter(); err != nil {
		return err
	}
	defer o.room.Leave()
	if err := o.room.Take(); err != nil {
		return err
	}
	for j, v := range start {
		o.state[j] = o.plan.round(v)
	}
	for range o.plan.iterations - 1 {
		o.drift()
		for j, k := range o.state {
			o.state[j] = within52(k + o.noise.Sample(o.room.Secret()))
		}
	}
	o.drift()
	o.room.Noisy(dst, o.state, o.noise, o.plan.unit, 1)
	clear(o.state)
	clear(o.theta)
	return nil
}

// drift moves the state along the gradient.
func (o *Iterates) drift() {
	p := &o.plan
	for j, k := range o.state {
		o.theta[j] = float64(k) * p.unit
	}
	o.pass.Sum(o.sums, o.theta, nil, true)
	for j, t := range o.theta {
		gradient := float64(o.sums[j])*o.pass.Grid.Step + float64(p.precision[j]*t)
		o.state[j] = p.round(t - float64(p.step*gradient))
	}
}

// round is a value in units.
func (p *iteratePlan) round(v float64) int64 {
	const most = 1 << stateBits
	return int64(math.RoundToEven(max(-most, min(most, v/p.unit))))
}

// within52 keeps a state where it is exact in float64.
func within52(k int64) int64 { return max(-1<<stateBits, min(1<<stateBits, k)) }
