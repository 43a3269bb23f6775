package anchors

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Aim is what anchored chains sample.
type Aim uint8

const (
	// Auto is Score or Remainder, whichever Afford predicts to be the better from
	// public facts: Remainder where the score keeps LeastKept of the information, and
	// features are few. Of counts it is Score, which knows that counts above the largest are it.
	Auto Aim = iota
	// Score is the posterior given the release alone, by its score likelihood: noise-aware
	// at every budget. Steps look at no record. Of Order 1 it is for softmax regressions.
	Score
	// Remainder is the anchored posterior: to first order noise-aware, its shape by
	// acceptance bits that see the remainder of the loss.
	Remainder
	// Perturbed is the posterior of which the released score and curvature are taken
	// for true: its shape is right and its place is shifted by the noise, which its
	// intervals do not contain.
	Perturbed
	// Sums is the posterior of a linear regression with normal errors given released
	// sums, noise-aware. Steps look at no record.
	Sums
)

// String is the aim's name.
func (a Aim) String() string {
	switch a {
	case Auto:
		return "auto"
	case Score:
		return "score"
	case Remainder:
		return "remainder"
	case Perturbed:
		return "perturbed"
	case Sums:
		return "sums"
	}
	return fmt.Sprintf("Aim(%d)", uint8(a))
}

// Bits reports whether the chains' steps look at records.
func (a Aim) Bits() bool { return a == Remainder || a == Perturbed }

// Law is the law of the noise of an anchor's score.
type Law uint8

const (
	// AnyLaw lets Afford decide, and is Normal without Afford.
	AnyLaw Law = iota
	// Normal noise.
	Normal
	// Spherical noise has density ∝ exp(−‖b‖/s), at a pure price. For Score, in few
	// dimensions.
	Spherical
)

// String is the law's name.
func (l Law) String() string {
	switch l {
	case AnyLaw:
		return "auto"
	case Normal:
		return "normal"
	case Spherical:
		return "spherical"
	}
	return fmt.Sprintf("Law(%d)", uint8(l))
}

// Config describes anchored chains. All of it is public and chosen without looking at the records.
// Fields marked Afford may be left zero for Afford to fill in.
type Config struct {
	// Target is the model: a *targets.Regression under its log loss, for Sums a
	// *targets.Linear with normal errors, or for Order 1 any targets.GradTarget. Required.
	Target targets.Target
	// Order is that of the polynomial that is released: 2 where the loss is convex in a
	// linear predictor, 1 for any target with gradients. Defaults to the highest that the
	// target allows.
	Order int
	// Lengths is, for Order 1, what gradients of records at theta are cut to, temperature left
	// out: about the longest, of a score, and a long one, of products. It is public, such as
	// lengths of simulated records, and the same whenever it is asked. A record whose
	// gradient at the anchor is cut has no remainder. Defaults to the target's certificate,
	// which bounds it in any case.
	Lengths func(theta []float64) targets.Lengths
	// Scales are, for Order 1, the square roots of parameters' curvatures over the products of
	// their gradients, cut, in expectation at theta: public like Lengths. They make curvatures
	// of released products. Defaults to 1 for all, which a log loss has where nothing is cut.
	Scales func(theta []float64) []float64
	// Aim is what is sampled. Afford replaces Auto by another.
	Aim Aim
	// Cap cuts the loss of a regression where that needs it. Score's likelihood allows for the cut,
	// and noise falls with it. There Slope defaults to ½, and for negative binomial counts to half
	// the root of the largest count, at least 1. Other defaults are targets.Cap's.
	Cap targets.Cap
	// Response bounds |y| for Sums, beyond which responses are cut. Required there.
	Response float64
	// Cut is the public range to which responses were moved before the records were sealed,
	// for Sums: what that did is then predicted. The zero value is for none.
	Cut [2]float64
	// Columns is what a schema says of the features; nil for nothing.
	Columns []surrogates.Column
	// RowNorm is about the norm of a typical row, public. Predictions rest on it. Defaults
	// to the Radius of the sealed records, and is at most that.
	RowNorm float64
	// Temperature τ in (0, 1] multiplies the loss. Defaults to 1.
	Temperature float64
	// Chains is the number of chains. Defaults to 4.
	Chains int
	// Iterations is the number of steps of each chain. Required.
	Iterations int64
	// LeastESS is what draws of aims without bits go on for, at most eight times the
	// Iterations. Defaults to 400.
	LeastESS float64
	// Ridge and OptimumNoise are those of curator.Optimum. Of Order 1 OptimumNoise is the
	// noise multiplier of the released gradient, and there is no Ridge. Afford.
	Ridge, OptimumNoise float64
	// Law is that of the optimum's noise. Afford.
	Law Law
	// Fit says whether columns are fitted first, for Sums residuals too. Afford.
	Fit Fit
	// MomentNoise is the noise multiplier of curator.SecondMoment, which Order 1 does not need.
	// Afford.
	MomentNoise float64
	// Clip bounds a record's part of an acceptance's log-odds. Afford; for aims with
	// bits.
	Clip float64
	// Rate is the share of the records that a step reads, of which it decides exactly
	// (curator.ThinnedBit). 0 is all of them. Afford sets it for many records.
	Rate float64
	// Variance, when positive, decides by the penalty test with noise of that variance
	// (curator.Test.Penalty) in place of Barker's: it accepts up to twice as often, and its bit
	// costs 4/Variance times as much or less. A Rate then draws Poisson batches, whose own
	// variance the test absorbs. Defaults to 0.
	Variance float64

	view *curator.View // of fitted columns, once the configuration is that in it
}

