package runs

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/durable"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/kernels/draws"
	"github.com/dpmcmc/dpmcmc/kernels/journal"
)

// JournalFile is what a run can go on from, beside its draws.
const JournalFile = "journal"

// blocks is the number of blocks that a chain's steps are reserved in: a run that is
// killed forfeits at most one of them in each chain.
const blocks = 50

// Announced is called when a run has noted its first releases or announced steps: tests
// interrupt it there.
var Announced = func() {}

// Recording keeps a run's journal. A nil one keeps none.
type Recording struct {
	journal  *journal.Journal
	Begun    bool // what comes before the first step has been made
	sink     *draws.Sink
	limit    int64   // steps that each chain was charged
	used     []int64 // of them, before this part
	files    []kernels.ChainSink
	reserved []*journal.Reserved
}

// newRecording keeps a journal of a session's chains.
func newRecording(j *journal.Journal, session *chains.Session, sink *draws.Sink) *Recording {
	n := session.Plan.Settings.Chains
	r := &Recording{journal: j, limit: session.Plan.Settings.Iterations, sink: sink, used: make([]int64, n),
		files: make([]kernels.ChainSink, n), reserved: make([]*journal.Reserved, n)}
	for id, p := range session.Positions() {
		r.used[id] = r.limit - p.Left
	}
	return r
}

// Begin has a session make the releases that come before its first step, announced. ctx is
// asked before that: a run that is stopped later has them.
func (r *Recording) Begin(ctx context.Context, session *chains.Session) error {
	if r == nil || r.Begun {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.journal.Opening(); err != nil {
		return err
	}
	b, err := session.Begin(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	defer Announced()
	return r.journal.Begun(text)
}

// Attach has a run announce its steps.
func (r *Recording) Attach(o *chains.Options) {
	if r == nil {
		return
	}
	o.Sink = r
	block := (r.limit + blocks - 1) / blocks
	o.Wrap = func(id int, c kernels.Chain) kernels.Kernel {
		r.reserved[id] = r.journal.Reserve(id, c, r.used[id], r.limit, block, func() error {
			defer Announced()
			return r.files[id].(draws.Syncer).Sync()
		})
		return r.reserved[id]
	}
}

// Chain implements kernels.Sink.
func (r *Recording) Chain(id int) (kernels.ChainSink, error) {
	c, err := r.sink.Chain(id)
	r.files[id] = c
	return &recordedChain{c, r, id}, err
}

// Close implements kernels.Sink.
func (r *Recording) Close() error { return r.sink.Close() }

// recordedChain says how far its chain came when it ends.
type recordedChain struct {
	kernels.ChainSink
	run *Recording
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

// End says that the run is over, if it is.
func (r *Recording) End(done bool) error {
	if r == nil {
		return nil
	}
	var err error
	if done {
		err = r.journal.Done()
	}
	return errors.Join(err, r.journal.Close())
}
