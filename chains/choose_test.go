package chains_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// blind is a logistic model that fails the test when a record is looked at: as long
// as nothing was opened, nobody may.
type blind struct {
	*targets.Regression
	t interface{ Fatal(args ...any) }
}

func (b blind) Loss(dst, theta []float64, rows targets.Rows) { b.t.Fatal("a record was read") }
func (b blind) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	b.t.Fatal("a record was read")
}
func (b blind) LossGrad(dst, theta []float64, rows targets.Rows) { b.t.Fatal("a record was read") }
func (b blind) LossAt(dst, eta, y []float64)                     { b.t.Fatal("a record was read") }
func (b blind) SlopeAt(dst, eta, y []float64)                    { b.t.Fatal("a record was read") }

func logistic(t interface{ Fatal(args ...any) }, features int) *targets.Regression {
	model, err := targets.New(targets.RegressionConfig{Features: features, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// facts are those of a table of n records with d features.
func facts(n int64, d int) curator.Facts {
	return curator.Facts{Records: n, Features: d, Response: true, Radius: 1, RowsPerPerson: 1,
		Adjacency: accountant.Substitute}
}

// situation is what plans are drawn for.
type situation struct {
	settings chains.Settings
	problem  chains.Problem
}

// situations draws public facts, budgets and the settings of every kernel.
var situations = rapid.Custom(func(t *rapid.T) situation {
	f := facts(int64(math.Exp(rapid.Float64Range(math.Log(50), math.Log(1e6)).Draw(t, "log N"))),
		rapid.IntRange(1, 6).Draw(t, "d"))
	f.RowsPerPerson = rapid.IntRange(1, 2).Draw(t, "rows per person")
	f.Adjacency = rapid.SampledFrom([]accountant.Adjacency{accountant.Substitute, accountant.AddRemove}).Draw(t,
		"adjacency")
	return situation{
		chains.Settings{Chains: rapid.Int64Range(1, 3).Draw(t, "chains"),
			Temperature: rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "temperature")},
		chains.Problem{Facts: f, Epsilon: math.Exp(rapid.Float64Range(-2, 2).Draw(t, "log ε")), Delta: 1e-6},
	}
})

// TestEveryRecipeFitsItsBudget: whatever is left open is chosen so that the budget
// covers it, without a look at a record, and so that choosing again changes nothing.
// Prices take a while, so it draws the same few situations in every run.
func TestEveryRecipeFitsItsBudget(t *testing.T) {
	for _, kernel := range chains.Names() {
		t.Run(kernel, func(t *testing.T) {
			for i := range situationsDrawn {
				drawn := situations.Example(i)
				s, p := drawn.settings, drawn.problem
				s.Kernel, p.Target = kernel, blind{logistic(t, p.Facts.Features), t}
				if kernel == "anchored" { // for the library's own regressions only
					p.Target = logistic(t, p.Facts.Features)
				}
				if kernel == "penalty" && i > 0 {
					s.Proposal = "truncated:4" // whose prices are quick
				}
				r, err := chains.Choose(s, p)
				if err != nil {
					t.Fatalf("%+v: %v", drawn, err)
				}
				cost, err := r.Cost()
				if err != nil {
					t.Fatal(err)
				}
				g, err := cost.Epsilon(p.Delta)
				if err != nil || g.Epsilon > p.Epsilon {
					t.Fatalf("settings %+v cost ε = %v, the budget is %v, error %v", r.Settings, g.Epsilon, p.Epsilon, err)
				}
				again, err := chains.Choose(r.Settings, p)
				if err != nil || !reflect.DeepEqual(again.Settings, r.Settings) || again.Released != r.Released {
					t.Fatalf("choosing again: %+v became %+v, error %v", r.Settings, again, err)
				}
			}
		})
	}
}

// sealed is a curator of n records with d features.
func sealed(t *testing.T, n, d int, epsilon float64) *curator.Curator {
	t.Helper()
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: epsilon, Delta: 1e-6,
		Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range x {
		x[i] = math.Sin(float64(i)) / math.Sqrt(float64(d))
	}
	for i := range y {
		y[i] = float64(i % 2)
	}
	c, err := curator.Seal(curator.Records{X: x, Features: d, Y: y, Radius: 1}, budget)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOpenedChainsCostWhatWasSaid opens and runs every plan: the budget is charged
// what Cost said, and a second time it is refused as a whole.
func TestOpenedChainsCostWhatWasSaid(t *testing.T) {
	for _, s := range variants() {
		records := sealed(t, 300, 2, 1)
		r, err := chains.Choose(s, chains.Problem{Target: logistic(t, 2), Facts: records.Facts(), Epsilon: 1, Delta: 1e-6})
		if err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		session, err := r.Open(records, 1)
		if err != nil || len(session.Kernels()) != 2 {
			t.Fatalf("%+v: error %v", s, err)
		}
		opened := session.Kernels()
		cost, err := r.Cost()
		if err != nil {
			t.Fatal(err)
		}
		said, err1 := cost.Epsilon(1e-6)
		spent, err2 := records.Budget().Spent()
		if err1 != nil || err2 != nil || math.Abs(said.Epsilon-spent.Epsilon) > 1e-9 {
			t.Errorf("%+v: ε = %v was said, %v is spent; errors %v, %v", s, said.Epsilon, spent.Epsilon, err1, err2)
		}
		if _, err := session.Chains(t.Context()); err != nil { // what comes before the first step
			t.Fatal(err)
		}
		rng := kernels.Stream(1, 0)
		state, err := opened[1].Init([]float64{0, 0})
		if err != nil {
			t.Fatal(err)
		}
		for range r.Settings.Iterations {
			if _, err := opened[1].Step(rng, state); err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
		}
		if s.Step != 0 {
			continue // the budget was not meant to be used up
		}
		var exceeded *accountant.ExceededError
		if _, err := r.Open(records, 1); !errors.As(err, &exceeded) {
			t.Errorf("%+v: a second opening: %v", s, err)
		}
		if again, err := records.Budget().Spent(); err != nil || again.Epsilon != spent.Epsilon {
			t.Errorf("%+v: a refused opening changed what is spent from %v to %v, error %v", s, spent, again, err)
		}
	}
}

// variants are short settings of every kernel, with two chains each.
func variants() []chains.Settings {
	var all []chains.Settings
	for _, kernel := range chains.Names() {
		all = append(all, chains.Settings{Kernel: kernel})
	}
	all[slices.Index(chains.Names(), "penalty")].Proposal = "truncated:4" // whose prices are quick
	all = append(all,
		chains.Settings{Kernel: "penalty", Proposal: "guided", Step: 1e-4},
		chains.Settings{Kernel: "penalty-ratio", Proposal: "guided"},
		chains.Settings{Kernel: "dpsgld", Schedule: "polynomial"},
		chains.Settings{Kernel: "dpsgld", Schedule: "polynomial:0.9", AsPublished: true},
		chains.Settings{Kernel: "dpsgld", Batch: 60, Allocated: true},
		chains.Settings{Kernel: "sgnht", Batch: 43, Allocated: true},
		chains.Settings{Kernel: "dphmc", Acceptance: "penalty"},
		chains.Settings{Kernel: "anchored", Aim: "remainder"},
		chains.Settings{Kernel: "anchored", Aim: "perturbed", Rate: 0.3},
		chains.Settings{Kernel: "barker", Proposal: "one-component", Test: "logistic", Batch: 100, FixedBatch: true},
	)
	for i := range all {
		all[i].Iterations, all[i].Chains = 20, 2
		if all[i].Kernel != "anchored" { // which finds its own
			all[i].Start = "prior-mean"
		}
	}
	return all
}

// TestOpenIsAllOrNothing: a budget that covers one of two chains is left untouched.
func TestOpenIsAllOrNothing(t *testing.T) {
	records := sealed(t, 300, 2, 1.2)
	r, err := chains.Choose(chains.Settings{Kernel: "dpsgld", Chains: 2, Iterations: 20},
		chains.Problem{Target: logistic(t, 2), Facts: records.Facts(), Epsilon: 1.5, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	var exceeded *accountant.ExceededError
	if _, err := r.Open(records, 1); !errors.As(err, &exceeded) {
		t.Errorf("two chains for ε = 1.5 were opened with a budget of 1.2: %v", err)
	}
	if g, err := records.Budget().Spent(); err != nil || g.Epsilon != 0 {
		t.Errorf("a refused opening spent ε = %v, error %v", g.Epsilon, err)
	}
}

func TestRefusals(t *testing.T) {
	good := chains.Problem{Target: logistic(t, 2), Facts: facts(2000, 2), Epsilon: 1, Delta: 1e-6}
	for _, c := range []struct {
		setting, want string
		s             chains.Settings
	}{
		{"kernel", "kernel is \"gibbs\"", chains.Settings{Kernel: "gibbs"}},
		{"iterations", "iterations is -1", chains.Settings{Iterations: -1}},
		{"chains", "chains is -2", chains.Settings{Chains: -2}},
		{"iterations", "in (0, 1e+12]", chains.Settings{Iterations: 1 << 62, Chains: 4}},
		{"chains", "in (0, 1e+06]", chains.Settings{Iterations: 1, Chains: 1 << 62}},
		{"leapfrog", "in (0, 1e+06]", chains.Settings{Kernel: "dphmc", Leapfrog: 1 << 62}},
		{"clip", "clip is -1", chains.Settings{Clip: -1}},
		{"step", "step is NaN", chains.Settings{Step: math.NaN()}},
		{"step", "step is +Inf", chains.Settings{Step: math.Inf(1)}},
		{"temperature", "in (0, 1]", chains.Settings{Temperature: 1.5}},
		{"noise", "noise has no meaning for kernel barker; its own are", chains.Settings{Noise: 3}},
		{"full", "full has no meaning for kernel tunamh", chains.Settings{Kernel: "tunamh", FullData: true}},
		{"batch", "exclude one another", chains.Settings{Batch: 10, Rate: 0.1}},
		{"batch", "the 2000 records", chains.Settings{Batch: 2001}},
		{"fixed-batch", "goes with batch", chains.Settings{FixedBatch: true, FullData: true}},
		{"allocated", "goes with batch", chains.Settings{Kernel: "dpsgld", Allocated: true, Rate: 0.1}},
		{"allocated", "not with fixed", chains.Settings{Kernel: "sgnht", Allocated: true, Batch: 10, FixedBatch: true}},
		{"allocated", "no meaning", chains.Settings{Allocated: true, Batch: 10}},
		{"proposal", "truncated:K", chains.Settings{Proposal: "truncated"}},
		{"proposal", "guided", chains.Settings{Proposal: "guided"}},
		{"test", "corrected:C", chains.Settings{Test: "corrected"}},
		{"accounting", "tightened", chains.Settings{Accounting: "hope"}},
		{"schedule", "polynomial:0.6", chains.Settings{Kernel: "dpsgld", Schedule: "polynomial:2"}},
		{"acceptance", "barker or penalty", chains.Settings{Kernel: "dphmc", Acceptance: "luck"}},
		{"max-move", "for acceptance barker", chains.Settings{Kernel: "dphmc", Acceptance: "penalty", MaxMove: 1}},
		{"ratio-noise", "for acceptance penalty", chains.Settings{Kernel: "dphmc", RatioNoise: 100}},
	} {
		_, err := chains.Choose(c.s, good)
		var about *chains.SettingError
		if !errors.As(err, &about) || about.Setting != c.setting || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v; it must be about %s and contain %q", c.s, err, c.setting, c.want)
			continue
		}
		if spelt := about.Spell(strings.ToUpper); strings.Contains(spelt, "chains:") ||
			!strings.Contains(spelt, strings.ToUpper(c.setting)) {
			t.Errorf("%+v: spelt in capitals: %s", c.s, spelt)
		}
	}
	for _, edit := range []func(*chains.Problem){
		func(p *chains.Problem) { p.Target = nil },
		func(p *chains.Problem) { p.Facts.Records = 0 },
		func(p *chains.Problem) { p.Facts.Features = 3 },
		func(p *chains.Problem) { p.Epsilon = 0 },
		func(p *chains.Problem) { p.Delta = 1 },
	} {
		p := good
		edit(&p)
		if _, err := chains.Choose(chains.Settings{}, p); err == nil {
			t.Errorf("%+v was accepted", p)
		}
	}
	if _, err := chains.Describe("gibbs"); err == nil {
		t.Error("a kernel that does not exist was described")
	}
}

// TestShortBudgetsAreUnreachable: callers can tell a budget that is too small from a
// setting that is wrong.
func TestShortBudgetsAreUnreachable(t *testing.T) {
	p := chains.Problem{Target: logistic(t, 2), Facts: facts(2000, 2), Epsilon: 1e-6, Delta: 1e-9}
	for _, kernel := range chains.Names() {
		_, err := chains.Choose(chains.Settings{Kernel: kernel, Iterations: 1e12}, p)
		var unreachable *accountant.UnreachableError
		var about *chains.SettingError
		if !errors.As(err, &unreachable) || !errors.As(err, &about) {
			t.Errorf("%s: %v", kernel, err)
		}
	}
}

// TestSomeBoundIsNeeded: where nothing certifies a bound, walks take a clip of their
// own, and kernels with gradients ask for one.
func TestSomeBoundIsNeeded(t *testing.T) {
	mean, err := targets.New(targets.GaussianMeanConfig{Features: 2, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	f := facts(2000, 2)
	f.Response = false
	p := chains.Problem{Target: mean, Facts: f, Epsilon: 1, Delta: 1e-6}
	var about *chains.SettingError
	if _, err := chains.Choose(chains.Settings{Clip: 0.001}, p); !errors.As(err, &about) ||
		!strings.Contains(err.Error(), "give step too") {
		t.Errorf("a clip that leaves no step to solve for: %v", err)
	}
	walks := []string{"barker", "penalty", "tunamh"}
	for _, kernel := range chains.Names() {
		r, err := chains.Choose(chains.Settings{Kernel: kernel, Iterations: 100}, p)
		var about *chains.SettingError
		switch {
		case slices.Contains(walks, kernel):
			if err != nil || !(r.Clip > 0) || r.Clip != r.Settings.Clip {
				t.Errorf("%s: plan %+v, error %v", kernel, r, err)
			}
		case !errors.As(err, &about) || about.Setting != map[bool]string{false: "clip", true: "kernel"}[kernel == "anchored"]:
			t.Errorf("%s: %v", kernel, err)
		}
	}
}

// TestAsPublishedSaysSo also checks that its default step uses the same share of the
// Langevin noise: a drift twice as long takes a quarter of the step.
func TestAsPublishedSaysSo(t *testing.T) {
	p := chains.Problem{Target: logistic(t, 2), Facts: facts(2000, 2), Epsilon: 1, Delta: 1e-6}
	ours, err1 := chains.Choose(chains.Settings{Kernel: "dpsgld", Iterations: 200}, p)
	published, err2 := chains.Choose(chains.Settings{Kernel: "dpsgld", Iterations: 200, AsPublished: true}, p)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if ours.Caveat != "" || !strings.Contains(published.Caveat, "SQUARE") {
		t.Errorf("caveats %q and %q", ours.Caveat, published.Caveat)
	}
	if ratio := ours.Settings.Step / published.Settings.Step; math.Abs(ratio-4) > 1e-9 {
		t.Errorf("steps %v and %v", ours.Settings.Step, published.Settings.Step)
	}
}
