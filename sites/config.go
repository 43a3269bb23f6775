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

// Looks is how often a site is asked.
const Looks = 2

const (
	// firstShare and momentShare are parts of ρ: what finds the point of the second look,
	// and what pays for curvatures.
	firstShare  = 0.15
	momentShare = 0.2
)

// Config is the model, and the noise of one site. It is public and chosen without
// looking at the records. Sites share Target and Cap. Their noises may differ.
type Config struct {
	// Target is the model under its log loss, of a family that surrogates.LinkOf knows.
	// Required.
	Target *targets.Regression
	// Cap bounds the loss's slope and curvature where nothing else does (targets.Cap).
	Cap targets.Cap
	// ScoreNoise and MomentNoise are the noise multipliers of curator.NoisyGradient and
	// curator.SecondMoment at each look. Afford fills them in.
	ScoreNoise, MomentNoise [Looks]float64
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
}

func (c Config) loss() (targets.ConvexLoss, error) {
	if c.Target == nil {
		return targets.ConvexLoss{}, errors.New("sites: Config.Target is not set; give the regression")
	}
	if surrogates.LinkOf(c.Target.Family()) == nil {
		return targets.ConvexLoss{}, fmt.Errorf("sites: the score likelihood of %s regression is not known; see "+
			"surrogates.LinkOf for those that are", c.Target.Family())
	}
	loss, err := c.Target.Convex(c.Cap)
	if err != nil {
		return loss, fmt.Errorf("sites: %w", err)
	}
	return loss, nil
}

// look is what the curator releases at a look.
func (c Config) look(n int, loss targets.ConvexLoss, f curator.Facts) (curator.NoisyGradient, curator.SecondMoment) {
	return curator.NoisyGradient{Target: c.Target, Clip: loss.MaxSlope() * f.Radius, NoiseMultiplier: c.ScoreNoise[n]},
		curator.SecondMoment{Loss: loss, NoiseMultiplier: c.MomentNoise[n]}
}

// Cost is the price of all looks at a site's records. It charges nothing. Errors: a
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
	return accountant.Compose(parts...)
}

// Afford fills in the noises, so that all looks at records with these facts cost at most
// (epsilon, delta). Noise that is given stays. Errors: those of Cost; an
// *accountant.UnreachableError where no noise is enough.
func Afford(c Config, f curator.Facts, epsilon, delta float64) (Config, error) {
	given := c
	set := func(scale float64) {
		rows := float64(max(1, f.RowsPerPerson))
		c = given
		for n, look := range [Looks]float64{firstShare, 1 - firstShare} {
			if given.ScoreNoise[n] == 0 {
				c.ScoreNoise[n] = scale * rows / math.Sqrt(look*(1-momentShare))
			}
			if given.MomentNoise[n] == 0 {
				c.MomentNoise[n] = scale * rows / math.Sqrt(look*momentShare)
			}
		}
	}
	most := curator.MostNoise * math.Sqrt(firstShare*momentShare) / float64(max(1, f.RowsPerPerson))
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
	t = Terms{Records: f.Records, Features: f.Features, Radius: f.Radius}
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
