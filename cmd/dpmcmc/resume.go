package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/kernels/draws"
	"github.com/dpmcmc/dpmcmc/kernels/journal"
	"github.com/dpmcmc/dpmcmc/ledger"
	"github.com/dpmcmc/dpmcmc/models"
)

// journalFile is what a run can go on from, beside its draws.
const journalFile = "journal"

// blocks is the number of blocks that a chain's steps are reserved in: a run that is
// killed forfeits at most one of them in each chain.
const blocks = 50

// recording keeps a run's journal. The zero recording keeps none.
type recording struct {
	journal  *journal.Journal
	sink     *syncedSink
	block    int64
	limit    int64   // steps that each chain was charged
	step     []int64 // of each chain's path, before this part
	used     []int64
	reserved []*journal.Reserved
}

// syncedSink remembers the chains' files, to make them durable.
type syncedSink struct {
	kernels.Sink
	paths  []string
	chains []kernels.ChainSink
}

// Chain implements kernels.Sink.
func (s *syncedSink) Chain(id int) (kernels.ChainSink, error) {
	c, err := s.Sink.Chain(id)
	s.chains[id] = c
	return c, err
}

// sync makes a chain's draws so far durable.
func (s *syncedSink) sync(id int, open bool) (int64, error) {
	if open {
		return s.chains[id].(draws.Syncer).Sync()
	}
	f, err := os.OpenFile(s.paths[id], os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), f.Sync()
}

// record begins the journal of a run that was charged.
func (s *sampleSettings) record(flags *pflag.FlagSet, session *chains.Session, sink kernels.Sink) (*recording, error) {
	set := session.Plan.Settings
	settings, err := json.Marshal(set)
	if err != nil {
		return nil, err
	}
	cost, err := session.Plan.Cost()
	if err != nil {
		return nil, err
	}
	event, err := json.Marshal(cost)
	if err != nil {
		return nil, err
	}
	h := journal.Head{
		Run: s.accounts.note.Run, Flags: s.kept(flags), Settings: settings, Event: event,
		Chains: int(set.Chains), Iterations: set.Iterations, Thin: s.thin,
	}
	if h.Run == "" {
		h.Run = ledger.NewRun()
	}
	j, err := journal.Create(filepath.Join(s.out, journalFile), h)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return newRecording(j, h, sink), nil
}

func newRecording(j *journal.Journal, h journal.Head, sink kernels.Sink) *recording {
	r := &recording{journal: j, limit: h.Iterations, sink: &syncedSink{Sink: sink,
		chains: make([]kernels.ChainSink, h.Chains)}}
	// Whole draws, so that a path that goes on is thinned as one that does not.
	r.block = (h.Iterations/blocks/h.Thin + 1) * h.Thin
	r.step, r.used = make([]int64, h.Chains), make([]int64, h.Chains)
	r.reserved = make([]*journal.Reserved, h.Chains)
	for id := range h.Chains {
		r.sink.paths = append(r.sink.paths, sink.(*draws.Sink).Path(id))
	}
	return r
}

// kept are the flags that a run needs to go on: those given, and what stands for those
// that were not.
func (s *sampleSettings) kept(flags *pflag.FlagSet) map[string]string {
	kept := map[string]string{}
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"config", "json", "tune", "same-people"}, f.Name) {
			kept[f.Name] = f.Value.String()
		}
	})
	delete(kept, "out") // that is the folder itself, which may have been moved
	kept["data"] = s.data
	if !strings.HasPrefix(s.data, data.BuiltinPrefix) {
		for _, name := range []string{"data", "schema"} {
			if path, err := filepath.Abs(kept[name]); err == nil {
				kept[name] = path
			}
		}
	}
	kept["epsilon"], kept["delta"] = strconv.FormatFloat(s.epsilon, 'g', -1, 64), strconv.FormatFloat(s.delta, 'g', -1, 64)
	kept["thin"] = strconv.FormatInt(s.thin, 10)
	return kept
}

// attach has a run announce its steps.
func (r *recording) attach(o *chains.Options) {
	if r.journal == nil {
		return
	}
	o.Sink = r.sink
	o.Wrap = func(id int, k kernels.Kernel) kernels.Kernel {
		r.reserved[id] = r.journal.Reserve(k, id, r.step[id], r.used[id], r.limit, r.block,
			func() (int64, error) { return r.sink.sync(id, true) })
		return r.reserved[id]
	}
}

// end says how far the run came, or that it is over.
func (r *recording) end(done bool) error {
	if r.journal == nil {
		return nil
	}
	var err error
	if done {
		err = r.journal.Done()
	}
	for id, k := range r.reserved {
		if k != nil && !done && k.Begun() {
			err = errors.Join(err, k.Stop(func() (int64, error) { return r.sink.sync(id, false) }))
		}
	}
	return errors.Join(err, r.journal.Close())
}

