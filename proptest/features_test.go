package proptest_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/proptest"
)

// shifted are vectors of ten normals whose last is the fourth's negative, moved by what
// each coordinate has of it.
func shifted(by func(j int) float64, seed uint64) [][]float64 {
	rng, all := rand.New(rand.NewPCG(seed, 0)), make([][]float64, 2000)
	for i := range all {
		all[i] = make([]float64, 10)
		for j := range all[i] {
			all[i][j] = rng.NormFloat64()
		}
		all[i][9] = -all[i][3]
		for j := range all[i] {
			all[i][j] += by(j)
		}
	}
	return all
}

// TestDiscriminantSeesSharedNoise: where two coordinates' noises cancel, the discriminant
// tells every release. The difference of means, which is alike in all, does not.
func TestDiscriminantSeesSharedNoise(t *testing.T) {
	a, b := shifted(func(int) float64 { return 0.1 }, 1), shifted(func(int) float64 { return -0.1 }, 2)
	tells := proptest.Discriminant(a, b)
	values := func(all [][]float64) (v []float64) {
		for _, r := range all {
			v = append(v, tells(r))
		}
		return v
	}
	if onA, onB := values(a), values(b); slices.Max(onA) >= slices.Min(onB) {
		t.Errorf("values up to %v on A, and from %v on B", slices.Max(onA), slices.Min(onB))
	}
	a[7][2] = math.NaN()
	if proptest.Discriminant(a, b) != nil {
		t.Error("there is a discriminant of releases that are not finite")
	}
}

// TestTellingCoordinatesComeFirst: of ten coordinates the one that differs is looked at.
func TestTellingCoordinatesComeFirst(t *testing.T) {
	a := shifted(func(int) float64 { return 0 }, 1)
	b := shifted(func(j int) float64 { return float64(j / 7 * (8 - j)) }, 2) // +1 in coordinate 7, −2 in 9
	if got := proptest.Telling(a, b); len(got) != 4 || got[0] != 9 || got[1] != 7 {
		t.Errorf("coordinates %v, want 9 and 7 first", got)
	}
}

// TestSomeOf: coordinates rise from the first to the last, as many as are asked for.
func TestSomeOf(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d, n := rapid.IntRange(1, 300).Draw(rt, "d"), rapid.IntRange(2, 20).Draw(rt, "n")
		got := proptest.SomeOf(d, n)
		if len(got) != min(d, n) || got[0] != 0 || got[len(got)-1] != d-1 ||
			!slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			rt.Errorf("%d of %d are %v", n, d, got)
		}
	})
}
