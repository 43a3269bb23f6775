package tune

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
)

// TestSimulatedResponsesAreWithinBounds: of linear tables that forecasts are made on, few
// responses lie at their bounds, whatever the prior draws. Coefficients of the prior alone put
// .42 of them there.
func TestSimulatedResponsesAreWithinBounds(t *testing.T) {
	shape := data.StandardShape(500, 4)
	shape.Target = data.Term{Name: "y", Column: "y", Center: 50, Unit: 25, Lower: 0, Upper: 100}
	m, err := models.New("linear", shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	atBounds := func(draw func(rng *rand.Rand) *data.Table) float64 {
		count, of := 0.0, 0.0
		for seed := range uint64(40) {
			for _, y := range draw(rand.New(rand.NewPCG(seed, 7))).Y {
				if of++; y <= -2 || y >= 2 {
					count++
				}
			}
		}
		return count / of
	}
	c := Config{Models: []*models.Model{m}}
	within := atBounds(func(rng *rand.Rand) *data.Table { t, _ := c.simulate(rng); return t })
	c.CoefficientSD = 6 // what is stated is not shrunk
	beyond := atBounds(func(rng *rand.Rand) *data.Table { t, _ := c.simulate(rng); return t })
	if within > 0.03 || beyond < 0.2 {
		t.Errorf("%.3f of the responses are at bounds, and %.3f of those with coefficients that are stated", within, beyond)
	}
}

// TestSimulatedCountsFollowTheirBound: a mean count is a 60th to a 6th of the largest, but for what
// 2000 records leave open. Coefficients of the prior alone have tables of zeros among them.
func TestSimulatedCountsFollowTheirBound(t *testing.T) {
	shape := data.StandardShape(2000, 4)
	shape.Target = data.Term{Name: "y", Column: "y", Unit: 1, Upper: 60}
	m, err := models.New("poisson", shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mean := func(c Config, seed uint64) (sum float64) {
		table, _ := c.simulate(rand.New(rand.NewPCG(seed, 7)))
		for _, y := range table.Y {
			sum += y / float64(len(table.Y))
		}
		return sum
	}
	c, beyond := Config{Models: []*models.Model{m}}, 0
	stated := c
	stated.CoefficientSD = 3 // what is stated is not moved
	for seed := range uint64(20) {
		if got := mean(c, seed); got < 0.5 || got > 15 {
			t.Errorf("seed %d: the mean count is %.3g", seed, got)
		}
		if got := mean(stated, seed); got < 0.5 || got > 15 {
			beyond++
		}
	}
	if beyond == 0 {
		t.Errorf("coefficients that are stated leave %d of 20 mean counts outside", beyond)
	}
}

// TestSimulatedLabelsAreAsInTables: the rarer label is in a twentieth to a half of the records, but for what 2000 leave
// open, and log odds spread by half to 2. Coefficients of the prior alone, which are the mutant, spread more.
func TestSimulatedLabelsAreAsInTables(t *testing.T) {
	shape := data.StandardShape(2000, 8)
	shape.Target, shape.Labels = data.Term{Name: "y", Column: "y", Level: "yes", Unit: 1, Upper: 1}, []string{"no", "yes"}
	for name, unit := range map[string]float64{"logistic": 1, "probit": 0.83 / 1.5, "cloglog": 1.06 / 1.5} {
		m, err := models.New(name, shape, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		seen := func(c Config, seed uint64) (rarer, spread float64) {
			table, values := c.simulate(rand.New(rand.NewPCG(seed, 7)))
			predictors := make([]float64, table.Records)
			for i := range predictors {
				predictors[i] = floats.Dot(values, table.Row(i)) / unit
			}
			rarer = stat.Mean(table.Y, nil)
			return min(rarer, 1-rarer), stat.StdDev(predictors, nil)
		}
		c, beyond := Config{Models: []*models.Model{m}}, 0
		stated := c
		stated.CoefficientSD = m.Options.PriorSD // what is stated is not moved
		for seed := range uint64(10) {
			if rarer, spread := seen(c, seed); rarer < 0.03 || spread < 0.4 || spread > 2.4 {
				t.Errorf("%s, seed %d: the rarer label has a share of %.3f, and log odds spread by %.3g", name, seed, rarer, spread)
			}
			if _, spread := seen(stated, seed); spread > 2.4 {
				beyond++
			}
		}
		if beyond < 5 {
			t.Errorf("%s: of coefficients that are stated %d in 10 spread log odds more", name, beyond)
		}
	}
}
