package curator

// Proof: docs/proofs/optimum.md.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/convex"
	"github.com/dpmcmc/dpmcmc/internal/core/noise"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/internal/erm"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Optimum is the mechanism that releases the minimum over θ of
//
//	τ·Σ ℓ(x·θ, y) + (Ridge/2)·‖θ‖² + b·θ, b ~ N(0, σ²I),
//
// or b of density ∝ exp(−‖b‖/σ), computed to a certified gradient norm, with Gaussian
// noise that hides how far from the exact minimum it is: objective perturbation with an
// approximate minimum (Iyengar et al. 2019; docs/proofs/optimum.md). The loss is the
// library's own, because the price rests on its convexity and on the bounds of its slope
// and curvature. Records must have a response and be sealed with a Radius, R.
//
// At the release θ₀ the optimality condition reads −Ridge·θ₀ = τΣ∇ℓ(θ₀) + b, up to
// what ScoreSD says: the noisy gradient there is known at no further cost.
type Optimum struct {
	// Loss is the loss of a record, in the library's table. Defaults to the logistic
	// log loss.
	Loss targets.ConvexLoss
	// Temperature τ in (0, 1] multiplies the loss. Defaults to 1.
	Temperature float64
	// Ridge is Λ. Required, positive; public. A small one costs privacy. For one row a person it
	// hardly matters from Λ = 2·τR²/ε on with a Tied loss, as the logistic one is, and from
	// 10·τR²C/ε on with others of curvature at most C.
	Ridge float64
	// NoiseMultiplier is σ over 2τRL, the sensitivity of the gradients' sum under
	// substitution of one row, L being the loss's largest slope. Required.
	NoiseMultiplier float64
	// Spherical gives b the density ∝ exp(−‖b‖/σ) in place of the normal one, σ as above
	// (Chaudhuri, Monteleoni, Sarwate 2011): a pure price, which in few dimensions buys less noise.
	// With a Tied loss the Ridge does not matter to the price from 2·τR²·NoiseMultiplier on.
	Spherical bool
	// Reach bounds the norm of the centre that ReleaseAbout takes. Defaults to 0.
	Reach float64
	// View, if not nil, is how rows are seen; R is then its radius.
	View *View
}

// The parts of the squared noise budget that hide the distance from the exact minimum.
const (
	outputShare    = 1e-3
	sphericalShare = 1e-5
)

// sphericalCut is where the normals of a spherical b are cut; one exceeds it with
// probability below 10⁻⁵⁶.
const sphericalCut = 16

func (m Optimum) temperature() float64 {
	return cmp.Or(m.Temperature, 1)
}

// linear bounds the norm of the linear term.
func (m Optimum) linear(f Facts) float64 {
	return m.noisy(f) + m.Ridge*m.Reach*(1+room.RelativeSlack)
}

// noisy bounds the norm of b. One of density ∝ exp(−‖b‖/σ) exceeds it with probability below 10⁻³⁰,
// and is shortened to it.
func (m Optimum) noisy(f Facts) float64 {
	if m.Spherical {
		return m.sd(f) * float64(2*f.Features+100)
	}
	return noise.MostNormal * m.sd(f) * math.Sqrt(float64(f.Features)) * (1 + room.RelativeSlack)
}

// sd is σ.
func (m Optimum) sd(f Facts) float64 {
	return 2 * m.NoiseMultiplier * m.temperature() * f.Radius * m.loss().MaxSlope()
}

func (m Optimum) loss() convex.Loss {
	if !m.Loss.Valid() {
		return convex.Logistic()
	}
	return m.Loss
}

// shape is the objective that is minimised.
func (m Optimum) shape(f Facts) erm.Shape {
	return erm.Shape{
		Loss: m.loss(), Records: int(f.Records), Features: f.Features, Radius: f.Radius, Weight: m.temperature(),
		Ridge:  m.Ridge,
		Linear: m.linear(f),
	}
}

