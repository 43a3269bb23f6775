package chains_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/starts"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestStartsAreChosen: auto takes an optimum for logistic regression, a descent
// where gradients are bounded, and else the prior mean; words and values are what
// they say. Whatever is charged takes its share of ε alone, and with the chains
// fits the budget.
func TestStartsAreChosen(t *testing.T) {
	p := chains.Problem{Target: logistic(t, 2), Facts: facts(2000, 2), Epsilon: 1, Delta: 1e-6}
	unbounded, err := targets.New(targets.GaussianMeanConfig{Features: 2, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	free := chains.Problem{Target: unbounded, Facts: facts(2000, 2), Epsilon: 1, Delta: 1e-6}
	free.Facts.Response = false
	asked := func(start string, share float64) chains.Settings {
		return chains.Settings{Kernel: "barker", Start: start, StartShare: share, Iterations: 50}
	}
	binary := p
	binary.Logistic = true
	for _, c := range []struct {
		settings chains.Settings
		problem  chains.Problem
		start    string
		share    float64
	}{
		{asked("", 0), binary, "optimum", starts.DefaultShare},
		{asked("auto", 0), binary, "optimum", starts.DefaultShare},
		{asked("auto", 0.3), binary, "optimum", 0.3},
		{asked("auto", 0), p, "gradient", starts.DefaultShare},
		{asked("auto", 0), free, "prior-mean", 0},
		{asked("auto", 1e-5), binary, "prior-mean", 0},
		{asked("gradient", 0.7), binary, "gradient", 0.7},
		{asked("prior-draw", 0), binary, "prior-draw", 0},
		{asked("1, -2.5", 0), binary, "1, -2.5", 0},
		{asked("auto", 0), addRemove(binary), "optimum", starts.DefaultShare},
	} {
		r, err := chains.Choose(c.settings, c.problem)
		if err != nil {
			t.Errorf("%+v: %v", c.settings, err)
			continue
		}
		alone, err1 := r.StartCost().Epsilon(1e-6)
		cost, err2 := r.Cost()
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		all, err := cost.Epsilon(1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if r.Settings.Start != c.start || r.Settings.StartShare != c.share || math.Abs(alone.Epsilon-c.share) > 1e-3 ||
			all.Epsilon > 1 || all.Epsilon < 0.99 {
			t.Errorf("%+v: start %q with a share of %v costs ε = %v alone, all %v", c.settings, r.Settings.Start,
				r.Settings.StartShare, alone.Epsilon, all.Epsilon)
		}
		again, err := chains.Choose(r.Settings, c.problem)
		if err != nil || again.Settings != r.Settings {
			t.Errorf("choosing again: %+v became %+v, error %v", r.Settings, again, err)
		}
	}
}

// addRemove is a problem under add/remove.
func addRemove(p chains.Problem) chains.Problem {
	p.Facts.Adjacency = accountant.AddRemove
	return p
}

// TestStartAndChainsAreCharged: after Open the budget covers the start, and both
// together cost what Cost said.
func TestStartAndChainsAreCharged(t *testing.T) {
	records := sealed(t, 300, 2, 1)
	p := chains.Problem{Target: logistic(t, 2), Logistic: true, Facts: records.Facts(), Epsilon: 1, Delta: 1e-6}
	r, err := chains.Choose(chains.Settings{Start: "auto", Chains: 2, Iterations: 20}, p)
	if err != nil {
		t.Fatal(err)
	}
	session, err := r.Open(records, 1)
	if err != nil {
		t.Fatal(err)
	}
	started, err := session.Chains(t.Context())
	if err != nil || len(started) != 2 || len(started[1].Start) != 2 || slices.Equal(started[1].Start, []float64{0, 0}) {
		t.Fatalf("chains %+v, error %v", started, err)
	}
	cost, err := r.Cost()
	if err != nil || !cost.Equal(records.Budget().Events()) {
		t.Errorf("charged %v, said %v, error %v", records.Budget().Events(), cost, err)
	}
	// A budget that covers the chains but not the start opens nothing.
	short := sealed(t, 300, 2, 0.95)
	if _, err := r.Open(short, 1); err == nil {
		t.Error("chains were opened on a budget that does not cover their start")
	} else if g, err := short.Budget().Spent(); err != nil || g.Epsilon != 0 {
		t.Errorf("a refused opening spent ε = %v, error %v", g.Epsilon, err)
	}
}

// TestReachIsTheDescents: a reach arrives at the descent, at the same price.
func TestReachIsTheDescents(t *testing.T) {
	p := chains.Problem{Target: logistic(t, 2), Facts: facts(2000, 2), Epsilon: 1, Delta: 1e-6}
	choose := func(reach float64) *chains.Plan {
		t.Helper()
		r, err := chains.Choose(chains.Settings{Kernel: "barker", Start: "gradient", StartReach: reach, Iterations: 20}, p)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	near, far := choose(0.25), choose(0.5)
	if near.Start.Reach != 0.25 || far.Start.Reach != 0.5 || !near.StartCost().Equal(far.StartCost()) {
		t.Errorf("reaches of %v and %v; prices %v and %v", near.Start.Reach, far.Start.Reach, near.StartCost(),
			far.StartCost())
	}
}

func TestStartRefusals(t *testing.T) {
	p := chains.Problem{Target: logistic(t, 2), Facts: facts(2000, 2), Epsilon: 1, Delta: 1e-6}
	unbounded, err := targets.New(targets.GaussianMeanConfig{Features: 2, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	mean := chains.Problem{Target: unbounded, Facts: facts(2000, 2), Epsilon: 1, Delta: 1e-6}
	mean.Facts.Response = false
	for words, c := range map[string]struct {
		problem chains.Problem
		s       chains.Settings
	}{
		"optimum is for logistic":  {p, chains.Settings{Start: "optimum"}},
		"must be one of auto":      {p, chains.Settings{Start: "middle"}},
		"has 3 values":             {p, chains.Settings{Start: "1,2,3"}},
		"finite values":            {p, chains.Settings{Start: "1,Inf"}},
		"must be in (0, 1)":        {p, chains.Settings{Start: "gradient", StartShare: 1}},
		"starts that are charged":  {p, chains.Settings{Start: "prior-mean", StartShare: 0.5}},
		"exclude one another":      {p, chains.Settings{StartShare: 0.5, StartEpsilon: 0.5}},
		"must be below ε":          {p, chains.Settings{Start: "gradient", StartEpsilon: 1}},
		"does not pay for":         {p, chains.Settings{Start: "gradient", StartShare: 1e-5}},
		"start-reach is for start": {p, chains.Settings{Start: "prior-mean", StartReach: 2}},
		"has gradients and bounds": {mean, chains.Settings{Start: "gradient"}},
	} {
		if _, err := chains.Choose(c.s, c.problem); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: error %v, want %q", c.s, err, words)
		}
	}
	// A kernel that clips gradients lends its clip.
	r, err := chains.Choose(chains.Settings{Kernel: "dpsgld", Start: "auto", Clip: 4, Iterations: 20}, mean)
	if err != nil || r.Settings.Start != "gradient" || r.Start.Clip != 4 {
		t.Errorf("dpsgld with a clip of 4: %+v, error %v", r, err)
	}
	if e := r.StartCost(); e.Adjacency() != accountant.Substitute {
		t.Errorf("the start's cost is %v", e)
	}
}
