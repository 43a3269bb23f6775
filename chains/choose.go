package chains

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
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
	// Shape is the public half of the table, of which anchored chains use what is known
	// of columns and responses. Not required.
	Shape *data.Shape
	// Weighed says that rows longer than the radius weigh less (models.Model.Weigh).
	Weighed bool
	// Lengths are those of long gradients of records at theta, by simulation, which anchored
	// chains of order 1 cut at. Not required where the target has a certificate.
	Lengths func(theta []float64) targets.Lengths
	// Scales go with Lengths: anchors.Config has what they are. Not required.
	Scales func(theta []float64) []float64
	// Facts are the public facts of the records: those of the curator that holds
	// them, or any others to plan for.
	Facts curator.Facts
	// Epsilon and Delta are what all chains together may spend. Price does without.
	Epsilon, Delta float64
}

// check reports a problem that is not set, or whose parts do not fit.
func (p Problem) check() error {
	if p.Target == nil {
		return errors.New("chains: Problem.Target is not set; give a model")
	}
	features, response := p.Target.Shape()
	if p.Facts.Records < 1 || p.Facts.Features != features || p.Facts.Response != response {
		return fmt.Errorf("chains: the facts are of %d records with %d features (response: %t), the target needs %d "+
			"features (response: %t)",
			p.Facts.Records, p.Facts.Features, p.Facts.Response, features, response)
	}
	return nil
}

// Plan is a number of chains whose settings are all chosen. It is made by Choose or
// Price and holds nothing of the records.
type Plan struct {
	// Settings are all filled in. Choosing for them again changes nothing.
	Settings Settings
	// Problem is what they were chosen for.
	Problem Problem
	// ChosenFrom says what was looked at to choose the settings, for certificates.
	ChosenFrom string
	// Start is how the chains' start is found.
	Start starts.Config
	parts

	startCost accountant.Event
}

// parts are what a family makes of complete settings.
type parts struct {
	// Released says in words what every step releases.
	Released string
	// Test is the acceptance test, empty where there is none.
	Test string
	// Batch is how a step's records are chosen.
	Batch curator.Batch
	// Clip is what is enforced on a record; 0 where the model's certificate is.
	Clip float64
	// Target says in one word what is sampled: posterior, noise-aware, perturbed or, at a
	// temperature below 1, tempered. Sampled says more, where there is more to say.
	Target, Sampled string
	// Caveat says in which way the draws cannot stand for that; empty where they can.
	Caveat string

	step accountant.Event // what a step of one chain releases, or an epoch of them (Settings.epoch)
	once accountant.Event // and what a chain releases beside its steps; the zero Event for nothing
	// prepare makes one chain's kernel, and says what it must be granted.
	prepare func(curator.Facts) (kernels.Kernel, []curator.Request, error)
	// shared is what all chains together release once beside the start, and open makes
	// them where they do not share the plan's start; the zero Event and nil otherwise.
	shared accountant.Event
	open   func(*Plan, curator.Facts, uint64) (opening, error)
	again  func(*Plan, curator.Facts, uint64, Beginning, []Position) (opening, error) // for chains that go on
}

// Choose fills every setting that is not given, so that all chains together cost
// at most the budget wherever a setting is left open. If none is, their cost may
// exceed it, and Open refuses them.
//
// Errors: a *SettingError, which wraps an *accountant.UnreachableError if no value
// of an open setting is cheap enough; a problem that is not set or does not fit;
// what a sampler says of its settings.
func Choose(s Settings, p Problem) (*Plan, error) {
	if _, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: p.Epsilon, Delta: p.Delta,
		Adjacency: p.Facts.Adjacency}); err != nil {
		return nil, err
	}
	return choose(s, p, false)
}

// Price is the plan of settings that leave nothing to a budget: what Choose would
// solve for within one must be given, and anything else is what Choose makes it. A
// start-share needs p.Epsilon, and a charged start p.Delta; otherwise neither is
// looked at.
func Price(s Settings, p Problem) (*Plan, error) { return choose(s, p, true) }

// defaultKernel is anchored where the model is ours and can be anchored, and the kernel
// knows all that is given: it pays once for what other kernels pay for in every step.
// Elsewhere it is barker.
func defaultKernel(s Settings, p Problem) string {
	if p.Target == nil || !targets.Ours(p.Target) || !p.anchorable() || cmp.Or(s.Temperature, 1) != 1 {
		return "barker"
	}
	for _, v := range table {
		if v.Given(s) && !v.leavesAnchored() {
			return "barker"
		}
	}
	return "anchored"
}

