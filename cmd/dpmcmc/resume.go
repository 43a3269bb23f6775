package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/models"
)

// resumption is a run that goes on, and its flags.
type resumption struct {
	*runs.Resumption
	settings *sampleSettings
	flags    *pflag.FlagSet
}

// goOn goes on with an interrupted run, or makes a finished one longer.
func (s *sampleSettings) goOn(ctx context.Context, f *pflag.FlagSet, out, errw io.Writer) (err error) {
	given := s.refusedWithResume(f)
	if given != nil {
		return fmt.Errorf("--resume goes on with the run's own settings; leave out %v", given)
	}
	if f.Changed("more") && s.more < 1 {
		return fmt.Errorf("--more is %d; it is a number of further steps of each chain, at least 1", s.more)
	}
	r, err := runs.Resume(s.resume, s.more)
	if err != nil {
		return err
	}
	r.Job, r.Say = &s.job, errw
	g := &resumption{r, s, f}
	session, m, err := g.open(ctx, errw)
	if err != nil {
		return errors.Join(err, g.Close())
	}
	return g.run(ctx, session, m, out, errw)
}

// refusedWithResume are the flags that were given and have no meaning for a run that
// has its settings.
func (s *sampleSettings) refusedWithResume(f *pflag.FlagSet) (given []string) {
	allowed := []string{"resume", "more", "json", "accept-unexplored", "who"}
	if s.more > 0 {
		allowed = append(allowed, "epsilon")
	}
	f.Visit(func(f *pflag.Flag) {
		if !slices.Contains(allowed, f.Name) {
			given = append(given, "--"+f.Name)
		}
	})
	return given
}

// open seals the table again and opens the session where it was.
func (g *resumption) open(ctx context.Context, errw io.Writer) (*chains.Session, *models.Model, error) {
	s := g.settings
	if err := g.restore(); err != nil {
		return nil, nil, fmt.Errorf("--resume: %s: %w", s.resume, err)
	}
	if err := g.Mark(); err != nil {
		return nil, nil, err
	}
	table, err := s.job.Load(ctx)
	if err != nil {
		return nil, nil, err
	}
	m, err := s.Build(&table.Shape)
	if err != nil {
		return nil, m, err
	}
	if err := g.SameModel(m); err != nil {
		return nil, m, err
	}
	budget, err := g.budgetLeft(errw)
	if err != nil {
		return nil, m, err
	}
	var options []curator.Option
	if g.flags.Changed("insecure-seed") {
		options = append(options, curator.InsecureSeed(s.insecureSeed+uint64(len(g.State.Resumed))<<32))
	}
	sealed, err := chains.Seal(m, table, budget, options...)
	if err != nil {
		return nil, m, err
	}
	session, err := g.Open(s.Settings, chains.ProblemOn(m, sealed), sealed)
	return session, m, err
}

// restore sets the flags that the journal has, and the limit of the whole run.
func (g *resumption) restore() error {
	s := g.settings
	if g.flags.Changed("epsilon") {
		g.Limit = s.Epsilon
	}
	for name, value := range g.State.Flags {
		if name == "who" && g.flags.Changed("who") {
			continue
		}
		if err := g.flags.Set(name, value); err != nil {
			return fmt.Errorf("--%s: %w", name, err)
		}
	}
	g.Epsilon, g.Delta = s.Epsilon, s.Delta
	if g.Limit == 0 {
		g.Limit = s.Epsilon
		if n := len(g.State.More); n > 0 {
			g.Limit = g.State.More[n-1].Epsilon
		}
	}
	s.job.Out = s.resume
	return json.Unmarshal(g.State.Settings, &s.Settings)
}

// budgetLeft is what the session charges: the ledger for a run that becomes longer, and
// else nothing but what was paid.
func (g *resumption) budgetLeft(errw io.Writer) (*accountant.Budget, error) {
	if err := g.settings.openAccounts(g.flags, errw); err != nil {
		return nil, err
	}
	if g.Accounts.Ledger != nil {
		g.Accounts.Note.Run = g.State.Run
	}
	adjacency, err := g.settings.Adjacency()
	if err != nil {
		return nil, err
	}
	c := accountant.BudgetConfig{Epsilon: g.Limit, Delta: g.Delta, Adjacency: adjacency}
	if g.More == 0 {
		return accountant.NewBudget(c)
	}
	return g.Accounts.NewBudget(c)
}

// run draws what is left.
func (g *resumption) run(ctx context.Context, session *chains.Session, m *models.Model, out, errw io.Writer) error {
	o := g.Options()
	r, err := g.Recording(session, m, &o)
	if err != nil {
		return errors.Join(err, g.Close())
	}
	return g.settings.draw(ctx, session, m, o, r, out, errw)
}
