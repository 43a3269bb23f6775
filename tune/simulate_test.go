package tune

import (
	"math/rand/v2"
	"testing"

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
