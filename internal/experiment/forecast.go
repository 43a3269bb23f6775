package experiment

import (
	"cmp"
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Rehearsals are on tables of these fractions of the records.
const (
	manyFewer, fewer = 64, 8
	// leastForeseen is the number of records from which a rehearsal is short beside
	// the runs.
	leastForeseen = 5000
)

// Forecast is about how long all cells take on this machine with that many workers, 0 for
// as many as there are cores. It runs every method once, at its largest ε, on each of two
// smaller simulated tables: no record is read. It is 0 for tables too small for that,
// and leaves out methods that are refused at fewer records.
func (p *Plan) Forecast(ctx context.Context, workers int) (time.Duration, error) {
	total := 0.0
	for _, records := range p.sizes() {
		if records < leastForeseen {
			continue
		}
		few, err := p.rehearse(ctx, records/manyFewer)
		if err != nil {
			return 0, err
		}
		more, err := p.rehearse(ctx, records/fewer)
		if err != nil {
			return 0, err
		}
		for i, m := range more { // a part that is the same for every table, and one that grows with it
			grows := max(0, m.seconds-few[i].seconds) / float64(records/fewer-records/manyFewer)
			total += float64(m.times) * (m.seconds + grows*float64(records-records/fewer))
		}
	}
	workers = min(cmp.Or(workers, runtime.NumCPU()), len(p.Cells))
	return time.Duration(total / float64(workers) * float64(time.Second)), nil
}

// rehearsed is how long a run took, and how often such a run is to be made.
type rehearsed struct {
	seconds float64
	times   int
}

// rehearse runs the non-private posterior and every method on a simulated table.
func (p *Plan) rehearse(ctx context.Context, records int) ([]rehearsed, error) {
	shape, err := p.shape(records)
	if err != nil {
		return nil, err
	}
	problem, err := p.problem(shape)
	if err != nil {
		return nil, err
	}
	s, err := p.rehearsal(problem, records)
	if err != nil || s == nil {
		return nil, err
	}
	c := p.Config
	list := []rehearsed{{times: c.Repeats}}
	begun := time.Now()
	if p.needsReference(s) {
		if _, err := p.reference(ctx, problem.Model, s, false, 1); err != nil {
			return nil, err
		}
		list[0].seconds = time.Since(begun).Seconds()
	}
	for _, mc := range c.Methods {
		method, err := methods.ByName(mc.Name)
		if err != nil {
			return nil, err
		}
		epsilons := c.epsilonsOf(method, mc)
		r := rehearsed{times: len(epsilons) * c.Repeats}
		m, err := method.New(problem, methods.Budget{Epsilon: slices.Max(epsilons), Delta: c.Delta}, mc.Settings)
		if err == nil { // or it needs more records
			begun := time.Now()
			_, _ = m.Run(ctx, s.rows, methods.Seeded(c.key("rehearsal", mc.Label))) // a failure is a result, too
			r.seconds = time.Since(begun).Seconds()
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// rehearsal is a simulated table of the problem's shape, or nil.
func (p *Plan) rehearsal(problem methods.Problem, records int) (*sample, error) {
	if p.Config.Data.Simulate != "" {
		return p.simulate(1, records, 0)
	}
	m := problem.Model
	if !m.Simulates() {
		return nil, nil
	}
	theta := make([]float64, m.Target.Dim())
	rng := rand.New(rand.NewPCG(1, 0))
	if prior, ok := m.Target.(targets.PriorSampler); ok {
		prior.SamplePrior(theta, rng)
	}
	m.Output(theta, theta)
	return &sample{rows: tableRows(m.Simulate(theta, rng))}, nil
}
