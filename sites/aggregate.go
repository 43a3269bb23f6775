package sites

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

// Sums are what a site hands to an aggregator: grid integers of the score and of the
// curvature. THEY ARE EXACT AND NOT PRIVATE.
type Sums struct{ Score, Moment []int64 }

// Part is a site that trusts an aggregator with exact sums: what Trust returns, or
// whatever asks one elsewhere.
type Part interface {
	// Sums answers a look, for the aggregator alone.
	Sums(ctx context.Context, n int, q Query) (Sums, error)
	// StepSums answers a step, with a grid integer for each chain: EXACT AND NOT PRIVATE.
	StepSums(ctx context.Context, m Moves) ([]int64, error)
}

// Trust returns the part of a site that trusts an aggregator. f is of all records of all
// sites, and c the same at every site. Nothing is charged: the aggregator does. Errors are
// those of Cost.
func Trust(c Config, f curator.Facts, records curator.Records) (Part, error) {
	if _, err := Cost(c, f); err != nil {
		return nil, err
	}
	loss, err := c.loss()
	if err != nil {
		return nil, err
	}
	p := &part{config: c, facts: f, records: records}
	if p.remainder, err = c.remainder(loss); err != nil {
		return nil, err
	}
	for range c.Chains {
		sums, err := c.step(p.remainder).SumsOver(f, records)
		if err != nil {
			return nil, err
		}
		p.steps = append(p.steps, sums)
	}
	return p, nil
}

type part struct {
	config  Config
	facts   curator.Facts
	records curator.Records

	mu sync.Mutex // of what follows
	anchored
	steps []func(next, theta []float64, clip float64) (int64, error) // of each chain
}

// Sums adds up the site's records. Errors are those of curator.SecondMoment.AddSums.
func (p *part) Sums(ctx context.Context, n int, q Query) (s Sums, err error) {
	if err := errors.Join(ctx.Err(), check(n, q, p.facts.Features)); err != nil {
		return s, err
	}
	loss, err := p.config.loss()
	if err != nil {
		return s, err
	}
	score, moment := p.config.look(n, loss, p.facts)
	s = Sums{make([]int64, p.facts.Features), make([]int64, moment.SumsSize(p.facts))}
	return s, errors.Join(score.AddSums(s.Score, p.facts, q.Theta, p.records),
		moment.AddSums(s.Moment, p.facts, q.weights(), p.records))
}

// StepSums adds up the remainders of the site's records. Errors are those of Local.Step but
// for ErrSpent.
func (p *part) StepSums(ctx context.Context, m Moves) ([]int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.at(m, len(p.steps)); err != nil {
		return nil, err
	}
	sums := make([]int64, len(p.steps))
	for i, s := range p.steps {
		var err error
		if sums[i], err = s(m.To[i], m.From[i], m.Clip); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// Aggregator is one party that all sites trust with exact sums: a Site that answers for all
// of them with one noise, at the price of pooled records. It may be asked from several
// goroutines, one after the other.
type Aggregator struct {
	config Config
	facts  curator.Facts
	parts  []Part
	totals *curator.Totals
	mu     sync.Mutex // of what follows, and of totals
	asked  [Looks]bool
	steps  []*curator.Ratios // of each chain, once charged
}

// Aggregate returns the aggregator of all parts, which charges for each look when it
// releases it, and for all steps before the first. f is of all their records, and budget is
// theirs. Errors: no parts; those of Cost and curator.NewTotals; a budget that does not cover
// all looks and steps, of which none is then charged.
func Aggregate(c Config, f curator.Facts, budget *accountant.Budget, parts []Part,
	opts ...curator.Option) (*Aggregator, error) {
	if len(parts) == 0 {
		return nil, errors.New("sites: an aggregator of no sites; it needs one at least")
	}
	price, err := Cost(c, f)
	if err != nil {
		return nil, err
	}
	totals, err := curator.NewTotals(f, budget, opts...)
	if err != nil {
		return nil, err
	}
	rest, err := budget.Remaining(price)
	if err != nil {
		return nil, err
	}
	if rest < 1 {
		return nil, fmt.Errorf("sites: the budget does not cover %v; Afford chooses noise that a budget covers", price)
	}
	return &Aggregator{config: c, facts: f, parts: parts, totals: totals}, nil
}

// Terms is what the pooled records say of themselves. Errors are those of Cost.
func (a *Aggregator) Terms(context.Context) (Terms, error) { return a.config.terms(a.facts) }

// Look asks every part, and releases the sums. Errors: those of Local.Look; a part's, with
// its number, before anything is charged; a budget that others have used up since.
func (a *Aggregator) Look(ctx context.Context, n int, q Query) (Answer, error) {
	d := a.facts.Features
	if err := check(n, q, d); err != nil {
		return Answer{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asked[n] {
		return Answer{}, curator.ErrSpent
	}
	all, err := a.sums(ctx, n, q)
	if err != nil {
		return Answer{}, err
	}
	loss, err := a.config.loss()
	if err != nil {
		return Answer{}, err
	}
	a.asked[n] = true
	score, moment := a.config.look(n, loss, a.facts)
	out := Answer{make([]float64, d), make([]float64, d*d)}
	if err := errors.Join(a.totals.ReleaseGradient(out.Score, score, all.Score),
		a.totals.Release(out.Moment, moment, all.Moment)); err != nil {
		return Answer{}, err
	}
	return out, nil
}

// sums adds up what the parts hand over.
func (a *Aggregator) sums(ctx context.Context, n int, q Query) (all Sums, err error) {
	d := a.facts.Features
	told := make([]Sums, len(a.parts))
	err = each(a.parts, func(i int, p Part) (err error) {
		told[i], err = p.Sums(ctx, n, q)
		if s := told[i]; err == nil && (len(s.Score) != d || len(s.Moment) != d*(d+1)/2) {
			err = fmt.Errorf("it gave %d and %d sums, where %d and %d are asked for", len(s.Score), len(s.Moment), d, d*(d+1)/2)
		}
		return err
	})
	all = Sums{make([]int64, d), make([]int64, d*(d+1)/2)}
	for _, s := range told {
		for j, v := range s.Score {
			all.Score[j] += v
		}
		for e, v := range s.Moment {
			all.Moment[e] += v
		}
	}
	return all, err
}

// Step asks every part, and releases the sums. Errors: a part's, with its number, after which
// the step may be asked for again; a budget that others have used up since, at the first
// step; curator.ErrSpent after the last.
func (a *Aggregator) Step(ctx context.Context, m Moves) ([]float64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make([]int64, a.config.Chains)
	told := make([][]int64, len(a.parts))
	if err := each(a.parts, func(i int, p Part) (err error) {
		if told[i], err = p.StepSums(ctx, m); err == nil && len(told[i]) != len(all) {
			err = errShort
		}
		return err
	}); err != nil {
		return nil, err
	}
	for _, sums := range told {
		for i, v := range sums {
			all[i] += v
		}
	}
	if err := a.charge(); err != nil {
		return nil, err
	}
	out := make([]float64, len(all))
	for i, sum := range all {
		var err error
		if out[i], err = a.steps[i].ReleaseSum(sum, m.Clip); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// charge pays for all steps of all chains, once.
func (a *Aggregator) charge() error {
	if a.steps != nil {
		return nil
	}
	loss, err := a.config.loss()
	if err != nil {
		return err
	}
	remainder, err := a.config.remainder(loss)
	if err != nil {
		return err
	}
	steps, err := a.totals.GrantRatios(a.config.step(remainder), a.config.Chains, a.config.Steps)
	if err == nil {
		a.steps = steps
	}
	return err
}
