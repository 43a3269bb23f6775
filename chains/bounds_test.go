package chains_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/models"
)

// TestBoundsAreDoubted: chains of order 1 on responses of which many were moved to their
// bounds say so, and those on responses that stay within say nothing of the kind, nor do
// they where the schema refuses others.
func TestBoundsAreDoubted(t *testing.T) {
	for name, c := range map[string]struct {
		scale   float64 // of errors, over the distance of the bounds from the middle
		refused bool
		want    bool
	}{"within": {0.15, false, false}, "beyond": {1, false, true}, "refused": {1, true, false}} {
		shape, err := models.StandardShape("linear", 2000, 1)
		if err != nil {
			t.Fatal(err)
		}
		shape.Target.Refused = c.refused
		m, err := models.New("linear", shape, models.Options{Loss: "beta", Beta: 1.5})
		if err != nil {
			t.Fatal(err)
		}
		scale := c.scale * (shape.Target.At(shape.Target.Upper) - shape.Target.At(shape.Target.Lower)) / 2
		table := m.Simulate([]float64{0, 0, scale}, rand.New(rand.NewPCG(3, 4)))
		session := opened(t, table, m, chains.Settings{Iterations: 200, Chains: 2}, 20, curator.InsecureSeed(5))
		result, err := session.Run(t.Context(), m, chains.Options{})
		if err != nil {
			t.Fatal(err)
		}
		doubted := false
		for _, d := range result.Certificate.Doubts {
			doubted = doubted || strings.Contains(d.Headline, "schema's bounds")
		}
		if doubted != c.want {
			t.Errorf("%s: doubted: %t, %+v", name, doubted, result.Certificate.Doubts)
		}
	}
}

// TestCountBoundsAreDoubted: bits of counts above the schema's largest take them for it, and say so.
// A score knows of it, and says nothing.
func TestCountBoundsAreDoubted(t *testing.T) {
	for _, c := range []struct {
		aim       string
		intercept float64 // of the predictor; counts are up to 20 or so
		want      bool
	}{{"remainder", 3, true}, {"remainder", 0, false}, {"score", 3, false}} {
		shape, err := models.StandardShape("poisson", 3000, 1)
		if err != nil {
			t.Fatal(err)
		}
		shape.Target.Upper = 20
		m, err := models.New("poisson", shape, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		table := m.Simulate([]float64{c.intercept / shape.Terms[0].At(1), 0.3}, rand.New(rand.NewPCG(3, 4)))
		session := opened(t, table, m, chains.Settings{Aim: c.aim, Iterations: 100, Chains: 2}, 20, curator.InsecureSeed(5))
		result, err := session.Run(t.Context(), m, chains.Options{})
		if err != nil {
			t.Fatal(err)
		}
		doubted := slices.ContainsFunc(result.Certificate.Doubts, func(d chains.Doubt) bool {
			return strings.Contains(d.Headline, "schema's bounds")
		})
		if doubted != c.want {
			t.Errorf("%s, intercept %v: doubted: %t, %+v", c.aim, c.intercept, doubted, result.Certificate.Doubts)
		}
	}
}