// tail is the degrees of freedom of proposals from the surrogate.
const tail = 20

func (c Config) temperature() float64 {
	if c.Temperature == 0 {
		return 1
	}
	return c.Temperature
}

func (c Config) chains() int {
	if c.Chains == 0 {
		return 4
	}
	return c.Chains
}

// Fits reports why a target cannot be anchored, nil if it can. What limits its loss, or
// bounds its response, is Config's.
func Fits(t targets.Target) error {
	_, err := fitting(t).model()
	return err
}

// Order returns the default Order of a target that Fits accepts.
func Order(t targets.Target) int {
	if m, err := fitting(t).model(); err == nil && m.first != nil {
		return 1
	}
	return 2
}

func fitting(t targets.Target) Config {
	return Config{Target: t, Cap: targets.Cap{Count: 1}, Response: 1, Iterations: 1}
}

// model is what the configuration's target is, checked.
type model struct {
	first      targets.GradTarget // for order 1
	regression *targets.Regression
	linear     *targets.Linear
	loss       targets.ConvexLoss
	link       surrogates.Link
	centred    surrogates.Centred // link of scores at nearer anchors, or nil
}

func (c Config) model() (model, error) {
	var m model
	err := c.ofOrder2(&m)
	gradients, ok := c.Target.(targets.GradTarget)
	switch {
	case c.Target == nil:
		return m, errors.New("anchors: Config.Target is not set; give the chain's target")
	case c.Order < 0 || c.Order > 2:
		return m, fmt.Errorf("anchors: Config.Order is %d; use 1 or 2, or 0 for the highest that the target allows", c.Order)
	case c.Order != 1 && err == nil:
		return m, c.check(m)
	case c.Order == 2 || c.Aim == Score && !ofClasses(gradients) || c.Aim == Sums:
		return m, err
	case !ok:
		return m, fmt.Errorf("anchors: a %T has no gradients and cannot be anchored; give a targets.GradTarget", c.Target)
	}
	most := mostFirst
	if ofClasses(gradients) {
		most = mostOfClasses
	}
	if d := gradients.Dim(); d > most {
		return m, fmt.Errorf("anchors: %d parameters; order 1 takes %d at most of this model", d, most)
	}
	m = model{first: gradients}
	return m, c.check(m)
}

