package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/accounts"
	"github.com/dpmcmc/dpmcmc/internal/experiment"
	"github.com/dpmcmc/dpmcmc/internal/experiment/configs"
	"github.com/dpmcmc/dpmcmc/internal/experiment/report"
	"github.com/dpmcmc/dpmcmc/internal/flags"
	"github.com/dpmcmc/dpmcmc/internal/runs"
)

// compareSettings are the flags of compare.
type compareSettings struct {
	config, out, dataDir string
	shard                string
	epsilon, delta       float64
	public, list, json   bool
	workers              int
	ledger               accounts.Choice
}

func newCompare() *cobra.Command {
	s := &compareSettings{}
	c := &cobra.Command{
		Use:   "compare",
		Short: "Compare methods at equal privacy",
		Long: `compare runs the methods of an experiment on the same data at the same privacy
budgets, and reports how far each is from the truth, from the non-private
posterior and from what was held out. Without --config it compares five methods
on simulated data. An interrupted comparison goes on when it is called again
with the same --out.

A comparison on private data is a sequence of releases, of which every one
counts: give the budget of them all with --epsilon and --delta, or say --public
if the records are public knowledge. On public and simulated data all noise
comes from the experiment's seed, so that results can be repeated, and is not
private. docs/compare.md has the configuration, the metrics and the files.`,
		Example: `  dpmcmc compare --out cmp/
  dpmcmc compare --config exp.toml --out cmp/
  dpmcmc compare --config bundled:adult --data-dir data/ --public --out adult/
  dpmcmc compare --config exp.toml --epsilon 3 --delta 1e-5 --out cmp/
  dpmcmc compare --config exp.toml --shard 3/16 --out cmp/
  dpmcmc compare --list`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if s.list {
				_, err := io.WriteString(c.OutOrStdout(), report.Catalogue())
				return err
			}
			return s.run(c)
		},
	}
	s.bind(c.Flags())
	c.AddCommand(newReserve(), newMerge())
	return c
}

func (s *compareSettings) bind(f *pflag.FlagSet) {
	s.bindCommon(f)
	s.bindBudget(f)
	f.StringVar(&s.shard, "shard", "", "run one shard of the cells, such as 3/16 for the third of 16; auto/16 takes the "+
		"index from "+experiment.KubernetesIndex+" or "+experiment.SlurmIndex+". compare merge puts shards together")
	f.IntVar(&s.workers, "workers", 0, "runs at once; by default the number of cores")
	f.BoolVar(&s.list, "list", false, "list methods with their settings, metrics, and bundled experiments and schemas")
}

// bindCommon declares the flags of compare and of what it is followed by.
func (s *compareSettings) bindCommon(f *pflag.FlagSet) {
	f.StringVar(&s.config, "config", configs.Prefix+configs.Default,
		"TOML file of the experiment, or a bundled one ("+strings.Join(configs.Experiments(), ", ")+")")
	f.StringVar(&s.out, "out", "", "folder for results, charts, report.html and the journal to go on from; by default "+
		"nothing is written")
	f.StringVar(&s.dataDir, "data-dir", "", "folder of the experiment's data file; by default that of --config")
	f.BoolVar(&s.public, "public", false, "the records of the data file are public knowledge")
	f.BoolVar(&s.json, "json", false, "print the results as one JSON object")
}

// bindBudget declares the flags of what charges.
func (s *compareSettings) bindBudget(f *pflag.FlagSet) {
	f.Float64Var(&s.epsilon, "epsilon", 0, "budget ε of the whole comparison; required on private data")
	f.Float64Var(&s.delta, "delta", 0, "its δ; required on private data")
	flags.Ledger(f, &s.ledger)
}

