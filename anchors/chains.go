package anchors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Chains are anchored chains of which the releases have been asked for: what Prepare
// returns. Begin makes the first releases, after the grant.
type Chains struct {
	config    Config
	facts     curator.Facts
	model     model
	fit       fitted // of columns, if they are
	remainder *targets.Remainder
	first     *first                          // of order 1
	lengths   func([]float64) targets.Lengths // of gradients, for order 1
	optima    *curator.Optima
	moments   *curator.Moments
	scores    []*curator.Gradients // at nearer anchors, if there are any
	bits      []*curator.Bits
	kernels   []*Kernel
	left      []int64 // steps to go, a chain
	drawing   time.Duration
}

// Kernels are the chains' kernels, one a chain, which Begin returns with their starts.
func (s *Chains) Kernels() []*Kernel { return s.kernels }

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
	// Varied is that if Poisson counts varied more, as those of people often do (surrogates.Score.Varied).
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
	// of their standard deviation over that which the same records give without noise, by
	// the normal approximation. It is 1 for aims that leave the noise out, and 0 where
	// directions are hidden: it is not known there.
	Widening float64
	// Drawing is how long the draws took of aims whose draws are all made by Restore, by the clock.
	Drawing time.Duration
	// Values are the numbers that were released, all of them: what Restore takes.
	Values []float64
}

// Prepare checks a configuration and returns its chains with the requests that the
// records' curator must grant before Begin, all in one: anchor and bits are paid for
// together or not at all. f are the facts of those records. Errors are those of Cost.
func Prepare(c Config, f curator.Facts) (*Chains, []curator.Request, error) {
	s, bits, err := PrepareRest(c, f, slices.Repeat([]int64{c.Iterations}, max(0, c.chains())))
	if err != nil {
		return nil, nil, err
	}
	if s.first != nil {
		return s, append(s.first.requests(), bits...), nil
	}
	c = s.config
	requests := []curator.Request{curator.RequestFor(&s.moments, c.moment(s.model, f), 1)}
	if s.fit != nil {
		requests = append(requests, s.fit.requests()...)
	}
	if c.Aim != Sums {
		requests = append(requests, curator.RequestFor(&s.optima, c.optimum(s.model), 1))
	}
	if c.near(s.model) {
		s.scores = make([]*curator.Gradients, nearLooks)
		for i := range s.scores {
			requests = append(requests, curator.RequestFor(&s.scores[i], c.look(s.model, f, i), 1))
		}
	}
	return s, append(requests, bits...), nil
}

