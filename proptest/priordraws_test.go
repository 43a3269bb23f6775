package proptest

import (
	"testing"

	"pgregory.net/rapid"
)

// TestRepeatedDraws: draws of a seed of 20 bits are found. Those of uniform numbers of 24 bits, and those at an end of
// the support, are not.
func TestRepeatedDraws(t *testing.T) {
	rng := rand64(1, 1)
	uniform := func(bits int) float64 { return float64(rng.Uint64()>>(64-bits)) / float64(uint64(1)<<bits) }
	for name, c := range map[string]struct {
		draw  func() []float64
		wrong bool
	}{
		"24 bits":         {func() []float64 { return []float64{uniform(24)} }, false},
		"twice 24 bits":   {func() []float64 { return []float64{uniform(24), uniform(24)} }, false},
		"16 bits":         {func() []float64 { return []float64{uniform(16)} }, true},
		"one of 20 bits":  {func() []float64 { u := uniform(20); return []float64{u, 1 - u} }, true},
		"one end for all": {func() []float64 { return []float64{max(0.04, uniform(53))} }, false},
	} {
		draws := make([][]float64, 20_000)
		for i := range draws {
			draws[i] = c.draw()
		}
		said, failed := Try(t.Name(), func(t rapid.TB) { checkRepeats(t, draws, TargetOptions{}) })
		if failed != c.wrong {
			t.Errorf("%s: rejected %v: %s", name, failed, said)
		}
	}
}
