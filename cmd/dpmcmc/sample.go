package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/schemafile"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/kernels/draws"
	"github.com/dpmcmc/dpmcmc/starts"
)

func newSample() *cobra.Command {
	s := &sampleSettings{}
	c := &cobra.Command{
		Use:   "sample",
		Short: "Draw a private chain on a table",
		Long: `sample runs a private Markov chain on a table and prints a summary of its draws
and a certificate of the privacy they cost. Everything that is printed or
written together costs at most (--epsilon, --delta), whether or not the chain
has converged. Without --data it runs on a simulated table.

` + sampleKernelHelp(),
		Example: `  dpmcmc sample
  dpmcmc sample --data people.csv --schema people.toml --epsilon 1 --delta 1e-6 --out run/
  dpmcmc sample --data people.csv --schema people.toml --epsilon 0.3 --delta 1e-6 --loss beta --beta 1.5 --out run/
  dpmcmc sample --data people.csv --schema people.toml --epsilon 2 --delta 1e-6 --kernel dpsgld --out run/
  dpmcmc sample --data people.csv --schema people.toml --epsilon 1 --delta 1e-6 --start prior-mean --out run/`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := applyConfig(c, s.config); err != nil {
				return err
			}
			err := s.run(c.Context(), c.Flags(), c.OutOrStdout(), c.ErrOrStderr())
			var unreachable *accountant.UnreachableError
			if errors.As(err, &unreachable) {
				return &shortBudgetError{err}
			}
			return err
		},
	}
	s.bind(c.Flags())
	return c
}

// run is the whole of sample: load, price, charge, draw, report.
func (s *sampleSettings) run(ctx context.Context, flags *pflag.FlagSet, out, errw io.Writer) error {
	if err := s.require(flags); err != nil {
		return err
	}
	table, err := s.load(ctx)
	if err != nil {
		return err
	}
	if s.model == "" {
		s.model = defaultModel(&table.Shape)
	}
	m, err := buildModel(s.modelSettings, &table.Shape)
	if err != nil {
		return err
	}
	job, err := s.prepare(ctx, flags, table, m)
	if err != nil {
		return err
	}
	report, finish := func(kernels.Progress) {}, func() {}
	if !s.json {
		report, finish = progress(errw)
	}
	runErr := job.run(ctx, report)
	finish()
	if runErr != nil && !errors.Is(runErr, context.Canceled) {
		return runErr
	}
	if err := job.report(out); err != nil {
		return err
	}
	return runErr
}

// load reads or simulates the table.
func (s *sampleSettings) load(ctx context.Context) (*data.Table, error) {
	if strings.HasPrefix(s.data, data.BuiltinPrefix) {
		sim, err := data.Builtin(s.data)
		if err != nil {
			return nil, fmt.Errorf("--data: %w", err)
		}
		return sim.Table, nil
	}
	text, err := os.ReadFile(s.schema)
	if err != nil {
		return nil, fmt.Errorf("--schema: %w", err)
	}
	schema, err := schemafile.Parse(s.schema, text)
	if err != nil {
		return nil, fmt.Errorf("--schema: %w", err)
	}
	return data.Load(ctx, s.data, schema)
}

// job is a sampling run whose privacy has been charged.
type job struct {
	settings *sampleSettings
	model    *model
	table    *data.Table
	curator  *curator.Curator
	recipe   *chains.Plan
	event    accountant.Event // the start and all chains
	start    starts.Start     // found by run
	chains   []kernels.Chain
	memory   *kernels.Memory
	files    *draws.Sink // nil without --out
	done     bool        // every step was taken
}

