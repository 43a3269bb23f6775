package proptest

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestLeapsAreNoLattice: one length of leaps, among moves of any, passes. Moves of few lengths do not.
func TestLeapsAreNoLattice(t *testing.T) {
	rng := rand64(1, 1)
	moves := map[string]func(i int) float64{
		"leaps of one length and a walk": func(i int) float64 {
			if i%4 == 0 {
				return 0.8 * float64(1-2*rng.IntN(2))
			}
			return rng.NormFloat64()
		},
		"lengths of a table": func(int) float64 { return math.Exp(float64(rng.IntN(64)) / 8) },
		"leaps of one length and lengths of a table": func(i int) float64 {
			if i%4 == 0 {
				return 0.8
			}
			return math.Exp(float64(rng.IntN(64)) / 8)
		},
		"one length": func(int) float64 { return 1 },
	}
	for name, move := range moves {
		jumps := make([][]float64, 2000)
		for i := range jumps {
			jumps[i] = []float64{move(i)}
		}
		_, failed := Try(t.Name(), func(t rapid.TB) { kernelCheck{t: t}.sizes(jumps, 0) })
		if right := name == "leaps of one length and a walk"; failed == right {
			t.Errorf("%s: rejected %v", name, failed)
		}
	}
}
