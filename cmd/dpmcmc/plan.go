package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// planSettings are the flags of plan: those of sample that say what is run, and the
// public facts that sample takes from a schema.
type planSettings struct {
	modelFlags
	chains.Settings
	budgetFlags
	solve, plot string
	want        string
	public      publicFlags
	lipschitz   float64
	dimension   int
	json        bool
}

func newPlan() *cobra.Command {
	s := &planSettings{}
	c := &cobra.Command{
		Use:   "plan",
		Short: "Say what a budget buys",
		Long: `plan says what a budget buys, and looks at no data. Told the number of records
and features (or a schema) and the budget, it says which kernel and settings
sample would run, how wide intervals will be against those without privacy, the
error, the effective sample size and the time, the same at half and twice the
budget, and the command. With --want it finds the budget, or the number of records.

With --solve it solves for one setting of a run, named by --solve: the largest number of
iterations, the longest step, the least noise that the budget (--epsilon,
--delta) covers. It prints the value, what the run then costs, which is never
more than the budget, and what other lengths of the run would cost. Flags mean
what they mean for sample, and are priced by the same code; only a start is free
here unless --start names one.

` + solveHelp(),
		Example: `  dpmcmc plan --records 20000 --features 12 --epsilon 2 --delta 1e-6
  dpmcmc plan --records 2000 --features 3 --delta 1e-6 --want x1.5
  dpmcmc plan --kernel barker --records 1000000 --epsilon 1 --delta 1e-6 --solve iterations \
    --step 0.001 --radius 1 --lipschitz 1 --batch 5000
  dpmcmc plan --kernel barker --records 30000 --epsilon 0.3 --delta 1e-6 --solve step \
    --iterations 100000 --radius 1 --model logistic --loss beta --beta 1.5 --dimension 50
  dpmcmc plan --kernel poisson-gaussian --records 60000 --epsilon 1 --delta 1e-5 --solve noise \
    --iterations 10000 --batch 600 --adjacency add_remove --plot plan.svg`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if s.solve == "" && !c.Flags().Changed("lipschitz") && !c.Flags().Changed("dimension") {
				return s.buys(c.Context(), c.Flags(), c.OutOrStdout())
			}
			return s.execute(c.Flags(), c.OutOrStdout())
		},
	}
	s.bindPlan(c.Flags())
	return c
}

// solveHelp lists what is priced for --help.
func solveHelp() string {
	var b strings.Builder
	b.WriteString("Kernels, and what --solve takes for each, beside epsilon and delta:")
	for _, name := range chains.Priced() {
		k, err := chains.Describe(name)
		if err != nil {
			panic("dpmcmc: a kernel that has a name has a description: " + err.Error())
		}
		fmt.Fprintf(&b, "\n  %-17s %s\n  %-17s solves %s", name, k.About, "", strings.Join(solves(k), ", "))
	}
	return b.String()
}

// solves lists what can be solved for.
func solves(k chains.Description) []string {
	var names []string
	for _, v := range chains.Table() {
		if solvable, _ := v.Solvable(); solvable && k.Knows(v) {
			names = append(names, v.Name)
		}
	}
	if !k.Mechanism {
		names = append(names, "beta")
	}
	return names
}

func (s *planSettings) bindPlan(f *pflag.FlagSet) {
	f.StringVar(&s.solve, "solve", "", "the setting to solve for; by default plan says what sample would run, and what "+
		"that is worth")
	f.StringVar(&s.want, "want", "", "what the run is to be worth, \"interval ×1.5\", \"error 0.5\" or \"ess 400\": plan "+
		"solves for ε, or with --epsilon and without --records for the number of records")
	s.public.bind(f)
	f.Lookup("radius").DefValue, s.public.radius = "0", 0
	s.budgetFlags.bind(f, "required unless it is what is solved for")
	f.Float64Var(&s.lipschitz, "lipschitz", 0,
		"bound on the slope of the loss along the linear predictor; --model computes it")
	f.IntVar(&s.dimension, "dimension", 1,
		"number of features; compares the price with that of the worst direction of a move")
	s.modelFlags.bind(f)
	bindSettings(f, &s.Settings)
	f.Lookup("kernel").Usage = "what is run: " + strings.Join(chains.Priced(), ", ") + "; required with --solve"
	f.BoolVar(&s.json, "json", false, "print one JSON object")
	f.StringVar(&s.plot, "plot", "", "SVG file to draw into: ε against iterations, and against the batch size")
}

// execute checks the flags, solves, and prints.
func (s *planSettings) execute(flags *pflag.FlagSet, out io.Writer) error {
	if err := s.check(flags); err != nil {
		return setting.Flagged(err)
	}
	answer, err := s.solved(flags)
	if err != nil {
		return setting.Flagged(err)
	}
	if err := answer.explore(); err != nil {
		return setting.Flagged(err)
	}
	if s.plot != "" {
		if err := drawFile(s.plot, answer.panels()); err != nil {
			return err
		}
	}
	if s.json {
		return printJSON(out, answer.report())
	}
	return say(out, answer.words())
}