// distance bounds how far the computed minimum is from that for a continuous b: the
// certified gradient, and the grid of 2⁻⁴⁰ of the normals in b and its rounding.
func (m Optimum) distance(f Facts) float64 {
	d := float64(f.Features)
	grid := m.sd(f) * math.Sqrt(d) * 0x1p-39
	if m.Spherical {
		grid = m.sd(f) * (d + 1) * (d + 1) * 0x1p-35
	}
	grid += 0x1p-52 * m.Ridge * m.Reach // and the rounding of the sum with what a centre adds
	return (m.shape(f).Distance() + grid/m.Ridge) * (1 + room.RelativeSlack)
}

// mostFeatures is what the grid of b is priced for.
const mostFeatures = 1 << 12

// mostCondition and mostCurvature bound the objectives that are minimised, to where
// Newton's method does not fail: by the condition number, and by τR² over the ridge,
// whose price is beyond use long before.
const (
	mostCondition = 1e8
	mostCurvature = 1e3
)

// leastRidge is the smallest ridge within both bounds.
func (m Optimum) leastRidge(f Facts) float64 {
	square := m.temperature() * f.Radius * f.Radius
	return max(square/mostCurvature, float64(f.Records)*square*m.loss().MaxCurvature()/(mostCondition-1)) *
		(1 + room.RelativeSlack)
}

func (m Optimum) check(f Facts) error {
	if err := errors.Join(f.check(), checkTemperature(m.temperature()), m.View.check(f)); err != nil {
		return err
	}
	f = m.View.seen(f)
	switch {
	case !f.Response:
		return errors.New("curator: Optimum needs records with a response")
	case f.Features < 1 || f.Features > mostFeatures:
		return fmt.Errorf("curator: there are %d features; an Optimum needs between 1 and %d", f.Features, mostFeatures)
	case f.Radius == 0:
		return errors.New("curator: Optimum needs records sealed with a Radius, which bounds their gradients and curvatures")
	case !(m.Reach >= 0) || math.IsInf(m.Reach, 1):
		return fmt.Errorf("curator: the reach is %v; it must be at least 0 and finite", m.Reach)
	case !(m.Ridge > 0) || math.IsInf(m.Ridge, 1):
		return fmt.Errorf("curator: the ridge is %v; it must be positive and finite", m.Ridge)
	}
	if err := checkNoise(f.Radius, m.NoiseMultiplier); err != nil {
		return err
	}
	if c := m.shape(f).Condition(); !(c <= mostCondition) || m.temperature()*f.Radius*f.Radius > mostCurvature*m.Ridge {
		return fmt.Errorf("curator: a ridge of %v is too small beside records of radius %v: it costs more privacy than it "+
			"is worth, and the minimum is hard to find; use at least %.3g",
			m.Ridge, f.Radius, m.leastRidge(f))
	}
	if d := m.distance(f); !(d >= 1e-200 && d <= 1e200) {
		return fmt.Errorf("curator: a ridge of %v with a radius of %v is beyond floating point; scale the records",
			m.Ridge, f.Radius)
	}
	return nil
}

// Event is the price of one release on records with the given facts. It charges
// nothing. Errors: settings out of range; records without a response or a Radius.
func (m Optimum) Event(f Facts) (accountant.Event, error) {
	if err := m.check(f); err != nil {
		return accountant.Event{}, err
	}
	f = m.View.seen(f)
	rows := float64(f.RowsPerPerson)
	multiplier := m.NoiseMultiplier / (rows * (1 + room.RelativeSlack))
	if f.Adjacency == accountant.AddRemove {
		multiplier *= 2
	}
	curvature := rows * m.temperature() * f.Radius * f.Radius / m.Ridge * (1 + room.RelativeSlack)
	logistic := m.loss().Tied()
	if !logistic {
		curvature *= m.loss().MaxCurvature()
	}
	price := accountant.Perturbation{NoiseMultiplier: multiplier, Curvature: curvature, Logistic: logistic,
		Coordinates: f.Features}.Event
	if m.Spherical {
		price = m.pure(f, multiplier, curvature)
	}
	exact, err := price(f.Adjacency)
	if err != nil {
		return accountant.Event{}, err
	}
	// The distance from the minimum may point anywhere whatever the adjacency.
	hidden, err := accountant.GridGaussian{NoiseMultiplier: m.outputMultiplier() / (1 + room.RelativeSlack),
		Coordinates: f.Features, Steps: 1 << outputBits}.Event(f.Adjacency)
	if err != nil {
		return accountant.Event{}, err
	}
	return accountant.Compose(exact, hidden)
}

