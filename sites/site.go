package sites

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Query is one look: at a point, one value a feature, with the curvature of the loss
// there or the second moments of the features, which cost the same.
type Query struct {
	Theta    []float64
	Weighted bool
}

// Answer is what a look releases. Score is Σ ∂ℓ(z; θ)/∂θ with noise. Moment is Σ w·xxᵀ,
// row-major, with noise, where w is the second derivative of the loss in its linear
// predictor at θ, or its largest where the query is not Weighted.
type Answer struct{ Score, Moment []float64 }

// Moves is one step of every chain: from From[i] to To[i] for chain i. Anchor and Share are
// what targets.Remainder.Anchor takes, the same at all steps. Clip bounds a record's part.
type Moves struct {
	Anchor      []float64
	Share, Clip float64
	From, To    [][]float64
}

// Site is one place where records lie: a *Local, or a Remote one.
type Site interface {
	// Terms is what the site says of itself.
	Terms(ctx context.Context) (Terms, error)
	// Look answers query number n, 0 ≤ n < Looks, once.
	Look(ctx context.Context, n int, q Query) (Answer, error)
	// Step returns, for each chain, the sum over records of the remainder at From less that
	// at To, with noise of standard deviation Terms.StepSD times the clip.
	Step(ctx context.Context, m Moves) ([]float64, error)
}

// Local is a site in this process. It is safe for concurrent use.
type Local struct {
	terms Terms

	mu      sync.Mutex
	scores  [Looks]*curator.Gradients
	moments [Looks]*curator.Moments
	steps   []*curator.Ratios // of each chain
	anchored
}

// anchored is a remainder whose anchor the first step sets.
type anchored struct {
	remainder *targets.Remainder
	first     *Moves // its anchor and share hold
}

// Open charges for all looks and steps at sealed records, all or nothing, and returns the site that
// answers them. Errors are those of Cost and curator.Curator.Grant: then nothing is
// charged.
func Open(c Config, records *curator.Curator) (*Local, error) {
	f := records.Facts()
	if _, err := Cost(c, f); err != nil {
		return nil, err
	}
	terms, err := c.terms(f)
	if err != nil {
		return nil, err
	}
	loss, err := c.loss()
	if err != nil {
		return nil, err
	}
	l := &Local{terms: terms, steps: make([]*curator.Ratios, c.Chains)}
	var requests []curator.Request
	for n := range Looks {
		score, moment := c.look(n, loss, f)
		requests = append(requests, curator.RequestFor(&l.scores[n], score, 1),
			curator.RequestFor(&l.moments[n], moment, 1))
	}
	if l.remainder, err = c.remainder(loss); err != nil {
		return nil, err
	}
	for i := range l.steps {
		requests = append(requests, curator.RequestFor(&l.steps[i], c.step(l.remainder), c.Steps))
	}
	if err := records.Grant(requests...); err != nil {
		return nil, err
	}
	return l, nil
}

// Terms is what the site says of itself. It never fails.
func (l *Local) Terms(context.Context) (Terms, error) { return l.terms, nil }

// check reports a query of another number or length than there are.
func check(n int, q Query, features int) error {
	if n < 0 || n >= Looks {
		return fmt.Errorf("sites: look %d was asked for; there are looks 0 to %d", n, Looks-1)
	}
	if len(q.Theta) != features {
		return fmt.Errorf("sites: a look at a point of %d values; the records have %d features", len(q.Theta), features)
	}
	return nil
}

// weights is where the curvature's weights are taken: nil where all are the same.
func (q Query) weights() []float64 {
	if !q.Weighted {
		return nil
	}
	return q.Theta
}

// Look releases the answer to query n. Errors: an n out of range; a Theta of another
// length than the features, or that is not finite; curator.ErrSpent where n was answered
// before.
func (l *Local) Look(ctx context.Context, n int, q Query) (a Answer, err error) {
	d := l.terms.Features
	if err := errors.Join(ctx.Err(), check(n, q, d)); err != nil {
		return a, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a = Answer{make([]float64, d), make([]float64, d*d)}
	err = errors.Join(l.scores[n].Release(a.Score, q.Theta), l.moments[n].Release(a.Moment, q.weights()))
	if err != nil {
		return Answer{}, err
	}
	return a, nil
}

// Step releases a sum for each chain. Errors: not one move for each chain that is paid for;
// an anchor, a share or a clip that are not those of the first step or out of range; points
// of another length than the features, or that are not finite; curator.ErrSpent after the
// last step. Chains before the one that is refused have then used one up.
func (l *Local) Step(ctx context.Context, m Moves) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.at(m, len(l.steps)); err != nil {
		return nil, err
	}
	sums := make([]float64, len(l.steps))
	for i, ratios := range l.steps {
		var err error
		if sums[i], err = ratios.ReleaseWithin(m.To[i], m.From[i], m.Clip); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// at sets what the remainder is of, once: passes keep losses between steps. chains is how
// many must move.
func (a *anchored) at(m Moves, chains int) error {
	if len(m.From) != chains || len(m.To) != chains {
		return fmt.Errorf("sites: a step from %d points to %d; this site answers %d chains", len(m.From), len(m.To), chains)
	}
	if a.first != nil {
		if !slices.Equal(m.Anchor, a.first.Anchor) || m.Share != a.first.Share {
			return fmt.Errorf("sites: a step at the anchor %v with share %v; the first was at %v with %v", m.Anchor, m.Share,
				a.first.Anchor, a.first.Share)
		}
		return nil
	}
	none := func([]float64) float64 { return 0 } // what the chain adds
	if err := a.remainder.Anchor(m.Anchor, m.Share, none); err != nil {
		return fmt.Errorf("sites: %w", err)
	}
	a.first = &Moves{Anchor: slices.Clone(m.Anchor), Share: m.Share}
	return nil
}
