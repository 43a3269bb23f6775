package chains_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// TestWatchingChangesNothing: a chain whose releases are watched makes the same draws, and
// each step that releases something is seen.
func TestWatchingChangesNothing(t *testing.T) {
	table, m := simulated(t)
	for name, s := range kinds() {
		if s.Chains = 1; s.Kernel == "anchored" { // whose draws say all
			continue
		}
		var draws [2][][]float64
		seen, last := 0, []float64(nil)
		for run := range draws {
			all, err := opened(t, table, m, s, 4, curator.InsecureSeed(3)).Chains(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if w, ok := all[0].Kernel.(kernels.Watched); !ok {
				t.Errorf("%s cannot be watched", name)
			} else if run == 1 {
				w.Watch(func(evidence []float64) { seen, last = seen+1, slices.Clone(evidence) })
			}
			memory := kernels.NewMemory(1)
			if err := kernels.Run(t.Context(), all, kernels.Options{Iterations: s.Iterations, Seed: 5,
				Sink: memory}); err != nil {
				t.Fatal(err)
			}
			draws[run] = memory.Draws(0)
		}
		if !reflect.DeepEqual(draws[0], draws[1]) {
			t.Errorf("%s: other draws when it is watched", name)
		}
		if seen < int(s.Iterations) || len(last) != len(draws[0][0]) {
			t.Errorf("%s: %d releases were seen, the last %v", name, seen, last)
		}
	}
}
