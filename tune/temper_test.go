package tune

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/models"
)

// TestTemperModelsOfSeveralModes: for a mixture and a network, which show nothing at
// temperature 1, a temperature is found at which the budget buys about the ESS that was
// asked for, on another table than the simulated one. All of it is seeded. At temperature 1
// the same run is no posterior.
func TestTemperModelsOfSeveralModes(t *testing.T) {
	const epsilon, delta, asked = 2, 1e-6, 100
	for _, c := range []struct {
		model   string
		options models.Options
	}{{"mixture", models.Options{PriorSD: 1}}, {"network", models.Options{PriorSD: 1, Hidden: 1}}} {
		shape, err := models.StandardShape(c.model, 1000, 1)
		if err != nil {
			t.Fatal(err)
		}
		m, err := models.New(c.model, shape, c.options)
		if err != nil {
			t.Fatal(err)
		}
		settings := chains.Settings{Kernel: "barker", Iterations: 30_000, ESS: asked}
		config := Config{Models: []*models.Model{m}, Adjacency: accountant.Substitute, Delta: delta, Work: 4_000_000, Seed: 5}
		tau, foreseen, err := Temper(t.Context(), config, settings, epsilon)
		if err != nil || !(tau > 1e-5 && tau < 0.5) || !(foreseen.ESS >= asked) {
			t.Fatalf("%s: temperature %v, an ESS of %v is foreseen (%v)", c.model, tau, foreseen.ESS, err)
		}
		rng := rand.New(rand.NewPCG(9, 9))
		values := config.withSDs().parameters(m, rng)
		table := m.Simulate(values, rng)
		least := map[float64]float64{}
		for _, at := range []float64{1, tau} {
			settings.Temperature, settings.ESS = at, 0
			budget, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: epsilon, Delta: delta,
				Adjacency: accountant.Substitute})
			if err != nil {
				t.Fatal(err)
			}
			records, err := chains.Seal(m, table, budget, curator.InsecureSeed(4))
			if err != nil {
				t.Fatal(err)
			}
			plan, err := chains.Choose(settings, chains.ProblemOn(m, records))
			if err != nil {
				t.Fatal(err)
			}
			session, err := plan.Open(records, 4)
			if err != nil {
				t.Fatal(err)
			}
			result, err := session.Run(context.Background(), m, chains.Options{Thin: 1})
			if err != nil {
				t.Fatal(err)
			}
			least[at] = result.Summary()[0].ESSBulk
			for _, row := range result.Summary() {
				least[at] = min(least[at], row.ESSBulk)
			}
		}
		t.Logf("%s: temperature %v, ESS %v", c.model, tau, least)
		if !(least[tau] >= asked/2) || !(least[1] < chains.LeastESS) {
			t.Errorf("%s: at temperature %v an ESS of %v, at 1 of %v", c.model, tau, least[tau], least[1])
		}
	}
}

// withSDs is the config with what draws parameters.
func (c Config) withSDs() Config {
	c.CoefficientSD, c.ErrorSD = 1, 0.5
	return c
}
