package sites

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// FitConfig says how the sites' answers are turned into draws.
type FitConfig struct {
	// Target and Cap are those of every site. Required, and as there.
	Target *targets.Regression
	Cap    targets.Cap
	// Columns is what a schema says of the features; nil for nothing.
	Columns []surrogates.Column
	// Sample says how the posterior is sampled. Its Seed is public.
	Sample surrogates.SampleConfig
}

// Result is what Fit found. All of it may be published.
type Result struct {
	// Draws of the posterior given the sites' second answers. Use them where
	// Draws.Explored.
	Draws surrogates.Draws
	// Widening is by how much privacy widened each coefficient's interval.
	Widening []float64
	// Prior says whether the prior, rather than the answers, decides.
	Prior surrogates.PriorCheck
	// Statistics are the sums of the sites' second answers.
	Statistics surrogates.Statistics
}

// Fit asks every site twice and samples the posterior of all their records. It sees
// released values alone, so it costs what the sites charged and no more. Errors: no
// sites; sites of different shapes; a site's, with its number, after which the others'
// looks are spent; those of surrogates.New and surrogates.Sample.
func Fit(ctx context.Context, c FitConfig, sites ...Site) (*Result, error) {
	f, err := c.begin(ctx, sites)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	if r.Statistics, err = f.statistics(ctx, false); err != nil {
		return nil, err
	}
	posterior, err := f.posterior(r.Statistics)
	if err != nil {
		return nil, err
	}
	if r.Draws, err = surrogates.Sample(ctx, posterior, c.Sample); err != nil {
		return nil, err
	}
	if r.Widening, err = posterior.Widening(r.Draws); err != nil {
		return nil, err
	}
	r.Prior, err = posterior.CheckPrior(r.Draws)
	return r, err
}

// begin hears what sites say of themselves.
func (c FitConfig) begin(ctx context.Context, sites []Site) (*fit, error) {
	loss, err := Config{Target: c.Target, Cap: c.Cap}.loss()
	if err != nil {
		return nil, err
	}
	terms, err := agree(ctx, sites)
	return &fit{c, sites, terms, loss}, err
}

// statistics are the sums of the second looks, of the curvature where that is asked for.
func (f *fit) statistics(ctx context.Context, curvature bool) (s surrogates.Statistics, err error) {
	start, err := f.look(ctx, 0, make([]float64, f.terms.Features), false)
	if err != nil {
		return s, err
	}
	anchor, err := f.mean(ctx, start)
	if err != nil {
		return s, err
	}
	return f.look(ctx, 1, anchor, curvature)
}

// agree adds up what the sites say of themselves.
func agree(ctx context.Context, sites []Site) (all Terms, err error) {
	if len(sites) == 0 {
		return all, errors.New("sites: Fit was given no site")
	}
	told := make([]Terms, len(sites))
	if err := each(sites, func(i int, s Site) (err error) {
		told[i], err = s.Terms(ctx)
		return err
	}); err != nil {
		return all, err
	}
	all = told[0]
	all.Records, all.StepSD = 0, 0
	var score, moment [Looks]float64
	for i, t := range told {
		if t.Features != all.Features || t.Radius != all.Radius || t.Records < 1 {
			return all, fmt.Errorf("sites: site %d has %d records of %d features and radius %v, site 0 %d features and "+
				"radius %v; they must be sealed by one schema", i, t.Records, t.Features, t.Radius, all.Features, all.Radius)
		}
		all.Records += t.Records
		all.StepSD = math.Hypot(all.StepSD, t.StepSD)
		all.Chains, all.Steps = min(all.Chains, t.Chains), min(all.Steps, t.Steps)
		for n := range Looks {
			score[n] = math.Hypot(score[n], t.ScoreSD[n])
			moment[n] = math.Hypot(moment[n], t.MomentSD[n])
		}
	}
	all.ScoreSD, all.MomentSD = score, moment
	return all, nil
}

// each calls do for every site at the same time. Errors name the site.
func each[S any](sites []S, do func(i int, s S) error) error {
	failed := make([]error, len(sites))
	var wait sync.WaitGroup
	for i, s := range sites {
		wait.Go(func() {
			if err := do(i, s); err != nil {
				failed[i] = fmt.Errorf("sites: site %d: %w", i, err)
			}
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

// fit is what stays the same between looks.
type fit struct {
	config FitConfig
	sites  []Site
	terms  Terms // of all
	loss   targets.ConvexLoss
}

// look adds up the sites' answers at a point.
func (f *fit) look(ctx context.Context, n int, at []float64, curvature bool) (s surrogates.Statistics, err error) {
	d, t := f.terms.Features, f.terms
	q := Query{Theta: at, Weighted: curvature}
	answers := make([]Answer, len(f.sites))
	if err := each(f.sites, func(i int, site Site) (err error) {
		answers[i], err = site.Look(ctx, n, q)
		if a := answers[i]; err == nil && (len(a.Score) != d || len(a.Moment) != d*d) {
			err = fmt.Errorf("it answered with %d and %d values, where %d and %d are asked for", len(a.Score), len(a.Moment), d,
				d*d)
		}
		return err
	}); err != nil {
		return s, err
	}
	s = surrogates.Statistics{
		Anchor: at, Score: make([]float64, d), ScoreSD: t.ScoreSD[n], Moment: make([]float64, d*d), MomentSD: t.MomentSD[n],
		Weighted: q.Weighted, Records: t.Records, Radius: t.Radius, Columns: f.config.Columns,
	}
	for _, a := range answers {
		for j, v := range a.Score {
			s.Score[j] += v
		}
		for e, v := range a.Moment {
			s.Moment[e] += v
		}
	}
	if !q.Weighted { // weights were all the same
		s.MomentSD /= f.loss.MaxCurvature()
		for e := range s.Moment {
			s.Moment[e] /= f.loss.MaxCurvature()
		}
	}
	return s, nil
}

func (f *fit) posterior(s surrogates.Statistics) (*surrogates.Score, error) {
	return surrogates.New(surrogates.Config{Statistics: s, Link: linkOf(f.config.Target),
		Prior: f.config.Target.Prior(), Seed: f.config.Sample.Seed})
}

// mean is that of the posterior given a look: near where the next one tells most.
func (f *fit) mean(ctx context.Context, s surrogates.Statistics) ([]float64, error) {
	p, err := f.posterior(s)
	if err != nil {
		return nil, err
	}
	c := f.config.Sample
	c.LeastESS, c.MostRHat = 50, 1.1
	draws, err := surrogates.Sample(ctx, p, c)
	if err != nil {
		return nil, err
	}
	mean, count := make([]float64, f.terms.Features), 0.0
	for _, chain := range draws.Chains {
		for _, draw := range chain {
			count++
			for j, v := range draw {
				mean[j] += (v - mean[j]) / count
			}
		}
	}
	return mean, nil
}
