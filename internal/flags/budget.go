package flags

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// Budget is a privacy budget.
type Budget struct {
	Epsilon, Delta float64
	AdjacencyName  string
}

// Bind declares the flags; when says when they are required.
func (b *Budget) Bind(f *pflag.FlagSet, when string) {
	f.Float64Var(&b.Epsilon, "epsilon", 0, "privacy budget ε; "+when)
	f.Float64Var(&b.Delta, "delta", 0, "privacy budget δ; "+when)
	f.StringVar(&b.AdjacencyName, "adjacency", "substitute",
		"neighbouring data sets: substitute (one record replaced) or add_remove (one left blank); their number is public")
}

// Adjacency is the adjacency.
func (b *Budget) Adjacency() (accountant.Adjacency, error) {
	var adjacency accountant.Adjacency
	if err := adjacency.UnmarshalText([]byte(b.AdjacencyName)); err != nil {
		return 0, fmt.Errorf("--adjacency: %w", err)
	}
	return adjacency, nil
}

// Explained says what --delta 0 asks for where that is why a run is refused, and marks
// budgets that no open setting meets as refused.
func (b *Budget) Explained(err error) error {
	var unreachable *accountant.UnreachableError
	var exceeded *accountant.ExceededError
	short, over := errors.As(err, &unreachable), errors.As(err, &exceeded)
	if b.Delta == 0 && (short && math.IsInf(unreachable.Guarantee.Epsilon, 1) ||
		over && math.IsInf(exceeded.AskedEpsilon, 1)) {
		return &RefusedError{errors.New("--delta is 0, which asks that nothing ever leaks beyond ε, with no exception " +
			"however unlikely: Gaussian noise and drawn moves cannot promise that at any ε. Give a δ well below 1/records, " +
			"such as 1e-6")}
	}
	if over {
		err = fmt.Errorf("%w\nSettings that you leave out, such as --step and --iterations, are chosen to fit; dpmcmc plan "+
			"says what a budget buys", err)
	}
	if short {
		return &RefusedError{err}
	}
	return err
}

// RefusedError is a run that no setting left open makes cheap enough for its budget: refused
// like one whose settings were all given.
type RefusedError struct{ error }

// Unwrap is the reason.
func (e *RefusedError) Unwrap() error { return e.error }
