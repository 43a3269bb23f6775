package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
	"github.com/dpmcmc/dpmcmc/models"
)

// RunOptions say how to run an experiment.
type RunOptions struct {
	// Dir is the folder of the journal, which makes a run resumable. Defaults to
	// none: everything is lost when the run ends early.
	Dir string
	// Epsilon and Delta are what all cells together may cost. Required on private
	// data, and not looked at otherwise.
	Epsilon, Delta float64
	// Charge, if not nil, is told on private data what the cells that are about to run
	// cost together, before the data are read. Its error ends the run.
	Charge func(accountant.Event) error
	// Workers is the number of cells that run at once. Defaults to the number of
	// cores. Results on public data do not depend on it.
	Workers int
	// Progress, if not nil, is called after every cell, never twice at once.
	Progress func(Progress)
}

// Progress is how far a run has come.
type Progress struct {
	// Done and Total count cells, Resumed those that an earlier run had finished.
	Done, Total, Resumed int
	Elapsed              time.Duration
	// Left estimates the time to go, from the cells of this run; 0 before the first.
	Left time.Duration
}

// NoBudgetError refuses private data without a budget, and says what the releases would cost.
type NoBudgetError struct {
	Releases int
	Cost     string
}

// Error asks for a budget.
func (e *NoBudgetError) Error() string {
	return fmt.Sprintf("the comparison makes %d releases of private records, which cost %s: give a budget that covers "+
		"them with --epsilon and --delta, or --public if the records are public knowledge", e.Releases, e.Cost)
}

// noBudget is that error; together all cells have their number times the δ of one.
func (p *Plan) noBudget() error {
	total, err := p.Total()
	if err != nil {
		return err
	}
	cost, delta := "more than any ε covers", p.Config.Delta*float64(len(p.Cells))
	if delta < 1 {
		g, err := total.Epsilon(delta)
		if err != nil {
			return err
		}
		cost = fmt.Sprintf("together ε = %.4g at δ = %.3g", g.Epsilon, delta)
	}
	return &NoBudgetError{len(p.Cells), cost}
}

// runner is a run in progress.
type runner struct {
	*Plan
	o       RunOptions
	journal *journal
	groups  map[groupKey]*group
	begun   time.Time

	mu      sync.Mutex
	done    int // cells, earlier runs' included
	resumed int
}

// Run runs every cell that no earlier run in the same folder finished, and returns
// the results of all of them. On private data it refuses, with an
// *accountant.ExceededError or *NoBudgetError, unless the budget covers all cells, and
// then no record was read.
//
// When ctx is cancelled the cells that are running stop or finish, and Run returns
// ctx's error; another Run in the same folder goes on from there.
func (p *Plan) Run(ctx context.Context, o RunOptions) (_ *Results, err error) {
	if p.Private && (o.Epsilon == 0 || o.Delta == 0) {
		return nil, p.noBudget() // before a folder is made
	}
	r, fingerprint, err := p.open(o, Shard{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.journal.close()) }()
	cells, err := r.affordable()
	if err != nil {
		return nil, err
	}
	if len(cells) > 0 {
		if err := r.charge(cells); err != nil {
			return nil, err
		}
	}
	if err := r.finish(ctx, cells); err != nil {
		return nil, err
	}
	return r.results(fingerprint)
}

// open opens the journal of a run, of all cells or of a shard's.
func (p *Plan) open(o RunOptions, s Shard) (*runner, string, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.NumCPU()
	}
	fingerprint, err := p.fingerprint()
	if err != nil {
		return nil, "", err
	}
	j, err := openJournal(o.Dir, s.file(), fingerprint)
	return &runner{Plan: p, o: o, journal: j, groups: map[groupKey]*group{}, begun: time.Now()}, fingerprint, err
}

// finish reads the data, if there are cells to run, and runs them.
func (r *runner) finish(ctx context.Context, cells []Cell) error {
	if len(cells) > 0 {
		if err := r.load(ctx); err != nil {
			return err
		}
	}
	return r.runAll(ctx, cells)
}

