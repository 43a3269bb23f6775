package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/durable"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/kernels/draws"
	"github.com/dpmcmc/dpmcmc/kernels/journal"
	"github.com/dpmcmc/dpmcmc/ledger"
)

// journalFile is what a run can go on from, beside its draws.
const journalFile = "journal"

// blocks is the number of blocks that a chain's steps are reserved in: a run that is
// killed forfeits at most one of them in each chain.
const blocks = 50

// announced is called when a run has announced steps: tests interrupt it there.
var announced = func() {}

// recording keeps a run's journal. A nil one keeps none.
type recording struct {
	journal  *journal.Journal
	begun    bool // what comes before the first step has been made
	sink     *draws.Sink
	limit    int64   // steps that each chain was charged
	used     []int64 // of them, before this part
	files    []kernels.ChainSink
	reserved []*journal.Reserved
}

// record begins the journal of a run that was charged.
func (s *sampleSettings) record(flags *pflag.FlagSet, session *chains.Session, sink *draws.Sink) (*recording, error) {
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
	return newRecording(j, session, sink), nil
}

func newRecording(j *journal.Journal, session *chains.Session, sink *draws.Sink) *recording {
	n := session.Plan.Settings.Chains
	r := &recording{journal: j, limit: session.Plan.Settings.Iterations, sink: sink, used: make([]int64, n),
		files: make([]kernels.ChainSink, n), reserved: make([]*journal.Reserved, n)}
	for id, p := range session.Positions() {
		r.used[id] = r.limit - p.Left
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

// begin has a session make what comes before its first step, announced.
func (r *recording) begin(ctx context.Context, session *chains.Session) error {
	if r == nil || r.begun {
		return nil
	}
	if err := r.journal.Opening(); err != nil {
		return err
	}
	b, err := session.Begin(ctx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return r.journal.Begun(text)
}

// attach has a run announce its steps.
func (r *recording) attach(o *chains.Options) {
	if r == nil {
		return
	}
	o.Sink = r
	block := (r.limit + blocks - 1) / blocks
	o.Wrap = func(id int, c kernels.Chain) kernels.Kernel {
		r.reserved[id] = r.journal.Reserve(id, c, r.used[id], r.limit, block, func() error {
			defer announced()
			return r.files[id].(draws.Syncer).Sync()
		})
		return r.reserved[id]
	}
}

// Chain implements kernels.Sink.
func (r *recording) Chain(id int) (kernels.ChainSink, error) {
	c, err := r.sink.Chain(id)
	r.files[id] = c
	return &recordedChain{c, r, id}, err
}

// Close implements kernels.Sink.
func (r *recording) Close() error { return r.sink.Close() }

// recordedChain says how far its chain came when it ends.
type recordedChain struct {
	kernels.ChainSink
	run *recording
	id  int
}

// Close makes the draws durable and then the mark.
func (c *recordedChain) Close() error {
	if err := c.ChainSink.Close(); err != nil {
		return err
	}
	if err := durable.Sync(c.run.sink.Path(c.id)); err != nil {
		return err
	}
	return c.run.reserved[c.id].Stop()
}

// end says that the run is over, if it is.
func (r *recording) end(done bool) error {
	if r == nil {
		return nil
	}
	var err error
	if done {
		err = r.journal.Done()
	}
	return errors.Join(err, r.journal.Close())
}
