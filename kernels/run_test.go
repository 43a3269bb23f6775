package kernels_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// walk is a kernel without records: a Gaussian random walk that fails at a
// chosen step.
type walk struct {
	left   int64
	failAt int64
	onStep func(n int64)
}

var errWalk = errors.New("walk failed")

func (w *walk) Name() string { return "walk" }
func (w *walk) Dim() int     { return 2 }
func (w *walk) Left() int64  { return w.left }

func (w *walk) Init(theta []float64) (*kernels.State, error) {
	if len(theta) != 2 {
		return nil, errors.New("walk: two parameters are needed")
	}
	return &kernels.State{Theta: slices.Clone(theta)}, nil
}

func (w *walk) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if s.Iteration+1 == w.failAt {
		return kernels.Info{}, errWalk
	}
	for j := range s.Theta {
		s.Theta[j] += rng.NormFloat64()
	}
	s.Iteration++
	w.left--
	if w.onStep != nil {
		w.onStep(s.Iteration)
	}
	return kernels.Info{Accepted: true, StepSize: 1}, nil
}

func walks(n int, left int64) []kernels.Chain {
	chains := make([]kernels.Chain, n)
	for i := range chains {
		chains[i] = kernels.Chain{Kernel: &walk{left: left}, Start: []float64{0, 0}}
	}
	return chains
}

func draws(t *testing.T, chains int, opts kernels.Options) *kernels.Memory {
	t.Helper()
	sink := kernels.NewMemory(chains)
	opts.Sink = sink
	if err := kernels.Run(context.Background(), walks(chains, opts.Iterations), opts); err != nil {
		t.Fatal(err)
	}
	return sink
}

func TestParallelEqualsSerial(t *testing.T) {
	parallel := draws(t, 4, kernels.Options{Iterations: 200, Seed: 7})
	for id := range 4 {
		k := &walk{left: 200}
		s, err := k.Init([]float64{0, 0})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range kernels.Steps(k, s, kernels.Stream(7, id)) {
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(s.Theta, parallel.Draws(id)[n]) {
				t.Fatalf("chain %d differs from a serial run at step %d: %v and %v", id, n+1, parallel.Draws(id)[n], s.Theta)
			}
			if n++; n == 200 {
				break
			}
		}
	}
	if slices.Equal(parallel.Draws(0)[0], parallel.Draws(1)[0]) {
		t.Error("two chains share a stream")
	}
}

func TestThinnedRunIsASlice(t *testing.T) {
	full := draws(t, 1, kernels.Options{Iterations: 100, Seed: 3}).Draws(0)
	thin := draws(t, 1, kernels.Options{Iterations: 100, Seed: 3, Thin: 7}).Draws(0)
	if len(thin) != 100/7 {
		t.Fatalf("%d draws were kept, want %d", len(thin), 100/7)
	}
	for i, d := range thin {
		if !slices.Equal(d, full[7*(i+1)-1]) {
			t.Fatalf("thinned draw %d is not draw %d of the full run", i, 7*(i+1)-1)
		}
	}
}

// closing counts how its chains were finalised.
type closing struct {
	*kernels.Memory
	chains, runs atomic.Int64
}

type closingChain struct {
	kernels.ChainSink
	c *closing
}

func (c *closing) Chain(id int) (kernels.ChainSink, error) {
	s, err := c.Memory.Chain(id)
	return closingChain{s, c}, err
}
func (c *closing) Close() error     { c.runs.Add(1); return nil }
func (c closingChain) Close() error { c.c.chains.Add(1); return nil }

func TestFailureAndCancellationFinaliseSinks(t *testing.T) {
	sink := &closing{Memory: kernels.NewMemory(2)}
	chains := walks(2, 50)
	chains[1].Kernel.(*walk).failAt = 10
	err := kernels.Run(context.Background(), chains, kernels.Options{Iterations: 50, Sink: sink})
	if !errors.Is(err, errWalk) {
		t.Errorf("error %v, want the kernel's", err)
	}
	if len(sink.Draws(0)) != 50 || len(sink.Draws(1)) != 9 {
		t.Errorf("chains drew %d and %d, want 50 and 9: a failure stops its own chain only", len(sink.Draws(0)),
			len(sink.Draws(1)))
	}
	if sink.chains.Load() != 2 || sink.runs.Load() != 1 {
		t.Errorf("%d chain sinks and %d sinks were closed, want 2 and 1", sink.chains.Load(), sink.runs.Load())
	}

	ctx, cancel := context.WithCancel(context.Background())
	sink = &closing{Memory: kernels.NewMemory(1)}
	chains = walks(1, 50)
	chains[0].Kernel.(*walk).onStep = func(n int64) {
		if n == 20 {
			cancel()
		}
	}
	err = kernels.Run(ctx, chains, kernels.Options{Iterations: 50, Sink: sink})
	if !errors.Is(err, context.Canceled) || len(sink.Draws(0)) != 20 || sink.chains.Load() != 1 {
		t.Errorf("cancelled at step 20: error %v, %d draws, %d sinks closed", err, len(sink.Draws(0)), sink.chains.Load())
	}
}

func TestProgressIsThrottledAndEndsAtTheTotal(t *testing.T) {
	var calls []kernels.Progress // one goroutine calls, so no lock: the race detector checks it
	chains := walks(2, 1000)
	for _, c := range chains {
		c.Kernel.(*walk).onStep = func(int64) { time.Sleep(10 * time.Microsecond) }
	}
	err := kernels.Run(context.Background(), chains, kernels.Options{
		Iterations: 1000, Sink: kernels.NewMemory(2), Every: 5 * time.Millisecond,
		Progress: func(p kernels.Progress) { calls = append(calls, p) },
	})
	if err != nil {
		t.Fatal(err)
	}
	last := calls[len(calls)-1]
	if last.Done != 2000 || last.Total != 2000 {
		t.Errorf("the last report is %d of %d, want 2000 of 2000", last.Done, last.Total)
	}
	for i := 1; i < len(calls); i++ {
		if calls[i].Done < calls[i-1].Done {
			t.Errorf("progress went back from %d to %d", calls[i-1].Done, calls[i].Done)
		}
	}
	if most := int(last.Elapsed/(5*time.Millisecond)) + 2; len(calls) > most {
		t.Errorf("%d reports in %v, at most %d are allowed", len(calls), last.Elapsed, most)
	}
}

func TestRunRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		chains []kernels.Chain
		opts   kernels.Options
	}{
		"no chains":     {nil, kernels.Options{Iterations: 1, Sink: kernels.NewMemory(1)}},
		"no iterations": {walks(1, 1), kernels.Options{Sink: kernels.NewMemory(1)}},
		"no sink":       {walks(1, 1), kernels.Options{Iterations: 1}},
		"negative thin": {walks(1, 1), kernels.Options{Iterations: 1, Thin: -1, Sink: kernels.NewMemory(1)}},
		"not granted":   {walks(1, 1), kernels.Options{Iterations: 2, Sink: kernels.NewMemory(1)}},
		"no kernel": {[]kernels.Chain{{Start: []float64{0, 0}}},
			kernels.Options{Iterations: 1, Sink: kernels.NewMemory(1)}},
		"start too short": {[]kernels.Chain{{Kernel: &walk{left: 1}, Start: []float64{0}}},
			kernels.Options{Iterations: 1, Sink: kernels.NewMemory(1)}},
	} {
		if err := kernels.Run(context.Background(), c.chains, c.opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
