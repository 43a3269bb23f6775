package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
)

// planSettings are the flags of plan: those of sample that decide what a step
// costs, and the public facts that sample takes from a schema.
type planSettings struct {
	sampleSettings
	solve, plot       string
	records           int64
	rowsPerPerson     int
	radius, lipschitz float64
	startEpsilon      float64
	dimension         int
}

func newPlan() *cobra.Command {
	s := &planSettings{}
	c := &cobra.Command{
		Use:   "plan",
		Short: "Say what a budget buys",
		Long: `plan solves for one setting of a run, named by --solve: the largest number of
iterations, the longest step, the least noise that the budget (--epsilon,
--delta) covers. It prints the value, what the run then costs, which is never
more than the budget, and what other lengths of the run would cost. It looks at
no data.

` + kernelHelp(),
		Example: `  dpmcmc plan --kernel barker --records 1000000 --epsilon 1 --delta 1e-6 --solve iterations --step 0.001 --radius 1 --lipschitz 1 --batch 5000
  dpmcmc plan --kernel barker --records 30000 --epsilon 0.3 --delta 1e-6 --solve step --iterations 100000 --radius 1 --model logistic --loss beta --beta 1.5 --dimension 50
  dpmcmc plan --kernel poisson-gaussian --records 60000 --epsilon 1 --delta 1e-5 --solve noise --iterations 10000 --batch 600 --adjacency add_remove --plot plan.svg`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.execute(c.Flags(), c.OutOrStdout()) },
	}
	s.bindPlan(c.Flags())
	return c
}

// kernelHelp lists the kernels for --help.
func kernelHelp() string {
	var b strings.Builder
	b.WriteString("Kernels, and what --solve takes for each, beside epsilon and delta:")
	for _, name := range slices.Sorted(maps.Keys(planKernels)) {
		k := planKernels[name]
		fmt.Fprintf(&b, "\n  %-17s %s\n  %-17s solves %s", name, k.about, "", strings.Join(k.solves(), ", "))
	}
	return b.String()
}

func (s *planSettings) bindPlan(f *pflag.FlagSet) {
	f.StringVar(&s.kernel, "kernel", "", "what is run: "+strings.Join(slices.Sorted(maps.Keys(planKernels)), ", ")+"; required")
	f.StringVar(&s.solve, "solve", "", "the setting to solve for; required")
	f.Int64Var(&s.records, "records", 0, "number of records; required")
	f.Float64Var(&s.epsilon, "epsilon", 0, "privacy budget ε; required unless it is what is solved for")
	f.Float64Var(&s.delta, "delta", 0, "privacy budget δ; required unless it is what is solved for")
	f.StringVar(&s.adjacency, "adjacency", "substitute", "neighbouring data sets: substitute (one record replaced) or add_remove (one left blank); their number is public")
	f.IntVar(&s.rowsPerPerson, "rows-per-person", 1, "largest number of records that one person owns")
	f.Int64Var(&s.iterations, "iterations", 0, "steps of each chain")
	f.IntVar(&s.chains, "chains", 1, "number of chains; every chain spends budget")
	f.Int64Var(&s.batch, "batch", 0, "expected number of records in a step; by default every step uses all records")
	f.Float64Var(&s.rate, "rate", 0, "probability that a record is in a step's batch, instead of --batch")
	f.BoolVar(&s.fixedBatch, "fixed-batch", false, "draw exactly --batch records without replacement; dearer than Poisson batches")
	f.BoolVar(&s.fullData, "full", false, "use every record in every step (the default)")
	f.Float64Var(&s.noise, "noise", 0, "standard deviation of the Gaussian noise over the sensitivity under the stated adjacency; for samplers, over twice the clip")
	f.Float64Var(&s.variance, "variance", 0, "penalty: variance of the noise in the log-odds, 0.25 to 9")
	f.IntVar(&s.leapfrog, "leapfrog", 0, "dphmc: leapfrog steps of a trajectory")
	f.Float64Var(&s.maxMove, "max-move", 0, "dphmc: longest move that may be accepted")
	f.Float64Var(&s.clip, "clip", 0, "bound on one record's part of the log-odds of a move (dphmc: of a move of length 1)")
	f.Float64Var(&s.temperature, "temperature", 1, "τ in (0, 1], multiplies the log-likelihood")
	f.Float64Var(&s.step, "step", 0, "standard deviation of a coordinate's move")
	f.Float64Var(&s.radius, "radius", 0, "public bound on the norm of a record's features")
	f.Float64Var(&s.lipschitz, "lipschitz", 0, "bound on the slope of the loss along the linear predictor; --model computes it")
	f.StringVar(&s.model, "model", "", strings.Join(modelNames, ", ")+": takes the bounds that the model certifies")
	f.StringVar(&s.loss, "loss", "log", "log, or beta for the β-divergence loss")
	f.Float64Var(&s.beta, "beta", 0, "β above 1, with --loss beta")
	f.Float64Var(&s.minScale, "min-scale", 0.05, "linear model: the least standard deviation of the errors")
	f.Float64Var(&s.degreesOfFreedom, "degrees-of-freedom", 0, "linear model: Student-t errors with this many; normal errors by default")
	f.Float64Var(&s.dispersion, "dispersion", 0, "negative-binomial model: r, where a count with mean μ has variance μ + μ²/r")
	f.IntVar(&s.dimension, "dimension", 1, "number of features; compares the price with that of the worst direction of a move")
	f.StringVar(&s.proposal, "proposal", "isotropic", "isotropic, one-component, or truncated:K for moves of at most K·step")
	f.StringVar(&s.test, "test", "logistic", "acceptance test: logistic (exact), or corrected:C with a Gaussian part of variance C (0.5, 1, 1.5 or 2)")
	f.StringVar(&s.accounting, "accounting", "bit", "theorem that prices a step: bit, published or tightened")
	s.bindStart(f)
	f.BoolVar(&s.json, "json", false, "print one JSON object")
	f.StringVar(&s.plot, "plot", "", "SVG file to draw into: ε against iterations, and against the batch size")
}

