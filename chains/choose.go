package chains

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/starts"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Problem is what settings are chosen for. All of it is public and required.
type Problem struct {
	// Target is the model.
	Target targets.Target
	// Logistic says that the model is a logistic regression, whatever its loss, whose
	// chains can start at a private optimum of the log loss. Not required.
	Logistic bool
	// Facts are the public facts of the records: those of the curator that holds
	// them, or any others to plan for.
	Facts curator.Facts
	// Epsilon and Delta are what all chains together may spend.
	Epsilon, Delta float64
}

// check reports a problem that is not set, or whose parts do not fit.
func (p Problem) check() error {
	if p.Target == nil {
		return errors.New("chains: Problem.Target is not set; give a model")
	}
	features, response := p.Target.Shape()
	if p.Facts.Records < 1 || p.Facts.Features != features || p.Facts.Response != response {
		return fmt.Errorf("chains: the facts are of %d records with %d features (response: %t), the target needs %d features (response: %t)",
			p.Facts.Records, p.Facts.Features, p.Facts.Response, features, response)
	}
	_, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: p.Epsilon, Delta: p.Delta, Adjacency: p.Facts.Adjacency})
	return err
}

// Names returns the kernels' names, sorted.
func Names() []string { return slices.Sorted(maps.Keys(families)) }

// Description says what a kernel is, for people.
type Description struct {
	// Name is the kernel's name, About what it is, and Defaults how it chooses
	// settings that are not given.
	Name, About, Defaults string
	// Own are the settings that it knows beside those of every kernel.
	Own []string
	// Iterations is the default number of steps, over all chains.
	Iterations int64
}

// Describe describes the kernel of the given name, or returns a *SettingError.
func Describe(kernel string) (Description, error) {
	k, ok := families[kernel]
	if !ok {
		return Description{}, Settings{Kernel: kernel}.check()
	}
	return Description{Name: kernel, About: k.about, Defaults: k.defaults, Own: slices.Clone(k.own), Iterations: k.iterations}, nil
}

// Plan is a number of chains whose settings are all chosen. It is made by Choose
// and holds nothing of the records.
type Plan struct {
	// Settings are all filled in. Choosing for them again changes nothing.
	Settings Settings
	// Released says in words what every step releases.
	Released string
	// Test is the acceptance test, empty where there is none.
	Test string
	// Batch is how a step's records are chosen.
	Batch curator.Batch
	// Clip is what is enforced on a record; 0 where the model's certificate is.
	Clip float64
	// Caveat says in which way the chain does not aim at the tempered posterior;
	// empty where it does.
	Caveat string
	// Start is how the chains' start is found; of kind starts.Given where it is the
	// caller's affair.
	Start starts.Config

	startCost accountant.Event
	cost      func() (accountant.Event, error) // of one chain
	open      func(*curator.Curator) (kernels.Kernel, error)
}

// Choose fills every setting that is not given, so that all chains together cost
// at most the budget wherever a setting is left open. If none is, their cost may
// exceed it, and Open refuses them.
//
// Errors: a *SettingError, which wraps an *accountant.UnreachableError if no value
// of an open setting is cheap enough; a problem that is not set or does not fit;
// what a sampler says of its settings.
func Choose(s Settings, p Problem) (*Plan, error) {
	s.Kernel = cmp.Or(s.Kernel, "barker")
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	kernel := families[s.Kernel]
	c := &choice{Settings: s, Problem: p, given: s}
	c.Temperature, c.Chains = cmp.Or(s.Temperature, 1), cmp.Or(s.Chains, 1)
	c.Iterations = cmp.Or(s.Iterations, max(1, kernel.iterations/int64(c.Chains)))
	kernel.fillText(&c.Settings)
	if err := c.chooseStart(); err != nil {
		return nil, err
	}
	if err := kernel.choose(c); err != nil {
		return nil, err
	}
	r, err := c.plan()
	if err != nil {
		return nil, err
	}
	c.Clip = r.Clip
	r.Settings = c.Settings
	return r, nil
}