// anchorable reports whether anchored chains, of any order, fit the problem: their model,
// and what bounds a record's gradient.
func (p Problem) anchorable() bool {
	if anchors.Fits(p.Target) != nil {
		return false
	}
	if anchors.Order(p.Target) == 2 || p.Lengths != nil {
		return true
	}
	certificate, ok := p.Target.(targets.GradCertificate)
	return ok && p.Facts.Radius > 0 && !math.IsInf(certificate.GradBound(p.Facts.Radius), 1)
}

func choose(s Settings, p Problem, pricing bool) (*Plan, error) {
	s.Kernel = cmp.Or(s.Kernel, defaultKernel(s, p))
	known := Names()
	if pricing {
		known = Priced()
	}
	if err := s.check(known); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	k := families[s.Kernel]
	c := &choice{Settings: s, Problem: p, given: s, pricing: pricing}
	c.Chains = cmp.Or(s.Chains, k.chains)
	for _, v := range table {
		if v.knownTo(c.Kernel) {
			v.fill(&c.Settings)
		}
	}
	c.Iterations = cmp.Or(s.Iterations, max(1, k.iterations/c.Chains))
	if err := c.chooseStart(k); err != nil {
		return nil, err
	}
	if err := k.choose(c); err != nil {
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
func (r *Plan) Cost() (accountant.Event, error) { return r.CostAt(r.Settings.Iterations) }

// CostAt is that price with chains of another number of steps.
func (r *Plan) CostAt(iterations int64) (accountant.Event, error) {
	chain, err := r.step.Times(r.Settings.epochs(r.Problem.Facts, iterations))
	if err != nil {
		return accountant.Event{}, err
	}
	if len(r.once.Mechanisms()) > 0 {
		if chain, err = accountant.Compose(r.once, chain); err != nil {
			return accountant.Event{}, err
		}
	}
	if chain, err = chain.Times(r.Settings.Chains); err != nil {
		return accountant.Event{}, err
	}
	if len(r.shared.Mechanisms()) > 0 {
		return accountant.Compose(r.startCost, r.shared, chain)
	}
	return accountant.Compose(r.startCost, chain)
}

// StartCost is the part of Cost that is the start's. It is nothing for a free one.
func (r *Plan) StartCost() accountant.Event { return r.startCost }

// choice is a plan in the making: settings that are being filled for a problem.
type choice struct {
	Settings
	Problem
	given     Settings
	pricing   bool  // nothing may be solved for
	rest      int64 // steps of a chain that goes on, which is continued if its kernel has a memory
	continued bool
	start     starts.Config
	startCost accountant.Event
}

// plan is what the settings build.
func (c *choice) plan() (*Plan, error) {
	p, err := families[c.Kernel].build(c)
	if err != nil {
		return nil, err
	}
	p.Target = cmp.Or(p.Target, "posterior")
	if p.Target == "posterior" && c.Temperature < 1 {
		p.Target = "tempered"
		p.Sampled = fmt.Sprintf("the posterior at temperature %.3g, whose intervals are ×%.3g as wide as at 1", c.Temperature,
			1/math.Sqrt(c.Temperature))
	}
	return &Plan{Settings: c.Settings, Problem: c.Problem, ChosenFrom: "public facts", Start: c.start, parts: *p,
		startCost: c.startCost}, nil
}

// required refuses to solve for a setting when pricing.
func (c *choice) required(setting name) error {
	if !c.pricing {
		return nil
	}
	return bad(setting, "%s is required for %s %s: the price depends on it", setting, name("kernel"), c.Kernel)
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

// moves is the proposal, and whether it is guided.
func (c *choice) moves(scale float64) (curator.Proposal, bool, error) {
	if c.Proposal == guided && strings.HasPrefix(c.Kernel, "penalty") {
		return curator.Proposal{Scale: scale, OneComponent: true}, true, nil
	}
	p, err := parseProposal(c.Proposal, scale)
	return p, false, err
}

// prepared turns a sampler package's Prepare into that of its chains.
func prepared[C any, K kernels.Kernel](config C, prepare func(C, curator.Facts) (K, []curator.Request,
	error)) func(curator.Facts) (kernels.Kernel, []curator.Request, error) {
	return func(f curator.Facts) (kernels.Kernel, []curator.Request, error) {
		k, requests, err := prepare(config, f)
		if err != nil {
			return nil, nil, err
		}
		return k, requests, nil
	}
}
