package accountant

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestNumericalBoundsAreOrdered: lower ≤ numerical ≤ Rényi ≤ basic composition,
// where the loss distribution is the mechanism's own.
func TestNumericalBoundsAreOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		adj := adjacency(t)
		x := math.Exp(rapid.Float64Range(math.Log(0.02), 0).Draw(t, "log strength"))
		var e Event
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			e = must(Gaussian(adj, 1/x))
		case 1:
			e = must(Laplace(adj, 1/x))
		case 2:
			e = must(RandomizedResponse(adj, x, 2))
		case 3:
			e = must(Pure(adj, x))
		case 4:
			s, err := poisson(rapid.Float64Range(0.001, 0.5).Draw(t, "rate"))
			if err != nil {
				t.Fatal(err)
			}
			e = must(must(Gaussian(adj, 1/x)).on(s))
		}
		n := rapid.Int64Range(1, 200).Draw(t, "count")
		total := must(e.Times(n))
		const delta = 1e-6
		rdp, err := total.Epsilon(delta)
		if err != nil {
			t.Fatal(err)
		}
		g, r, err := total.RefineEpsilon(delta)
		if err != nil {
			t.Fatal(err)
		}
		lower, upper := r.LowerEpsilon(delta), g.Alternatives[methodPLD]
		if !(lower <= upper && upper <= rdp.Alternatives["rdp"]*(1+1e-6)+1e-9 && g.Epsilon <= upper*(1+1e-9) &&
			g.Epsilon <= rdp.Epsilon) {
			t.Fatalf("%v: lower %v, numerical %v, Rényi %v, reported %v", total, lower, upper,
				rdp.Alternatives["rdp"], g.Epsilon)
		}
		if basic, ok := g.Alternatives["pure"]; ok && g.Epsilon > basic {
			t.Fatalf("%v: reported %v above basic composition %v", total, g.Epsilon, basic)
		}
		back, _, err := total.RefineDelta(g.Epsilon)
		if err != nil {
			t.Fatal(err)
		}
		if g.Epsilon > 0 && back.Delta > delta*(1+1e-3) {
			t.Fatalf("%v: ε(%v) = %v, but δ there is %v", total, delta, g.Epsilon, back.Delta)
		}
	})
}

func TestNumericalRefusals(t *testing.T) {
	many := []Event{}
	for i := range mostParts + 1 {
		many = append(many, must(Gaussian(Substitute, 1+float64(i))))
	}
	for name, e := range map[string]Event{
		"zero event":     {},
		"zcdp":           must(ZCDP(Substitute, 0.1)),
		"isotropic bit":  must(isotropic(Substitute, 0.1)),
		"too many parts": must(Compose(many...)),
	} {
		if _, _, err := e.RefineEpsilon(1e-6); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// BenchmarkRefineEpsilon is the numerical answer to σ = 1, q = 0.01, T = 10⁴,
// δ = 10⁻⁵ from cold; a Python library takes 2329 ms on a like machine.
func BenchmarkRefineEpsilon(b *testing.B) {
	s, err := poisson(0.01)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		e := must(must(must(Gaussian(AddRemove, 1)).on(s)).Times(10_000))
		if _, _, err := e.RefineEpsilon(1e-5); err != nil {
			b.Fatal(err)
		}
	}
}