// goOn goes on with an interrupted run, with what is left of its charge.
func (s *sampleSettings) goOn(ctx context.Context, flags *pflag.FlagSet, out, errw io.Writer) (err error) {
	var given []string
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"resume", "json", "accept-unexplored", "who"}, f.Name) {
			given = append(given, "--"+f.Name)
		}
	})
	if given != nil {
		return fmt.Errorf("--resume goes on with the run's own settings; leave out %v", given)
	}
	j, state, err := journal.Resume(filepath.Join(s.resume, journalFile))
	if err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	handed := false
	defer func() {
		if !handed {
			err = errors.Join(err, j.Close())
		}
	}()
	p, err := progressOf(state)
	if err != nil {
		return fmt.Errorf("--resume: %s: %w", s.resume, err)
	}
	for name, value := range state.Flags {
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("--resume: %s: --%s: %w", s.resume, name, err)
		}
	}
	s.out = s.resume
	if err := json.Unmarshal(state.Settings, &s.Settings); err != nil {
		return fmt.Errorf("--resume: %s: %w", s.resume, err)
	}
	// The folder has its mark before the ledger does: a kill between the two leaves a
	// mark that nobody asks for.
	state.Resumed = append(state.Resumed, ledger.NewRun())
	if err := j.Resumed(state.Resumed[len(state.Resumed)-1]); err != nil {
		return err
	}
	session, m, err := s.reopen(ctx, flags, state, p, errw)
	if err != nil {
		return err
	}
	sink, err := s.files(session, m, p.bytes, p.left)
	if err != nil {
		return err
	}
	options := chains.Options{Thin: s.thin, Warmup: s.warmup}
	if s.warmup == 0 {
		options.Warmup = -1
	}
	r := newRecording(j, state.Head, sink)
	r.step, r.used = p.step, p.used
	for id, path := range r.sink.paths {
		if err := cutTo(path, p.bytes[id]); err != nil {
			return fmt.Errorf("--resume: %w", err)
		}
		chain, err := readChain(path)
		if err != nil {
			return fmt.Errorf("--resume: %w", err)
		}
		options.Earlier = append(options.Earlier, slices.Concat(chain.Warmup, chain.Draws))
	}
	for id := range p.at {
		fmt.Fprintf(errw, "dpmcmc: chain %d goes on with %d steps of %d; %d were made, %d are forfeited\n",
			id+1, max(0, p.left[id]), state.Iterations, p.step[id], p.used[id]-p.step[id])
	}
	handed = true
	return s.draw(ctx, session, m, options, r, out, errw)
}

// progress is where a run's chains are.
type progressed struct {
	at                      [][]float64
	step, used, bytes, left []int64
}

// progressOf reads how far a run came, or why it cannot go on.
func progressOf(state journal.State) (p progressed, err error) {
	if state.Done {
		return p, errors.New("the run is complete; nothing is left of its charge")
	}
	for id, m := range state.Marks {
		if m == nil {
			return p, fmt.Errorf("the run was stopped before the first step of chain %d: what it was charged is forfeited, "+
				"and it can only be started again", id+1)
		}
		p.at, p.step, p.bytes = append(p.at, m.Theta), append(p.step, m.Step), append(p.bytes, m.Bytes)
		// What was reserved may have been made: it is never made again.
		p.used = append(p.used, m.Reserved)
		left := (state.Iterations - m.Reserved) / state.Thin * state.Thin
		if left == 0 {
			left = -1 // this chain is complete
		}
		p.left = append(p.left, left)
	}
	if slices.Max(p.left) < 0 {
		return p, errors.New("no step is left: the run is complete but for its report, and dpmcmc summary reads its draws")
	}
	return p, nil
}

// reopen seals the table again and opens the chains where they were. The ledger is told;
// nothing is charged.
func (s *sampleSettings) reopen(ctx context.Context, flags *pflag.FlagSet, state journal.State, p progressed,
	errw io.Writer) (*chains.Session, *models.Model, error) {
	var charged accountant.Event
	if err := json.Unmarshal(state.Event, &charged); err != nil {
		return nil, nil, fmt.Errorf("--resume: %s: %w", s.resume, err)
	}
	table, err := s.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	m, err := s.build(&table.Shape)
	if err != nil {
		return nil, m, err
	}
	if _, err := s.budget(flags, errw); err != nil { // opens the accounts
		return nil, m, err
	}
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: s.epsilon, Delta: s.delta,
		Adjacency: charged.Adjacency()})
	if err != nil {
		return nil, m, err
	}
	var options []curator.Option
	if flags.Changed("insecure-seed") {
		options = append(options, curator.InsecureSeed(s.insecureSeed+uint64(len(state.Resumed))<<32))
	}
	sealed, err := chains.Seal(table, budget, options...)
	if err != nil {
		return nil, m, err
	}
	problem := chains.ProblemOn(m, sealed)
	plan, err := chains.Choose(s.Settings, problem)
	if err != nil {
		return nil, m, flagged(err)
	}
	if cost, err := plan.Cost(); err != nil || !cost.Equal(charged) {
		return nil, m, errors.Join(err, fmt.Errorf("--resume: %s: the run was charged %v, and this version of the software "+
			"would release %v: it cannot go on", s.resume, charged, cost))
	}
	if err := plan.Resumable(); err != nil {
		return nil, m, fmt.Errorf("--resume: %s: %w", s.resume, err)
	}
	if s.accounts.Ledger != nil {
		s.accounts.note.Run = state.Run
		if err := s.accounts.Resume(s.accounts.note, charged, state.Resumed[len(state.Resumed)-1],
			state.Resumed); err != nil {
			return nil, m, err
		}
	}
	session, err := plan.Resume(sealed, problem, s.seed+uint64(len(state.Resumed))<<32, p.at, p.left)
	return session, m, err
}

// cutTo leaves so many bytes of a file, which must have them.
func cutTo(path string, bytes int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() < bytes {
		return fmt.Errorf("%s has %d bytes and had %d: draws were lost, and the run cannot go on", path, info.Size(), bytes)
	}
	return os.Truncate(path, bytes)
}
