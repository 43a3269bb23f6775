package accountant

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestSumsOfLossesAreTheirIntegrals: E(X₁ + X₂ + G − ε)₊ by mpmath 1.3.0 with 25 digits, the
// double integral by Gauss's rule on cells between whole numbers and where f bends. Computed
// values are never below it, and above by less than one percent.
func TestSumsOfLossesAreTheirIntegrals(t *testing.T) {
	tied := must(logisticOptimum(AddRemove, 2, 0.4))
	for _, c := range []struct {
		a, b      Event
		mu        float64
		eps, want float64
	}{
		{must(logisticOptimum(Substitute, 6, 0.05)), must(logisticOptimum(Substitute, 12, 0.03)), 0.05, 1,
			6.565865537772106403481726e-9},
		{tied, tied, 0.3, 3, 0.00004154393747247520690821204},
		{must(convexOptimum(Substitute, 8, 0.1)), must(logisticOptimum(Substitute, 5, 0.2)), 0.1, 1.5,
			4.259897335414537608438459e-9},
	} {
		normal := must(Gaussian(c.a.adj, 1/c.mu))
		for _, e := range []Event{must(Compose(c.a, c.b, normal)), must(Compose(normal, c.b, c.a))} {
			d, ok := e.dominated()
			if got := d.delta(c.eps); !ok || !(got >= c.want) || got > c.want*1.01 {
				t.Errorf("%v: %v, the integral %v", e, got, c.want)
			}
		}
	}
}

// drawnLoss is some optimum's event.
func drawnLoss(t *rapid.T, adj Adjacency, label string) Event {
	sigma := math.Exp(rapid.Float64Range(math.Log(0.5), math.Log(100)).Draw(t, label+": log of the multiplier"))
	curvature := rapid.Float64Range(0, 1.5).Draw(t, label+": curvature") / sigma
	build := rapid.SampledFrom([]func(Adjacency, float64, float64) (Event, error){logisticOptimum, convexOptimum}).
		Draw(t, label)
	return must(build(adj, sigma, curvature))
}

// TestSeveralLossesBesideNumerical: of two to four optima, beside a Gaussian release and a pure
// one or not, the closed form is at least what each costs without the others, and above numerical
// composition by less than five percent. Repetition is composition, and the order does not matter.
func TestSeveralLossesBesideNumerical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		adj := rapid.SampledFrom([]Adjacency{Substitute, AddRemove}).Draw(t, "adjacency")
		first, second := drawnLoss(t, adj, "first"), drawnLoss(t, adj, "second")
		n := rapid.Int64Range(1, 3).Draw(t, "of the second")
		parts := []Event{first, must(second.Times(n))}
		turned := []Event{}
		for range n {
			turned = append(turned, second)
		}
		if rapid.Bool().Draw(t, "normal") {
			parts = append(parts, must(Gaussian(adj, rapid.Float64Range(1, 50).Draw(t, "multiplier"))))
		}
		if rapid.Bool().Draw(t, "pure") {
			parts = append(parts, must(Pure(adj, rapid.Float64Range(0.01, 2).Draw(t, "pure price"))))
		}
		turned = append(append(turned, parts[2:]...), first)
		logDelta := -rapid.Float64Range(6, 15).Draw(t, "log of 1/δ") * math.Ln10
		e := must(Compose(parts...))
		g, _, err := e.RefineEpsilon(math.Exp(logDelta))
		if err != nil {
			t.Fatal(err)
		}
		got := g.Alternatives[methodDominating]
		if most := g.Alternatives[methodPLD]*1.05 + 1e-6; !(got > 0) || got > most {
			t.Errorf("%v: ε %v, numerically %v", e, got, g.Alternatives[methodPLD])
		}
		for _, one := range parts {
			if d, ok := one.dominated(); ok && len(parts) > 1 && !(got >= d.epsilon(logDelta)*(1-1e-3)) {
				t.Errorf("%v: ε %v, of %v alone %v", e, got, one, d.epsilon(logDelta))
			}
		}
		other, _ := must(Compose(turned...)).dominated()
		if back := e.departed(other.epsilon, math.Exp(logDelta)); math.Abs(back/got-1) > 1e-6 {
			t.Errorf("%v: ε %v, in another order %v", e, got, back)
		}
		if d, err := e.Delta(got); err != nil || math.Abs(math.Log(d.Alternatives[methodDominating])-logDelta) > 0.01 {
			t.Errorf("%v: δ(%v) is %v, not %v (%v)", e, got, d.Alternatives, math.Exp(logDelta), err)
		}
	})
}

