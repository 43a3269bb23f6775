package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/kernels/journal"
	"github.com/dpmcmc/dpmcmc/ledger"
	"github.com/dpmcmc/dpmcmc/models"
)

// Resumption is a run that goes on, with what is left of its charge or with more.
type Resumption struct {
	*Job
	State          journal.State
	Epsilon, Delta float64   // that the settings were chosen for
	Limit          float64   // what the whole run may cost
	More           int64     // further steps of each chain
	Say            io.Writer // takes what is forfeited

	dir     string
	journal *journal.Journal
	begun   *chains.Beginning // nil for a run that released nothing yet
	charged []accountant.Event
	called  string // the data, in the folder
}

// Resume reads the journal in a folder, or says why the run in it cannot go on, or with more
// steps cannot become longer.
func Resume(dir string, more int64) (*Resumption, error) {
	j, state, err := journal.Resume(filepath.Join(dir, JournalFile))
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	g := &Resumption{State: state, More: more, dir: dir, journal: j}
	switch {
	case state.Done && more == 0:
		err = errors.New("the run is complete; nothing is left of its charge (--more makes it longer, at the price of " +
			"what it adds)")
	case !state.Done && more > 0:
		err = errors.New("the run is not complete: go on with it first, without --more")
	case state.Begun != nil:
		err = json.Unmarshal(state.Begun, &g.begun)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--resume: %s: %w", dir, err), j.Close())
	}
	return g, nil
}

// Close ends a run that was not drawn from.
func (g *Resumption) Close() error { return g.journal.Close() }

// Mark notes that the run goes on. The folder has its mark before the ledger does: a kill
// between the two leaves a mark that nobody asks for.
func (g *Resumption) Mark() error {
	mark := ledger.NewRun()
	g.State.Resumed = append(g.State.Resumed, mark)
	return g.journal.Resumed(mark)
}

// SameModel reports a model or a schema that is not the one in the folder, and takes
// over what the data are called there.
func (g *Resumption) SameModel(m *models.Model) error {
	now, err := g.described(m)
	if err != nil {
		return err
	}
	var then described
	if err := readFile(g.dir, ModelFile, &then); err != nil {
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
			"with, which %s has: its draws would be about something else", g.Schema, filepath.Join(g.dir, ModelFile))
	}
	return nil
}

// Open opens the chains of a sealed table where they were. The ledger is told, and charged
// what makes the run longer.
func (g *Resumption) Open(settings chains.Settings, p chains.Problem,
	sealed *curator.Curator) (*chains.Session, error) {
	plan, err := g.plan(settings, p)
	if err != nil {
		return nil, err
	}
	longer, price, err := g.longer(plan)
	if err != nil {
		return nil, err
	}
	if g.Accounts.Ledger != nil {
		if err := g.Accounts.Resume(g.Accounts.Note, g.charged, g.State.Resumed[len(g.State.Resumed)-1],
			g.State.Resumed); err != nil {
			return nil, err
		}
	}
	if g.More > 0 {
		return g.extend(longer, price, sealed)
	}
	return g.again(plan, sealed)
}

