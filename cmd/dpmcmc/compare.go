package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/accounts"
	"github.com/dpmcmc/dpmcmc/internal/experiment"
	"github.com/dpmcmc/dpmcmc/internal/experiment/configs"
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
	"github.com/dpmcmc/dpmcmc/internal/experiment/report"
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
				return listCompare(c.OutOrStdout())
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
	bindLedger(f, &s.ledger)
}

// run is the whole of compare.
func (s *compareSettings) run(c *cobra.Command) error {
	out, errw := c.OutOrStdout(), c.ErrOrStderr()
	plan, err := s.plan()
	if err != nil {
		return err
	}
	shard, err := s.shared()
	if err != nil {
		return err
	}
	progress, finish := cells(errw)
	if s.json {
		progress, finish = nil, func() {}
	} else if !plan.Private || s.epsilon > 0 {
		if err := s.announce(c.Context(), plan, errw); err != nil {
			return err
		}
	}
	var people accounts.Accounts
	o := experiment.RunOptions{Dir: s.out, Epsilon: s.epsilon, Delta: s.delta,
		Charge: s.charge(&people, plan, c.Flags(), errw), Workers: s.workers, Progress: progress}
	if s.shard != "" {
		err := s.runShard(c, plan, o, shard)
		finish()
		return err
	}
	results, err := plan.Run(c.Context(), o)
	finish()
	if errors.Is(err, experiment.ErrNoBudget) {
		return noBudget(plan)
	}
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
func (s *compareSettings) charge(people *accounts.Accounts, plan *experiment.Plan, flags *pflag.FlagSet,
	errw io.Writer) func(accountant.Event) error {
	return func(e accountant.Event) (err error) {
		if *people, err = s.ledger.Open(plan.File(), accounts.NoteOf("dpmcmc compare", flags, s.ledger.Who),
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
	name, folder := s.config, filepath.Dir(s.config)
	var text []byte
	var err error
	if bundled, ok := strings.CutPrefix(name, configs.Prefix); ok {
		text, err = configs.Experiment(bundled)
		folder = "."
	} else {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	c, err := experiment.Parse(name, text)
	if err == nil && s.public && c.Data.File == "" {
		return nil, errors.New("--public is for data files; simulated data need no flag")
	}
	var plan *experiment.Plan
	if err == nil {
		plan, err = experiment.NewPlan(c, experiment.Options{DataDir: s.dataDir, ConfigDir: folder, Public: s.public})
	}
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	return plan, nil
}

// noBudget refuses private data for which no budget was given, and says what they
// would need.
func noBudget(p *experiment.Plan) error {
	total, err := p.Total()
	if err != nil {
		return err
	}
	delta := p.Config.Delta * float64(len(p.Cells))
	text := "more than any ε covers"
	if delta < 1 {
		var g accountant.Guarantee
		if g, err = total.Epsilon(delta); err != nil {
			return err
		}
		text = fmt.Sprintf("together ε = %.4g at δ = %.3g", g.Epsilon, delta)
	}
	return &shortBudgetError{fmt.Errorf("the comparison makes %d releases of private records, which cost %s: give a "+
		"budget that covers them with --epsilon and --delta, or --public if the records are public knowledge",
		len(p.Cells), text)}
}

// cells returns a callback that draws a bar on a terminal, and prints a line for
// each tenth of the comparison otherwise.
func cells(w io.Writer) (report func(experiment.Progress), finish func()) {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return func(p experiment.Progress) {
			full := barWidth * p.Done / p.Total
			fmt.Fprintf(w, "\r[%s%s] %d / %d runs, %s left   ", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full),
				p.Done, p.Total, p.Left.Round(time.Second))
		}, func() { fmt.Fprintln(w) }
	}
	last := -1
	return func(p experiment.Progress) {
		if tenth := 10 * p.Done / p.Total; tenth != last || p.Done == p.Resumed+1 {
			last = tenth
			fmt.Fprintf(w, "Run: %d / %d [%3d%%], %s left\n", p.Done, p.Total, 100*p.Done/p.Total, p.Left.Round(time.Second))
		}
	}, func() {}
}

// listCompare prints what a configuration can name.
func listCompare(w io.Writer) error {
	fmt.Fprintln(w, "Methods ([[method]] name, with its settings and their defaults)")
	for _, m := range methods.All() {
		models := "every model"
		if m.Models != nil {
			models = strings.Join(m.Models, ", ")
		}
		fmt.Fprintf(w, "\n  %s  [%s; %s]\n    %s\n", m.Name, m.Kind, models, m.About)
		_, err := chains.Describe(m.Name)
		chain := err == nil
		var others []string
		for _, s := range m.Settings {
			if _, shared := chains.Lookup(s.Name); shared && chain {
				others = append(others, s.Name)
				continue
			}
			fmt.Fprintf(w, "      %s = %#v: %s\n", s.Name, s.Default, s.About)
		}
		if others != nil {
			fmt.Fprintf(w, "      %s: see below\n", strings.Join(others, ", "))
		}
	}
	fmt.Fprintln(w, "\nSettings of private chains, as in dpmcmc sample")
	for _, v := range chains.Table() {
		if v.Name != "kernel" {
			fmt.Fprintf(w, "\n  %s\n    %s\n", v.Name, about(v))
		}
	}
	fmt.Fprintln(w, "\nMetrics (metrics = [...])")
	for _, m := range metrics.List() {
		fmt.Fprintf(w, "\n  %s\n    %s\n", m.Name, m.About)
		if m.Reads != metrics.Nothing {
			fmt.Fprintf(w, "    not on private data: it depends on %s\n", m.Reads)
		}
	}
	fmt.Fprintf(w, "\nBundled experiments (--config bundled:NAME): %s\nBundled schemas (schema = \"bundled:NAME\"): %s\n",
		strings.Join(configs.Experiments(), ", "), strings.Join(configs.Schemas(), ", "))
	return nil
}
