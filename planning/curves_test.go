package planning

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// TestCurvesAreTheAccountants: every tabulated value is the accountant's, and
// each curve is monotone.
func TestCurvesAreTheAccountants(t *testing.T) {
	step, err := sampledGaussian(accountant.Substitute, 0.01, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	counts := Ladder(1, 5000, 12)
	eps, err := EpsilonCurve("ε", step.Times, counts, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range counts {
		e, err := step.Times(n)
		if want := epsilon(t, e, err, 1e-6); eps.X[i] != float64(n) || eps.Y[i] != want {
			t.Errorf("ε at %d is %v at %v; want %v", n, eps.Y[i], eps.X[i], want)
		}
	}
	if !slices.IsSorted(eps.Y) {
		t.Errorf("not monotone: %v", eps.Y)
	}
}

func TestCurveRefusals(t *testing.T) {
	e, err := accountant.Gaussian(accountant.Substitute, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := EpsilonCurve("ε", e.Times, []int64{-1}, 1e-6); err == nil {
		t.Error("a negative count was tabulated")
	}
	if _, err := EpsilonCurve("ε", e.Times, []int64{1}, 2); err == nil {
		t.Error("δ = 2 was answered")
	}
}

func TestLadder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Int64Range(1, 1<<50).Draw(t, "low")
		high := rapid.Int64Range(low, 1<<51).Draw(t, "high")
		n := rapid.IntRange(2, 40).Draw(t, "n")
		l := Ladder(low, high, n)
		if len(l) > n || l[0] != low || l[len(l)-1] != high {
			t.Fatalf("Ladder(%d, %d, %d) = %v", low, high, n, l)
		}
		for i := range l[1:] {
			if l[i+1] <= l[i] {
				t.Fatalf("Ladder(%d, %d, %d) does not rise: %v", low, high, n, l)
			}
		}
	})
}