// plan is the run's, as long as it has become, at the prices that were charged.
func (g *Resumption) plan(settings chains.Settings, p chains.Problem) (*chains.Plan, error) {
	p.Epsilon = g.Epsilon // that the settings were chosen for
	plan, err := chains.Choose(settings, p)
	if err != nil {
		return nil, setting.Flagged(err)
	}
	price, err := plan.Cost()
	if err != nil {
		return nil, err
	}
	if err := g.priced(g.State.Event, price); err != nil {
		return nil, err
	}
	for _, more := range g.State.More {
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
func (g *Resumption) priced(charged json.RawMessage, now accountant.Event) error {
	var then accountant.Event
	if err := json.Unmarshal(charged, &then); err != nil {
		return fmt.Errorf("--resume: %s: %w", g.dir, err)
	}
	if !now.Equal(then) {
		return fmt.Errorf("--resume: %s: the run was charged %v, and this version of the software would release %v: "+
			"it cannot go on", g.dir, then, now)
	}
	if len(then.Mechanisms()) > 0 {
		g.charged = append(g.charged, then)
	}
	return nil
}

// again opens the session with what is left of its charge.
func (g *Resumption) again(plan *chains.Plan, sealed *curator.Curator) (*chains.Session, error) {
	switch {
	case g.begun != nil:
		return plan.Resume(sealed, g.Seed, *g.begun, g.positions(plan))
	case g.State.Opening && plan.Opens():
		return nil, fmt.Errorf("--resume: %s: the run was stopped while it made what comes before the first step (%s), "+
			"which must not be made twice: what it was charged is forfeited, and it can only be started again",
			g.dir, plan.Settings.Start)
	}
	return plan.Open(sealed, g.Seed) // nothing was released
}

// positions are where the chains are. What was reserved may have been made: it is
// never made again.
func (g *Resumption) positions(plan *chains.Plan) []chains.Position {
	at := plan.Fresh()
	for id, m := range g.State.Marks {
		if m != nil {
			at[id] = chains.Position{Theta: m.Theta, Made: m.Step, Left: plan.Settings.Iterations - m.Reserved,
				Memory: m.Memory, Stream: m.Stream}
			fmt.Fprintf(g.Say, "dpmcmc: chain %d goes on with %d steps of %d; %d were made, %d are forfeited\n",
				id+1, at[id].Left, plan.Settings.Iterations, m.Step, m.Reserved-m.Step)
		}
	}
	return at
}

// longer is the plan with --more steps and what these cost, which the run's own limit
// covers; the plan as it is without them.
func (g *Resumption) longer(plan *chains.Plan) (*chains.Plan, accountant.Event, error) {
	if g.More == 0 {
		return plan, accountant.Event{}, nil
	}
	longer, price, err := plan.Longer(g.More)
	if err != nil {
		return nil, price, fmt.Errorf("--more: %w", err)
	}
	return longer, price, g.affords(plan, longer, price)
}

// extend charges more steps, and opens the session that makes them.
func (g *Resumption) extend(longer *chains.Plan, price accountant.Event, sealed *curator.Curator) (*chains.Session,
	error) {
	session, err := longer.Resume(sealed, g.Seed, *g.begun, g.positions(longer))
	if err != nil {
		return nil, fmt.Errorf("--more: %w", err)
	}
	text, err := json.Marshal(price)
	if err != nil {
		return nil, err
	}
	return session, g.journal.More(journal.More{Iterations: longer.Settings.Iterations, Event: text, Epsilon: g.Limit})
}

// affords reports a longer run that costs more than the run's own limit. The ledger's
// is asked when it is charged.
func (g *Resumption) affords(plan, longer *chains.Plan, price accountant.Event) error {
	config := accountant.BudgetConfig{Epsilon: g.Limit, Delta: g.Delta, Adjacency: price.Adjacency()}
	b, err := accountant.NewBudget(config)
	if err != nil {
		return err
	}
	paid, err := plan.Cost()
	if err != nil {
		return err
	}
	if err := b.Charge(paid, 1); err != nil {
		return fmt.Errorf("--epsilon %v: the run has cost more than that already: %w", g.Limit, err)
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
	needs, err := whole.Epsilon(g.Delta)
	if err != nil {
		return err
	}
	return fmt.Errorf("--more %d: the longer run would cost ε = %.4g in all, over the run's own limit of %v: give "+
		"--epsilon %.4g or more, a limit that is to have been chosen without looking at the draws: %w",
		g.More, needs.Epsilon, g.Limit, needs.Epsilon*1.0001, refused)
}

// Recording goes on with the run's files and its journal, and adds the draws that were made
// to its options.
func (g *Resumption) Recording(session *chains.Session, m *models.Model, o *chains.Options) (*Recording, error) {
	g.Data = g.called
	sink, err := g.Files(session, m)
	if err != nil {
		return nil, err
	}
	r := newRecording(g.journal, session, sink)
	r.Begun = g.begun != nil
	for id, p := range session.Positions() {
		var earlier [][]float64
		if n := p.Made / g.Thin; n > 0 {
			chain, err := ReadChain(sink.Path(id))
			if err != nil {
				return nil, fmt.Errorf("--resume: %w", err)
			}
			earlier = slices.Concat(chain.Warmup, chain.Draws)
			earlier = earlier[:min(n, int64(len(earlier)))]
		}
		o.Earlier = append(o.Earlier, earlier)
	}
	return r, nil
}
