package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/flags"
	"github.com/dpmcmc/dpmcmc/internal/forecasts"
	"github.com/dpmcmc/dpmcmc/internal/prices"
	"github.com/dpmcmc/dpmcmc/internal/setting"
)

// planSettings are the flags of plan: those of sample that say what is run, and the
// public facts that sample takes from a schema.
type planSettings struct {
	flags.Model
	chains.Settings
	flags.Budget
	solve, plot string
	want        string
	public      flags.Public
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
		fmt.Fprintf(&b, "\n  %s: %s; solves %s", name, k.About, strings.Join(prices.Solvable(k), ", "))
	}
	return b.String()
}

func (s *planSettings) bindPlan(f *pflag.FlagSet) {
	f.StringVar(&s.solve, "solve", "", "the setting to solve for; by default plan says what sample would run, and what "+
		"that is worth")
	f.StringVar(&s.want, "want", "", "what the run is to be worth, \"interval ×1.5\", \"error 0.5\" or \"ess 400\": plan "+
		"solves for ε, or with --epsilon and without --records for the number of records")
	s.public.Bind(f)
	f.Lookup("radius").DefValue, s.public.Radius = "0", 0
	s.Budget.Bind(f, "required unless it is what is solved for")
	f.Float64Var(&s.lipschitz, "lipschitz", 0,
		"bound on the slope of the loss along the linear predictor; --model computes it")
	f.IntVar(&s.dimension, "dimension", 1,
		"number of features; compares the price with that of the worst direction of a move")
	s.Model.Bind(f)
	flags.BindSettings(f, &s.Settings)
	f.Lookup("kernel").Usage = "what is run: " + strings.Join(chains.Priced(), ", ") + "; required with --solve"
	f.BoolVar(&s.json, "json", false, "print one JSON object")
	f.StringVar(&s.plot, "plot", "", "SVG file to draw into: ε against iterations, and against the batch size")
}

// buys answers plan without --solve.
func (s *planSettings) buys(ctx context.Context, f *pflag.FlagSet, out io.Writer) error {
	required := []string{"delta"}
	if s.want == "" {
		required = []string{"epsilon", "delta"}
	}
	if s.public.Schema == "" {
		if s.want == "" || !f.Changed("epsilon") {
			required = append(required, "records")
		}
		required = append(required, "features")
	}
	if missing := flags.Missing(f, required...); missing != "" {
		return fmt.Errorf("%s; privacy parameters have no defaults, and --schema can stand for --records and --features",
			missing)
	}
	if err := s.Budget.Check(f); err != nil {
		return err
	}
	if s.want != "" && s.Temperature == forecasts.AutoTemperature {
		return errors.New("--want and --temperature auto exclude one another; give one")
	}
	if s.want != "" && f.Changed("epsilon") {
		if s.public.Schema != "" || f.Changed("records") {
			return errors.New("--want solves for --epsilon or for --records; leave one of them out")
		}
		s.public.Records = 1
	}
	if err := s.public.Check(f); err != nil {
		return err
	}
	if s.ModelName == "" && s.public.Schema == "" {
		s.ModelName = "logistic"
	}
	if !f.Changed("radius") {
		s.public.Radius = 1
	}
	shape, err := s.public.Shape(s.ModelName)
	if err != nil {
		return err
	}
	adjacency, err := s.Adjacency()
	if err != nil {
		return err
	}
	p, err := forecasts.Buy(ctx, forecasts.Order{
		Settings: s.Settings, Epsilon: s.Epsilon, Delta: s.Delta, Adjacency: adjacency, Want: s.want, Shape: shape,
		Records: s.want != "" && f.Changed("epsilon"), Build: s.Build, Schema: s.public.Schema,
		Options: s.Options,
	})
	if err != nil {
		return s.Explained(setting.Flagged(err))
	}
	if s.json {
		return printJSON(out, p)
	}
	return say(out, p.Words())
}

// execute checks the flags, solves, and prints.
func (s *planSettings) execute(f *pflag.FlagSet, out io.Writer) error {
	if err := s.check(f); err != nil {
		return setting.Flagged(err)
	}
	adjacency, err := s.Adjacency()
	if err != nil {
		return err
	}
	answer, err := prices.Solve(prices.Question{Settings: s.Settings, Epsilon: s.Epsilon, Delta: s.Delta,
		Adjacency: adjacency, Records: s.public.Records, Radius: s.public.Radius, RowsPerPerson: s.public.RowsPerPerson,
		Dimension: s.dimension, Model: s.ModelName, Options: s.Options, Lipschitz: s.lipschitz, Solve: s.solve,
		NoSteps: f.Changed("iterations") && s.Iterations == 0, Limited: f.Changed(s.solve), Batches: s.plot != ""})
	if err != nil {
		return err
	}
	return present(out, answer, s.plot, s.json)
}

// check reports flags that are missing, out of range or without meaning here, all at
// once.
func (s *planSettings) check(f *pflag.FlagSet) error {
	if !slices.Contains(chains.Priced(), s.Kernel) {
		given := fmt.Sprintf("--kernel is %q", s.Kernel)
		if s.Kernel == "" {
			given = "--kernel is required with --solve, --lipschitz and --dimension"
		}
		return fmt.Errorf("%s; it must be one of %s", given, strings.Join(chains.Priced(), ", "))
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
	targets := append(prices.Solvable(k), "epsilon", "delta")
	bad(!slices.Contains(targets, s.solve), "--solve is %q; for --kernel %s it must be one of %s", s.solve, s.Kernel,
		strings.Join(targets, ", "))
	bad(s.public.Records < 1, "--records is %d; it must be the number of records, at least 1", s.public.Records)
	for _, name := range []string{"epsilon", "delta"} {
		bad(!f.Changed(name) && s.solve != name,
			"--%s is required, unless it is what --solve names: privacy parameters have no defaults", name)
	}
	bad(s.solve != "epsilon" && s.solve != "delta" && s.solve != "" && f.Changed(s.solve),
		"--%s is given, but it is what --solve names; leave one of them out", s.solve)
	for _, name := range append(s.Model.Names(), "radius", "lipschitz", "dimension") {
		bad(k.Mechanism && f.Changed(name), "--%s has no meaning for --kernel %s", name, s.Kernel)
	}
	bad(slices.Contains([]string{"auto", "optimum", "gradient"}, s.Start) && !f.Changed("delta"),
		"--start %s is charged at --delta; give that too", s.Start)
	most := int64(prices.MostSteps) / max(1, s.Chains)
	bad(s.Iterations < 0 || s.Iterations > most, "--iterations is %d; it must be between 0 and, with %d chain(s), %d",
		s.Iterations, max(1, s.Chains), most)
	errs = append(errs, s.Budget.Check(f), s.Model.Check(), flags.CheckSettings(f, s.Settings, "iterations"))
	return errors.Join(errs...)
}