// Cost is the price of the start and of all chains. It charges nothing.
func (r *Plan) Cost() (accountant.Event, error) {
	chain, err := r.cost()
	if err != nil {
		return accountant.Event{}, err
	}
	if chain, err = chain.Times(int64(r.Settings.Chains)); err != nil {
		return accountant.Event{}, err
	}
	return accountant.Compose(r.startCost, chain)
}

// Open charges all chains and returns their kernels, one a chain. Errors: a budget
// that does not cover them and the start (an *accountant.ExceededError; nothing was
// charged); records whose facts the settings do not fit. No record has been read then.
func (r *Plan) Open(records *curator.Curator) ([]kernels.Kernel, error) {
	cost, err := r.Cost()
	if err != nil {
		return nil, err
	}
	budget := records.Budget()
	if fits, err := budget.Remaining(cost); err != nil {
		return nil, err
	} else if fits < 1 {
		return nil, budget.Charge(cost, 1) // which refuses, and says why
	}
	chains := make([]kernels.Kernel, r.Settings.Chains)
	for i := range chains {
		if chains[i], err = r.open(records); err != nil {
			return nil, err
		}
	}
	return chains, nil
}

// family is how one kernel is chosen for and built. Adding one to families is all
// that there is to a kernel's name.
type family struct {
	about, defaults string
	own             []string
	iterations      int64
	clipsGradients  bool // the clip bounds gradients
	choose          func(*choice) error
	build           func(*choice) (*Plan, error)
}

// fillText fills the settings that are words, and the variance.
func (k family) fillText(s *Settings) {
	for setting, text := range map[string]*string{"proposal": &s.Proposal, "test": &s.Test, "accounting": &s.Accounting, "schedule": &s.Schedule, "acceptance": &s.Acceptance} {
		if slices.Contains(k.own, setting) && *text == "" {
			*text = map[string]string{"proposal": "isotropic", "test": "logistic", "accounting": "bit", "schedule": "constant", "acceptance": "barker"}[setting]
		}
	}
	if slices.Contains(k.own, "variance") && s.Variance == 0 {
		s.Variance = 4
	}
}

// choice is a plan in the making: settings that are being filled for a problem.
type choice struct {
	Settings
	Problem
	given     Settings
	start     starts.Config
	startCost accountant.Event
}

// plan is what the settings build.
func (c *choice) plan() (*Plan, error) {
	r, err := families[c.Kernel].build(c)
	if err != nil {
		return nil, err
	}
	r.Settings, r.Start, r.startCost = c.Settings, c.start, c.startCost
	return r, nil
}

// useFullData makes all records the default.
func (c *choice) useFullData() {
	c.FullData = c.given.Batch == 0 && c.given.Rate == 0 && !c.FixedBatch
}

// price is what the start and all chains of the settings release.
func (c *choice) price() (accountant.Event, error) {
	r, err := c.plan()
	if err != nil {
		return accountant.Event{}, err
	}
	return r.Cost()
}

// priceAt is what all chains would release with other settings.
func (c *choice) priceAt(set func(*Settings)) (accountant.Event, error) {
	other := *c
	set(&other.Settings)
	return other.price()
}

// chain makes the price of a chain from that of a step.
func (c *choice) chain(step accountant.Event, err error) (accountant.Event, error) {
	if err != nil {
		return accountant.Event{}, err
	}
	return step.Times(c.Iterations)
}

// moves is the proposal, and whether it is guided.
func (c *choice) moves(scale float64) (kernels.Proposal, bool, error) {
	if c.Proposal == guided && strings.HasPrefix(c.Kernel, "penalty") {
		return kernels.OneComponent(scale), true, nil
	}
	p, err := ParseProposal(c.Proposal, scale)
	return p, false, err
}
