package experiment

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/ops/nuts"
)

// groupKey names the cells that share data.
type groupKey struct{ records, repeat int }

// group is the data of a repeat and its non-private posterior, which its cells
// share. They are made for the first cell and dropped after the last.
type group struct {
	groupKey
	mu        sync.Mutex
	cells     int // still to run
	sample    *sample
	reference [][]float64
}

// ReferenceResult says how well the non-private posterior of a repeat was sampled.
type ReferenceResult struct {
	Records int `json:"records"`
	Repeat  int `json:"repeat"`
	// Draws counts those of all chains, Divergent the divergent transitions.
	Draws     int `json:"draws"`
	Divergent int `json:"divergent"`
	// RHat is the largest and ESS the least of any parameter; 0 where they do not
	// exist.
	RHat float64 `json:"rhat"`
	ESS  float64 `json:"ess"`
}

func (r *ReferenceResult) key() string { return fmt.Sprintf("%d/%d", r.Records, r.Repeat) }

// group returns the group of a cell.
func (r *runner) group(c Cell) *group {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := groupKey{c.Mechanism.Records, c.Repeat}
	if r.groups[key] == nil {
		r.groups[key] = &group{groupKey: key}
	}
	return r.groups[key]
}

// leave drops what the last cell of a group no longer needs.
func (r *runner) leave(g *group) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cells--; g.cells == 0 {
		g.sample, g.reference = nil, nil
	}
}

// prepare makes the data of a group, and its non-private posterior.
func (r *runner) prepare(ctx context.Context, g *group) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sample != nil {
		return nil
	}
	s, err := r.sample(g.records, g.repeat)
	if err != nil {
		return err
	}
	if r.needsReference(s) {
		m := r.problems[g.records].Model
		chains, err := r.reference(ctx, m, s, r.Config.seed("reference", g.records, g.repeat))
		if err != nil {
			return fmt.Errorf("experiment: the non-private posterior of repeat %d with %d records: %w", g.repeat, g.records, err)
		}
		if err := r.keepReference(g, m, chains); err != nil {
			return err
		}
	}
	g.sample = s
	return nil
}

// reference samples the non-private posterior.
func (p *Plan) reference(ctx context.Context, m *models.Model, s *sample, seed uint64) ([]nuts.Chain, error) {
	c := p.Config.Reference
	return methods.SamplePosterior(ctx, m, s.rows, nuts.Config{
		Chains: c.Chains, Warmup: c.Warmup, Draws: c.Draws, Seed: seed, Workers: 1,
	})
}

// keepReference stores the draws in the group, and their diagnostics in the journal.
func (r *runner) keepReference(g *group, m *models.Model, chains []nuts.Chain) error {
	var all [][][]float64
	for _, c := range chains {
		all = append(all, c.Draws)
	}
	result := &ReferenceResult{Records: g.records, Repeat: g.repeat, Divergent: nuts.Diagnose(chains).Divergent,
		ESS: math.Inf(1)}
	for _, draws := range report(m, all) {
		g.reference = append(g.reference, draws...)
	}
	result.Draws = len(g.reference)
	for _, row := range diag.SummarizeAll(m.ParameterNames(), report(m, all)) {
		result.RHat, result.ESS = math.Max(result.RHat, row.RHat), math.Min(result.ESS, row.ESSBulk)
	}
	if math.IsNaN(result.RHat) || math.IsNaN(result.ESS) {
		result.RHat, result.ESS = 0, 0
	}
	if r.journal.has(result.key()) {
		return nil
	}
	return r.journal.append(entry{Reference: result})
}

// needsReference reports whether a metric looks at the non-private posterior.
func (p *Plan) needsReference(s *sample) bool {
	for _, m := range p.Metrics {
		if m.Reads == metrics.Posterior || m.Reads == metrics.Aim && s.truth == nil {
			return !p.Private
		}
	}
	return false
}