// pure is the price with b of density ∝ exp(−‖b‖/σ), of a noise multiplier and a
// curvature as the other prices have them (docs/proofs/optimum.md, "A pure price").
func (m Optimum) pure(f Facts, multiplier, curvature float64) func(accountant.Adjacency) (accountant.Event, error) {
	return func(adj accountant.Adjacency) (accountant.Event, error) {
		sides := 1.0 // data sets of a pair that the person is in
		if adj == accountant.Substitute {
			sides = 2
		}
		linear := 1 / (sides * multiplier) // a person's part of ‖b‖/σ in either data set
		folded := linear + curvature
		if m.loss().Tied() {
			folded = linear // the largest slope has no curvature
			if curvature > linear {
				folded = (linear + curvature) * (linear + curvature) / (4 * curvature)
			}
		}
		epsilon := (folded + (sides-1)*linear) * (1 + room.RelativeSlack)
		return accountant.Approximate(adj, epsilon, min(0.5, (1+math.Exp(min(epsilon, 500)))*sphericalDeparture(f.Features)))
	}
}

// sphericalDeparture bounds the total variation between the b that is drawn and the
// rounded continuous one: by its normals, and by the cut of its norm.
func sphericalDeparture(features int) float64 {
	return float64(2*features+1)*0x1p-80 + 1e-30
}

// outputMultiplier is the noise on the released point over twice the distance.
func (m Optimum) outputMultiplier() float64 {
	if m.Spherical {
		return m.NoiseMultiplier / math.Sqrt(sphericalShare)
	}
	return m.NoiseMultiplier / math.Sqrt(outputShare)
}

// OutputSD is the standard deviation, in each coordinate, of the noise added to the
// computed minimum: public, free, and small beside what b does. Errors are those
// of Event.
func (m Optimum) OutputSD(f Facts) (float64, error) {
	if err := m.check(f); err != nil {
		return 0, err
	}
	return 2 * m.distance(m.View.seen(f)) * m.outputMultiplier(), nil
}

// ScoreSD is the standard deviation of the noise in each coordinate of −Ridge·θ₀ as
// a release of τΣ∇ℓ(θ₀), but for the share of OutputSD, which the curvature at θ₀
// multiplies: public, and free. Errors are those of Event.
func (m Optimum) ScoreSD(f Facts) (float64, error) {
	if err := m.check(f); err != nil {
		return 0, err
	}
	f = m.View.seen(f)
	if m.Spherical {
		return m.sd(f) * math.Sqrt(float64(f.Features)+1), nil
	}
	return m.sd(f), nil
}

// Optima is a prepaid grant of private optima. It is not safe for concurrent use.
type Optima struct {
	prepaid
	set       source
	view      *View
	objective erm.Objective
	sd        float64
	spherical bool
	ridge     float64
	reach     float64
	longest   float64 // b may be
	grid      float64 // on which the release lies
	noise     *noise.DiscreteGaussian
}

// outputBits is how many grid steps the noise on the released point has, at least.
const outputBits = 30

func (m Optimum) prepare(f Facts, set *record.Set) (accountant.Event, *Optima, error) {
	m.View = m.View.granted(false)
	event, err := m.Event(f)
	if err != nil {
		return accountant.Event{}, nil, err
	}
	g, err := newOptima(m, f, set)
	return event, g, err
}

