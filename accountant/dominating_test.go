package accountant

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// TestBitsAreBelowGaussians: probits of two probabilities differ by no more than the µ that is
// charged for their logits' difference, and by all of it at one half. The µ of the same Rényi
// curve, half the difference, is exceeded.
func TestBitsAreBelowGaussians(t *testing.T) {
	probit := distuv.UnitNormal.Quantile
	for _, move := range []float64{1e-4, 0.1, 1, 5} {
		most, charged := 0.0, acceptanceBit{move}.muAtMost(AddRemove)
		for u := -12.0; u <= 12; u += 1.0 / 64 {
			most = max(most, probit(logistic(u+move/2))-probit(logistic(u-move/2)))
		}
		if most > charged || move < 0.2 && most < charged*0.999 {
			t.Errorf("logits %v apart have probits %v apart; charged is %v", move, most, charged)
		}
		if move < 0.2 && !(most > 1.2*move/2) {
			t.Errorf("logits %v apart have probits %v apart: half would do", move, most)
		}
	}
}

// TestDominatingBesideNumerical: of an optimum, Gaussian releases and few bits the closed form
// is never below a Gaussian release of the same noise, and above numerical composition by less
// than two percent at δ of use. Both ε and δ are asked.
func TestDominatingBesideNumerical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		adj := rapid.SampledFrom([]Adjacency{Substitute, AddRemove}).Draw(t, "adjacency")
		sigma := math.Exp(rapid.Float64Range(math.Log(0.5), math.Log(100)).Draw(t, "log of the multiplier"))
		curvature := rapid.Float64Range(0, 1.5).Draw(t, "curvature") / sigma
		optimum := rapid.SampledFrom([]func(Adjacency, float64, float64) (Event, error){logisticOptimum, convexOptimum}).
			Draw(t, "optimum")
		e := must(optimum(adj, sigma, curvature))
		mu := 0.0
		if rapid.Bool().Draw(t, "beside others") {
			moments := rapid.Float64Range(0.3, 30).Draw(t, "moments")
			mu = 1 / (sigma * moments)
			bits := must(must(Bit{Contribution: 1e-3 / sigma}.Event(adj)).Times(1000))
			e = must(Compose(e, must(Gaussian(adj, sigma*moments)), bits))
		}
		delta := math.Pow(10, -rapid.Float64Range(6, 15).Draw(t, "log of 1/δ"))
		g, _, err := e.RefineEpsilon(delta)
		if err != nil {
			t.Fatal(err)
		}
		got := g.Alternatives[methodDominating]
		low := gaussianEpsilon(math.Hypot(1/sigma, mu), math.Log(delta))
		if !(got >= low) || got > g.Alternatives[methodPLD]*1.02+1e-6 {
			t.Errorf("%v: ε %v, Gaussian %v, numerically %v", e, got, low, g.Alternatives[methodPLD])
		}
		back, err := e.Delta(got)
		if d := back.Alternatives[methodDominating]; err != nil || !(d <= delta*(1+1e-9)) || d < delta*0.99 {
			t.Errorf("%v: δ(%v) = %v, not %v (%v)", e, got, d, delta, err)
		}
	})
}

// TestPureBesideGaussians: the closed form is what numerical composition encloses, failures
// included. Half the pure cost is below its lower bound.
func TestPureBesideGaussians(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sigma := math.Exp(rapid.Float64Range(math.Log(0.5), math.Log(100)).Draw(t, "log of the multiplier"))
		pure := rapid.Float64Range(0.01, 3).Draw(t, "pure")
		delta := math.Pow(10, -rapid.Float64Range(1, 15).Draw(t, "log of 1/δ"))
		fails := rapid.SampledFrom([]float64{0, 0.2, 0.999}).Draw(t, "failure") * delta
		normal := must(Gaussian(Substitute, sigma))
		e := must(Compose(normal, must(Approximate(Substitute, pure, fails))))
		g, r, err := e.RefineEpsilon(delta)
		if err != nil {
			t.Fatal(err)
		}
		low, high, got := r.LowerEpsilon(delta), g.Alternatives[methodPLD], g.Alternatives[methodDominating]
		if !(got >= low*(1-1e-9)) || got > high*(1+1e-6)+1e-9 {
			t.Errorf("%v: ε %v, numerically from %v to %v", e, got, low, high)
		}
		d, err := e.Delta(got)
		if err != nil || got > 1e-6 && math.Abs(d.Alternatives[methodDominating]/delta-1) > 1e-3 {
			t.Errorf("%v: δ(%v) = %v, not %v (%v)", e, got, d.Alternatives, delta, err)
		}
		if mutant, _ := must(Compose(normal, must(Approximate(Substitute, pure/2, fails)))).dominated(); fails == 0 &&
			pure*sigma > 1 && low > 0.1 && mutant.epsilon(math.Log(delta)) >= low {
			t.Errorf("%v: half the pure cost is not exceeded", e)
		}
	})
}

// TestDominatedEvents: which events have such a bound. What costs nothing takes no other's place,
// wherever it stands.
func TestDominatedEvents(t *testing.T) {
	optimum, bit := must(logisticOptimum(Substitute, 3, 0.1)), must(Bit{Contribution: 0.01}.Event(Substitute))
	normal, free := must(Gaussian(Substitute, 9)), must(Pure(Substitute, 0))
	grid := must(GridGaussian{NoiseMultiplier: 9, Coordinates: 3, Steps: 1 << 30}.Event(Substitute))
	for name, c := range map[string]struct {
		e    Event
		want bool
	}{
		"all":             {must(Compose(optimum, bit, normal, grid)), true},
		"optimum":         {optimum, true},
		"bits beside one": {must(Compose(must(bit.Times(9)), normal)), true},
		"bits":            {must(bit.Times(9)), false},
		"two optima":      {must(optimum.Times(2)), true},
		"eight optima":    {must(Compose(must(optimum.Times(7)), optimum)), true},
		"nine optima":     {must(Compose(must(optimum.Times(8)), must(logisticOptimum(Substitute, 9, 0.1)))), false},
		"many optima":     {must(optimum.Times(math.MaxInt64)), false},
		"pure":            {must(Compose(optimum, must(Pure(Substitute, 0.1)))), true},
		"pure, normal":    {must(Compose(normal, must(Pure(Substitute, 0.1)), bit)), true},
		"two pure":        {must(Compose(normal, must(Pure(Substitute, 0.1)), must(Pure(Substitute, 0.2)))), false},
		"free, then pure": {must(Compose(free, normal, must(Pure(Substitute, 0.1)))), true},
		"pure, then free": {must(Compose(normal, must(Pure(Substitute, 0.1)), must(free.Times(9)))), true},
		"no noise":        {must(logisticOptimum(Substitute, 0, 0.1)), false},
		"nothing":         {empty(Substitute), false},
	} {
		if _, ok := c.e.dominated(); ok != c.want {
			t.Errorf("%s: %v", name, ok)
		}
		for _, delta := range []float64{0, 1e-300, 1e-9, 0.5, 1} {
			g, err := c.e.Epsilon(delta)
			if err != nil {
				t.Fatal(err)
			}
			if v, ok := g.Alternatives[methodDominating]; ok && !(v >= 0) {
				t.Errorf("%s at δ = %v: %v", name, delta, v)
			}
		}
	}
}
