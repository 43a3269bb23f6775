package chains

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/kernels"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/starts"
)

// Run seals a table, chooses what the settings leave open, charges the start and all
// chains as one grant, and runs them to their end. It is Seal, Choose, Open and
// Session.Run with the defaults of Options; call those for anything else.
//
// Errors: those of Choose and Open, before a record was read; ctx's, with what was
// drawn. Whatever was charged stays charged.
func Run(ctx context.Context, t *data.Table, m *models.Model, s Settings, b *accountant.Budget) (*Result, error) {
	records, err := Seal(m, t, b)
	if err != nil {
		return nil, err
	}
	plan, err := Choose(s, ProblemOn(m, records))
	if err != nil {
		return nil, err
	}
	session, err := plan.Open(records, 0)
	if err != nil {
		return nil, err
	}
	return session.Run(ctx, m, Options{})
}

// Seal copies a table into a curator whose releases are paid from the budget. Rows longer than the
// radius weigh what the model says (models.Model.Weigh). A nil model leaves rows as they are.
func Seal(m *models.Model, t *data.Table, b *accountant.Budget, options ...curator.Option) (*curator.Curator, error) {
	if m != nil {
		t = m.Weigh(t)
	}
	return curator.Seal(Records(t), b, options...)
}

// Session is chains that have been paid for, on sealed records.
type Session struct {
	// Plan is what the chains were planned to be.
	Plan *Plan

	records *curator.Curator
	seed    uint64
	opening
	first *Beginning // once it has been released
	begun            // once that is known too
	at    []Position // of a session that goes on; nil for one that begins
}

// opening is what a run asks for, and what it does before its first step.
type opening struct {
	kernels  []kernels.Kernel
	requests []curator.Request
	// release makes the releases that come first, once all requests have been granted.
	release func(context.Context) (Beginning, error)
	// begin says what follows from them, without a look at the records.
	begin func(context.Context, Beginning) (begun, error)
}

// begun is what a run knows after its first releases.
type begun struct {
	starts   [][]float64 // one a chain
	widening float64     // of intervals by privacy; 0 where it is not known
	doubts   []Doubt
	drawing  time.Duration // of draws that are made before the first step
}

// released is the release of what was released before.
func released(b Beginning) func(context.Context) (Beginning, error) {
	return func(context.Context) (Beginning, error) { return b, nil }
}

// begunAtStarts is the begin of chains whose starts were released.
func begunAtStarts(_ context.Context, b Beginning) (begun, error) {
	return begun{starts: b.Starts}, nil
}

// Open charges the start and all chains to the records' budget, as one grant: all or
// nothing. seed is the public seed of what chains draw themselves.
//
// Errors: a budget that does not cover them (an *accountant.ExceededError); records
// whose facts the settings do not fit. Nothing was charged or read then.
func (r *Plan) Open(records *curator.Curator, seed uint64) (*Session, error) {
	open := r.open
	if open == nil {
		open = openWithStart
	}
	o, err := open(r, records.Facts(), seed)
	if err != nil {
		return nil, err
	}
	if err := records.Grant(o.requests...); err != nil {
		return nil, err
	}
	return &Session{Plan: r, records: records, seed: seed, opening: o}, nil
}

// openWithStart is chains that share the plan's start.
func openWithStart(r *Plan, f curator.Facts, seed uint64) (opening, error) {
	var o opening
	for range r.Settings.Chains {
		k, requests, err := r.prepare(f)
		if err != nil {
			return opening{}, err
		}
		o.kernels, o.requests = append(o.kernels, k), append(o.requests, requests...)
	}
	start := r.Start
	start.Seed = seed
	search, requests, err := starts.Prepare(start, f)
	if err != nil {
		return opening{}, err
	}
	o.requests = append(o.requests, requests...)
	o.begin = begunAtStarts
	o.release = func(ctx context.Context) (Beginning, error) {
		found, err := search.Find(ctx)
		return Beginning{Starts: slices.Repeat([][]float64{found.Theta}, len(o.kernels))}, err
	}
	return o, nil
}

// Kernels are the chains' kernels, one a chain.
func (s *Session) Kernels() []kernels.Kernel { return s.kernels }

// Begin makes the releases that come before the first step, once, and returns what a
// session needs of them to go on. ctx is asked before the first of them: to stop between two
// would lose what all of them were charged.
func (s *Session) Begin(ctx context.Context) (Beginning, error) {
	if err := ctx.Err(); s.first == nil && err != nil {
		return Beginning{}, err
	}
	return s.BeginSimulated(context.WithoutCancel(ctx))
}

// BeginSimulated is Begin on simulated records, whose releases ctx may stop: nobody paid for them.
func (s *Session) BeginSimulated(ctx context.Context) (Beginning, error) {
	if s.first == nil {
		b, err := s.release(ctx)
		if err != nil {
			return Beginning{}, err
		}
		s.first = &b
	}
	return *s.first, nil
}

// know says what follows from the first releases, which it makes if that has not been done.
func (s *Session) know(ctx context.Context) error {
	b, err := s.Begin(ctx)
	if err != nil || s.starts != nil {
		return err
	}
	found, err := s.begin(ctx, b)
	if err == nil {
		s.begun = found
	}
	return err
}

// Positions are where the chains of a session that goes on are, with the steps that each
// has left; nil for a session that begins.
func (s *Session) Positions() []Position { return s.at }

