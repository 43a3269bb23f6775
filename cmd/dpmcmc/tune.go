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
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/flags"
	"github.com/dpmcmc/dpmcmc/internal/forecasts"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/tune"
)

// tuneSettings are the flags of tune: public facts, what may be chosen from, and
// settings of sample, which fix what tune would turn.
type tuneSettings struct {
	flags.Model
	chains.Settings
	flags.Budget
	public        flags.Public
	out           string
	kernels       []string
	temperatures  []float64
	betas         []float64
	objective     string
	coefficientSD float64
	errorSD       float64
	warmup        runs.Warmup
	repeats       int
	work          float64
	seed          uint64
	workers       int
	json          bool
	shard         string
	journals      string
	merging       bool
}

func newTune() *cobra.Command {
	s := &tuneSettings{}
	c := &cobra.Command{
		Use:   "tune",
		Short: "Choose a kernel and its settings on simulated data",
		Long: `tune says what (ε, δ) buys before a record is touched: it simulates tables of the
stated shape from the model, runs private chains on them, searches for the
settings with the largest predicted effective sample size (or the best
accuracy), and prints a ranking. Nothing of it depends on private records, so it
costs no privacy. --out writes the winner for sample --config.

Temperatures and losses change the posterior that is sampled. tune compares
those that it is given and no others; which of them to want is not for an
effective sample size to say.`,
		Example: `  dpmcmc tune --records 30000 --features 6 --model logistic --epsilon 1 --delta 1e-6
  dpmcmc tune --records 30000 --features 6 --model logistic --epsilon 1 --delta 1e-6 \
    --kernels barker,dpsgld --temperatures 1,0.3 --out tuned.toml
  dpmcmc tune --schema people.toml --model logistic --betas 1.5 --epsilon 0.3 --delta 1e-6 --objective accuracy
  dpmcmc sample --config tuned.toml --data people.csv --schema people.toml --out run/`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.Explained(s.execute(c.Context(), c.Flags(), c.OutOrStdout()))
		},
	}
	s.bindTune(c.Flags())
	c.Flags().StringVar(&s.shard, "shard", "",
		"make the searches of one shard, as in 3/16, or auto for that of a Kubernetes or Slurm task; see tune merge")
	c.AddCommand(newTuneMerge())
	return c
}

func (s *tuneSettings) bindTune(f *pflag.FlagSet) {
	s.public.Bind(f)
	s.Budget.Bind(f, "required")
	s.Model.Bind(f, "loss", "beta")
	f.Lookup("model").Usage += "; required without --schema"
	f.StringSliceVar(&s.kernels, "kernels", nil, "kernels to compare: "+strings.Join(chains.Names(), ", ")+
		"; by default all")
	f.Float64SliceVar(&s.temperatures, "temperatures", []float64{1},
		"temperatures τ in (0, 1] to compare; others are not looked at")
	f.Float64SliceVar(&s.betas, "betas", nil,
		"β-divergence losses to compare, 1 for the log loss; by default the log loss alone")
	f.StringVar(&s.objective, "objective", "ess",
		"ess (predicted effective sample size) or accuracy (of means and standard deviations)")
	f.Float64Var(&s.coefficientSD, "coefficient-sd", 0,
		"standard deviation of the simulated coefficients; by default they are drawn from the prior")
	f.Float64Var(&s.errorSD, "error-sd", 0,
		"linear model: sd of simulated errors; by default a tenth of the distance of the response's bounds, at most 0.5")
	flags.BindSettings(f, &s.Settings, "kernel", "temperature")
	f.Var(&s.warmup, "warmup", "share of each chain that is left out; "+runs.DefaultWarmup)
	f.IntVar(&s.repeats, "repeats", 1, "simulated tables that the finalists run on")
	f.Float64Var(&s.work, "work", 2e9, "looks at simulated records to spend, one a record and step")
	f.Uint64Var(&s.seed, "seed", 1, "seed of all simulation; the same seed gives the same answer")
	f.IntVar(&s.workers, "workers", 0,
		"chains simulated at once; by default the number of cores. It does not change the answer")
	f.StringVar(&s.out, "out", "", "TOML file to write the winner to, for sample --config; it must not exist")
	f.BoolVar(&s.json, "json", false, "print one JSON object")
	f.StringVar(&s.journals, "journals", "", "folder that the shards of one search share")
}