// charge tells whoever keeps accounts what the cells cost.
func (r *runner) charge(cells []Cell) error {
	if !r.Private || r.o.Charge == nil {
		return nil
	}
	total, err := composed(cells)
	if err != nil {
		return err
	}
	return r.o.Charge(total)
}

// affordable lists the cells to run. On private data every cell that ever began
// counts, whether it finished or not: one that was interrupted runs again only if
// the budget covers that as well, and stays without a result otherwise.
func (r *runner) affordable() ([]Cell, error) {
	fresh, again, counted := r.toRun()
	all := slices.Concat(again, fresh)
	if !r.Private {
		return all, nil
	}
	if err := r.cover(slices.Concat(counted, all)); err == nil {
		return all, nil
	}
	if err := r.cover(slices.Concat(counted, fresh)); err != nil {
		return nil, err
	}
	return fresh, r.lose(again, "interrupted after it was charged; the budget does not cover another run")
}

// toRun sorts the cells that are not finished in those that never began and those that
// were interrupted, and lists every beginning.
func (r *runner) toRun() (fresh, again, counted []Cell) {
	for _, c := range r.Cells {
		starts := r.journal.starts[c.ID]
		for range starts {
			counted = append(counted, c)
		}
		switch {
		case r.journal.finished[c.ID] != nil:
			r.resumed++
		case starts > 0:
			again = append(again, c)
		default:
			fresh = append(fresh, c)
		}
	}
	r.done = r.resumed
	return fresh, again, counted
}

// lose journals cells that do not run again.
func (r *runner) lose(cells []Cell, why string) error {
	for _, c := range cells {
		lost := r.blank(c)
		lost.Error = why
		if err := r.journal.append(entry{Cell: &journaled{Result: lost}}); err != nil {
			return err
		}
		r.done++
	}
	return nil
}

// cover reports whether the total budget covers the given cells, by the smallest ε that
// their composition is known to have. A budget in memory charges by Rényi's curves
// alone, so what it refuses is composed numerically (package pld), which is as valid
// here: the cells are fixed before the first is charged, and so is each one's event.
func (r *runner) cover(cells []Cell) error {
	total, err := composed(cells)
	if err != nil {
		return err
	}
	budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: r.o.Epsilon, Delta: r.o.Delta,
		Adjacency: accountant.Substitute})
	if err != nil {
		return err
	}
	short := budget.Charge(total, 1)
	if short == nil {
		return nil
	}
	if g, err := total.LeastEpsilon(r.o.Delta); err == nil && g.Epsilon <= r.o.Epsilon {
		return nil // composed numerically, it does
	}
	return short
}

// fingerprint identifies the experiment and, if they are public, its records.
func (p *Plan) fingerprint() (string, error) {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode([]any{p.Config, p.schema, p.Private}); err != nil {
		return "", err
	}
	if p.schema != nil && !p.Private {
		f, err := os.Open(p.file)
		if err != nil {
			return "", err
		}
		defer f.Close()
		if _, err := io.Copy(h, f); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// runAll runs the cells on all workers, until the first failure of the run itself.
func (r *runner) runAll(ctx context.Context, cells []Cell) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	for _, c := range cells {
		r.group(c).cells++
	}
	queue := make(chan Cell)
	var workers sync.WaitGroup
	for range min(r.o.Workers, len(cells)) {
		workers.Go(func() {
			for c := range queue {
				if err := r.runCell(ctx, c); err != nil {
					stop(err)
					return
				}
			}
		})
	}
feed:
	for _, c := range cells {
		select {
		case queue <- c:
		case <-ctx.Done():
			break feed
		}
	}
	close(queue)
	workers.Wait()
	return context.Cause(ctx)
}

// runCell runs a cell and journals its result. A method that fails is a result,
// too; errors are those of the run.
func (r *runner) runCell(ctx context.Context, c Cell) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g := r.group(c)
	defer r.leave(g)
	if err := r.prepare(ctx, g, c); err != nil {
		return err
	}
	noise := methods.Noise{}
	if r.Private {
		if err := r.journal.append(entry{Start: c.ID}); err != nil {
			return err
		}
	} else {
		noise = methods.Seeded(r.Config.key("noise", c.ID))
	}
	begun := time.Now()
	released, err := c.Mechanism.Run(ctx, g.sample.rows, noise)
	seconds := time.Since(begun).Seconds()
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	out := journaled{Result: r.blank(c), Seconds: seconds}
	if r.Private {
		out.Seconds = 0 // how long it took may depend on the records
	}
	if err != nil {
		out.Error = err.Error()
	} else if err := r.measure(ctx, c, g, released, &out.Result); err != nil {
		return err
	}
	if err := r.journal.append(entry{Cell: &out}); err != nil {
		return err
	}
	r.progress()
	return nil
}

