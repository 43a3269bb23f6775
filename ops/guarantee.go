package ops

import (
	"fmt"
	"math"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// Kind says what a guarantee rests on. The zero value is invalid.
type Kind int8

const (
	// Unconditional guarantees hold for what the program computes, up to the
	// floating-point caveats of docs/ops.md.
	Unconditional Kind = iota + 1
	// Conditional guarantees hold for an exact draw from the stated law. For a
	// sampler at total-variation distance d see [FromTotalVariation].
	Conditional
)

// String returns "unconditional" or "conditional on exact sampling".
func (k Kind) String() string {
	switch k {
	case Unconditional:
		return "unconditional"
	case Conditional:
		return "conditional on exact sampling"
	}
	return "invalid"
}

// Guarantee is what a mechanism promises about its release.
type Guarantee struct {
	// Event is what is released. Compose it with accountant.Compose or Times.
	Event accountant.Event
	// Kind says what the promise rests on.
	Kind Kind
	// Theorem names the result that Event rests on.
	Theorem string
}

// At returns the smallest ε that Event is known to have at delta, in [0, 1],
// numerical composition included where it applies.
func (g Guarantee) At(delta float64) (Statement, error) {
	e, err := g.Event.LeastEpsilon(delta)
	if err != nil {
		return Statement{}, err
	}
	return Statement{Guarantee: e, Kind: g.Kind, Mechanism: g.Theorem}, nil
}

// Times returns the guarantee of n ≥ 0 independent releases.
func (g Guarantee) Times(n int64) (Guarantee, error) {
	e, err := g.Event.Times(n)
	g.Event = e
	return g, err
}

// Statement is one (ε, δ) with everything that must be printed beside it.
type Statement struct {
	accountant.Guarantee
	Kind Kind
	// Mechanism names the theorem of the mechanism; the embedded Theorem names
	// that of the conversion.
	Mechanism string
}

// String is the statement in one line, for people.
func (s Statement) String() string {
	return fmt.Sprintf("(ε=%.4g, δ=%.3g), %v, %v: %s", s.Epsilon, s.Delta, s.Adjacency, s.Kind, s.Mechanism)
}

// FromTotalVariation returns the δ of a sampler whose law is within distance
// tv, in [0, 1], of one that is (epsilon, delta)-DP, for every data set:
// min(1, δ + (1 + e^ε)·tv) (Minami et al. 2016, Prop. 12; Jewson et al. 2023,
// Prop. 2). The distance is half the L1 distance of the densities.
func FromTotalVariation(epsilon, delta, tv float64) (float64, error) {
	switch {
	case !(epsilon >= 0):
		return 0, fmt.Errorf("ops: epsilon %v: must be a number ≥ 0", epsilon)
	case !(delta >= 0 && delta <= 1):
		return 0, fmt.Errorf("ops: delta %v: must be in [0, 1]", delta)
	case !(tv >= 0 && tv <= 1):
		return 0, fmt.Errorf("ops: total-variation distance %v: must be in [0, 1]", tv)
	case tv == 0:
		return delta, nil
	}
	return min(1, (delta+(1+math.Exp(epsilon))*tv)*(1+0x1p-50)), nil
}

// Approximate returns the guarantee of an (ε, δ)-DP release whose ε is known as
// a function of δ. The event's δ is a factor 1 − 2⁻⁴⁰ below delta, in (0, 1), so
// that composing it, which rounds up, still answers at delta.
func Approximate(delta float64, kind Kind, theorem string,
	epsilonAt func(delta float64) (float64, error)) (Guarantee, error) {
	if !(delta > 0 && delta < 1) {
		return Guarantee{}, fmt.Errorf("ops: delta %v: must be in (0, 1)", delta)
	}
	delta *= 1 - 0x1p-40
	epsilon, err := epsilonAt(delta)
	if err != nil {
		return Guarantee{}, err
	}
	e, err := accountant.Approximate(accountant.Substitute, epsilon, delta)
	if err != nil {
		return Guarantee{}, fmt.Errorf("ops: ε = %v at δ = %v: %w", epsilon, delta, err)
	}
	return Guarantee{Event: e, Kind: kind, Theorem: theorem}, nil
}