// execute tunes and prints.
func (s *tuneSettings) execute(ctx context.Context, f *pflag.FlagSet, out io.Writer) error {
	if err := s.checkTune(f); err != nil {
		return err
	}
	shape, err := s.public.Shape(s.ModelName)
	if err != nil {
		return err
	}
	config, err := s.config(shape)
	if err != nil {
		return err
	}
	if s.journals != "" && s.shard == "" && !s.merging {
		return errors.New("--journals is for the shards of a search: give --shard, or run tune merge")
	}
	if s.shard != "" {
		return setting.Flagged(s.runShard(ctx, config, out))
	}
	result, err := s.find(ctx, config)
	if err != nil {
		return setting.Flagged(err)
	}
	a := forecasts.Ranking{Result: result, Epsilon: s.Epsilon, Delta: s.Delta, Adjacency: s.AdjacencyName,
		Records: s.public.Records, Objective: s.objective, Warmup: s.warmup,
		Posteriors: len(s.temperatures) * max(1, len(s.betas)), Out: s.out}
	if s.out != "" {
		if err := create(s.out, []byte(a.TOML())); err != nil {
			return err
		}
	}
	if s.json {
		return printJSON(out, a.Report())
	}
	return say(out, a.Words())
}

// checkTune reports flags that are missing or contradict one another.
func (s *tuneSettings) checkTune(f *pflag.FlagSet) error {
	required := []string{"epsilon", "delta"}
	if s.public.Schema == "" {
		required = append(required, "records", "features", "model")
	}
	if missing := flags.Missing(f, required...); missing != "" {
		return fmt.Errorf("%s; --schema can stand for --records, --features and --model", missing)
	}
	if err := errors.Join(s.Budget.Check(f), s.public.Check(f)); err != nil {
		return err
	}
	if !(s.work >= 1 && s.work < 1e18) {
		return fmt.Errorf("--work is %v; it must be at least 1", s.work)
	}
	return flags.CheckSettings(f, s.Settings)
}

// config is what tune is asked for.
func (s *tuneSettings) config(shape *data.Shape) (tune.Config, error) {
	adjacency, err := s.Adjacency()
	if err != nil {
		return tune.Config{}, err
	}
	config := tune.Config{
		Adjacency: adjacency, Temperatures: s.temperatures, Kernels: s.kernels, Epsilon: s.Epsilon, Delta: s.Delta,
		Fixed: s.Settings, Objective: tune.Objective(s.objective), Warmup: s.warmup.Foreseen(),
		CoefficientSD: s.coefficientSD, ErrorSD: s.errorSD,
		Repeats: s.repeats, Work: int64(s.work), Seed: s.seed, Workers: s.workers,
	}
	betas := s.betas
	if len(betas) == 0 {
		betas = []float64{1} // the log loss
	}
	shape.Usual = shape.Usual && len(betas) == 1 // losses are compared on the same rows
	for i, beta := range betas {
		if slices.Contains(betas[:i], beta) {
			return config, fmt.Errorf("--betas has %v twice", beta)
		}
		m := s.Model
		if m.Loss, m.Beta = "beta", beta; beta == 1 {
			m.Loss, m.Beta = "log", 0
		}
		built, err := m.Build(shape)
		if err != nil {
			return config, err
		}
		config.Models = append(config.Models, built)
	}
	return config, nil
}

// tuned are settings that tune finds at what the schema states of the table.
func (s *sampleSettings) tuned(ctx context.Context, m *models.Model, facts curator.Facts) (chains.Settings, error) {
	config := tune.Config{
		Models: []*models.Model{m}, Adjacency: facts.Adjacency,
		Fixed: s.Settings, Epsilon: s.Epsilon, Delta: s.Delta, Warmup: s.job.Warmup.Foreseen(), Seed: s.job.Seed,
	}
	config.Fixed.Kernel, config.Fixed.Temperature = "", 0
	if s.Temperature != 0 {
		config.Temperatures = []float64{s.Temperature}
	}
	if s.Kernel != "" {
		config.Kernels = []string{s.Kernel}
	}
	result, err := tune.Run(ctx, config)
	if err != nil {
		return chains.Settings{}, setting.Flagged(err)
	}
	return result.Candidates[0].Settings, nil
}