// execute checks the flags, solves, and prints.
func (s *planSettings) execute(flags *pflag.FlagSet, out io.Writer) error {
	if err := s.check(flags.Changed); err != nil {
		return err
	}
	answer, err := s.solved(flags.Changed)
	if err != nil {
		return err
	}
	if err := answer.explore(); err != nil {
		return err
	}
	if s.plot != "" {
		if err := drawFile(s.plot, answer.panels()); err != nil {
			return err
		}
	}
	if s.json {
		return printJSON(out, answer.report())
	}
	_, err = io.WriteString(out, answer.words())
	return err
}

// check reports flags that are missing, out of range or without meaning here.
func (s *planSettings) check(given func(flag string) bool) error {
	k, known := planKernels[s.kernel]
	if !known {
		return fmt.Errorf("--kernel is %q; it must be one of %s", s.kernel, strings.Join(slices.Sorted(maps.Keys(planKernels)), ", "))
	}
	targets := append(k.solves(), "epsilon", "delta")
	if !slices.Contains(targets, s.solve) {
		return fmt.Errorf("--solve is %q; for --kernel %s it must be one of %s", s.solve, s.kernel, strings.Join(targets, ", "))
	}
	if s.records < 1 {
		return fmt.Errorf("--records is %d; it must be the number of records, at least 1", s.records)
	}
	if s.chains < 1 {
		return fmt.Errorf("--chains is %d; at least 1 is needed", s.chains)
	}
	return errors.Join(s.checkBudget(given), s.checkBatch(given), s.checkParameters(k, given), s.checkStart(given))
}

// checkBudget requires ε and δ, except the one that is solved for.
func (s *planSettings) checkBudget(given func(flag string) bool) error {
	for _, name := range []string{"epsilon", "delta"} {
		if !given(name) && s.solve != name {
			return fmt.Errorf("--%s is required, unless it is what --solve names: privacy parameters have no defaults", name)
		}
	}
	switch {
	case given("epsilon") && (!(s.epsilon > 0) || math.IsInf(s.epsilon, 1)):
		return fmt.Errorf("--epsilon is %v; it must be positive and finite", s.epsilon)
	case given("delta") && !(s.delta >= 0 && s.delta < 1):
		return fmt.Errorf("--delta is %v; it must be in [0, 1)", s.delta)
	}
	return nil
}

// checkBatch reports batch flags that contradict one another, and makes the
// default explicit.
func (s *planSettings) checkBatch(given func(flag string) bool) error {
	batch, rate := given("batch") || s.solve == "batch", given("rate") || s.solve == "rate"
	switch {
	case countTrue(batch, rate, s.fullData) > 1:
		return errors.New("--batch, --rate and --full exclude one another, whether given or solved for")
	case s.fixedBatch && !batch:
		return errors.New("--fixed-batch goes with --batch")
	case given("batch") && (s.batch < 1 || s.batch > s.records):
		return fmt.Errorf("--batch is %d; it must be between 1 and the %d records", s.batch, s.records)
	case given("rate") && !(s.rate > 0 && s.rate <= 1):
		return fmt.Errorf("--rate is %v; it must be in (0, 1]", s.rate)
	}
	s.fullData = !batch && !rate
	return nil
}

// checkParameters reports settings that the kernel lacks or does not have, and
// one that is both given and solved for.
func (s *planSettings) checkParameters(k planKernel, given func(flag string) bool) error {
	if s.solve != "epsilon" && s.solve != "delta" && given(s.solve) {
		return fmt.Errorf("--%s is given, but it is what --solve names; leave one of them out", s.solve)
	}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(realParameters)), slices.Sorted(maps.Keys(integerParameters)), modelFlags, otherFlags) {
		if given(name) && !slices.Contains(k.parameters, name) {
			return fmt.Errorf("--%s has no meaning for --kernel %s", name, s.kernel)
		}
	}
	for _, name := range k.required {
		if !given(name) && s.solve != name {
			return fmt.Errorf("--%s is required for --kernel %s, unless it is what --solve names", name, s.kernel)
		}
	}
	if most := mostSteps / int64(s.chains); given("iterations") && (s.iterations < 0 || s.iterations > most) {
		return fmt.Errorf("--iterations is %d; it must be between 0 and, with %d chain(s), %d", s.iterations, s.chains, most)
	}
	return nil
}

// facts are the public facts about the records, but for their columns.
func (s *planSettings) facts() (curator.Facts, error) {
	adjacency, err := accountant.ParseAdjacency(s.adjacency)
	if err != nil {
		return curator.Facts{}, fmt.Errorf("--adjacency: %w", err)
	}
	return curator.Facts{Records: s.records, Radius: s.radius, RowsPerPerson: s.rowsPerPerson, Adjacency: adjacency}, nil
}
