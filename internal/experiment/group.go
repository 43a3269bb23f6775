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

// group is the data of a repeat and its non-private posteriors, which its cells
// share. They are made for the first cell that needs them and dropped after the last.
type group struct {
	groupKey
	mu        sync.Mutex
	cells     int // still to run
	sample    *sample
	reference map[bool][][]float64 // whether the prior is of fitted columns
}

// ReferenceResult says how well the non-private posterior of a repeat was sampled.
type ReferenceResult struct {
	Records int `json:"records"`
	Repeat  int `json:"repeat"`
	// Fitted says that its prior is that of anchored chains whose columns are fitted.
	Fitted bool `json:"fitted,omitempty"`
	// Draws counts those of all chains, Divergent the divergent transitions.
	Draws     int `json:"draws"`
	Divergent int `json:"divergent"`
	// RHat is the largest and ESS the least of any parameter; 0 where they do not
	// exist.
	RHat float64 `json:"rhat"`
	ESS  float64 `json:"ess"`
}

func (r *ReferenceResult) key() string { return fmt.Sprintf("%d/%d/%t", r.Records, r.Repeat, r.Fitted) }

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

// prepare makes the data of a group, and its non-private posterior with the prior of a cell.
func (r *runner) prepare(ctx context.Context, g *group, c Cell) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sample == nil {
		s, err := r.sample(g.records, g.repeat)
		if err != nil {
			return err
		}
		g.sample, g.reference = s, map[bool][][]float64{}
	}
	fitted := c.Mechanism.Fitted
	if !r.needsReference(g.sample) || g.reference[fitted] != nil {
		return nil
	}
	m := r.problems[g.records].Model
	chains, err := r.reference(ctx, m, g.sample, fitted, r.Config.seed("reference", g.records, g.repeat))
	if err != nil {
		return fmt.Errorf("experiment: the non-private posterior of repeat %d with %d records: %w", g.repeat, g.records, err)
	}
	return r.keepReference(g, m, fitted, chains)
}

// reference samples the non-private posterior.
func (p *Plan) reference(ctx context.Context, m *models.Model, s *sample, fitted bool,
	seed uint64) ([]nuts.Chain, error) {
	c := p.Config.Reference
	return methods.SamplePosterior(ctx, m, s.rows, fitted, nuts.Config{
		Chains: c.Chains, Warmup: c.Warmup, Draws: c.Draws, Seed: seed, Workers: 1,
	})
}

// posterior are draws of the non-private posterior with the prior of a cell.
func (g *group) posterior(c Cell) [][]float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reference[c.Mechanism.Fitted]
}

// keepReference stores the draws in the group, and their diagnostics in the journal.
func (r *runner) keepReference(g *group, m *models.Model, fitted bool, chains []nuts.Chain) error {
	var all [][][]float64
	for _, c := range chains {
		all = append(all, c.Draws)
	}
	result := &ReferenceResult{Records: g.records, Repeat: g.repeat, Fitted: fitted,
		Divergent: nuts.Diagnose(chains).Divergent, ESS: math.Inf(1)}
	for _, draws := range report(m, all) {
		g.reference[fitted] = append(g.reference[fitted], draws...)
	}
	result.Draws = len(g.reference[fitted])
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
