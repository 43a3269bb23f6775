package anchors

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/kernels"
)

// TestReplaySpreadsDraws: a chain for which more draws were made than it has steps goes
// through all of them, leaving out as many between any two, and goes on from where it was.
func TestReplaySpreadsDraws(t *testing.T) {
	for total, want := range map[int64][]float64{
		8: {0, 1, 2, 3, 4, 5, 6, 7}, 4: {1, 3, 5, 7}, 3: {1, 4, 7}, 1: {7},
	} {
		k := &replay{total: total, left: total}
		for i := range 8 {
			k.draws = append(k.draws, []float64{float64(i)})
		}
		var got []float64
		s, rng := &kernels.State{Theta: []float64{-1}}, rand.New(rand.NewPCG(1, 1))
		for k.Left() > 0 {
			if k.Left() == total/2 { // another process goes on
				k = &replay{draws: k.draws, total: total, left: k.left}
			}
			if _, err := k.Step(rng, s); err != nil {
				t.Fatal(err)
			}
			got = append(got, s.Theta[0])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d steps go to %v, not %v", total, got, want)
		}
		if _, err := k.Step(rng, s); err == nil {
			t.Error("a step beyond the last was made")
		}
	}
}
