package sites

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// LinearConfig is a linear regression with normal errors of unknown size, and the noise
// of one release of its sums. It is public and chosen without looking at the records.
// Sites share Target and Response. Their noises may differ.
type LinearConfig struct {
	// Target is the model, under its log loss. Required.
	Target *targets.Linear
	// Response is a bound on |y|, beyond which responses are cut. Required, positive.
	Response float64
	// NoiseMultiplier is that of curator.SecondMoment. AffordLinear fills it in.
	NoiseMultiplier float64
}

// LinearSums is what one place publishes: the second moments of its rows with their
// responses, with noise. It is private before it leaves, and survives JSON bit for bit.
type LinearSums struct {
	// Records is the number of rows, Features that of columns, Radius the bound on the
	// norm of a row. Unit is that of responses in Moment.
	Records      int64
	Features     int
	Radius, Unit float64
	// Moment is Σ [x, y/Unit][x, y/Unit]ᵀ, row-major, with noise of standard deviation
	// MomentSD on the diagonal and MomentSD/√2 off it.
	Moment   []float64
	MomentSD float64
}

func checkLinear(m *targets.Linear) error {
	switch {
	case m == nil:
		return errors.New("sites: the linear regression is not set; give the target")
	case !m.Normal():
		return errors.New("sites: second moments say all of normal errors under the log loss, and this target has others")
	}
	return nil
}

// moment is what the curator releases.
func (c LinearConfig) moment(f curator.Facts) (m curator.SecondMoment, err error) {
	if err := checkLinear(c.Target); err != nil {
		return m, err
	}
	if d, _ := c.Target.Shape(); d != f.Features {
		return m, fmt.Errorf("sites: the target has %d features, the records %d", d, f.Features)
	}
	if !(c.Response > 0) {
		return m, fmt.Errorf("sites: LinearConfig.Response is %v; give a public bound on |y|", c.Response)
	}
	return curator.SecondMoment{Response: c.Response, NoiseMultiplier: c.NoiseMultiplier}, nil
}

// CostLinear is the price of one release. It charges nothing. Errors: a target that does
// not fit; facts without a Radius or a response; noise that is not positive.
func CostLinear(c LinearConfig, f curator.Facts) (accountant.Event, error) {
	m, err := c.moment(f)
	if err != nil {
		return accountant.Event{}, err
	}
	return m.Event(f)
}

// AffordLinear fills in the least noise for which a release costs at most (epsilon,
// delta). Errors: those of CostLinear; an *accountant.UnreachableError where no noise is
// enough.
func AffordLinear(c LinearConfig, f curator.Facts, epsilon, delta float64) (LinearConfig, error) {
	noise, _, err := accountant.SolveParameter(func(x float64) (accountant.Event, error) {
		c.NoiseMultiplier = x
		return CostLinear(c, f)
	}, 1e-4*curator.MostNoise, curator.MostNoise, epsilon, delta, false)
	c.NoiseMultiplier = noise
	return c, err
}

// ReleaseLinear charges for the sums of sealed records, and returns them. Errors are those
// of CostLinear and curator.Curator.Grant: then nothing is charged.
func ReleaseLinear(c LinearConfig, records *curator.Curator) (LinearSums, error) {
	f := records.Facts()
	m, err := c.moment(f)
	if err != nil {
		return LinearSums{}, err
	}
	grant, err := curator.Charge(records, m, 1)
	if err != nil {
		return LinearSums{}, err
	}
	return linearSums(m, f, func(dst []float64) error { return grant.Release(dst, nil) })
}

// ExactLinear is what a site hands to an aggregator that all sites trust. f is of all
// records of all sites. THE SUMS ARE EXACT AND NOT PRIVATE: PoolLinear releases them.
// Errors are those of CostLinear and curator.SecondMoment.AddSums.
func ExactLinear(c LinearConfig, f curator.Facts, records curator.Records) ([]int64, error) {
	m, err := c.moment(f)
	if err != nil {
		return nil, err
	}
	sums := make([]int64, m.SumsSize(f))
	return sums, m.AddSums(sums, f, nil, records)
}

