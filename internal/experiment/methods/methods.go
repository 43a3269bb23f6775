package methods

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/ops"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Kind says what a method's guarantee rests on.
type Kind string

// The kinds of guarantee.
const (
	None          Kind = "none"                          // the method is not private
	Conditional   Kind = "conditional on exact sampling" // see [ops.Conditional]
	Unconditional Kind = "unconditional"
)

// Problem is what is public about an analysis. All of it is required.
type Problem struct {
	// Model is one of package models, with its loss and prior.
	*models.Model
	// Facts are the public facts about the records, under substitution.
	Facts curator.Facts
}

// target is the model's; those of package models have gradients.
func (p Problem) target() targets.GradTarget { return p.Target.(targets.GradTarget) }

// withLoss is the same model and prior with another loss.
func (p Problem) withLoss(l targets.Loss) (targets.GradTarget, error) {
	m, err := p.WithLoss(l)
	if err != nil {
		return nil, err
	}
	return m.Target.(targets.GradTarget), nil
}

// bound is that of the size of a response that is a number.
func (p Problem) bound() float64 {
	t := &p.Shape.Target
	return max(math.Abs(t.At(t.Lower)), math.Abs(t.At(t.Upper)))
}

// Budget is the (ε, δ) that one run may cost. Neither has a default.
type Budget struct{ Epsilon, Delta float64 }

// Mechanism is a method that was set up for a problem and a budget.
type Mechanism struct {
	// Kind is what Cost rests on, Theorem the result behind it.
	Kind    Kind
	Theorem string
	// Cost is what one run releases. It is the zero event for None.
	Cost accountant.Event
	// Choice says in a few words what was chosen from public facts; may be empty.
	Choice string
	// Fitted says that the prior is of fitted columns.
	Fitted bool
	// Run reads the records and releases. It stops early with ctx's error where the
	// method can be stopped.
	Run func(ctx context.Context, rows targets.Rows, n Noise) (Release, error)
}

// Release is what a run gives away, in the parameters of the problem's target.
type Release struct {
	// Chains holds draws: chains × draws × parameters, after warm-up.
	Chains [][][]float64
	// Independent says that draws are independent, so that there is nothing to
	// diagnose.
	Independent bool
}

// Method is a way of learning from records.
type Method struct {
	Name  string
	About string
	Kind  Kind
	// Models are the models it fits; nil for all.
	Models []string
	// Settings are what can be set, with defaults.
	Settings []Setting

	chain bool // a private chain, which takes any prior
	build func(p Problem, b Budget, s settings) (*Mechanism, error)
}

// New sets the method up. Settings that are not given have their defaults; one
// that does not exist or has a wrong type is a *[SettingError]. Other errors name
// what of the problem or the budget does not fit the method.
func (m *Method) New(p Problem, b Budget, given map[string]any) (*Mechanism, error) {
	s, err := m.Check(given)
	if err != nil {
		return nil, err
	}
	if m.Models != nil && !slices.Contains(m.Models, p.Name) {
		return nil, fmt.Errorf("it fits the models %s, not %s", strings.Join(m.Models, ", "), p.Name)
	}
	own := slices.ContainsFunc(p.Shape.Terms, func(t data.Term) bool { return t.PriorSD != 0 || t.PriorGroup != "" })
	if m.Models != nil && !m.chain && (own || p.Options.Prior != "normal") {
		return nil, fmt.Errorf("it has one normal prior for all coefficients, and the model or the schema states others; " +
			"use a private chain")
	}
	if p.Facts.Adjacency != accountant.Substitute {
		return nil, fmt.Errorf("costs are compared under substitution, not %v", p.Facts.Adjacency)
	}
	if m.Kind != None {
		if !(b.Epsilon > 0) || !(b.Delta > 0 && b.Delta < 1) {
			return nil, fmt.Errorf("a budget of ε = %v and δ = %v: ε must be positive and δ in (0, 1)", b.Epsilon, b.Delta)
		}
	}
	mech, err := m.build(p, b, s)
	if err != nil {
		return nil, err
	}
	mech.Kind = m.Kind
	return mech, nil
}

var all []*Method

// register adds methods to the list; called from variable initialisation only.
func register(ms ...*Method) struct{} {
	all = append(all, ms...)
	slices.SortFunc(all, func(a, b *Method) int { return strings.Compare(a.Name, b.Name) })
	return struct{}{}
}

// All lists the methods by name.
func All() []*Method { return slices.Clone(all) }

// ByName returns the method of a name, or an error that lists the names.
func ByName(name string) (*Method, error) {
	var names []string
	for _, m := range all {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return nil, fmt.Errorf("there is no method %q; the methods are %s", name, strings.Join(names, ", "))
}

// onePerson refuses tables in which a person may own several rows: the mechanisms
// of ops are calibrated for one record.
func onePerson(p Problem) error {
	if p.Facts.RowsPerPerson > 1 {
		return fmt.Errorf("a person may own %d rows, and this method protects one; use a private chain",
			p.Facts.RowsPerPerson)
	}
	return nil
}

// guaranteed fills in a mechanism's cost.
func guaranteed(g ops.Guarantee, m *Mechanism) *Mechanism {
	m.Cost, m.Theorem = g.Event, g.Theorem
	return m
}

// point is the release of one estimate.
func point(theta []float64) Release {
	return Release{Chains: [][][]float64{{theta}}, Independent: true}
}

// independent is the release of independent draws.
func independent(draws [][]float64) Release {
	return Release{Chains: [][][]float64{draws}, Independent: true}
}
