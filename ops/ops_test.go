package ops

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestProjectNeverExceedsTheRadius, for any float64s, against the norm in
// extended range; rows inside are copied bit for bit.
func TestProjectNeverExceedsTheRadius(t *testing.T) {
	value := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-2, 2),
		rapid.SampledFrom([]float64{0, math.NaN(), math.Inf(1), math.MaxFloat64, 5e-324}))
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SliceOfN(value, 1, 5).Draw(t, "row")
		radius := rapid.Float64Range(1e-3, 1e3).Draw(t, "radius")
		out := Project(targets.Rows{X: row, P: len(row)}, radius).X
		norm, finite, before := 0.0, true, 0.0
		for i, v := range row {
			finite = finite && !math.IsNaN(v) && !math.IsInf(v, 0)
			before = math.Hypot(before, v)
			norm = math.Hypot(norm, out[i])
		}
		if !(norm <= radius) {
			t.Fatalf("norm %v > radius %v", norm, radius)
		}
		for i, v := range row {
			switch {
			case !finite && out[i] != 0:
				t.Fatalf("a row that is not finite became %v", out)
			case finite && before < radius*0.999 && out[i] != v:
				t.Fatalf("a row of norm %v was changed from %v to %v", before, row, out)
			case finite && before > radius && norm < radius*0.999:
				t.Fatalf("a row of norm %v was shortened to %v, below radius %v", before, norm, radius)
			}
		}
	})
}

func TestFromTotalVariation(t *testing.T) {
	got, err := FromTotalVariation(1, 1e-6, 1e-5)
	if want := 1e-6 + (1+math.E)*1e-5; err != nil || got < want || got > want*(1+1e-12) {
		t.Errorf("(%v, %v), want %v rounded up", got, err, want)
	}
	// The bound is attained: laws at distance d from (p, 1−p) and (q, 1−q) with
	// p = e^ε·q moved against each other leak d + e^ε·d at ε.
	const eps, q, d = 0.5, 0.3, 0.01
	p := q * math.Exp(eps)
	if leak := (p + d) - math.Exp(eps)*(q-d); leak > mustTV(t, eps, d) || leak < mustTV(t, eps, d)*(1-1e-9) {
		t.Errorf("leak %v, bound %v", leak, mustTV(t, eps, d))
	}
	for _, c := range [][3]float64{{-1, 0, 0}, {math.NaN(), 0, 0}, {1, 2, 0}, {1, 0, -1}, {1, 0, math.NaN()}} {
		if _, err := FromTotalVariation(c[0], c[1], c[2]); err == nil {
			t.Errorf("%v accepted", c)
		}
	}
	if got, err := FromTotalVariation(math.Inf(1), 0.1, 0); err != nil || got != 0.1 {
		t.Errorf("distance 0: (%v, %v), want 0.1", got, err)
	}
}

func mustTV(t *testing.T, eps, tv float64) float64 {
	t.Helper()
	delta, err := FromTotalVariation(eps, 0, tv)
	if err != nil {
		t.Fatal(err)
	}
	return delta
}

func TestGuaranteeComposes(t *testing.T) {
	e, err := accountant.BoundedRange(accountant.Substitute, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	g := Guarantee{Event: e, Kind: Conditional, Theorem: "test"}
	hundred, err := g.Times(100)
	if err != nil {
		t.Fatal(err)
	}
	s, err := hundred.At(1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if s.Epsilon >= 10 || s.Epsilon < 1 || s.Kind != Conditional {
		t.Errorf("100 draws of 0.1: %v, want well below 10", s)
	}
}

func TestApproximateAnswersAtItsDelta(t *testing.T) {
	g, err := Approximate(1e-5, Unconditional, "test",
		func(delta float64) (float64, error) { return -math.Log(delta) / 10, nil })
	if err != nil {
		t.Fatal(err)
	}
	s, err := g.At(1e-5)
	if want := -math.Log(1e-5) / 10; err != nil || math.Abs(s.Epsilon-want) > 1e-9 || s.Epsilon < want {
		t.Errorf("ε = %v, %v, want %v rounded up", s.Epsilon, err, want)
	}
	for _, delta := range []float64{0, 1, -1, math.NaN()} {
		if _, err := Approximate(delta, Unconditional, "", nil); err == nil {
			t.Errorf("delta %v accepted", delta)
		}
	}
}

func TestCheckShape(t *testing.T) {
	good := targets.Rows{X: make([]float64, 6), P: 2, Y: make([]float64, 3)}
	if err := CheckShape("ops", good, 2, true); err != nil {
		t.Error(err)
	}
	for name, bad := range map[string]targets.Rows{
		"features":  {X: make([]float64, 6), P: 3, Y: make([]float64, 2)},
		"empty":     {P: 2},
		"ragged":    {X: make([]float64, 5), P: 2, Y: make([]float64, 3)},
		"responses": {X: make([]float64, 6), P: 2},
	} {
		if err := CheckShape("ops", bad, 2, true); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func ExampleFromTotalVariation() {
	// A chain that stopped 1e-6 from its target, claimed to be (1, 0)-DP.
	delta, err := FromTotalVariation(1, 0, 1e-6)
	fmt.Printf("δ = %.3g %v\n", delta, err)
	// Output: δ = 3.72e-06 <nil>
}
