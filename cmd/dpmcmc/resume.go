package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/kernels/journal"
	"github.com/dpmcmc/dpmcmc/ledger"
	"github.com/dpmcmc/dpmcmc/models"
)

// resumption is a run that goes on, with what is left of its charge or with more.
type resumption struct {
	*sampleSettings
	flags   *pflag.FlagSet
	errw    io.Writer
	journal *journal.Journal
	state   journal.State
	begun   *chains.Beginning // nil for a run that released nothing yet
	limit   float64           // what the whole run may cost
	charged []accountant.Event
	called  string // the data, in the folder
}

// goOn goes on with an interrupted run, or makes a finished one longer.
func (s *sampleSettings) goOn(ctx context.Context, flags *pflag.FlagSet, out, errw io.Writer) (err error) {
	given := s.refusedWithResume(flags)
	if given != nil {
		return fmt.Errorf("--resume goes on with the run's own settings; leave out %v", given)
	}
	if flags.Changed("more") && s.more < 1 {
		return fmt.Errorf("--more is %d; it is a number of further steps of each chain, at least 1", s.more)
	}
	g := &resumption{sampleSettings: s, flags: flags, errw: errw}
	if flags.Changed("epsilon") {
		g.limit = s.epsilon
	}
	if g.journal, g.state, err = journal.Resume(filepath.Join(s.resume, runs.JournalFile)); err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	session, m, err := g.open(ctx)
	if err != nil {
		return errors.Join(err, g.journal.Close())
	}
	return g.run(ctx, session, m, out)
}

// refusedWithResume are the flags that were given and have no meaning for a run that
// has its settings.
func (s *sampleSettings) refusedWithResume(flags *pflag.FlagSet) (given []string) {
	allowed := []string{"resume", "more", "json", "accept-unexplored", "who"}
	if s.more > 0 {
		allowed = append(allowed, "epsilon")
	}
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(allowed, f.Name) {
			given = append(given, "--"+f.Name)
		}
	})
	return given
}

// open reads the run's settings and opens its session where it was.
func (g *resumption) open(ctx context.Context) (*chains.Session, *models.Model, error) {
	if err := g.restore(); err != nil {
		return nil, nil, fmt.Errorf("--resume: %s: %w", g.resume, err)
	}
	// The folder has its mark before the ledger does: a kill between the two leaves a
	// mark that nobody asks for.
	g.state.Resumed = append(g.state.Resumed, ledger.NewRun())
	if err := g.journal.Resumed(g.state.Resumed[len(g.state.Resumed)-1]); err != nil {
		return nil, nil, err
	}
	return g.reopen(ctx)
}

// restore reads what the journal says, or why the run cannot go on.
func (g *resumption) restore() error {
	switch {
	case g.state.Done && g.more == 0:
		return errors.New("the run is complete; nothing is left of its charge (--more makes it longer, at the price of " +
			"what it adds)")
	case !g.state.Done && g.more > 0:
		return errors.New("the run is not complete: go on with it first, without --more")
	case g.state.Begun != nil:
		if err := json.Unmarshal(g.state.Begun, &g.begun); err != nil {
			return err
		}
	}
	for name, value := range g.state.Flags {
		if name == "who" && g.flags.Changed("who") {
			continue
		}
		if err := g.flags.Set(name, value); err != nil {
			return fmt.Errorf("--%s: %w", name, err)
		}
	}
	if g.limit == 0 {
		g.limit = g.epsilon
		if n := len(g.state.More); n > 0 {
			g.limit = g.state.More[n-1].Epsilon
		}
	}
	g.out = g.resume
	return json.Unmarshal(g.state.Settings, &g.Settings)
}