// check reports flags that are missing, out of range or without meaning here, all at
// once.
func (s *planSettings) check(f *pflag.FlagSet) error {
	if !slices.Contains(chains.Priced(), s.Kernel) {
		return fmt.Errorf("--kernel is %q; it must be one of %s", s.Kernel, strings.Join(chains.Priced(), ", "))
	}
	k, err := chains.Describe(s.Kernel)
	if err != nil {
		return err
	}
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	targets := append(solves(k), "epsilon", "delta")
	bad(!slices.Contains(targets, s.solve), "--solve is %q; for --kernel %s it must be one of %s", s.solve, s.Kernel,
		strings.Join(targets, ", "))
	bad(s.public.records < 1, "--records is %d; it must be the number of records, at least 1", s.public.records)
	for _, name := range []string{"epsilon", "delta"} {
		bad(!f.Changed(name) && s.solve != name,
			"--%s is required, unless it is what --solve names: privacy parameters have no defaults", name)
	}
	bad(f.Changed("epsilon") && (!(s.epsilon > 0) || math.IsInf(s.epsilon, 1)),
		"--epsilon is %v; it must be positive and finite", s.epsilon)
	bad(f.Changed("delta") && !(s.delta >= 0 && s.delta < 1), "--delta is %v; it must be in [0, 1)", s.delta)
	bad(s.solve != "epsilon" && s.solve != "delta" && s.solve != "" && f.Changed(s.solve),
		"--%s is given, but it is what --solve names; leave one of them out", s.solve)
	for _, name := range append(s.modelFlags.names(), "radius", "lipschitz", "dimension") {
		bad(k.Mechanism && f.Changed(name), "--%s has no meaning for --kernel %s", name, s.Kernel)
	}
	bad(slices.Contains([]string{"auto", "optimum", "gradient"}, s.Start) && !f.Changed("delta"),
		"--start %s is charged at --delta; give that too", s.Start)
	most := int64(mostSteps) / max(1, s.Chains)
	bad(s.Iterations < 0 || s.Iterations > most, "--iterations is %d; it must be between 0 and, with %d chain(s), %d",
		s.Iterations, max(1, s.Chains), most)
	return errors.Join(append(errs, checkZeros(f, s.Settings, "iterations"))...)
}

// mostSteps keeps counts exact in JSON numbers.
const mostSteps = 1 << 53

// problem is what the settings are priced for.
func (s *planSettings) problem() (chains.Problem, error) {
	adjacency, err := s.parsed()
	if err != nil {
		return chains.Problem{}, err
	}
	target, optimum, err := s.target()
	if err != nil {
		return chains.Problem{}, err
	}
	p := chains.Problem{
		Target: target, Logistic: optimum, Epsilon: s.epsilon, Delta: s.delta,
		Facts: curator.Facts{Records: s.public.records, Radius: s.public.radius, RowsPerPerson: s.public.rowsPerPerson,
			Adjacency: adjacency},
	}
	p.Facts.Features, p.Facts.Response = target.Shape()
	return p, nil
}

// priced is the plan of the settings. Without --start the start is free.
func (s *planSettings) priced() (*chains.Plan, error) {
	p, err := s.problem()
	if err != nil {
		return nil, err
	}
	settings := s.Settings
	if k, err := chains.Describe(s.Kernel); err == nil && !k.Mechanism && settings.Start == "" {
		if settings.StartShare != 0 || settings.StartEpsilon != 0 {
			return nil, errors.New("--start-share and --start-epsilon go with --start: auto, optimum or gradient")
		}
		settings.Start = "prior-mean"
	}
	return chains.Price(settings, p)
}

// target is one with the certificates that the flags state, and whether chains can start
// at the logistic optimum.
func (s *planSettings) target() (targets.Target, bool, error) {
	switch {
	case s.dimension < 1:
		return nil, false, fmt.Errorf("--dimension is %d; at least 1 is needed", s.dimension)
	case !(s.lipschitz >= 0) || math.IsInf(s.lipschitz, 1):
		return nil, false, fmt.Errorf("--lipschitz is %v; it must be positive and finite", s.lipschitz)
	case s.model != "" && s.lipschitz != 0:
		return nil, false, fmt.Errorf("--model %s certifies its own slope; leave --lipschitz out", s.model)
	case s.lipschitz != 0 && s.public.radius == 0:
		return nil, false, fmt.Errorf("--lipschitz bounds a record's part of a move only with --radius, the bound on its " +
			"features")
	case s.model == "" && s.lipschitz == 0:
		return anyLinear{dim: s.dimension, slope: math.Inf(1)}, false, nil
	case s.model == "":
		return anyLinear{dim: s.dimension, slope: s.lipschitz}, false, nil
	}
	shape, err := models.StandardShape(s.model, int(s.public.records), s.dimension-1)
	if err != nil {
		return nil, false, setting.Flagged(err)
	}
	shape.Radius, shape.RowsPerPerson = s.public.radius, s.public.rowsPerPerson
	m, err := s.build(shape)
	if err != nil {
		return nil, false, err
	}
	return m.Target, m.Optimum == models.LogisticOptimum, nil
}

// anyLinear stands for any target whose loss has a bounded slope along the
// linear predictor. Pricing reads its shape and its slope alone; it is the
// target of a flat loss.
type anyLinear struct {
	dim   int
	slope float64
}

var (
	_ targets.LinearTarget = anyLinear{}
	_ targets.GradTarget   = anyLinear{}
)

func (t anyLinear) Dim() int                                  { return t.dim }
func (t anyLinear) Shape() (features int, response bool)      { return t.dim, true }
func (t anyLinear) LogPrior([]float64) float64                { return 0 }
func (t anyLinear) Loss(dst, _ []float64, _ targets.Rows)     { clear(dst) }
func (t anyLinear) LossAt(dst, _, _ []float64)                { clear(dst) }
func (t anyLinear) SlopeAt(dst, _, _ []float64)               { clear(dst) }
func (t anyLinear) LossGrad(dst, _ []float64, _ targets.Rows) { clear(dst) }
func (t anyLinear) GradLogPrior(dst, _ []float64)             { clear(dst) }
func (t anyLinear) PredictorLipschitz() float64               { return t.slope }

// GradBound is the slope times the radius; infinite where nothing bounds it.
func (t anyLinear) GradBound(radius float64) float64 {
	if radius == 0 {
		return math.Inf(1)
	}
	return t.slope * radius
}
