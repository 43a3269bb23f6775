package sites

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dpmcmc/dpmcmc/curator"
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

// Site is one place where records lie: a *Local, or a Remote one.
type Site interface {
	// Terms is what the site says of itself.
	Terms(ctx context.Context) (Terms, error)
	// Look answers query number n, 0 ≤ n < Looks, once.
	Look(ctx context.Context, n int, q Query) (Answer, error)
}

// Local is a site in this process. It is safe for concurrent use.
type Local struct {
	terms Terms

	mu      sync.Mutex
	scores  [Looks]*curator.Gradients
	moments [Looks]*curator.Moments
}

// Open charges for all looks at sealed records, all or nothing, and returns the site that
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
	l := &Local{terms: terms}
	var requests []curator.Request
	for n := range Looks {
		score, moment := c.look(n, loss, f)
		requests = append(requests, curator.RequestGradients(&l.scores[n], score, 1),
			curator.RequestMoments(&l.moments[n], moment, 1))
	}
	if err := records.Grant(requests...); err != nil {
		return nil, err
	}
	return l, nil
}

// Terms is what the site says of itself. It never fails.
func (l *Local) Terms(context.Context) (Terms, error) { return l.terms, nil }

// Look releases the answer to query n. Errors: an n out of range; a Theta of another
// length than the features, or that is not finite; curator.ErrSpent where n was answered
// before.
func (l *Local) Look(ctx context.Context, n int, q Query) (a Answer, err error) {
	if n < 0 || n >= Looks {
		return a, fmt.Errorf("sites: look %d was asked for; there are looks 0 to %d", n, Looks-1)
	}
	d := l.terms.Features
	if len(q.Theta) != d {
		return a, fmt.Errorf("sites: a look at a point of %d values; the records have %d features", len(q.Theta), d)
	}
	if err := ctx.Err(); err != nil {
		return a, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a = Answer{make([]float64, d), make([]float64, d*d)}
	at := q.Theta
	if !q.Weighted {
		at = nil
	}
	err = errors.Join(l.scores[n].Release(a.Score, q.Theta), l.moments[n].Release(a.Moment, at))
	if err != nil {
		return Answer{}, err
	}
	return a, nil
}
