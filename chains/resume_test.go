package chains_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/tape"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/models"
)

// kinds are every kernel, and what settings make of it that has a state of its own.
func kinds() map[string]chains.Settings {
	all := map[string]chains.Settings{}
	for _, name := range chains.Names() {
		all[name] = chains.Settings{Kernel: name}
	}
	all["anchored, bits"] = chains.Settings{Kernel: "anchored", Aim: "remainder"}
	all["barker, batches"] = chains.Settings{Kernel: "barker", Batch: 50, Start: "prior-draw"}
	all["barker, truncated"] = chains.Settings{Kernel: "barker", Proposal: "truncated:3", Step: 0.01}
	all["dphmc, published test"] = chains.Settings{Kernel: "dphmc", Acceptance: "penalty"}
	all["dpsgld, shrinking steps"] = chains.Settings{Kernel: "dpsgld", Schedule: "polynomial"}
	all["penalty, guided"] = chains.Settings{Kernel: "penalty", Proposal: "guided", Step: 0.05}
	all["penalty-ratio, guided"] = chains.Settings{Kernel: "penalty-ratio", Proposal: "guided"}
	all["penalty"] = chains.Settings{Kernel: "penalty", Proposal: "one-component", Step: 0.05} // quick to price
	for name, s := range all {
		s.Iterations, s.Chains = 60, 2
		all[name] = s
	}
	return all
}

// watch sees the state of a chain, and cancels a run after so many steps of it.
type watch struct {
	kernels.Kernel
	state  **kernels.State
	stop   int64
	cancel func()
}

func (w *watch) Init(theta []float64) (s *kernels.State, err error) {
	s, err = w.Kernel.Init(theta)
	*w.state = s
	return s, err
}

func (w *watch) Step(rng *rand.Rand, s *kernels.State) (kernels.Info, error) {
	if w.stop--; w.stop == 0 {
		w.cancel()
	}
	return w.Kernel.Step(rng, s)
}

// Keep and Recall pass on what the kernel remembers.
func (w *watch) Keep(dst []float64) []float64 { return append(dst, kernels.Keep(w.Kernel)...) }

func (w *watch) Recall(memory []float64) error { return kernels.Recall(w.Kernel, memory) }

// places are where the chains of a run have come to.
type places struct {
	chains []kernels.Chain
	states []*kernels.State
}

// positions of a run of n steps a chain.
func (p *places) positions(t *testing.T, n int64) []chains.Position {
	t.Helper()
	var out []chains.Position
	for i, c := range p.chains {
		stream, err := c.Source.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		s := p.states[i]
		out = append(out, chains.Position{Theta: slices.Clone(s.Theta), Made: s.Iteration,
			Left: n - s.Iteration, Memory: kernels.Keep(c.Kernel), Stream: stream})
	}
	return out
}

// part is one part of a run: settings on a table, whose releases a tape records or
// plays, from the beginning or from positions, to the end or until a step of chain 0.
type part struct {
	s       chains.Settings
	table   *data.Table
	m       *models.Model
	tape    *tape.Tape
	from    []chains.Position
	begun   chains.Beginning
	stop    int64
	options chains.Options
}

