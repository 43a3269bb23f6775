package surrogates

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dpmcmc/dpmcmc/priors"
)

// Config describes a noise-aware posterior.
type Config struct {
	// Statistics is what was released. Required.
	Statistics Statistics
	// Link is the model of the response. Required.
	Link Link
	// Prior is the prior of the coefficients. Required.
	Prior priors.Prior
	// Effect, where positive, makes Prior, a priors.Gaussian, that of standardized features: given each
	// law of features the one of Statistics.Standardized, with the law's own means and spreads, and of numbers
	// a scale of effects that is learnt, at most this one. Where imputations share the mean of the second moments
	// levels have one too, and all share the largest that the release does not make unlikely (docs/schema.md).
	Effect float64
	// Imputations is how many normal laws of features stand for the records', each with
	// second moments of its own, drawn given the released ones. Defaults to 12, and beyond 24
	// features to 6. Where they share the mean of the second moments there is one.
	Imputations int
	// Earlier are scores at other anchors than that of Statistics, of a response with a Centred
	// link. They count for less the farther off they are, and for nothing where imputations share
	// the mean of the second moments.
	Earlier []Look
	// Written, if any, is the regular matrix that turns coefficients into those that draws will be
	// written in. What is said of coefficients is then of these.
	Written *mat.Dense
	// Doubt is about the share by which the law of features may have the curvature wrong, on the way from
	// the anchor to the posterior. What it does to the score counts as noise. Defaults to 0: the law is
	// taken for right.
	Doubt float64
	// TwoValued are combinations of features of two values, beside those that Statistics.Columns say.
	TwoValued []TwoValued
	// Seed is the public seed of the draws of second moments.
	Seed uint64
}

// Score is the posterior of the coefficients given the release: prior times the
// score likelihood, averaged over imputations of the features.
type Score struct {
	config      Config
	imputations []imputation
	dim         int
	averaged    bool         // over second moments
	looked      []sharedLook // of the score, if it is of several
	mean        []float64    // of an approximation, with the factor of its covariance
	factor      []float64
}

// New returns the posterior. Errors: statistics out of range; a missing link or
// prior, or one that does not fit.
func New(c Config) (*Score, error) {
	p, m, err := assemble(c)
	if err != nil {
		return nil, err
	}
	if err := p.settle(m); err != nil {
		return nil, err
	}
	return p, p.split(m)
}

func (p *Score) parameters() int { return p.dim }

// assemble checks a configuration and makes its imputations.
func assemble(c Config) (*Score, *moments, error) {
	s := c.Statistics
	if err := s.Check(); err != nil {
		return nil, nil, err
	}
	d := len(s.Anchor)
	switch {
	case c.Link == nil:
		return nil, nil, errors.New("surrogates: Config.Link is not set; give the model of the response, such as Logistic")
	case c.Prior == nil:
		return nil, nil, errors.New("surrogates: Config.Prior is not set; give the prior of the coefficients")
	case c.Imputations < 0:
		return nil, nil, fmt.Errorf("surrogates: Config.Imputations is %d; at least 1 is needed, or 0 for 12",
			c.Imputations)
	}
	if err := c.Prior.Check(d); err != nil {
		return nil, nil, fmt.Errorf("surrogates: Config.Prior: %w", err)
	}
	if !(c.Doubt >= 0) || math.IsInf(c.Doubt, 1) {
		return nil, nil, fmt.Errorf("surrogates: Config.Doubt is %v; it must be finite and at least 0", c.Doubt)
	}
	if err := c.checkLooks(); err != nil {
		return nil, nil, err
	}
	if err := errors.Join(c.checkEffect(), c.checkWritten(d), c.checkTwoValued(d)); err != nil {
		return nil, nil, err
	}
	if c.Imputations == 0 {
		if c.Imputations = 12; d > mostImputed {
			c.Imputations = 6
		}
	}
	rng := rand.New(rand.NewPCG(c.Seed, 0x5c0e))
	p := &Score{config: c, dim: d, averaged: c.averaged()}
	m := s.moments(c.Link)
	given := s.priorGiven(c.Effect, c.Prior, d, p.scale, rng)
	if p.averaged {
		m.average(rng)
		if !s.Weighted && hasCategories(s.Columns) {
			c.byCategory(m, rng)
			// The moments are those of the curvature now.
			c.Statistics.Weighted, p.config.Statistics.Weighted = true, true
		}
		p.imputations = []imputation{c.impute(m.positive(), s.Score, m)}
		return p, m, p.shareScale(given, m)
	}
	if len(c.Earlier) > 0 {
		p.looked, c.Statistics.ScoreSD = c.looks()
		p.config.Statistics.ScoreSD = c.Statistics.ScoreSD
	}
	p.imputations = c.imputed(m, p.looked, rng, given)
	return p, m, nil
}

// scale is that of numbers, and where laws share the mean of the second moments of levels too.
func (p *Score) scale(j int) float64 {
	s := p.config.Statistics
	if p.averaged && j != ConstantOf(s.Columns) && !s.number(j) {
		return levelScale
	}
	return s.numbers(j)
}