// newOptima builds what releases optima over set, before anything is charged. The
// grid is so much finer than the noise that rounding to it, half a step in each
// coordinate of either data set's minimum, is inside room.RelativeSlack.
func newOptima(m Optimum, f Facts, set *record.Set) (*Optima, error) {
	sd, err := m.OutputSD(f)
	if err != nil {
		return nil, err
	}
	f = m.View.seen(f)
	seen := m.View.over(set)
	// Rounding moves the difference of two minima by √d steps at most.
	_, exp := math.Frexp(sd)
	steps := math.Ldexp(sd, outputBits-exp+1) + math.Sqrt(float64(f.Features))*m.outputMultiplier()
	normal, err := noise.NewDiscreteGaussian(steps)
	if err != nil {
		return nil, err
	}
	return &Optima{
		set: seen, view: m.View,
		objective: erm.Objective{Shape: m.shape(f), Rows: seen.Block, B: make([]float64, f.Features)},
		sd:        m.sd(f), spherical: m.Spherical, ridge: m.Ridge, reach: m.Reach, longest: m.noisy(f),
		grid: math.Ldexp(1, exp-1-outputBits), noise: normal,
	}, nil
}

// Release sets dst to a private optimum; dst is what is released. Errors: a dst
// that has not one value for each feature; ErrSpent; another release under way. After an error nothing
// has been released or used up.
func (o *Optima) Release(dst []float64) error { return o.ReleaseContext(context.Background(), dst) }

// ReleaseContext is Release, and gives up when ctx is cancelled, with ctx's error: then
// nothing has been released, and one release is used up. How long a minimum takes
// depends on the records, so whether it was reached in time is not to be published.
func (o *Optima) ReleaseContext(ctx context.Context, dst []float64) error {
	return o.ReleaseAbout(ctx, dst, make([]float64, o.set.Features()))
}

// ReleaseAbout is ReleaseContext with the ridge (Ridge/2)·‖θ − centre‖², for a public centre such as
// an optimum released before. At the release −Ridge·(θ₀ − centre) is then the score. Errors, with
// nothing used up: a centre that has not one value for each feature, or is longer than Reach.
func (o *Optima) ReleaseAbout(ctx context.Context, dst, centre []float64) error {
	if len(centre) != o.set.Features() || !(record.Norm(centre) <= o.reach) {
		return fmt.Errorf("curator: a ridge about %v; give one value for each of %d features, no longer than a Reach of %v",
			centre, o.set.Features(), o.reach)
	}
	if len(dst) != o.set.Features() {
		return fmt.Errorf("curator: an optimum of %d values was asked for; the records have %d features", len(dst),
			o.set.Features())
	}
	if err := o.room.Enter(); err != nil {
		return err
	}
	defer o.room.Leave()
	if err := o.view.aim(o.set); err != nil {
		return err
	}
	if err := o.room.Take(); err != nil {
		return err
	}
	o.draw()
	for j, c := range centre {
		o.objective.B[j] -= o.ridge * c
	}
	theta, err := o.objective.Minimise(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		panic("curator: b is within its bound and yet refused: " + err.Error())
	}
	for j, t := range theta {
		dst[j] = (math.RoundToEven(t/o.grid) + float64(o.noise.Sample(o.room.Secret()))) * o.grid
	}
	o.room.Publish(dst)
	return nil
}

// draw sets the linear term. A normal one times the length of d + 1 further normals has
// density ∝ exp(−‖b‖/σ).
func (o *Optima) draw() {
	secret := o.room.Secret()
	if !o.spherical {
		for j := range o.objective.B {
			o.objective.B[j] = o.sd * noise.StandardNormal(secret)
		}
		return
	}
	normal := func() float64 { return max(-sphericalCut, min(sphericalCut, noise.StandardNormal(secret))) }
	square := 0.0
	for range len(o.objective.B) + 1 {
		z := normal()
		square += z * z
	}
	norm := 0.0
	for j := range o.objective.B {
		o.objective.B[j] = o.sd * math.Sqrt(square) * normal()
		norm = math.Hypot(norm, o.objective.B[j])
	}
	if most := o.longest * (1 - room.RelativeSlack); norm > most {
		for j := range o.objective.B {
			o.objective.B[j] *= most / norm
		}
	}
}
