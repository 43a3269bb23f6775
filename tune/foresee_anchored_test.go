package tune

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/models"
)

// TestSmallTablesStandForLarge: what is foreseen on tables of a fifth of the records is
// what is foreseen on tables of all of them, for normal and for spherical noise. All of
// it is seeded. Noise that is not scaled fails.
func TestSmallTablesStandForLarge(t *testing.T) {
	const records, tolerance = 20_000, 1.15
	shape, err := models.StandardShape("logistic", records, 2)
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New("logistic", shape, models.Options{PriorSD: 3})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Models: []*models.Model{m}, Adjacency: accountant.Substitute, Epsilon: 0.2, Delta: 1e-6, Seed: 7,
		Objective: ESS, SearchOnly: true, Repeats: 8}
	foreseen := func(s chains.Settings, most int) float64 {
		out := []Forecast{{Epsilon: c.Epsilon, Met: true, Settings: s}}
		if err := c.foreseeAnchored(t.Context(), out, most); err != nil {
			t.Fatal(err)
		}
		if b := out[0].Between; !(b[0] < out[0].Widening && out[0].Widening < b[1]) {
			t.Errorf("a widening of %v, of tables between %v", out[0].Widening, b)
		}
		return out[0].Widening
	}
	for _, law := range []string{"normal", "spherical"} {
		plan, err := chains.Choose(chains.Settings{AnchorLaw: law, Aim: "score", Iterations: 50},
			chains.ProblemOf(m, c.facts(), c.Epsilon, c.Delta))
		if err != nil {
			t.Fatal(err)
		}
		small, large := foreseen(plan.Settings, records/5), foreseen(plan.Settings, records)
		if ratio := small / large; !(math.Abs(math.Log(ratio)) < math.Log(tolerance)) || !(large > 1.4) {
			t.Errorf("%s noise: a widening of %v is foreseen on a fifth of the records, and %v on all", law, small, large)
		}
	}
}
