package anchors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dpmcmc/dpmcmc/surrogates"
)

// Release is what was released before the first step, and what it says to first order.
type Release struct {
	// Statistics are the score and the second moments at the anchor, for aims other
	// than Sums.
	Statistics surrogates.Statistics
	// Earlier are scores at anchors before that of Statistics, for Score of counts.
	Earlier []surrogates.Look
	// Sums are the second moments of extended rows, for Sums, with responses in the unit of
	// curator.SecondMoment.
	Sums surrogates.Sums
	// Linear holds the draws of Sums against the prior.
	Linear surrogates.LinearCheck
	// Cut is what Config.Cut is predicted to have done to the draws of Sums.
	Cut surrogates.LinearCut
	// Residuals is what the largest residual that is seen is predicted to have done to them, of fitted
	// columns.
	Residuals surrogates.LinearCut
	// Light is what rows that weigh less may do to them, of fitted columns.
	Light surrogates.LinearLight
	// Kept is the mean share of the information of the data that survived the noise of
	// the score, by the released curvature, for aims with bits; 0 for others.
	Kept float64
	// Prior holds the posterior given the release against wider priors, for Score and
	// Remainder.
	Prior surrogates.PriorCheck
	// Apart is how far the first-order approximation that Remainder rests on is from that
	// posterior, in its standard deviations, for the coefficient where it is farthest.
	Apart float64
	// Tails is by how many standard deviations a coefficient would move, at most, if features
	// had longer tails than a normal law with their second moments, for Score.
	Tails float64
	// Varied is by how many it would move if counts varied more than the model says
	// (surrogates.Score.Varied).
	Varied float64
	// Left is what rows that are left out may do to a score, of fitted columns.
	Left LeftOut
	// Curved reports, of fitted columns of labels, that coefficients depend on the law of the features, of which
	// no release says more than second moments: see surrogates.Score.Curved.
	Curved bool
	// Hidden is, of order 1, the number of directions whose curvature its noise hides.
	Hidden int
	// Bound are, of order 1, the parameters that the prior bounds rather than the release.
	Bound []int
	// Shortened reports, of order 1, that gradients were cut below their certificate: records
	// that Lengths does not expect count for less.
	Shortened bool
	// Widening is by how much privacy widened the intervals: the median over coefficients
	// of their standard deviation over that which the same records give without noise. It is read off
	// draws given a release (surrogates.Score.Widening), and off normal approximations for chains with
	// bits. It is 1 for aims that leave the noise out, and 0 where directions are hidden: it is not
	// known there.
	Widening float64
	// Drawing is how long the draws took of aims whose draws are all made by Restore, by the clock.
	Drawing time.Duration
	// Values are the numbers that were released, all of them: what Restore takes.
	Values []float64
}

// Look makes the releases of the anchor and returns their values: the optimum, unless there
// is none, and then second moments, and scores at nearer anchors where there are any; of
// order 1 those of a descent. It must be called once,
// after the requests were granted. Errors: ctx's. What was released by then is lost.
func (s *Chains) Look(ctx context.Context) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.first != nil {
		return s.first.look(ctx, s.facts, s.model.first, s.lengths)
	}
	values := make([]float64, s.size())
	anchor, moment, near := s.parts(values)
	if s.fit != nil {
		if err := s.fit.look(ctx, values); err != nil {
			return nil, err
		}
	}
	if s.config.Aim == Sums {
		return values, s.moments.Release(moment, nil)
	}
	var err error
	if fit, fitted := s.fit.(*fitScore); fitted && !fit.near() { // its ridge is about the first, and moves it little
		err = s.optima.ReleaseAbout(ctx, anchor, fit.centre(values))
	} else {
		err = s.optima.ReleaseContext(ctx, anchor)
	}
	if err != nil {
		return nil, err
	}
	var at []float64
	if s.config.Aim.Bits() {
		at = anchor
	}
	err = s.moments.Release(moment, at)
	if err != nil || near == nil {
		return values, err
	}
	r := Release{Values: values}
	if r.Statistics, err = s.atOptimum(slices.Clone(anchor), moment); err == nil && s.fit != nil {
		err = s.fit.describe(&r)
	}
	if err != nil {
		return nil, err
	}
	return values, s.approach(ctx, r.Statistics, near)
}

