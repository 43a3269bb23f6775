package proptest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// watch sees calls of what is checked begin and end. That of nil sees none.
type watch struct {
	begun, ended atomic.Int64
	left         atomic.Bool // the check has failed, and its goroutine is left behind
	last         atomic.Pointer[string]
}

// call is made before a call, and what it returns after it.
func (w *watch) call() (returned func()) {
	w.begin()
	return w.end
}

func (w *watch) begin() {
	if w != nil {
		w.begun.Add(1)
	}
}

func (w *watch) end() {
	if w == nil {
		return
	}
	if w.ended.Add(1); w.left.Load() {
		runtime.Goexit()
	}
}

// goesOn says so in between.
func (w *watch) goesOn() {
	w.begin()
	w.end()
}

// watched makes a check in a goroutine of its own, and fails where a call lasts longer than the limit: what never
// ends would keep all other tests from running. The time decides nothing else. That goroutine is left behind: it
// stops when the call returns, if it does.
func watched(t rapid.TB, limit time.Duration, about string, check func(t rapid.TB, w *watch)) {
	t.Helper()
	w, done, returned := &watch{}, make(chan any, 1), false
	r := &relay{t: t, says: make(chan func()), over: make(chan struct{})}
	defer close(r.over)
	go func() {
		defer func() {
			p := recover()
			if p != nil {
				p = fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
			done <- p
		}()
		check(r, w)
		returned = true
	}()
	const ticks = 8 // of a limit
	clock := time.NewTicker(max(limit/ticks, 1))
	defer clock.Stop()
	for still, seen := 0, int64(-1); still <= ticks; {
		select {
		case say := <-r.says:
			say()
		case p := <-done:
			switch {
			case p != nil:
				panic(p)
			case !returned && t.Failed():
				t.FailNow()
			case !returned:
				t.SkipNow()
			}
			return
		case <-clock.C:
			ended := w.ended.Load()
			if still++; ended != seen || w.begun.Load() == ended {
				still, seen = 0, ended
			}
		}
	}
	w.left.Store(true)
	if what := w.last.Load(); what != nil {
		about += ", " + *what
	}
	fatalf(t, "a call has not returned in %v: %s. Bound what may go on for ever, such as draws that are refused, or "+
		"set Limit if it takes as long. Its goroutine is left behind:\n%s", limit, about, stacks())
}

// stacks are what goroutines of checks do, down to this package.
func stacks() string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var all []string
	for _, g := range strings.Split(string(buf), "\n\n") {
		if !strings.Contains(g, "/proptest.watched") || strings.Contains(g, "/proptest.stacks") {
			continue
		}
		lines := strings.Split(g, "\n")
		for i := 1; i+1 < len(lines); i += 2 {
			if strings.Contains(lines[i], "dpmcmc/proptest.") && i > 1 {
				lines = lines[:i]
			}
		}
		all = append(all, strings.Join(lines[:min(len(lines), 17)], "\n"))
	}
	return strings.Join(all, "\n")
}

// sizeOfTable says how many records and features a table has.
func sizeOfTable(r curator.Records) string {
	return fmt.Sprintf("%d records of %d features", len(r.X)/max(1, r.Features), r.Features)
}

// factory makes kernels whose calls are seen.
func (w *watch) factory(f Factory) Factory {
	return func(records *curator.Curator, steps int64) (kernels.Kernel, error) {
		defer w.call()()
		k, err := f(records, steps)
		if k == nil || err != nil {
			return k, err
		}
		seen := watchedKernel{k, w}
		if keeper, ok := k.(kernels.Keeper); ok {
			return watchedKeeper{seen, keeper}, nil
		}
		return seen, nil
	}
}

type (
	watchedKernel struct {
		kernels.Kernel
		w *watch
	}
	watchedKeeper struct {
		watchedKernel
		keeper kernels.Keeper
	}
)

func (k watchedKernel) Init(theta []float64) (*kernels.State, error) {
	defer k.w.call()()
	return k.Kernel.Init(theta)
}

func (k watchedKernel) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	k.w.begin()
	info, err := k.Kernel.Step(rng, s)
	k.w.end()
	return info, err
}

func (k watchedKeeper) Keep(dst []float64) []float64 {
	defer k.w.call()()
	return k.keeper.Keep(dst)
}

func (k watchedKeeper) Recall(memory []float64) error {
	defer k.w.call()()
	return k.keeper.Recall(memory)
}

// counted is a mechanism whose calls are seen, and whose releases are counted.
func (w *watch) counted(m Mechanism, made *int) Mechanism {
	c := countedMechanism{m, made, w}
	if a, ok := m.(Additive); ok {
		return countedAdditive{c, a}
	}
	return c
}

type (
	countedMechanism struct {
		Mechanism
		made *int
		w    *watch
	}
	countedAdditive struct {
		countedMechanism
		additive Additive
	}
)

func (c countedAdditive) Sensitivity() float64 { return c.additive.Sensitivity() }
func (c countedAdditive) Step() float64        { return c.additive.Step() }

func (c countedMechanism) Release(r curator.Records, seed uint64, count int) ([][]float64, error) {
	*c.made += count
	what := fmt.Sprintf("Release of %s with seed %d and count %d", sizeOfTable(r), seed, count)
	c.w.last.Store(&what)
	defer c.w.call()()
	return c.Mechanism.Release(r, seed, count)
}