// ofOrder2 fills in what an anchor with a curvature, or released sums, take.
func (c Config) ofOrder2(m *model) (err error) {
	switch t := c.Target.(type) {
	case *targets.Regression:
		m.regression = t
		if m.loss, err = t.Convex(c.limits(t)); err != nil {
			return fmt.Errorf("anchors: %w", err)
		}
		m.link = surrogates.LinkOf(t, targets.Cap{Slope: m.loss.MaxSlope(), Count: m.loss.Count()})
		m.centred, _ = surrogates.Centre(m.link)
	case *targets.Linear:
		m.linear = t
		if !t.Normal() {
			return errors.New("anchors: released sums say all of a linear regression under the log loss with normal errors only")
		}
	default:
		return fmt.Errorf("anchors: a %T has no curvature to release; use order 1, with the aim Remainder or Perturbed", t)
	}
	return nil
}

// limits is Cap with its default for Score: of Poisson counts the root, cut at about its
// standard deviation. Slopes of other counts have one of at most that at the largest mean, and cutting
// at half a standard deviation costs a fifth of the information.
func (c Config) limits(t *targets.Regression) targets.Cap {
	switch {
	case c.Aim != Score || c.Cap.Slope != 0:
	case t.Family() != "negative-binomial":
		c.Cap.Slope = 0.5
	default:
		c.Cap.Slope = max(1, math.Sqrt(c.Cap.Count/(1+c.Cap.Count/t.Dispersion()))/2)
	}
	return c.Cap
}

func (c Config) check(m model) error {
	switch {
	case c.Aim > Sums:
		return fmt.Errorf("anchors: Config.Aim is %v; use Score, Remainder, Perturbed or Sums, or Auto with Afford", c.Aim)
	case c.Aim == Sums && m.linear == nil, c.Aim != Sums && c.Aim != Auto && m.linear != nil:
		return fmt.Errorf("anchors: the aim %v does not fit a %T; Sums is for *targets.Linear, other aims are for "+
			"*targets.Regression", c.Aim, c.Target)
	case c.Law > Spherical || c.Law == Spherical && c.Aim != Score && c.Aim != Auto:
		return fmt.Errorf("anchors: Config.Law is %v with the aim %v; use Normal, or Spherical with Score", c.Law, c.Aim)
	case c.Fit > Fitted || c.Fit == Fitted && c.Aim != Auto && (!c.fittable(m) || c.Law == Spherical):
		return fmt.Errorf("anchors: Config.Fit is %v with the aim %v; columns are fitted for Sums, and for Score of "+
			"standardized coefficients, of numbers beside an intercept, with Normal noise", c.Fit, c.Aim)
	case m.linear != nil && !(c.Response > 0 && c.Response <= 1e100):
		return fmt.Errorf("anchors: Config.Response is %v; give a public bound on |y|, at most 1e100", c.Response)
	case !(c.temperature() > 0 && c.temperature() <= 1) || m.linear != nil && c.temperature() != 1:
		return fmt.Errorf("anchors: Config.Temperature is %v; it must be in (0, 1], and 1 for Sums", c.Temperature)
	case !(c.LeastESS >= 0):
		return fmt.Errorf("anchors: Config.LeastESS is %v; it must be positive, or 0 for 400", c.LeastESS)
	case !(c.Variance >= 0) || c.Variance > 0 && c.Aim != Auto && !c.Aim.Bits():
		return fmt.Errorf("anchors: Config.Variance is %v with the aim %v; it must be positive, with Remainder or "+
			"Perturbed, or 0 for Barker's test", c.Variance, c.Aim)
	case c.Iterations < 1 || c.Chains < 0:
		return fmt.Errorf("anchors: %d chains of %d steps; at least 1 of each is needed", c.chains(), c.Iterations)
	}
	return nil
}

// optimum and moment are the curator's mechanisms.
func (c Config) optimum(m model) curator.Optimum {
	o := curator.Optimum{Loss: m.loss, Temperature: c.Temperature, Ridge: c.Ridge, NoiseMultiplier: c.OptimumNoise,
		Spherical: c.Law == Spherical, View: c.view}
	if c.Fit == Fitted {
		o.Reach = fitReach
	}
	return o
}

