package anchors

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
)

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
	Widening(surrogates.Draws) ([]float64, error)
	CheckPrior(surrogates.Draws) (surrogates.PriorCheck, error)
	Tails() (float64, error)
}

// fromGradients draws from such a posterior.
func (s *Chains) fromGradients(ctx context.Context, p informed, seed uint64, r *Release) ([]kernels.Chain, error) {
	return s.sampled(ctx, p, seed, func(draws surrogates.Draws) error {
		widened, err := p.Widening(draws)
		if err != nil {
			return err
		}
		r.Widening = middle(widened)
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
		c.TwoValued = fit.twoValued()
	}
	if s.config.Aim == Score {
		c.Effect = s.model.regression.Standardized()
	}
	return surrogates.New(c)
}

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

// middle is the median.
func middle(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return (sorted[len(sorted)/2] + sorted[(len(sorted)-1)/2]) / 2
}
