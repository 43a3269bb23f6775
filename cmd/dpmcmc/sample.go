package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/accounts"
	"github.com/dpmcmc/dpmcmc/internal/flags"
	"github.com/dpmcmc/dpmcmc/internal/forecasts"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/tune"
)

// sampleSettings are the flags of sample. All are public.
type sampleSettings struct {
	job    runs.Job
	config string
	resume string
	more   int64
	flags.Model
	chains.Settings
	flags.Budget
	ledger       accounts.Choice
	insecureSeed uint64
	tune, json   bool
	runs.View
	acceptUnexplored bool
}

// The budget of the bare command, which runs on simulated data.
const (
	demoData        = "builtin:logistic?n=50000"
	demoEpsilon     = 1.0
	demoDelta       = 1e-6
	demoTemperature = 0.1 // wide enough for a walk on that budget to cross the posterior many times
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

dpmcmc help privacy says what that means, help kernels and help models list the
samplers and the models, and help results says how to read what is printed.`,
		Example: `  dpmcmc sample
  dpmcmc sample --data people.csv --schema people.toml --epsilon 1 --delta 1e-6 --out run/
  dpmcmc sample --data people.csv --schema people.toml --epsilon 0.3 --delta 1e-6 --loss beta --beta 1.5 --out run/
  dpmcmc sample --data people.csv --schema people.toml --epsilon 2 --delta 1e-6 --kernel dpsgld --out run/
  dpmcmc sample --data people.csv --schema people.toml --epsilon 1 --delta 1e-6 --start prior-mean --out run/`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := flags.Configure(c, s.config); err != nil {
				return err
			}
			return s.Explained(s.run(c.Context(), c.Flags(), c.OutOrStdout(), c.ErrOrStderr()))
		},
	}
	s.bind(c.Flags())
	return c
}

// bind declares the flags; their help states every default.
func (s *sampleSettings) bind(f *pflag.FlagSet) {
	f.StringVar(&s.job.Data, "data", demoData, "a CSV file, a packed table (dpmcmc pack), or a built-in simulated one "+
		"(builtin:logistic, builtin:linear, builtin:mixture; settings as in builtin:logistic?n=5000&d=4&seed=2)")
	f.StringVar(&s.job.Schema, "schema", "",
		"TOML file that states what is public about the CSV file; required for a file "+
			"(dpmcmc schema drafts one)")
	s.Budget.Bind(f, fmt.Sprintf("required for a file; %v and %v for a built-in table", demoEpsilon, demoDelta))
	flags.Ledger(f, &s.ledger)
	s.Model.Bind(f)
	flags.BindSettings(f, &s.Settings)
	f.Var(&s.job.Warmup, "warmup",
		"share of each chain that summaries leave out; those draws are released and written too; "+
			runs.DefaultWarmup)
	flags.Whole(f, &s.job.Thin, "thin", 0,
		"keep every thin-th draw; by default so many that at most 5000 draws a chain are written")
	f.StringVar(&s.job.Out, "out", "", "folder for draws, certificate and summary; by default nothing is written")
	f.Uint64Var(&s.job.Seed, "seed", 1, "public seed of truncated proposals; other randomness is the operating system's")
	f.Uint64Var(&s.insecureSeed, "insecure-seed", 0,
		"make the whole run repeatable. The result is NOT PRIVATE and is marked so")
	f.BoolVar(&s.tune, "tune", false, "first choose the kernel, unless --kernel is given, and what else is not given on "+
		"data simulated at the public facts, as dpmcmc tune does")
	f.StringVar(&s.resume, "resume", "", "go on with the interrupted run in this folder, at no further cost. Its "+
		"settings are its own")
	flags.Whole(f, &s.more, "more", 0,
		"with --resume of a run that is complete: make so many further steps of each chain, and pay for these. "+
			"--epsilon is then the limit of the longer run, by default the run's own")
	f.StringVar(&s.config, "config", "", "TOML file with any of these flags as keys; flags given on the command line win")
	f.BoolVar(&s.json, "json", false, "print the certificate and the summary as one JSON object")
	bindView(f, &s.View)
	f.BoolVar(&s.acceptUnexplored, "accept-unexplored", false, "run although no forecast says that the draws will show "+
		"their posterior; standard deviations and intervals of draws that do not are withheld all the same")
}

// require reports flags that are missing or out of range, all at once.
func (s *sampleSettings) require(f *pflag.FlagSet) error {
	var errs []error
	if s.job.Simulated() {
		s.demonstrate(f)
		if s.job.Schema != "" {
			errs = append(errs, fmt.Errorf("--schema is for files; the built-in table %s states its own", s.job.Data))
		}
	} else if missing := flags.Missing(f, "schema", "epsilon", "delta"); missing != "" {
		errs = append(errs, fmt.Errorf("%s with a data file: privacy parameters and public bounds have no defaults (dpmcmc "+
			"schema --data %s drafts a schema)", missing, s.job.Data))
	}
	errs = append(errs, s.Budget.Check(f), s.job.Warmup.Check())
	if s.tune && s.Temperature == forecasts.AutoTemperature {
		errs = append(errs, errors.New("--tune and --temperature auto exclude one another; give one"))
	}
	return errors.Join(append(errs, flags.CheckSettings(f, s.Settings))...)
}

// demonstrate fills in what a run on simulated data does without.
func (s *sampleSettings) demonstrate(f *pflag.FlagSet) {
	if k, err := chains.Describe(s.Kernel); err == nil && !k.Anchored && !f.Changed("data") && !f.Changed("temperature") {
		s.Temperature = demoTemperature
	}
	if !f.Changed("epsilon") {
		s.Epsilon = demoEpsilon
	}
	if !f.Changed("delta") {
		s.Delta = demoDelta
	}
}

// run is the whole of sample: load, choose, charge, draw, report.
func (s *sampleSettings) run(ctx context.Context, f *pflag.FlagSet, out, errw io.Writer) error {
	if s.resume != "" {
		return s.goOn(ctx, f, out, errw)
	}
	if f.Changed("more") {
		return errors.New("--more makes a run longer that is complete; name its folder with --resume")
	}
	if err := s.require(f); err != nil {
		return err
	}
	session, m, err := s.open(ctx, f, errw)
	if errors.Is(err, context.Canceled) {
		return &unspentError{err}
	}
	if err != nil {
		return err
	}
	var r *runs.Recording
	if s.job.Out != "" {
		sink, err := s.job.Files(session, m)
		if err != nil {
			return err
		}
		if r, err = s.job.Record(s.kept(f), session, sink); err != nil {
			return err
		}
	}
	return s.draw(ctx, session, m, s.job.Options(), r, out, errw)
}

// draw runs a session's chains and reports.
func (s *sampleSettings) draw(ctx context.Context, session *chains.Session, m *models.Model, options chains.Options,
	r *runs.Recording, out, errw io.Writer) error {
	if err := r.Begin(ctx, session); err != nil {
		return errors.Join(err, r.End(false))
	}
	r.Attach(&options)
	show, finish := progress(errw, "Iteration", "steps")
	if s.json {
		finish = func() {}
	} else {
		options.Progress = func(p kernels.Progress) { show(p.Done, p.Total, stepsLeft(p)) }
	}
	result, err := session.Run(ctx, m, options)
	finish()
	if result != nil {
		f := &runs.Run{Data: s.job.Data, Model: m, Certificate: result.Certificate, Draws: result.Draws,
			LeftOut: s.job.Warmup.Over(session.Plan.Settings), Complete: result.Complete}
		err = errors.Join(err, s.job.Accounts.Enter(result.Certificate)) // which names the ledger in what is reported
		text, failed := s.job.Report(f, s.View, s.json)
		err = errors.Join(failed, s.print(text, out), err)
	}
	// A run is over when its report is written: until then it goes on to that.
	err = errors.Join(err, r.End(err == nil))
	if err != nil && r != nil {
		fmt.Fprintf(errw, "dpmcmc: dpmcmc sample --resume %s goes on with this run\n", s.job.Out)
	}
	return err
}

// print prints a report: text for people as wide as the terminal is.
func (s *sampleSettings) print(text string, out io.Writer) error {
	if s.json {
		_, err := io.WriteString(out, text)
		return err
	}
	return say(out, text)
}

// open loads the table, chooses, and charges the whole run. Nothing has been read of a
// record when it fails, and the table is not kept.
func (s *sampleSettings) open(ctx context.Context, f *pflag.FlagSet, errw io.Writer) (*chains.Session,
	*models.Model, error) {
	table, err := s.job.Load(ctx)
	if err != nil {
		return nil, nil, err
	}
	m, err := s.Build(&table.Shape)
	if err != nil {
		return nil, m, err
	}
	budget, err := s.budget(f, errw)
	if err != nil {
		return nil, m, err
	}
	var options []curator.Option
	if f.Changed("insecure-seed") {
		options = append(options, curator.InsecureSeed(s.insecureSeed))
	}
	sealed, err := chains.Seal(m, table, budget, options...)
	if err != nil {
		return nil, m, err
	}
	settings, err := forecasts.Tempered(ctx, s.foreseeing(m, sealed.Facts().Adjacency), s.Settings, s.Epsilon)
	if err != nil {
		return nil, m, err
	}
	if s.tune {
		if settings, err = s.tuned(ctx, m, sealed.Facts()); err != nil {
			return nil, m, err
		}
	}
	plan, err := chains.Choose(settings, chains.ProblemOn(m, sealed))
	if err != nil {
		return nil, m, setting.Flagged(err)
	}
	if s.tune || s.Temperature == forecasts.AutoTemperature {
		plan.ChosenFrom = "public facts and data simulated from them"
	}
	// Whatever a person may have got wrong is found before the charge.
	if err := errors.Join(s.job.SetThin(f.Changed("thin"), plan.Settings.Iterations), s.job.Room()); err != nil {
		return nil, m, err
	}
	s.warn(plan.Problem.Facts.Records, errw)
	if err := cmp.Or(s.foresee(ctx, m, plan, settings, errw), ctx.Err()); err != nil {
		return nil, m, err
	}
	if err := s.job.Claim(); err != nil {
		return nil, m, err
	}
	session, err := plan.Open(sealed, s.job.Seed)
	if err != nil {
		return nil, m, errors.Join(setting.Flagged(err), s.job.Drop())
	}
	return session, m, nil
}

// foreseeing is what a forecast of a run is asked for.
func (s *sampleSettings) foreseeing(m *models.Model, adjacency accountant.Adjacency) tune.Config {
	return tune.Config{Models: []*models.Model{m}, Adjacency: adjacency, Delta: s.Delta, Work: forecasts.Work,
		Repeats: forecasts.Tables, Warmup: s.job.Warmup.Foreseen(), Seed: s.job.Seed}
}

// warn says beforehand what a certificate would warn of afterwards.
func (s *sampleSettings) warn(records int64, errw io.Writer) {
	for _, remark := range chains.Remarks(s.Epsilon, s.Delta, records) {
		if strings.HasPrefix(remark, "Warning") {
			fmt.Fprintln(errw, remark)
		}
	}
}

// foresee says what a run is predicted to be worth before it is paid for, and refuses one
// that would show no posterior.
func (s *sampleSettings) foresee(ctx context.Context, m *models.Model, plan *chains.Plan, asked chains.Settings,
	errw io.Writer) error {
	if s.acceptUnexplored || m.Shape == nil {
		return nil
	}
	asked.Kernel = plan.Settings.Kernel
	r := forecasts.Run{Config: s.foreseeing(m, plan.Problem.Facts.Adjacency), Settings: asked, Options: s.Options,
		Epsilon: s.Epsilon}
	f, err := forecasts.Foresee(ctx, r.Config, asked, s.Epsilon)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		fmt.Fprintf(errw, "No forecast: %v\n", setting.Flagged(err))
		return nil
	}
	this := f[0]
	fmt.Fprintf(errw, "Predicted: %s\n", forecasts.Line(this))
	if !this.Posterior() {
		fmt.Fprintln(errw, "Looking for what would be enough, which costs no privacy ...")
		remedies, err := r.Remedies(ctx, this)
		return cmp.Or(err, error(&forecasts.UnexploredError{Forecast: this, Remedies: remedies}))
	}
	return nil
}

// budget is what pays for the run: charged to the ledger of the people in a file.
func (s *sampleSettings) budget(f *pflag.FlagSet, errw io.Writer) (*accountant.Budget, error) {
	if err := s.openAccounts(f, errw); err != nil {
		return nil, err
	}
	adjacency, err := s.Adjacency()
	if err != nil {
		return nil, err
	}
	return s.job.Accounts.NewBudget(accountant.BudgetConfig{Epsilon: s.Epsilon, Delta: s.Delta, Adjacency: adjacency})
}

// openAccounts opens the ledger of the people in a file.
func (s *sampleSettings) openAccounts(f *pflag.FlagSet, errw io.Writer) error {
	adjacency, err := s.Adjacency()
	if err != nil || s.job.Simulated() {
		return err
	}
	s.job.Accounts, err = s.ledger.Open(s.job.Data, accounts.NoteOf("dpmcmc sample", f, s.ledger.Who), adjacency,
		s.Delta, errw)
	return err
}

// kept are the flags that a run needs to go on: those given, and what stands for those
// that were not.
func (s *sampleSettings) kept(f *pflag.FlagSet) map[string]string {
	kept := map[string]string{}
	f.Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"config", "json", "tune", "same-people"}, f.Name) {
			kept[f.Name] = f.Value.String()
		}
	})
	delete(kept, "out") // that is the folder itself, which may have been moved
	kept["data"] = s.job.Data
	if !s.job.Simulated() {
		for _, name := range []string{"data", "schema"} {
			if path, err := filepath.Abs(kept[name]); err == nil {
				kept[name] = path
			}
		}
	}
	kept["epsilon"], kept["delta"] = strconv.FormatFloat(s.Epsilon, 'g', -1, 64), strconv.FormatFloat(s.Delta, 'g', -1, 64)
	kept["thin"] = strconv.FormatInt(s.job.Thin, 10)
	return kept
}

func bindView(f *pflag.FlagSet, v *runs.View) {
	f.BoolVar(&v.Standardised, "standardised", false, "summarise per unit of the scaled columns instead of the file's")
}
