package anchors

import (
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Posteriors given a score have the prior on standardized features that the target asks for: only
// under it columns are found that noise hides. Those beside remainders have the target's own,
// which their chains have.
func TestScoreIsStandardized(t *testing.T) {
	released := surrogates.Statistics{Anchor: make([]float64, 3), Score: make([]float64, 3), ScoreSD: 1, MomentSD: 1,
		Moment: []float64{100, 0, 0, 0, 0.1, 0, 0, 0, 0.1}, Records: 400, Radius: 1,
		Columns: []surrogates.Column{{Kind: surrogates.Constant, Upper: 0.5}, {Lower: -0.5, Upper: 0.5},
			{Lower: -0.5, Upper: 0.5}}}
	for aim, want := range map[Aim][]int{Score: {1, 2}, Remainder: nil} {
		target, err := targets.New(targets.RegressionConfig{Features: 3, Prior: priors.Gaussian{SD: 3}, Standardized: 1.5})
		if err != nil {
			t.Fatal(err)
		}
		config := Config{Target: target, Aim: aim, Iterations: 1}
		m, err := config.model()
		if err != nil {
			t.Fatal(err)
		}
		p, err := (&Chains{config: config, model: m}).score(released, nil, m.link, 1)
		if err != nil {
			t.Fatal(err)
		}
		check, err := p.CheckPrior(surrogates.Draws{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(check.Faint, want) {
			t.Errorf("aim %v: columns %v are faint, want %v", aim, check.Faint, want)
		}
	}
}