// prepare seals the records, prices and charges the whole run, and opens its
// files. Nothing has been read of a record when it fails.
func (s *sampleSettings) prepare(ctx context.Context, flags *pflag.FlagSet, table *data.Table, m *model) (*job, error) {
	adjacency, err := accountant.ParseAdjacency(s.adjacency)
	if err != nil {
		return nil, fmt.Errorf("--adjacency: %w", err)
	}
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: s.epsilon, Delta: s.delta, Adjacency: adjacency})
	if err != nil {
		return nil, err
	}
	var options []curator.Option
	if flags.Changed("insecure-seed") {
		options = append(options, curator.InsecureSeed(s.insecureSeed))
	}
	sealed, err := curator.Seal(chains.Records(table), budget, options...)
	if err != nil {
		return nil, err
	}
	recipe, err := s.choose(ctx, flags, &table.Shape, m, sealed.Facts())
	if err != nil {
		return nil, err
	}
	j := &job{settings: s, model: m, table: table, curator: sealed, recipe: recipe, memory: kernels.NewMemory(s.chains)}
	if j.event, err = recipe.Cost(); err != nil {
		return nil, err
	}
	opened, err := recipe.Open(sealed)
	if err != nil {
		return nil, err
	}
	for _, k := range opened {
		j.chains = append(j.chains, kernels.Chain{Kernel: k})
	}
	return j, j.open()
}

// choose fills what is not given.
func (s *sampleSettings) choose(ctx context.Context, flags *pflag.FlagSet, shape *data.Shape, m *model, facts curator.Facts) (*chains.Plan, error) {
	if err := s.check(flags.Changed, func(flag string) string { return flags.Lookup(flag).Value.String() }); err != nil {
		return nil, err
	}
	settings := s.recipe()
	if s.tune {
		var err error
		if settings, err = s.tuned(ctx, flags, shape, m, facts); err != nil {
			return nil, err
		}
	}
	r, err := chains.Choose(settings, chains.Problem{
		Target: m.target, Logistic: m.name == "logistic", Facts: facts, Epsilon: s.epsilon, Delta: s.delta,
	})
	if err != nil {
		return nil, flagged(err)
	}
	s.iterations, s.step = r.Settings.Iterations, r.Settings.Step
	return r, s.setThinning(flags.Changed)
}

// warmupSteps is the number of steps that summaries leave out, a multiple of
// the thinning.
func (s *sampleSettings) warmupSteps() int64 {
	return int64(s.warmup*float64(s.iterations)) / s.thin * s.thin
}

// open makes the draws files, unless nothing is to be written.
func (j *job) open() error {
	s := j.settings
	if s.out == "" {
		return nil
	}
	c, err := j.certificate()
	if err != nil {
		return err
	}
	j.files, err = draws.New(draws.Config{
		Dir: s.out, Model: s.model, Algorithm: j.chains[0].Kernel.Name(), Parameters: j.model.params, Output: j.model.output,
		Iterations: s.iterations, Warmup: s.warmupSteps(), Thin: s.thin, Chains: s.chains, StepSize: s.step,
		Data: s.data, Init: j.recipe.Settings.Start, Seed: s.seed, Extra: c.pairs(),
	})
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	// The certificate goes to disk before the first release, so that no
	// interruption can leave draws without one.
	return j.write(certificateFile, c.json())
}

// run finds the start, and draws every chain from it, to memory and, with --out, to
// files.
func (j *job) run(ctx context.Context, report func(kernels.Progress)) (err error) {
	if j.start, err = j.recipe.FindStart(ctx, j.curator, j.settings.seed); err != nil {
		return err
	}
	for i := range j.chains {
		j.chains[i].Start = j.start.Theta
	}
	var sink kernels.Sink = j.memory
	if j.files != nil {
		sink = kernels.Tee(j.memory, j.files)
	}
	err = kernels.Run(ctx, j.chains, kernels.Options{
		Iterations: j.settings.iterations, Thin: j.settings.thin, Seed: j.settings.seed, Sink: sink, Progress: report,
	})
	j.done = err == nil
	return err
}

// summary summarises the draws after warm-up.
func (j *job) summary() diag.Table {
	names := make([]string, len(j.model.params))
	for i, p := range j.model.params {
		names[i] = p
		if l := j.model.labels[i]; l != "" {
			names[i] += " " + l
		}
	}
	skip := int(j.settings.warmupSteps() / j.settings.thin)
	var all [][][]float64
	for id := range j.settings.chains {
		var kept [][]float64
		drawn := j.memory.Draws(id)
		for _, theta := range drawn[min(skip, len(drawn)):] {
			v := make([]float64, len(j.model.params))
			if j.model.output == nil {
				copy(v, theta)
			} else {
				j.model.output(v, theta)
			}
			kept = append(kept, v)
		}
		all = append(all, kept)
	}
	return diag.SummarizeAll(names, all)
}
