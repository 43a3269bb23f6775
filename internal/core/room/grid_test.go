package room

import (
	"math"
	"testing"
)

func TestGridRounds(t *testing.T) {
	g := NewGrid(0.3)
	if g.Top*g.Step > 0.3 || g.Top*g.Step < 0.3*(1-1e-8) {
		t.Errorf("the top of the grid is %v, want just below 0.3", g.Top*g.Step)
	}
	for v, want := range map[float64]int64{
		math.Inf(1): int64(g.Top), math.Inf(-1): -int64(g.Top), math.NaN(): 0, 0.3: int64(g.Top), g.Step: 1, 0.4 * g.Step: 0,
		-0.6 * g.Step: -1,
	} {
		if got := g.Round(v, g.Top); got != want {
			t.Errorf("%v rounds to %d steps, want %d", v, got, want)
		}
	}
	if got := g.Round(5*g.Step, 2.7); got != 2 {
		t.Errorf("5 steps under a bound of 2.7 are clipped to %d, want 2: a bound is rounded down", got)
	}
}
