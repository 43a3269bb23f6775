package chains

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/anchors"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/surrogates"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestTailsAreDoubted from half a standard deviation on, and of Poisson counts, whose anchors came
// nearer by the same law, from a fifth on.
func TestTailsAreDoubted(t *testing.T) {
	for family, most := range map[string]float64{"logistic": 0.5, "poisson": 0.2} {
		model, err := targets.New(targets.RegressionConfig{Family: family, Features: 2, Prior: priors.Gaussian{SD: 3}})
		if err != nil {
			t.Fatal(err)
		}
		p := &Plan{Problem: Problem{Target: model}}
		if below, above := p.tailDoubts(anchors.Release{Tails: 0.99 * most}),
			p.tailDoubts(anchors.Release{Tails: 1.01 * most}); len(below) > 0 || len(above) != 1 ||
			!above[0].Conditional {
			t.Errorf("%s: %v below, %v above", family, below, above)
		}
		if d := p.tailDoubts(anchors.Release{Curved: true}); len(d) != 1 || !d[0].Conditional {
			t.Errorf("%s: %v of coefficients that depend on the law of features", family, d)
		}
	}
}

// TestVariedCountsAreDoubted from half a standard deviation on, and long rows from half of the rest on, 1.2 times that
// where noise may hide them, or as much as the rest where they are left out.
func TestVariedCountsAreDoubted(t *testing.T) {
	for name, d := range map[string][2][]Doubt{
		"varied": {(&Plan{}).variedDoubts(anchors.Release{Varied: 0.49}),
			(&Plan{}).variedDoubts(anchors.Release{Varied: 0.51})},
		"light":    {lightDoubts(surrogates.LinearLight{Shift: 0.49}), lightDoubts(surrogates.LinearLight{Shift: 0.51})},
		"hidden":   {lightDoubts(surrogates.LinearLight{Hidden: 1.19}), lightDoubts(surrogates.LinearLight{Hidden: 1.21})},
		"left out": {leftDoubts(anchors.LeftOut{Shift: 0.99}), leftDoubts(anchors.LeftOut{Shift: 1.01})},
	} {
		if len(d[0]) > 0 || len(d[1]) != 1 || !d[1][0].Conditional {
			t.Errorf("%s: %v below, %v above", name, d[0], d[1])
		}
	}
}
