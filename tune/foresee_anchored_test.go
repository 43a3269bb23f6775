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

// TestSlowBitsAreForeseen: an ESS that is wanted is had where draws show a posterior, and chains of bits
// that hardly move at a tenth of that ε are foreseen not to. A run of 100 steps cannot tell.
func TestSlowBitsAreForeseen(t *testing.T) {
	shape, err := models.StandardShape("linear", 600, 1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New("linear", shape, models.Options{DegreesOfFreedom: 4})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Models: []*models.Model{m}, Adjacency: accountant.Substitute, Delta: 1e-6, Seed: 1, Repeats: 2}
	epsilon, f, err := EpsilonFor(t.Context(), c, chains.Settings{}, Want{Figure: "ess", Limit: chains.LeastESS})
	if err != nil || !f.Posterior() {
		t.Fatalf("ε = %v: %+v, %v", epsilon, f, err)
	}
	less, err := Foresee(t.Context(), c, chains.Settings{}, epsilon/10)
	if err != nil || less[0].ESS >= chains.LeastESS {
		t.Errorf("ε = %v: an ESS of %v, %v", epsilon/10, less[0].ESS, err)
	}
}