// Chains begins, if that has not been done, and returns the chains where they start,
// for kernels.Run or kernels.Steps.
func (s *Session) Chains(ctx context.Context) ([]kernels.Chain, error) {
	if err := s.know(ctx); err != nil {
		return nil, err
	}
	sources, err := s.sources()
	if err != nil {
		return nil, err
	}
	out := make([]kernels.Chain, len(s.kernels))
	for i, k := range s.kernels {
		out[i] = kernels.Chain{Kernel: k, Start: s.starts[i], Source: sources[i]}
		if s.at != nil {
			p := s.at[i]
			out[i].Made, out[i].Memory, out[i].Steps = p.Made, p.Memory, p.Left
			if p.Theta != nil {
				out[i].Start = p.Theta
			}
			if p.Left == 0 {
				out[i].Steps = -1 // none
			}
		}
	}
	return out, nil
}

// Options say how a session runs. None of them costs privacy.
type Options struct {
	// Thin keeps every Thin-th draw; by default so many that at most 5000 draws a chain
	// are kept.
	Thin int64
	// Warmup is the share of each chain that summaries leave out, in (0, 1). Defaults to
	// that of the settings (Settings.Warmup); negative for none.
	Warmup float64
	// Sink receives the draws too, warm-up included.
	Sink kernels.Sink
	// Progress is told how far the run is, as in kernels.Options.
	Progress func(kernels.Progress)
	// Wrap, if not nil, is given each chain and returns the kernel that is run.
	Wrap func(id int, c kernels.Chain) kernels.Kernel
	// Earlier are the values that earlier parts of a run drew, chains × draws × values.
	Earlier [][][]float64
}

// mostKept is how many draws of a chain are kept by default.
const mostKept = 5000

// Thinning returns the default of Options.Thin for chains of the given number of steps.
func Thinning(iterations int64) int64 { return (iterations + mostKept - 1) / mostKept }

// Warmup is the share of a chain that summaries leave out by default: half of it, and a
// quarter where chains start at draws of the surrogate, which is near the posterior.
func (s Settings) Warmup() float64 {
	if about, err := Describe(s.Kernel); err == nil && about.Anchored {
		return 0.25
	}
	return 0.5
}

// WarmupSteps returns how many of a chain's steps are warm-up, given its share: a multiple of thin.
func WarmupSteps(iterations, thin int64, share float64) int64 {
	return int64(share*float64(iterations)) / thin * thin
}

// Run runs every chain to its end. When ctx is cancelled the result holds what was
// drawn, beside ctx's error.
func (s *Session) Run(ctx context.Context, m *models.Model, o Options) (*Result, error) {
	iterations := s.Plan.Settings.Iterations
	thin := cmp.Or(o.Thin, Thinning(iterations))
	warmup := max(0, cmp.Or(o.Warmup, s.Plan.Settings.Warmup()))
	started, err := s.Chains(ctx)
	if err != nil {
		return nil, err
	}
	for i := range started {
		if o.Wrap != nil {
			started[i].Kernel = o.Wrap(i, started[i])
		}
	}
	memory := kernels.NewMemory(len(started))
	var sink kernels.Sink = memory
	if o.Sink != nil {
		sink = kernels.Tee(memory, o.Sink)
	}
	runErr := kernels.Run(ctx, started, kernels.Options{Iterations: iterations, Thin: thin, Seed: s.seed, Sink: sink,
		Progress: o.Progress})
	if runErr != nil && !errors.Is(runErr, context.Canceled) && !errors.Is(runErr, context.DeadlineExceeded) {
		return nil, runErr
	}
	certificate, err := s.Certificate(m, thin)
	if err != nil {
		return nil, err
	}
	var raw [][][]float64
	for id := range started {
		raw = append(raw, memory.Draws(id))
	}
	certificate.Doubts = append(certificate.Doubts, s.Plan.clipDoubt(m, raw, kernels.Stream(s.seed, clipStream))...)
	certificate.Doubts = append(certificate.Doubts, s.Plan.boundsDoubt(m, raw, s.seed)...)
	certificate.Doubts = append(certificate.Doubts, s.Plan.shortenedDoubt(m, raw, s.seed)...)
	result := &Result{Names: valueNames(m), Certificate: certificate, Complete: runErr == nil, Drawing: s.drawing}
	left := int(WarmupSteps(iterations, thin, warmup) / thin)
	for id := range started {
		var drawn [][]float64
		if o.Earlier != nil {
			drawn = o.Earlier[id]
		}
		for _, theta := range memory.Draws(id) {
			drawn = append(drawn, written(m, theta))
		}
		if !result.Complete || int64(len(drawn)) != iterations/thin { // the share of what was run
			left = int(warmup * float64(len(drawn)))
		}
		result.Draws = append(result.Draws, drawn[min(left, len(drawn)):])
	}
	result.Verdict = Judge(result.Summary(), certificate)
	return result, runErr
}

// Result is what a session released.
type Result struct {
	// Names are those of the values drawn, and Draws chains × draws × values, after
	// warm-up.
	Names []string
	Draws [][][]float64
	// Certificate says what the run cost, whether or not it is Complete.
	Certificate *Certificate
	// Drawing is how long the draws took that anchored chains without bits make before their first
	// step, by the clock. It is 0 for others.
	Drawing  time.Duration
	Complete bool
	// Verdict says whether the draws can stand for the posterior.
	Verdict Verdict
}

// Summary is the table of means, quantiles and diagnostics of the draws.
func (r *Result) Summary() diag.Table { return diag.SummarizeAll(r.Names, r.Draws) }
