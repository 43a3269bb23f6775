package methods

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/targets"
)

// chainSettings are what every private chain can be asked for here; package chains has
// the others.
var chainSettings = []Setting{
	{"loss", "log or beta, instead of the model's loss", ""},
	{"beta", "β above 1, with loss = \"beta\"", 0.0},
	{"warmup", "share of the chain that is left out, in [0, 1)", 0.5},
	{"thin", "keep every thin-th state; 0 for so many that at most 2000 a chain are kept", int64(0)},
}

var _ = register(privateChains()...)

// privateChains are the kernels of package chains, with the settings that its table has.
// A kernel or a setting that is new there appears here by itself.
func privateChains() []*Method {
	var list []*Method
	for _, name := range chains.Names() {
		d, err := chains.Describe(name)
		if err != nil {
			panic("methods: " + err.Error())
		}
		knobs := slices.Clone(chainSettings)
		for _, v := range chains.Table() {
			if d.Knows(v) && v.Name != "kernel" {
				knobs = append(knobs, chainSetting(v))
			}
		}
		var fits []string // nil for all
		if d.Anchored {
			fits = anchorable
		}
		list = append(list, &Method{
			Name: name, Models: fits, Kind: Unconditional, About: "private chain: " + d.About,
			Settings: knobs, chain: true,
			build: func(p Problem, b Budget, s settings) (*Mechanism, error) { return buildChain(d.Name, p, b, s) },
		})
	}
	return list
}

// anchorable are the models that anchored chains take.
var anchorable = []string{"logistic", "probit", "cloglog", "loglog", "poisson", "negative-binomial", "linear"}

// chainSetting describes a setting of the table. Its zero stands for the rule, if it
// has one.
func chainSetting(v chains.Setting) Setting {
	about := v.Help
	if v.Rule != "" {
		about += "; " + v.Rule
	}
	return Setting{v.Name, about, cmp.Or(v.Default, v.Value(chains.Settings{}))}
}

// kernelSettings fills in chains.Settings.
func kernelSettings(kernel string, s settings) chains.Settings {
	out := chains.Settings{Kernel: kernel}
	for _, v := range chains.Table() {
		if value, given := s[v.Name]; given {
			v.Set(&out, value)
		}
	}
	return out
}

func buildChain(kernel string, p Problem, b Budget, s settings) (*Mechanism, error) {
	warmup, thin := s.float("warmup"), s.int("thin")
	if !(warmup >= 0 && warmup < 1) || thin < 0 {
		return nil, errors.New("warmup must be in [0, 1), and thin at least 1, or 0 for the default")
	}
	target, err := chainTarget(p, s)
	if err != nil {
		return nil, err
	}
	plan, err := chains.Choose(kernelSettings(kernel, s), chains.Problem{
		Target: target, Logistic: p.Logistic, Facts: p.Facts, Shape: p.Shape, Weighed: p.Weighs(),
		Epsilon: b.Epsilon, Delta: b.Delta,
	})
	if err != nil {
		return nil, err
	}
	cost, err := plan.Cost()
	if err != nil {
		return nil, err
	}
	c := &chainRun{problem: p, budget: b, plan: plan, warmup: warmup, thin: thin}
	return &Mechanism{Cost: cost, Theorem: plan.Released, Choice: c.describe(), Run: c.run,
		Fitted: kernel == "anchored" && plan.Settings.AnchorFit == anchors.Fitted.String()}, nil
}

// chainTarget is the problem's target, or that with the loss of the settings.
func chainTarget(p Problem, s settings) (targets.GradTarget, error) {
	switch loss := s.text("loss"); {
	case loss == "" && s.float("beta") == 0:
		return p.target(), nil
	case loss == "log" && s.float("beta") == 0:
		return p.withLoss(targets.Loss{})
	case loss == "beta" && s.float("beta") != 0:
		return p.withLoss(targets.Loss{Beta: s.float("beta")})
	default:
		return nil, fmt.Errorf("loss = %q and beta = %v: give loss = \"beta\" with beta above 1, or neither", loss,
			s.float("beta"))
	}
}

// chainRun runs the chains of a plan.
type chainRun struct {
	problem Problem
	budget  Budget
	plan    *chains.Plan
	warmup  float64
	thin    int64
}

// describe says what was chosen.
func (c *chainRun) describe() string {
	s := c.plan.Settings
	parts := []string{"start: " + s.Start, fmt.Sprintf("%d iterations", s.Iterations), fmt.Sprintf("step %.3g", s.Step),
		c.plan.Batch.String(), fmt.Sprintf("temperature %.3g", s.Temperature)}
	if s.Noise != 0 {
		parts = append(parts, fmt.Sprintf("noise %.3g", s.Noise))
	}
	if c.plan.Caveat != "" {
		parts = append(parts, c.plan.Caveat)
	}
	return strings.Join(parts, ", ")
}

// mostDraws is how many draws a chain keeps by default, warm-up included.
const mostDraws = 2000

func (c *chainRun) run(ctx context.Context, rows targets.Rows, n Noise) (Release, error) {
	facts := c.problem.Facts
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: c.budget.Epsilon, Delta: c.budget.Delta,
		Adjacency: facts.Adjacency})
	if err != nil {
		return Release{}, err
	}
	records := curator.Records{X: rows.X, Features: rows.P, Y: rows.Y, Radius: facts.Radius,
		RowsPerPerson: facts.RowsPerPerson}
	sealed, err := curator.Seal(records, budget, n.options()...)
	if err != nil {
		return Release{}, err
	}
	session, err := c.plan.Open(sealed, n.public())
	if err != nil {
		return Release{}, err
	}
	started, err := session.Chains(ctx)
	if err != nil {
		return Release{}, err
	}
	iterations := c.plan.Settings.Iterations
	thin := cmp.Or(c.thin, (iterations+mostDraws-1)/mostDraws)
	memory := kernels.NewMemory(len(started))
	err = kernels.Run(ctx, started, kernels.Options{Iterations: iterations, Thin: thin, Seed: n.public(), Sink: memory})
	if err != nil {
		return Release{}, err
	}
	var r Release
	for id := range started {
		draws := memory.Draws(id)
		r.Chains = append(r.Chains, draws[int(c.warmup*float64(len(draws))):])
	}
	return r, nil
}
