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

// Check reports flags that were given and are out of range, all at once.
func (b *Budget) Check(f *pflag.FlagSet) error { return CheckBudget(f, b.Epsilon, b.Delta) }

// CheckBudget is Check of a budget whose neighbours have no flag.
func CheckBudget(f *pflag.FlagSet, epsilon, delta float64) error {
	var errs []error
	if f.Changed("epsilon") && (!(epsilon > 0) || math.IsInf(epsilon, 1)) {
		errs = append(errs, fmt.Errorf("--epsilon is %v; it must be positive and finite, such as 1", epsilon))
	}
	if f.Changed("delta") && !(delta >= 0 && delta < 1) {
		errs = append(errs, fmt.Errorf("--delta is %v; it must be in [0, 1), well below 1/records, such as 1e-6", delta))
	}
	return errors.Join(errs...)
}

// Adjacency is the adjacency.
func (b *Budget) Adjacency() (accountant.Adjacency, error) {
	var adjacency accountant.Adjacency
	if adjacency.UnmarshalText([]byte(b.AdjacencyName)) != nil {
		return 0, fmt.Errorf("--adjacency is %q; it must be substitute (one record replaced) or add_remove (one left blank)",
			b.AdjacencyName)
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
