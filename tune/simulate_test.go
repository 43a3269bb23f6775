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