// TestLossesGrowWithTheirParameters: less noise, more curvature, a lower ε and more losses do
// not lower δ, but for the grid, which is as fine as the sum.
func TestLossesGrowWithTheirParameters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		adj := rapid.SampledFrom([]Adjacency{Substitute, AddRemove}).Draw(t, "adjacency")
		wide := func(label string, low, high float64) float64 {
			return math.Exp(rapid.Float64Range(math.Log(low), math.Log(high)).Draw(t, label))
		}
		build := rapid.SampledFrom([]func(Adjacency, float64, float64) (Event, error){logisticOptimum, convexOptimum}).
			Draw(t, "optimum")
		beside := drawnLoss(t, adj, "beside")
		at := func(noise, curvature, eps float64) float64 {
			d, ok := must(Compose(must(build(adj, noise, curvature)), beside)).dominated()
			if !ok {
				return 1
			}
			return d.delta(eps)
		}
		noise, curvature := wide("noise", 0.01, 1e6), wide("curvature", 1e-9, 100)
		eps, more := wide("ε", 1e-3, 50), wide("more", 1, 10)
		base := at(noise, curvature, eps)
		const room = 0.02
		if base > 0 && base < 1e-30 {
			return
		}
		alone, _ := beside.dominated()
		for what, other := range map[string]float64{"less noise": at(noise/more, curvature, eps),
			"more curvature": at(noise, curvature*more, eps), "a lower ε": at(noise, curvature, eps/more)} {
			if other < base*(1-room) {
				t.Errorf("%s: %v, before %v", what, other, base)
			}
		}
		if least := alone.delta(eps); base < least*(1-room) {
			t.Errorf("with another loss %v, without %v", base, least)
		}
	})
}

// TestLossesBeyondUse: whatever the parameters are, several losses cost a number that is no less
// than the larger one's, and none where nothing is known. A curvature that overflowed when it was
// multiplied by 4 was free before.
func TestLossesBeyondUse(t *testing.T) {
	hostile := []float64{0, 5e-324, 1e-300, 1e-9, 1, 1e3, 1e9, 1e100, 4.4e307, 4.6e307, 8e307, 9e307, math.MaxFloat64}
	for _, adj := range []Adjacency{Substitute, AddRemove} {
		for _, build := range []func(Adjacency, float64, float64) (Event, error){logisticOptimum, convexOptimum} {
			for _, noise := range append(hostile, math.Inf(1)) {
				for _, curvature := range hostile {
					e, plain := must(build(adj, noise, curvature)), must(logisticOptimum(adj, 3, 0.1))
					least := epsilon(t, plain, 1e-6)
					if curvature >= 1e9 || noise <= 1e-9 {
						least = 1e4
					}
					for _, all := range []Event{must(Compose(e, plain)), must(Compose(plain, must(e.Times(3))))} {
						g, err := all.Epsilon(1e-6)
						if err != nil || !(g.Epsilon >= least*(1-1e-3)) {
							t.Errorf("%v costs %v, at least %v was due (%v)", all, g.Alternatives, least, err)
						}
						d, err := all.Delta(least / 2)
						if err != nil || !(d.Delta >= 1e-6) {
							t.Errorf("%v has δ = %v at ε = %v (%v)", all, d.Alternatives, least/2, err)
						}
					}
				}
			}
		}
	}
}