// measure computes a cell's metrics.
func (r *runner) measure(ctx context.Context, c Cell, g *group, released methods.Release, out *Result) error {
	m := r.problems[c.Mechanism.Records].Model
	in := &metrics.Input{
		Chains: report(m, released.Chains), Independent: released.Independent, Advantage: math.NaN(),
		Random: rand.New(rand.NewChaCha8(r.Config.key("metrics", c.ID))),
	}
	draws := slices.Concat(in.Chains...)
	if len(draws) == 0 {
		out.Error = "it released no draw after warm-up"
		return nil
	}
	out.Draws, out.Mean, out.SD = len(draws), metrics.Mean(draws), finite(metrics.SD(draws))
	if !r.Private {
		in.Truth, in.Reference, in.Test = g.sample.truth, g.posterior(c), r.heldOut(m, g.sample)
		if slices.ContainsFunc(r.Metrics, func(m metrics.Metric) bool { return m.Reads == metrics.Attack }) {
			var err error
			if in.Advantage, err = r.attack(ctx, c, g.sample); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				out.Error = "the attack's runs: " + err.Error()
			}
		}
	}
	for _, metric := range r.Metrics {
		if v := metric.Compute(in); !math.IsNaN(v) && !math.IsInf(v, 0) {
			out.Metrics[metric.Name] = v
		}
	}
	return nil
}

// heldOut is what predictions are tested on.
func (r *runner) heldOut(m *models.Model, s *sample) *metrics.Test {
	if m.Outcomes() != 1 || s.test.Len() == 0 {
		return nil
	}
	return &metrics.Test{
		Y: s.test.Y, Binary: m.Shape.Classes() == 2, Unit: m.Shape.Target.Unit, Predict: predict(m, s.test),
	}
}

// finite replaces nothing by nothing: standard deviations of a single draw do not
// exist, and JSON has no NaN.
func finite(x []float64) []float64 {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	}
	return x
}

// progress counts a finished cell.
func (r *runner) progress() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	if r.o.Progress == nil {
		return
	}
	p := Progress{Done: r.done, Total: len(r.Cells), Resumed: r.resumed, Elapsed: time.Since(r.begun)}
	if fresh := p.Done - p.Resumed; fresh > 0 {
		p.Left = time.Duration(float64(p.Elapsed) / float64(fresh) * float64(p.Total-p.Done))
	}
	r.o.Progress(p)
}

// blank is the result of a cell without its figures.
func (r *runner) blank(c Cell) Result {
	m := c.Mechanism
	noise := "operating system"
	if !r.Private {
		noise = "seeded, not private"
	}
	if m.Kind == methods.None {
		noise = "none"
	}
	return Result{
		Cell: c.ID, Records: m.Records, Method: m.Method, Label: m.Label, Guarantee: m.Kind, Noise: noise,
		Epsilon: m.Epsilon, Delta: r.Config.Delta, Repeat: c.Repeat, Metrics: map[string]float64{},
	}
}