func (p part) run(t *testing.T) (*chains.Result, []chains.Position, chains.Beginning) {
	t.Helper()
	var options []curator.Option
	if p.tape != nil {
		options = append(options, tape.Option(p.tape).(curator.Option))
	}
	records, plan := chosen(t, p.table, p.m, p.s, 4, options...)
	var session *chains.Session
	var err error
	if p.from == nil {
		session, err = plan.Open(records, 5)
	} else {
		session, err = plan.Resume(records, 5, p.begun, p.from)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if p.begun, err = session.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	at := &places{make([]kernels.Chain, p.s.Chains), make([]*kernels.State, p.s.Chains)}
	p.options.Wrap = func(id int, c kernels.Chain) kernels.Kernel {
		at.chains[id] = c
		w := &watch{Kernel: c.Kernel, state: &at.states[id], cancel: cancel}
		if id == 0 {
			w.stop = p.stop
		}
		return w
	}
	result, err := session.Run(ctx, p.m, p.options)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return result, at.positions(t, plan.Settings.Iterations), p.begun
}

// TestInterruptedIsUninterrupted: with the same noise, a run that was interrupted and
// went on, twice, in another process and over other records, makes the same draws as one
// that was not, bit for bit, whatever its kernel. One that forgets what its kernel kept,
// or its public stream, does not.
func TestInterruptedIsUninterrupted(t *testing.T) {
	table, m := simulated(t)
	other, err := data.Builtin("builtin:logistic?n=500&d=2&seed=9")
	if err != nil {
		t.Fatal(err)
	}
	noticed := map[string]int{}
	for name, s := range kinds() {
		t.Run(name, func(t *testing.T) {
			o := chains.Options{Thin: 3, Warmup: -1}
			recorded := tape.New()
			want, wantEnd, _ := part{s: s, table: table, m: m, tape: recorded, options: o}.run(t)
			played := recorded.Rewind()
			first, at, begun := part{s: s, table: table, m: m, tape: played, options: o, stop: 17}.run(t)
			if at[0].Made != 17 {
				t.Fatalf("stopped after %d steps", at[0].Made)
			}
			goOn := func(change func(*chains.Position)) (*chains.Result, []chains.Position) {
				at := slices.Clone(at)
				for i := range at {
					change(&at[i])
				}
				options := o
				options.Earlier = first.Draws
				got, end, _ := part{s: s, table: other.Table, m: m, tape: played.Rest(), begun: begun, from: at,
					options: options}.run(t)
				return got, end
			}
			got, end := goOn(func(*chains.Position) {})
			if !reflect.DeepEqual(got.Draws, want.Draws) || !reflect.DeepEqual(end, wantEnd) {
				t.Errorf("%v\nnot\n%v", got.Draws[0], want.Draws[0])
			}
			got.Certificate.Start.Value, want.Certificate.Start.Value = nil, nil // the optimum, which is played
			if !reflect.DeepEqual(got.Certificate, want.Certificate) {
				t.Errorf("%+v\nnot\n%+v", got.Certificate, want.Certificate)
			}
			if !got.Complete {
				t.Error("incomplete")
			}
			if s.Kernel == "dphmc" {
				return // forgetful, it asks for other releases than the tape has
			}
			if len(at[0].Memory) > 0 {
				noticed["memory"]++
				if _, end := goOn(func(p *chains.Position) { p.Memory = nil }); reflect.DeepEqual(end, wantEnd) {
					t.Error("a kernel that forgets was not noticed")
				}
			}
			if forgetful, _ := goOn(func(p *chains.Position) { p.Stream = nil }); !reflect.DeepEqual(forgetful.Draws,
				want.Draws) {
				noticed["stream"]++
			}
		})
	}
	if noticed["memory"] < 3 || noticed["stream"] < 5 {
		t.Errorf("kernels whose forgetting shows: %v", noticed)
	}
}

// TestReleasedIsEnough: a session that is stopped after its first releases, while it draws
// from them or before, goes on over other records and makes the draws of one that was not
// stopped, bit for bit with the same noise, whatever its kernel.
func TestReleasedIsEnough(t *testing.T) {
	table, m := simulated(t)
	other, err := data.Builtin("builtin:logistic?n=500&d=2&seed=9")
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range kinds() {
		t.Run(name, func(t *testing.T) {
			o := chains.Options{Thin: 3, Warmup: -1}
			recorded := tape.New()
			want, _, _ := part{s: s, table: table, m: m, tape: recorded, options: o}.run(t)
			played := recorded.Rewind()
			session := opened(t, table, m, s, 4, tape.Option(played).(curator.Option))
			ctx, cancel := context.WithCancel(t.Context())
			begun, err := session.Begin(ctx)
			if err != nil {
				t.Fatal(err)
			}
			cancel()
			if r, err := session.Run(ctx, m, o); !errors.Is(err, context.Canceled) || r != nil && len(r.Draws[0]) > 0 {
				t.Fatalf("a session that was stopped ran: %v", err)
			}
			got, _, _ := part{s: s, table: other.Table, m: m, tape: played.Rest(), begun: begun, from: session.Plan.Fresh(),
				options: o}.run(t)
			if !reflect.DeepEqual(got.Draws, want.Draws) || !reflect.DeepEqual(got.Certificate, want.Certificate) {
				t.Errorf("%v\nnot\n%v", got.Draws[0], want.Draws[0])
			}
		})
	}
}

// TestResumeRefuses what does not fit.
func TestResumeRefuses(t *testing.T) {
	table, m := simulated(t)
	records, plan := chosen(t, table, m, chains.Settings{Kernel: "sgnht", Iterations: 60, Chains: 2}, 3)
	theta := []float64{0, 0, 0}
	begun := chains.Beginning{Starts: [][]float64{theta, theta}}
	fine := chains.Position{Theta: theta, Made: 10, Left: 50}
	for want, at := range map[string][]chains.Position{
		"1 positions":    {fine},
		"61 left of 60":  {fine, {Theta: theta, Left: 61}},
		"-1 steps":       {fine, {Theta: theta, Made: -1}},
		"cannot be read": {fine, {Theta: theta, Left: 3, Stream: []byte("x")}},
		"2 values":       {fine, {Theta: theta, Left: 3, Memory: []float64{1, 2}}},
	} {
		session, err := plan.Resume(records, 1, begun, at)
		if err == nil {
			_, err = session.Run(t.Context(), m, chains.Options{})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	for _, k := range []string{"barker", "anchored"} {
		plan, err := chains.Choose(chains.Settings{Kernel: k, Iterations: 60, Chains: 2}, chains.ProblemOn(m, records))
		if err != nil {
			t.Fatal(err)
		}
		session, err := plan.Resume(records, 1, begun, []chains.Position{{Theta: theta, Left: 3, Memory: []float64{1}},
			{Theta: theta}})
		if err == nil {
			_, err = session.Run(t.Context(), m, chains.Options{})
		}
		if err == nil {
			t.Errorf("%s remembered what it never kept", k)
		}
	}
}

// TestEpochs: chains whose records are allocated pay for whole epochs; by default they
// make no part of one; one that goes on has lost the rest of an epoch with its allocation;
// and only whole epochs can be made longer.
func TestEpochs(t *testing.T) {
	table, m := simulated(t)
	records, err := chains.Seal(m, table, budget(t, 3))
	if err != nil {
		t.Fatal(err)
	}
	n := records.Facts().Records
	s := chains.Settings{Kernel: "dpsgld", Batch: n / 7, Allocated: true, Noise: 40, Step: 1e-5, Chains: 1,
		Start: "prior-mean"}
	choose := func(iterations int64) *chains.Plan {
		s.Iterations = iterations
		plan, err := chains.Choose(s, chains.ProblemOn(m, records))
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	price := func(p *chains.Plan) float64 {
		event, err := p.Cost()
		if err != nil {
			t.Fatal(err)
		}
		return event.RDP(3)
	}
	if got := choose(0).Settings.Iterations; got < 1 || got%7 != 0 {
		t.Errorf("%d steps by default, of epochs of 7", got)
	}
	one := price(choose(7))
	for iterations, epochs := range map[int64]float64{1: 1, 7: 1, 8: 2, 21: 3} {
		if got := price(choose(iterations)); math.Abs(got-epochs*one) > 1e-9*got {
			t.Errorf("%d steps cost %v; %v epochs of 7 cost %v", iterations, got, epochs, epochs*one)
		}
	}
	plan := choose(20) // three epochs
	theta := make([]float64, m.Target.Dim())
	begun := chains.Beginning{Starts: [][]float64{theta}}
	for left, want := range map[int64]int64{20: 20, 19: 14, 13: 13, 12: 7, 6: 6, 5: 0, 0: 0} {
		session, err := plan.Resume(records, 1, begun, []chains.Position{{Theta: theta, Left: left}})
		if err != nil {
			t.Fatal(err)
		}
		if got := session.Positions()[0].Left; got != want {
			t.Errorf("%d steps were left: it goes on with %d, want %d", left, got, want)
		}
	}
	if _, _, err := plan.Longer(7); err == nil || !strings.Contains(err.Error(), "within an epoch") {
		t.Errorf("a run that ended within an epoch was made longer: %v", err)
	}
	longer, more, err := choose(21).Longer(8)
	if err != nil || math.Abs(more.RDP(3)-2*one) > 1e-9*one || math.Abs(price(longer)-5*one) > 1e-9*one {
		t.Errorf("8 steps more cost %v, all %v, want 2 and 5 times %v; error %v", more.RDP(3), price(longer), one, err)
	}
}

// TestLonger: a longer plan costs what its steps and the first plan's do, a run that is
// made longer is the longer run, bit for bit with the same noise, and its certificate is
// the longer one's.
func TestLonger(t *testing.T) {
	table, m := simulated(t)
	for name, s := range kinds() {
		t.Run(name, func(t *testing.T) {
			_, short := chosen(t, table, m, s, 3)
			plan, more, err := short.Longer(30)
			if s.Schedule != "" {
				if err == nil || !strings.Contains(err.Error(), "shrink") {
					t.Fatalf("a schedule was made longer: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			paid, err1 := short.Cost()
			whole, err2 := plan.Cost()
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			both, err := accountant.Compose(paid, more)
			if err != nil {
				t.Fatal(err)
			}
			for _, order := range []float64{2, 5, 20} {
				if a, b := whole.RDP(order), both.RDP(order); math.Abs(a-b) > 1e-9*b {
					t.Errorf("order %v: the longer run costs %v, and its parts %v", order, a, b)
				}
			}
			if s.Kernel == "anchored" && s.Aim == "" {
				return // draws that see no record are made anew
			}
			o := chains.Options{Thin: 3, Warmup: -1}
			recorded := tape.New()
			want, _, _ := part{s: plan.Settings, table: table, m: m, tape: recorded, options: o}.run(t)
			played := recorded.Rewind()
			first, at, begun := part{s: short.Settings, table: table, m: m, tape: played, options: o}.run(t)
			for i := range at {
				at[i].Left = 30
			}
			o.Earlier = first.Draws
			got, _, _ := part{s: plan.Settings, table: table, m: m, tape: played.Rest(), begun: begun, from: at,
				options: o}.run(t)
			if !reflect.DeepEqual(got.Draws, want.Draws) || !reflect.DeepEqual(got.Certificate, want.Certificate) {
				t.Errorf("%v\nnot\n%v", got.Draws[0], want.Draws[0])
			}
		})
	}
}