// PoolLinear is the trusted aggregator: it adds up what ExactLinear gave at every site,
// once each, and releases it with one noise, at the price of pooled records. f is of all
// of them; budget is theirs. Errors are those of CostLinear, curator.NewTotals and
// curator.Totals.Release.
func PoolLinear(c LinearConfig, f curator.Facts, budget *accountant.Budget, exact [][]int64,
	opts ...curator.Option) (LinearSums, error) {
	m, err := c.moment(f)
	if err != nil {
		return LinearSums{}, err
	}
	sums := make([]int64, m.SumsSize(f))
	for i, part := range exact {
		if len(part) != len(sums) {
			return LinearSums{}, fmt.Errorf("sites: site %d gave %d sums; these records have %d", i, len(part), len(sums))
		}
		for e, v := range part {
			sums[e] += v
		}
	}
	totals, err := curator.NewTotals(f, budget, opts...)
	if err != nil {
		return LinearSums{}, err
	}
	return linearSums(m, f, func(dst []float64) error { return totals.Release(dst, m, sums) })
}

func linearSums(m curator.SecondMoment, f curator.Facts, release func(dst []float64) error) (s LinearSums, err error) {
	if s.MomentSD, err = m.NoiseSD(f); err != nil {
		return s, err
	}
	p := m.Size(f)
	s.Records, s.Features, s.Radius, s.Unit = f.Records, f.Features, f.Radius, m.ResponseUnit(f)
	s.Moment = make([]float64, p*p)
	return s, release(s.Moment)
}

// FitLinearConfig says how sums are turned into draws.
type FitLinearConfig struct {
	// Target is that of every site. Required.
	Target *targets.Linear
	// Columns is what a schema says of the features; nil for nothing.
	Columns []surrogates.Column
	// Sample says how the posterior is sampled. Its Seed is public.
	Sample surrogates.SampleConfig
}

// LinearResult is what FitLinear found. All of it may be published.
type LinearResult struct {
	// Draws of the target's parameters, given the sums. Use them where Draws.Explored.
	Draws surrogates.Draws
	// Widening is by how much privacy widened each coefficient's interval.
	Widening []float64
	// Prior says whether the prior, rather than the sums, decides.
	Prior surrogates.LinearCheck
	// Sums are those of all places.
	Sums LinearSums
}

// FitLinear samples the posterior of all records given the sums of their places: one for
// each site, or one of an aggregator. It sees released values alone, so it costs nothing.
// Errors: no sums; sums of different shapes or units; those of surrogates.NewLinear and
// surrogates.Sample.
func FitLinear(ctx context.Context, c FitLinearConfig, places ...LinearSums) (*LinearResult, error) {
	if err := checkLinear(c.Target); err != nil {
		return nil, err
	}
	all, err := addUp(places)
	if err != nil {
		return nil, err
	}
	posterior, err := surrogates.NewLinear(surrogates.LinearConfig{
		Sums: surrogates.Sums{Moment: all.Moment, MomentSD: all.MomentSD, Features: all.Features, Records: all.Records,
			Radius: all.Radius, Columns: c.Columns},
		Prior: c.Target.Prior(), ZellnerSiow: c.Target.ZellnerSiow(), MinScale: c.Target.MinScale(),
		ScalePrior: c.Target.ScalePrior(), Seed: c.Sample.Seed,
	}.In(all.Unit))
	if err != nil {
		return nil, err
	}
	r := &LinearResult{Sums: all}
	if r.Draws, err = surrogates.Sample(ctx, posterior, c.Sample); err != nil {
		return nil, err
	}
	r.Prior = posterior.CheckPrior(r.Draws)
	if r.Widening, err = posterior.Widening(r.Draws); err != nil {
		return nil, err
	}
	for _, chain := range r.Draws.Chains {
		for _, theta := range chain {
			surrogates.Unscale(theta, all.Unit)
		}
	}
	return r, nil
}

// addUp is the sum of all places, whose noises are independent.
func addUp(places []LinearSums) (all LinearSums, err error) {
	if len(places) == 0 {
		return all, errors.New("sites: FitLinear was given no sums")
	}
	all = places[0]
	all.Moment, all.Records, all.MomentSD = make([]float64, len(all.Moment)), 0, 0
	for i, s := range places {
		if s.Features != all.Features || s.Radius != all.Radius || s.Unit != all.Unit || len(s.Moment) != len(all.Moment) ||
			s.Records < 1 {
			return all, fmt.Errorf("sites: place %d has %d records of %d features, radius %v and unit %v, place 0 %d features, "+
				"radius %v and unit %v; they must be sealed by one schema and bound responses alike", i, s.Records, s.Features,
				s.Radius, s.Unit, all.Features, all.Radius, all.Unit)
		}
		all.Records += s.Records
		all.MomentSD = math.Hypot(all.MomentSD, s.MomentSD)
		for e, v := range s.Moment {
			all.Moment[e] += v
		}
	}
	return all, nil
}