// PrepareRest is Prepare for chains that go on, with so many steps each, none for a
// chain that is complete. Their anchor was released before, and Restore takes it: the
// requests are for the steps alone.
func PrepareRest(c Config, f curator.Facts, steps []int64) (*Chains, []curator.Request, error) {
	if _, err := Cost(c, f); err != nil {
		return nil, nil, err
	}
	if c.Aim == Auto {
		return nil, nil, fmt.Errorf("anchors: Config.Aim is %v; Afford chooses it", c.Aim)
	}
	if len(steps) != c.chains() || slices.Min(steps) < 0 || slices.Max(steps) > c.Iterations {
		return nil, nil, fmt.Errorf("anchors: %v steps to go for %d chains of %d", steps, c.chains(), c.Iterations)
	}
	m, err := c.model()
	if err != nil {
		return nil, nil, err
	}
	s := &Chains{config: c, facts: c.seen(f), model: m, bits: make([]*curator.Bits, c.chains()), left: slices.Clone(steps)}
	for _, n := range steps {
		s.kernels = append(s.kernels, &Kernel{name: c.Name(), target: c.Target, left: n})
	}
	if c.Fit == Fitted {
		if s.fit, err = c.kindOfFit().begin(c, m, f); err != nil {
			return nil, nil, err
		}
		s.config = s.fit.inView()
	}
	if m.first != nil {
		if s.first, err = newFirst(c, m, f); err == nil {
			s.lengths, err = c.lengths(m, f)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if !c.Aim.Bits() {
		return s, nil, nil
	}
	if s.remainder, err = newRemainder(m); err != nil {
		return nil, nil, err
	}
	thinned, parts := c.thinned(s.remainder)
	var requests []curator.Request
	for i, n := range steps {
		switch {
		case n == 0:
		case parts:
			requests = append(requests, curator.RequestFor(&s.bits[i], thinned, n))
		default:
			requests = append(requests, curator.RequestFor(&s.bits[i], c.bit(s.remainder), n))
		}
	}
	return s, requests, nil
}

// Begin is Look, and Restore from what it released.
func (s *Chains) Begin(ctx context.Context, seed uint64) ([]kernels.Chain, Release, error) {
	values, err := s.Look(ctx)
	if err != nil {
		return nil, Release{}, err
	}
	return s.Restore(ctx, seed, values)
}

// Restore returns the chains of an anchor from the values that Look released: kernels with
// starts drawn twice as far out as their targets reach. It sees no record. seed starts the
// public randomness of starts, and of draws that see no record, and the same seed makes the
// same ones. Errors: ctx's; a release that leaves nothing to sample.
func (s *Chains) Restore(ctx context.Context, seed uint64, values []float64) ([]kernels.Chain, Release, error) {
	r, err := s.describe(values)
	if err != nil {
		return nil, Release{}, err
	}
	var chains []kernels.Chain
	switch {
	case s.first != nil && s.config.Aim == Score:
		chains, err = s.fromClasses(ctx, seed, &r)
	case s.first != nil:
		chains, err = s.fromFirst(seed, &r)
	case s.config.Aim == Sums:
		chains, err = s.fromSums(ctx, seed, &r)
	case s.config.Aim == Score:
		chains, err = s.fromScore(ctx, seed, &r)
	default:
		chains, err = s.fromRemainder(seed, &r)
	}
	r.Drawing = s.drawing
	return chains, r, err
}

// fromSums draws from the posterior of a linear model given its released sums, and says in
// r what it means.
func (s *Chains) fromSums(ctx context.Context, seed uint64, r *Release) ([]kernels.Chain, error) {
	l := s.model.linear
	c := surrogates.LinearConfig{
		Sums: r.Sums, Prior: l.Prior(), ZellnerSiow: l.ZellnerSiow(), MinScale: l.MinScale(), ScalePrior: l.ScalePrior(),
		Seed: seed,
	}
	unit := s.config.moment(s.model, s.facts).ResponseUnit(s.facts)
	back := func(theta []float64) { surrogates.Unscale(theta, unit) }
	fit, fitted := s.fit.(*fitSums)
	if !fitted {
		c = c.In(unit)
	} else {
		seen := fit.through()
		var err error
		if c, err = c.Through(seen); err != nil {
			return nil, err
		}
		unit, back = seen.Unit, seen.Back
	}
	p, err := surrogates.NewLinear(c)
	if err != nil {
		return nil, err
	}
	return s.sampled(ctx, p, seed, func(draws surrogates.Draws) error {
		r.Linear = p.CheckPrior(draws)
		if cut := s.config.Cut; cut[0] < cut[1] {
			r.Cut = p.WholeCut(draws, cut[0]/unit, cut[1]/unit)
		}
		if fitted {
			reach := fit.reach / fit.gain / unit
			r.Residuals, r.Light = p.Cut(draws, -reach, reach), p.Light(draws)
		}
		widened, err := p.Widening(draws)
		if err != nil {
			return err
		}
		r.Widening = middle(widened)
		for _, chain := range draws.Chains {
			for _, theta := range chain {
				back(theta)
			}
		}
		return nil
	})
}

// fromScore draws from the posterior given the released score.
func (s *Chains) fromScore(ctx context.Context, seed uint64, r *Release) ([]kernels.Chain, error) {
	link := s.model.link
	if s.config.near(s.model) {
		link = s.model.centred
	}
	p, err := s.score(r.Statistics, r.Earlier, link, seed)
	if err != nil {
		return nil, err
	}
	fit, fitted := s.fit.(*fitScore)
	r.Curved = fitted && !fit.near() && p.Curved()
	if r.Varied, err = p.Varied(); err != nil {
		return nil, err
	}
	return s.fromGradients(ctx, p, seed, r)
}

// informed is a posterior given released gradients, with what it says of itself.
type informed interface {
	surrogates.Posterior
	Widening() ([]float64, error)
	CheckPrior(surrogates.Draws) (surrogates.PriorCheck, error)
	Tails() (float64, error)
}

// fromGradients draws from such a posterior.
func (s *Chains) fromGradients(ctx context.Context, p informed, seed uint64, r *Release) ([]kernels.Chain, error) {
	widened, err := p.Widening()
	if err != nil {
		return nil, err
	}
	r.Widening = middle(widened)
	return s.sampled(ctx, p, seed, func(draws surrogates.Draws) error {
		if r.Prior, err = p.CheckPrior(draws); err != nil {
			return err
		}
		fit, fitted := s.fit.(*fitScore)
		if r.Tails, err = p.Tails(); err != nil || !fitted {
			return err
		}
		for _, chain := range draws.Chains {
			for _, theta := range chain {
				fit.back(theta)
			}
		}
		return nil
	})
}

// fromRemainder walks with bits on remainders, from the released normal approximation.
func (s *Chains) fromRemainder(seed uint64, r *Release) ([]kernels.Chain, error) {
	d, err := NewDensity(r.Statistics, s.model.regression, s.config.Aim == Remainder)
	if err != nil {
		return nil, err
	}
	r.Kept, r.Widening = d.Kept, d.Widening
	if s.config.Aim == Remainder {
		p, err := s.score(r.Statistics, nil, s.model.link, seed)
		if err != nil {
			return nil, err
		}
		if r.Prior, err = p.CheckPrior(surrogates.Draws{}); err != nil {
			return nil, err
		}
		r.Apart = p.Apart(d.mean)
	}
	if err := s.remainder.Anchor(r.Statistics.Anchor, d.Kept, d.Log); err != nil {
		return nil, err
	}
	return s.walks(d, seed), nil
}

// score is the posterior given a release.
func (s *Chains) score(released surrogates.Statistics, earlier []surrogates.Look, link surrogates.Link,
	seed uint64) (*surrogates.Score, error) {
	c := surrogates.Config{Statistics: released, Earlier: earlier, Link: link, Prior: s.model.regression.Prior(),
		Seed: seed}
	if fit, fitted := s.fit.(*fitScore); fitted {
		c.Prior = fit.prior(c.Prior.(priors.Gaussian))
		c.Written = fit.combinations()
		c.Doubt = fitDoubt
	}
	if s.config.Aim == Score {
		c.Effect = s.model.regression.Standardized()
	}
	return surrogates.New(c)
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

// Name is the name of the chains' kernels.
func (c Config) Name() string { return "dp_anchored_" + c.Aim.String() }

// walks are the chains with bits.
func (s *Chains) walks(d *Density, seed uint64) []kernels.Chain {
	rng := kernels.Stream(seed, startStream)
	chains := make([]kernels.Chain, len(s.bits))
	for i, bits := range s.bits {
		if bits != nil { // a chain that is complete has none
			w := kernels.NewWalk(s.config.Name(), "anchors", s.remainder, d.Proposal())
			w.Bits, s.kernels[i].chain = bits, w
		}
		chains[i] = kernels.Chain{Kernel: s.kernels[i], Start: d.Start(rng)}
	}
	return chains
}

// startStream is the public stream of starts, which no chain uses.
const startStream = 1<<31 - 2

// sampled are chains of draws from a density that sees no record; see may turn them into
// other units.
func (s *Chains) sampled(ctx context.Context, p surrogates.Posterior, seed uint64,
	see func(surrogates.Draws) error) ([]kernels.Chain, error) {
	c := s.config
	need := cmp.Or(c.LeastESS, 400) / summarised
	began := time.Now()
	draws, err := surrogates.Sample(ctx, p, surrogates.SampleConfig{
		Chains: max(2, c.chains()), Draws: int(max(20, c.Iterations)), Seed: seed, LeastESS: need,
		MostRHat: 1 + 4/need, // it is above 1 by about the reciprocal
	})
	if err != nil {
		return nil, err
	}
	s.drawing = time.Since(began)
	if err := see(draws); err != nil {
		return nil, err
	}
	chains := make([]kernels.Chain, c.chains())
	for i := range chains {
		s.kernels[i].chain = &replay{draws: draws.Chains[i], total: c.Iterations, left: s.left[i]}
		chains[i] = kernels.Chain{Kernel: s.kernels[i], Start: draws.Chains[i][0]}
	}
	return chains, nil
}

// summarised is the share of a chain that summaries are made of (chains.Settings.Warmup):
// they are to have the effective sample size that was asked for.
const summarised = 0.75

// middle is the median.
func middle(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return (sorted[len(sorted)/2] + sorted[(len(sorted)-1)/2]) / 2
}
