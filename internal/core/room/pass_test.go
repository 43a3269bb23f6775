package room

import (
	"runtime"
	"testing"
)

// TestTotals: the three sums are those of the contributions, of what is left
// of them without their low bits, rounded towards zero, and of its squares.
func TestTotals(t *testing.T) {
	const coarse = 1 << CoarseShift
	var got Totals
	for _, k := range []int64{3*coarse + 7, -2*coarse - 9, coarse - 1, -coarse + 1, 0} {
		got.add(k)
	}
	if want := (Totals{Sum: coarse - 2, Coarse: 1, Squares: 13}); got != want {
		t.Errorf("totals %+v, want %+v", got, want)
	}
}

// TestLargePassesAreShared: from ParallelRows on a pool has a worker a processor, and a
// user's target is on the pool's own goroutines alone.
func TestLargePassesAreShared(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, c := range []struct {
		ours              bool
		n, workers, woken int
	}{{true, ParallelRows, 4, 3}, {false, ParallelRows, 4, 4}, {true, ParallelRows - 1, 1, 0}, {false, 1, 1, 1}} {
		p := newPool(c.ours, c.n)
		if p.workers != c.workers || len(p.wake) != c.woken {
			t.Errorf("ours %v, %d records: %d workers, %d goroutines", c.ours, c.n, p.workers, len(p.wake))
		}
		p.stop()
	}
}