func (c Config) moment(m model, f curator.Facts) curator.SecondMoment {
	s := curator.SecondMoment{NoiseMultiplier: c.MomentNoise, View: c.view}
	switch {
	case c.Aim == Sums:
		if s.Response = c.Response; c.view != nil {
			s.Response = 1 // the largest residual that is seen
		}
	case c.Aim.Bits(): // plain second moments say of which law features are, which Score needs
		s.Loss = m.loss
	}
	return s
}

// bit is the look that a step takes at the records, and thinned the one that replaces it
// where exact minibatches are read.
func (c Config) bit(remainder *targets.Remainder) curator.AcceptanceBit {
	b := curator.AcceptanceBit{Target: remainder, Temperature: c.Temperature, Clip: c.Clip}
	if c.Variance > 0 {
		b.Test = curator.Test{Penalty: c.Variance}
		if c.Rate > 0 {
			b.Batch = curator.Batch{Rate: c.Rate}
		}
	}
	return b
}

func (c Config) thinned(remainder *targets.Remainder) (b curator.ThinnedBit, thinned bool) {
	return curator.ThinnedBit{Target: remainder, Temperature: c.Temperature, Clip: c.Clip, Rate: c.Rate},
		c.Rate > 0 && c.Variance == 0
}

// Cost is the price of the anchor and of all chains on records with the given facts. It
// charges nothing. Errors: settings that are missing or out of range; a target or
// facts that cannot be anchored.
func Cost(c Config, f curator.Facts) (accountant.Event, error) {
	anchor, err := AnchorCost(c, f)
	if err != nil {
		return accountant.Event{}, err
	}
	step, err := StepCost(c, f)
	if err != nil {
		return accountant.Event{}, err
	}
	steps, err := step.Times(c.Iterations * int64(c.chains()))
	if err != nil {
		return accountant.Event{}, err
	}
	return accountant.Compose(anchor, steps)
}

// AnchorCost is the price of the anchor alone. Errors are those of Cost.
func AnchorCost(c Config, f curator.Facts) (accountant.Event, error) {
	m, err := c.model()
	if err != nil {
		return accountant.Event{}, err
	}
	if m.first != nil {
		return c.firstCost(m, f)
	}
	c = c.inView()
	var all []mechanism
	if c.near(m) {
		for i := range nearLooks {
			all = append(all, c.look(m, f, i))
		}
	}
	if c.Fit == Fitted {
		all = append(all, c.kindOfFit().mechanisms(c, m, f)...)
	}
	if all = append(all, c.moment(m, f)); c.Aim != Sums {
		all = append(all, c.optimum(m))
	}
	events, err := prices(f, all...)
	if err != nil {
		return accountant.Event{}, err
	}
	return accountant.Compose(events...)
}

// StepCost is the price of one step of one chain: nothing for aims without bits.
func StepCost(c Config, f curator.Facts) (accountant.Event, error) {
	m, err := c.model()
	if err != nil {
		return accountant.Event{}, err
	}
	if c.Aim.Bits() {
		return c.step(m, f)
	}
	free, err := accountant.Pure(f.Adjacency, 0)
	if err != nil {
		return accountant.Event{}, err
	}
	return free.Times(0)
}

// step is the price of one step of a chain with bits.
func (c Config) step(m model, f curator.Facts) (accountant.Event, error) {
	if !(c.Clip > 0) || math.IsInf(c.Clip, 1) {
		return accountant.Event{},
			fmt.Errorf("anchors: Config.Clip is %v; it must be positive and finite, as Afford chooses it", c.Clip)
	}
	remainder, err := newRemainder(m)
	if err != nil {
		return accountant.Event{}, err
	}
	if b, thinned := c.thinned(remainder); thinned {
		return b.Event(f)
	}
	return c.bit(remainder).Event(f)
}

func newRemainder(m model) (*targets.Remainder, error) {
	if m.first != nil {
		return targets.New(targets.RemainderConfig{Target: m.first, Order: 1})
	}
	return targets.New(targets.RemainderConfig{Target: m.regression, Order: 2, Loss: m.loss})
}