// run is the whole of compare.
func (s *compareSettings) run(c *cobra.Command) error {
	out, errw := c.OutOrStdout(), c.ErrOrStderr()
	plan, err := s.plan()
	if err != nil {
		return err
	}
	if f := c.Flags(); !plan.Private && (f.Changed("epsilon") || f.Changed("delta")) {
		return errors.New("--epsilon and --delta are the budget of a comparison on private data, which this is not; leave " +
			"them out, and state epsilons and delta in the file of --config")
	}
	if err := flags.CheckBudget(c.Flags(), s.epsilon, s.delta); err != nil {
		return err
	}
	shard, err := s.shared()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.out, runs.JournalFile)); s.out != "" && err == nil {
		return fmt.Errorf("--out: %s holds a run of sample, whose report would be overwritten: choose another folder", s.out)
	}
	show, finish := progress(errw, "Run", "runs")
	tell := func(p experiment.Progress) { show(int64(p.Done), int64(p.Total), p.Left) }
	if s.json {
		tell, finish = nil, func() {}
	} else if !plan.Private || s.epsilon > 0 {
		if err := s.announce(c.Context(), plan, errw); err != nil {
			return err
		}
	}
	var people accounts.Accounts
	o := experiment.RunOptions{Dir: s.out, Epsilon: s.epsilon, Delta: s.delta,
		Charge: s.charge(&people, plan, c.Flags(), errw), Workers: s.workers, Progress: tell}
	if s.shard != "" {
		err := s.runShard(c, plan, o, shard)
		finish()
		return err
	}
	results, err := plan.Run(c.Context(), o)
	finish()
	if err != nil {
		return err
	}
	if err := s.write(results, out); err != nil || s.json {
		return err
	}
	spent, _, err := people.Spent()
	return errors.Join(err, say(out, spent))
}

// announce says how many runs there are, and how long they take.
func (s *compareSettings) announce(ctx context.Context, plan *experiment.Plan, errw io.Writer) error {
	about := "; the first says how long they take"
	begun, err := filepath.Glob(filepath.Join(s.out, "journal*.jsonl"))
	if s.out == "" || err == nil && begun == nil {
		took, err := plan.Forecast(ctx, s.workers)
		if err != nil {
			return err
		}
		if took > 0 {
			about = fmt.Sprintf(", about %v, as a rehearsal on simulated records says",
				max(took, time.Second).Round(time.Second))
		}
	}
	_, err = fmt.Fprintf(errw, "%d runs%s.\n", len(plan.Cells), about)
	return err
}

// charge tells the ledger of the people in the data what a comparison costs.
func (s *compareSettings) charge(people *accounts.Accounts, plan *experiment.Plan, f *pflag.FlagSet,
	errw io.Writer) func(accountant.Event) error {
	return func(e accountant.Event) (err error) {
		if *people, err = s.ledger.Open(plan.File(), accounts.NoteOf("dpmcmc compare", f, s.ledger.Who),
			e.Adjacency(), s.delta,
			errw); err != nil || people.Ledger == nil {
			return err
		}
		_, err = people.Charge(e, 1, people.Note)
		return err
	}
}

// write writes results to --out, and prints them.
func (s *compareSettings) write(results *experiment.Results, out io.Writer) error {
	if s.out != "" {
		if err := results.Write(s.out); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		if _, err := report.Write(results, s.out); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	if s.json {
		return printJSON(out, results)
	}
	if err := say(out, report.Text(results)); err != nil {
		return err
	}
	if s.out != "" {
		fmt.Fprintf(out, "\nThe report is %s\n", filepath.Join(s.out, "report.html"))
	}
	return nil
}

// plan reads the configuration and sets everything up.
func (s *compareSettings) plan() (*experiment.Plan, error) {
	p, err := experiment.Open(s.config, experiment.Options{DataDir: s.dataDir, Public: s.public})
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; name a TOML file of an experiment (docs/compare.md), or leave --config out", err)
		}
		return nil, fmt.Errorf("--config: %w", err)
	}
	if s.public && p.Config.Data.File == "" {
		return nil, errors.New("--public is for data files; simulated data need no flag")
	}
	return p, nil
}
