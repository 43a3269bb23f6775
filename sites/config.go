package sites

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Looks is how many looks a site answers, each once.
const Looks = 2

const (
	// Parts of ρ: what finds the point of the second look, what pays for curvatures, and
	// what pays for steps where there are any.
	firstShare  = 0.15
	momentShare = 0.2
	stepShare   = 0.1
)

// Config is the model, and the noise of one site. It is public and chosen without
// looking at the records. Sites share Target and Cap. Their noises may differ.
type Config struct {
	// Target is the model under its log loss. Required.
	Target *targets.Regression
	// Cap bounds the loss's slope and curvature where nothing else does (targets.Cap).
	Cap targets.Cap
	// ScoreNoise and MomentNoise are the noise multipliers of curator.NoisyGradient and
	// curator.SecondMoment at each look. Afford fills them in.
	ScoreNoise, MomentNoise [Looks]float64
	// Chains and Steps are how many chains of how many steps the site answers, for Walk.
	// Default to 0: Fit needs none.
	Chains int
	Steps  int64
	// StepNoise is the noise multiplier of curator.NoisyRatio at each step. Afford fills it
	// in.
	StepNoise float64
}

// Terms are what a site says of itself: public, and free.
type Terms struct {
	// Records is the number of rows, Features that of columns, Radius the bound on the
	// norm of a row.
	Records  int64
	Features int
	Radius   float64
	// ScoreSD and MomentSD are the standard deviations of the noise in a coordinate of the
	// score and on the diagonal of the curvature, at each look.
	ScoreSD, MomentSD [Looks]float64
	// Chains and Steps are those of Config, StepSD the standard deviation of the noise of a
	// step's sum over the clip of its records.
	Chains int
	Steps  int64
	StepSD float64
}

func (c Config) loss() (targets.ConvexLoss, error) {
	if c.Chains < 0 || c.Steps < 0 || (c.Chains > 0) != (c.Steps > 0) {
		return targets.ConvexLoss{},
			fmt.Errorf("sites: %d chains of %d steps; give at least 1 of each, or 0 of both for none",
				c.Chains, c.Steps)
	}
	if c.Target == nil {
		return targets.ConvexLoss{}, errors.New("sites: Config.Target is not set; give the regression")
	}
	limits := c.Cap
	if f := c.Target.Family(); f == "logistic" || f == "poisson" && limits.Slope < 1 || limits.Slope == 0.5 {
		limits.Slope = 0 // released gradients are those of the log loss
	}
	loss, err := c.Target.Convex(limits)
	if err != nil {
		return loss, fmt.Errorf("sites: %w", err)
	}
	return loss, nil
}

// linkOf is the model of the response. A released gradient is cut by its length, which few
// are: slopes count as not cut.
func linkOf(t *targets.Regression) surrogates.Link {
	return surrogates.LinkOf(t, targets.Cap{Slope: math.Inf(1), Count: math.Inf(1)})
}

// look is what the curator releases at a look.
func (c Config) look(n int, loss targets.ConvexLoss, f curator.Facts) (curator.NoisyGradient, curator.SecondMoment) {
	return curator.NoisyGradient{Target: c.Target, Clip: loss.MaxSlope() * f.Radius, NoiseMultiplier: c.ScoreNoise[n]},
		curator.SecondMoment{Loss: loss, NoiseMultiplier: c.MomentNoise[n]}
}

// step is what the curator releases at a step: the noise is in proportion to the clip that
// a move is given, so that the price of any clip is that of 1.
func (c Config) step(remainder *targets.Remainder) curator.NoisyRatio {
	return curator.NoisyRatio{Target: remainder, Clip: 1, NoiseMultiplier: c.StepNoise}
}

func (c Config) remainder(loss targets.ConvexLoss) (*targets.Remainder, error) {
	return targets.New(targets.RemainderConfig{Target: c.Target, Order: 2, Loss: loss})
}

// stepsCost is the price of all steps, of which there is at least one.
func (c Config) stepsCost(loss targets.ConvexLoss, f curator.Facts) (accountant.Event, error) {
	remainder, err := c.remainder(loss)
	if err != nil {
		return accountant.Event{}, err
	}
	step, err := c.step(remainder).Event(f)
	if err != nil {
		return accountant.Event{}, err
	}
	return step.Times(c.Steps * int64(c.Chains))
}

// Cost is the price of all looks and steps at a site's records. It charges nothing. Errors: a
// target that does not fit; facts without a Radius; noise that is not positive.
func Cost(c Config, f curator.Facts) (accountant.Event, error) {
	loss, err := c.loss()
	if err != nil {
		return accountant.Event{}, err
	}
	if f.Radius == 0 {
		return accountant.Event{}, errors.New("sites: the records have no Radius, which bounds their gradients and " +
			"curvatures; seal them with one")
	}
	var parts []accountant.Event
	for n := range Looks {
		score, moment := c.look(n, loss, f)
		s, err1 := score.Event(f)
		m, err2 := moment.Event(f)
		if err := errors.Join(err1, err2); err != nil {
			return accountant.Event{}, err
		}
		parts = append(parts, s, m)
	}
	if c.Steps > 0 {
		steps, err := c.stepsCost(loss, f)
		if err != nil {
			return accountant.Event{}, err
		}
		parts = append(parts, steps)
	}
	return accountant.Compose(parts...)
}

// Afford fills in the noises, so that all looks and steps at records with these facts cost
// at most (epsilon, delta). Of ρ a tenth is for the steps, if any: more where so many need
// it. Noise that is given stays. Errors: those of Cost; an
// *accountant.UnreachableError where no noise is enough.
func Afford(c Config, f curator.Facts, epsilon, delta float64) (Config, error) {
	given := c
	set := func(scale float64) {
		rows := float64(max(1, f.RowsPerPerson))
		c = given
		looks := 1.0
		if c.Steps > 0 {
			looks = 1 - stepShare
			if c.StepNoise == 0 {
				c.StepNoise = min(curator.MostNoise, scale*rows*math.Sqrt(float64(c.Steps)*float64(c.Chains)/stepShare))
			}
		}
		for n, look := range [Looks]float64{firstShare, 1 - firstShare} {
			if given.ScoreNoise[n] == 0 {
				c.ScoreNoise[n] = scale * rows / math.Sqrt(looks*look*(1-momentShare))
			}
			if given.MomentNoise[n] == 0 {
				c.MomentNoise[n] = scale * rows / math.Sqrt(looks*look*momentShare)
			}
		}
	}
	most := curator.MostNoise * math.Sqrt((1-stepShare)*firstShare*momentShare) / float64(max(1, f.RowsPerPerson))
	scale, _, err := accountant.SolveParameter(func(x float64) (accountant.Event, error) {
		set(x)
		return Cost(c, f)
	}, 1e-4*most, most, epsilon, delta, false)
	set(scale)
	return c, err
}

// terms are what a site with these facts tells the others.
func (c Config) terms(f curator.Facts) (t Terms, err error) {
	loss, err := c.loss()
	if err != nil {
		return t, err
	}
	t = Terms{Records: f.Records, Features: f.Features, Radius: f.Radius, Chains: c.Chains, Steps: c.Steps,
		StepSD: 2 * c.StepNoise}
	for n := range Looks {
		score, moment := c.look(n, loss, f)
		var err1, err2 error
		t.ScoreSD[n], err1 = score.NoiseSD(f)
		t.MomentSD[n], err2 = moment.NoiseSD(f)
		if err := errors.Join(err1, err2); err != nil {
			return t, err
		}
	}
	return t, nil
}