// reopen seals the table again and opens the chains where they were. The ledger is told,
// and charged what makes the run longer.
func (g *resumption) reopen(ctx context.Context) (*chains.Session, *models.Model, error) {
	table, err := g.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	m, err := g.build(&table.Shape)
	if err != nil {
		return nil, m, err
	}
	if err := g.sameModel(m); err != nil {
		return nil, m, err
	}
	budget, err := g.budgetLeft()
	if err != nil {
		return nil, m, err
	}
	var options []curator.Option
	if g.flags.Changed("insecure-seed") {
		options = append(options, curator.InsecureSeed(g.insecureSeed+uint64(len(g.state.Resumed))<<32))
	}
	sealed, err := chains.Seal(table, budget, options...)
	if err != nil {
		return nil, m, err
	}
	plan, err := g.plan(chains.ProblemOn(m, sealed))
	if err != nil {
		return nil, m, err
	}
	longer, price, err := g.longer(plan)
	if err != nil {
		return nil, m, err
	}
	if g.accounts.Ledger != nil {
		if err := g.accounts.Resume(g.accounts.Note, g.charged, g.state.Resumed[len(g.state.Resumed)-1],
			g.state.Resumed); err != nil {
			return nil, m, err
		}
	}
	if g.more > 0 {
		session, err := g.extend(longer, price, sealed)
		return session, m, err
	}
	session, err := g.again(plan, sealed)
	return session, m, err
}

// sameModel reports a model or a schema that is not the one in the folder, and takes
// over what the data are called there.
func (g *resumption) sameModel(m *models.Model) error {
	now, err := g.described(m)
	if err != nil {
		return err
	}
	var then runs.Described
	if err := runs.ReadFile(g.resume, runs.ModelFile, &then); err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	g.called, now.Data = then.Data, then.Data
	was, err1 := json.Marshal(then)
	is, err2 := json.Marshal(now)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if string(is) != string(was) {
		return fmt.Errorf("--resume: the schema %s, or the model that it makes, is no longer the one that the run began "+
			"with, "+
			"which %s has: its draws would be about something else", g.schema, filepath.Join(g.resume, runs.ModelFile))
	}
	return nil
}

// budgetLeft is what the session charges: the ledger for a run that becomes longer, and
// else nothing but what was paid.
func (g *resumption) budgetLeft() (*accountant.Budget, error) {
	if err := g.openAccounts(g.flags, g.errw); err != nil {
		return nil, err
	}
	if g.accounts.Ledger != nil {
		g.accounts.Note.Run = g.state.Run
	}
	adjacency, err := g.parsed()
	if err != nil {
		return nil, err
	}
	c := accountant.BudgetConfig{Epsilon: g.limit, Delta: g.delta, Adjacency: adjacency}
	if g.more == 0 {
		return accountant.NewBudget(c)
	}
	return g.accounts.NewBudget(c)
}

