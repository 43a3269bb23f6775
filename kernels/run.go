package kernels

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Chain is a kernel and where it starts.
type Chain struct {
	// Kernel makes the chain's steps. Required; one kernel a chain.
	Kernel Kernel
	// Start is the starting point, chosen without looking at the records or
	// released by a mechanism. Required.
	Start []float64
	// Steps is the number of steps of this chain. Defaults to Options.Iterations;
	// negative for none.
	Steps int64
	// Made is the number of steps that the chain has made before, in another run, and
	// Memory what its kernel kept of them if it is a Keeper. Default to none.
	Made   int64
	Memory []float64
	// Source is the chain's public randomness. Defaults to NewSource(Options.Seed, i) for
	// chain i. One that a caller gives can be kept, for the chain to go on from.
	Source *rand.ChaCha8
}

// Options says how long chains run and where draws go.
type Options struct {
	// Iterations is the number of steps of each chain. Required; at most what
	// each kernel has been granted.
	Iterations int64
	// Thin keeps every Thin-th state. Defaults to 1. A thinned run is exactly a
	// slice of the full run.
	Thin int64
	// Seed starts the chains' public randomness; chain i uses the stream
	// (Seed, i), whatever the scheduling. It does not touch the curator's.
	Seed uint64
	// Sink receives the draws. Required.
	Sink Sink
	// Progress, if not nil, is called from one goroutine, at most once every
	// Every and once at the end; never for a run without steps.
	Progress func(Progress)
	// Every is the shortest time between calls of Progress. Defaults to 100 ms.
	Every time.Duration
}

// Progress is how far a run has come.
type Progress struct {
	Done, Total int64 // steps over all chains
	Elapsed     time.Duration
}

// Stream returns the public random stream of a chain.
func Stream(seed uint64, chain int) *rand.Rand { return rand.New(NewSource(seed, chain)) }

// NewSource returns what Stream draws from, which holds all of the stream's state.
func NewSource(seed uint64, chain int) *rand.ChaCha8 {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(chain))
	copy(key[16:], "dpmcmc public v1")
	return rand.NewChaCha8(key)
}

// Steps returns the states of one chain, one for each step, until it ends with
// an error or the caller stops. The state is the chain's own: copy what you
// keep, and do not change it.
func Steps(k Kernel, s *State, rng *rand.Rand) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		for {
			info, err := k.Step(rng, s)
			if !yield(info, err) || err != nil {
				return
			}
		}
	}
}

// Run advances every chain by opts.Iterations steps, in parallel, and sends
// draws to the sink. The draws of a chain depend on its kernel, its start and
// (Seed, chain) alone, so a parallel run equals a serial one bit for bit.
//
// When ctx is cancelled the chains stop at their next step, every sink is
// finalised with what was drawn, and Run returns ctx's error. Chains whose step
// or sink fails stop alone; errors are joined.
func Run(ctx context.Context, chains []Chain, opts Options) error {
	states, err := opts.start(chains)
	if err != nil {
		return err
	}
	var done atomic.Int64
	total := int64(0)
	for _, c := range chains {
		total += opts.steps(c)
	}
	stop := opts.report(&done, total)
	defer stop()
	errs := make([]error, len(chains)+1)
	var wg sync.WaitGroup
	for i, c := range chains {
		wg.Go(func() { errs[i] = opts.chain(ctx, i, c, states[i], &done) })
	}
	wg.Wait()
	errs[len(chains)] = opts.Sink.Close()
	return errors.Join(errs...)
}

// start checks a run's settings and initialises its chains.
func (o *Options) start(chains []Chain) ([]*State, error) {
	o.Thin = cmp.Or(o.Thin, 1)
	o.Every = cmp.Or(o.Every, 100*time.Millisecond)
	switch {
	case len(chains) == 0:
		return nil, errors.New("kernels: Run was given no chains")
	case o.Iterations < 1:
		return nil, fmt.Errorf("kernels: Options.Iterations is %d; at least 1 is needed", o.Iterations)
	case o.Thin < 1:
		return nil, fmt.Errorf("kernels: Options.Thin is %d; it must be at least 1", o.Thin)
	case o.Sink == nil:
		return nil, errors.New("kernels: Options.Sink is nil; use NewMemory to keep draws in memory")
	}
	states := make([]*State, len(chains))
	for i, c := range chains {
		if c.Kernel == nil {
			return nil, fmt.Errorf("kernels: chain %d has no kernel", i)
		}
		if n := o.steps(c); n > 0 && c.Kernel.Left() < n {
			return nil, fmt.Errorf("kernels: chain %d was granted %d steps, %d were asked for", i, c.Kernel.Left(), n)
		}
		s, err := c.Kernel.Init(c.Start)
		if err != nil {
			return nil, fmt.Errorf("kernels: chain %d: %w", i, err)
		}
		s.Iteration = c.Made
		if err := Recall(c.Kernel, c.Memory); err != nil {
			return nil, fmt.Errorf("kernels: chain %d: %w", i, err)
		}
		states[i] = s
	}
	return states, nil
}

// steps is the number of steps of a chain.
func (o *Options) steps(c Chain) int64 { return max(0, cmp.Or(c.Steps, o.Iterations)) }

// chain runs one chain to its end and finalises its sink.
func (o *Options) chain(ctx context.Context, id int, c Chain, s *State, done *atomic.Int64) (err error) {
	sink, err := o.Sink.Chain(id)
	if err != nil {
		return fmt.Errorf("kernels: chain %d: %w", id, err)
	}
	defer func() { err = errors.Join(err, sink.Close()) }()
	rng := Stream(o.Seed, id)
	if c.Source != nil {
		rng = rand.New(c.Source)
	}
	for n := c.Made + 1; n <= c.Made+o.steps(c); n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		info, err := c.Kernel.Step(rng, s)
		if err != nil {
			return fmt.Errorf("kernels: chain %d, step %d: %w", id, n, err)
		}
		done.Add(1)
		if n%o.Thin == 0 {
			if err := sink.Draw(s.Theta, info); err != nil {
				return fmt.Errorf("kernels: chain %d, step %d: %w", id, n, err)
			}
		}
	}
	return nil
}

// report starts the goroutine that calls Progress and returns what ends it.
func (o *Options) report(done *atomic.Int64, total int64) (stop func()) {
	if o.Progress == nil || total == 0 {
		return func() {}
	}
	began := time.Now()
	quit, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		tick := time.NewTicker(o.Every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-quit:
				o.Progress(Progress{Done: done.Load(), Total: total, Elapsed: time.Since(began)})
				return
			}
			o.Progress(Progress{Done: done.Load(), Total: total, Elapsed: time.Since(began)})
		}
	}()
	return func() { close(quit); <-finished }
}