// size is the number of values that are released.
func (s *Chains) size() int {
	if s.first != nil {
		return s.first.kept() * s.first.size()
	}
	side := s.config.moment(s.model, s.facts).Size(s.facts)
	size := side * side
	if s.config.Aim != Sums {
		size += s.facts.Features
	}
	if s.config.near(s.model) {
		size += 2 * nearLooks * s.facts.Features
	}
	if s.fit != nil {
		size += s.fit.size()
	}
	return size
}

// parts are the releases that values hold, with the nearer anchors and the scores there or without.
func (s *Chains) parts(values []float64) (anchor, moment, near []float64) {
	if s.fit != nil {
		values = values[s.fit.size():]
	}
	if s.config.Aim == Sums {
		return nil, values, nil
	}
	d := s.facts.Features
	anchor, moment = values[:d:d], values[d:d+d*d:d+d*d]
	if rest := values[d+d*d:]; len(rest) > 0 {
		near = rest
	}
	return anchor, moment, near
}

// describe says what released values are.
func (s *Chains) describe(values []float64) (r Release, err error) {
	c, f := s.config, s.facts
	if len(values) != s.size() {
		return r, fmt.Errorf("anchors: an anchor of %d values, and these chains have one of %d", len(values), s.size())
	}
	r.Values = slices.Clone(values)
	if s.first != nil {
		r.Statistics, err = s.first.statistics(r.Values, s.lengths, f)
		if err == nil && c.Aim == Score {
			err = s.first.join(&r.Statistics, r.Values[s.first.size():], s.lengths, f)
		}
		return r, err
	}
	anchor, moment, near := s.parts(slices.Clone(values))
	if c.Aim == Sums {
		r.Sums = surrogates.Sums{Moment: moment, Features: f.Features, Records: f.Records, Radius: f.Radius,
			Columns: c.Columns}
		r.Sums.MomentSD, err = c.moment(s.model, f).NoiseSD(f)
	} else {
		r.Statistics, err = s.atOptimum(anchor, moment)
	}
	if err == nil && s.fit != nil {
		err = s.fit.describe(&r)
	}
	if err == nil && near != nil {
		r.Statistics, r.Earlier, err = s.nearer(r.Statistics, near)
	}
	return r, err
}

// atOptimum says what an optimum and second moments are.
func (s *Chains) atOptimum(anchor, moment []float64) (surrogates.Statistics, error) {
	c, f, optimum := s.config, s.facts, s.config.optimum(s.model)
	sd, err1 := c.moment(s.model, f).NoiseSD(f)
	scoreSD, err2 := optimum.ScoreSD(f)
	outputSD, err3 := optimum.OutputSD(f)
	score := make([]float64, len(anchor))
	for j, v := range anchor {
		score[j] = -c.Ridge * v
	}
	return surrogates.Statistics{
		Anchor: anchor, Score: score, ScoreSD: math.Hypot(scoreSD, c.curvature(s.model, moment)*outputSD),
		Ridge: c.Ridge, Spherical: c.Law == Spherical, Moment: moment, MomentSD: sd, Weighted: c.Aim.Bits(),
		Records: f.Records, Temperature: c.temperature(), Radius: f.Radius, Columns: c.Columns,
	}, errors.Join(err1, err2, err3)
}

// curvature is about that of the optimum's objective in a typical direction, by the
// released moments: what noise on the optimum itself is seen through in the score.
func (c Config) curvature(m model, moment []float64) float64 {
	d := int(math.Sqrt(float64(len(moment))))
	mean := 0.0
	for j := range d {
		mean += moment[j*d+j] / float64(d)
	}
	if !c.Aim.Bits() {
		mean *= m.loss.MaxCurvature()
	}
	return c.temperature()*max(0, mean) + c.Ridge
}