// plan is the run's, as long as it has become, at the prices that were charged.
func (g *resumption) plan(p chains.Problem) (*chains.Plan, error) {
	p.Epsilon = g.epsilon // that the settings were chosen for
	plan, err := chains.Choose(g.Settings, p)
	if err != nil {
		return nil, setting.Flagged(err)
	}
	price, err := plan.Cost()
	if err != nil {
		return nil, err
	}
	if err := g.priced(g.state.Event, price); err != nil {
		return nil, err
	}
	for _, more := range g.state.More {
		if plan, price, err = plan.Longer(more.Iterations - plan.Settings.Iterations); err != nil {
			return nil, err
		}
		if err := g.priced(more.Event, price); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// priced compares what was charged with what the run releases now.
func (g *resumption) priced(charged json.RawMessage, now accountant.Event) error {
	var then accountant.Event
	if err := json.Unmarshal(charged, &then); err != nil {
		return fmt.Errorf("--resume: %s: %w", g.resume, err)
	}
	if !now.Equal(then) {
		return fmt.Errorf("--resume: %s: the run was charged %v, and this version of the software would release %v: "+
			"it cannot "+
			"go on", g.resume, then, now)
	}
	if len(then.Mechanisms()) > 0 {
		g.charged = append(g.charged, then)
	}
	return nil
}

// again opens the session with what is left of its charge.
func (g *resumption) again(plan *chains.Plan, sealed *curator.Curator) (*chains.Session, error) {
	switch {
	case g.begun != nil:
		return plan.Resume(sealed, g.seed, *g.begun, g.positions(plan))
	case g.state.Opening && plan.Opens():
		return nil, fmt.Errorf("--resume: %s: the run was stopped while it made what comes before the first step (%s), "+
			"which must not be made twice: what it was charged is forfeited, and it can only be started again",
			g.resume, plan.Settings.Start)
	}
	return plan.Open(sealed, g.seed) // nothing was released
}

// positions are where the chains are. What was reserved may have been made: it is
// never made again.
func (g *resumption) positions(plan *chains.Plan) []chains.Position {
	at := plan.Fresh()
	for id, m := range g.state.Marks {
		if m != nil {
			at[id] = chains.Position{Theta: m.Theta, Made: m.Step, Left: plan.Settings.Iterations - m.Reserved,
				Memory: m.Memory, Stream: m.Stream}
			fmt.Fprintf(g.errw, "dpmcmc: chain %d goes on with %d steps of %d; %d were made, %d are forfeited\n",
				id+1, at[id].Left, plan.Settings.Iterations, m.Step, m.Reserved-m.Step)
		}
	}
	return at
}

// longer is the plan with --more steps and what these cost, which the run's own limit
// covers; the plan as it is without them.
func (g *resumption) longer(plan *chains.Plan) (*chains.Plan, accountant.Event, error) {
	if g.more == 0 {
		return plan, accountant.Event{}, nil
	}
	longer, price, err := plan.Longer(g.more)
	if err != nil {
		return nil, price, fmt.Errorf("--more: %w", err)
	}
	return longer, price, g.affords(plan, longer, price)
}

// extend charges more steps, and opens the session that makes them.
func (g *resumption) extend(longer *chains.Plan, price accountant.Event, sealed *curator.Curator) (*chains.Session,
	error) {
	session, err := longer.Resume(sealed, g.seed, *g.begun, g.positions(longer))
	if err != nil {
		return nil, fmt.Errorf("--more: %w", err)
	}
	text, err := json.Marshal(price)
	if err != nil {
		return nil, err
	}
	return session, g.journal.More(journal.More{Iterations: longer.Settings.Iterations, Event: text, Epsilon: g.limit})
}

// affords reports a longer run that costs more than the run's own limit. The ledger's
// is asked when it is charged.
func (g *resumption) affords(plan, longer *chains.Plan, price accountant.Event) error {
	config := accountant.BudgetConfig{Epsilon: g.limit, Delta: g.delta, Adjacency: price.Adjacency()}
	b, err := accountant.NewBudget(config)
	if err != nil {
		return err
	}
	paid, err := plan.Cost()
	if err != nil {
		return err
	}
	if err := b.Charge(paid, 1); err != nil {
		return fmt.Errorf("--epsilon %v: the run has cost more than that already: %w", g.limit, err)
	}
	if len(price.Mechanisms()) == 0 {
		return nil // draws that see no record
	}
	refused := b.Charge(price, 1)
	if refused == nil {
		return nil
	}
	whole, err := longer.Cost()
	if err != nil {
		return err
	}
	needs, err := whole.Epsilon(g.delta)
	if err != nil {
		return err
	}
	return fmt.Errorf("--more %d: the longer run would cost ε = %.4g in all, over the run's own limit of %v: give "+
		"--epsilon "+
		"%.4g or more, a limit that is to have been chosen without looking at the draws: %w", g.more, needs.Epsilon, g.limit,
		needs.Epsilon*1.0001, refused)
}

// run draws what is left.
func (g *resumption) run(ctx context.Context, session *chains.Session, m *models.Model, out io.Writer) error {
	g.data = g.called
	sink, err := g.files(session, m)
	if err != nil {
		return errors.Join(err, g.journal.Close())
	}
	r := runs.NewRecording(g.journal, session, sink)
	r.Begun = g.begun != nil
	o := g.options()
	for id, p := range session.Positions() {
		var earlier [][]float64
		if n := p.Made / g.thin; n > 0 {
			chain, err := runs.ReadChain(sink.Path(id))
			if err != nil {
				return errors.Join(fmt.Errorf("--resume: %w", err), g.journal.Close())
			}
			earlier = slices.Concat(chain.Warmup, chain.Draws)
			earlier = earlier[:min(n, int64(len(earlier)))]
		}
		o.Earlier = append(o.Earlier, earlier)
	}
	return g.draw(ctx, session, m, o, r, out, g.errw)
}
