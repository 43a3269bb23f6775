package curator

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/targets"
)

// quitter ends the goroutine that gives it a record whose first feature is at, as
// FailNow of package testing does.
type quitter struct {
	toy
	at float64
}

func (q quitter) Loss(dst, theta []float64, rows targets.Rows) {
	q.quit(rows)
	q.toy.Loss(dst, theta, rows)
}

func (q quitter) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	q.quit(rows)
	for i := range dst {
		dst[i] = 0
		for j, x := range rows.Row(i) {
			dst[i] += x * (theta[j] - next[j])
		}
	}
}

func (q quitter) SlopeAt(dst, eta, y []float64) {
	if slices.Contains(eta, q.at) { // θ is 1
		runtime.Goexit()
	}
	q.toy.SlopeAt(dst, eta, y)
}

func (q quitter) quit(rows targets.Rows) {
	for i := range rows.Len() {
		if rows.Row(i)[0] == q.at {
			runtime.Goexit()
		}
	}
}

// TestEndedGoroutines: a target that ends the goroutine that evaluates it costs the
// records on which it does their contributions, and nothing else: neither other
// records', nor the caller's goroutine, nor a later pass. Sums are those of the records
// without them, whatever the number of records and in whichever block the first is, for
// losses, ratios and gradients.
func TestEndedGoroutines(t *testing.T) {
	for _, at := range [][2]int{{1, 0}, {3, 0}, {3, 2}, {room.BlockRows + 1, 0}, {room.BlockRows + 1, room.BlockRows},
		{5 * room.BlockRows, 2*room.BlockRows + 1}, {room.ParallelRows + 7, 0}, {room.ParallelRows + 7, room.ParallelRows}} {
		n, first := at[0], at[1]
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i%7) / 8
		}
		bad := slices.Clone(x)
		for i := first; i < n; i += 400 {
			bad[i], x[i] = 0.999, 0
		}
		target, all := quitter{newToy(1), 0.999}, make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		for _, full := range []bool{true, false} {
			index := all
			if full {
				index = nil
			}
			sum := func(target targets.Target, x []float64) (at, later room.Totals) {
				set := record.New(x, 1, nil, len(x), 1)
				p := room.NewPass(subjectOf(t, target).Subject, set, 1, math.Inf(1), room.ExactGrid(1), full)
				theta, next := []float64{0.25}, []float64{0.75}
				at = p.Sums(theta, next, []float64{0.5}, index)
				return at, p.Sums(next, theta, []float64{-0.5}, index)
			}
			got, gotLater := sum(target, bad)
			want, wantLater := sum(newToy(1), x)
			if got != want || gotLater != wantLater {
				t.Errorf("%d records, from %d on, full %v: sums %v and %v, want %v and %v", n, first, full, got, gotLater,
					want, wantLater)
			}
		}
		gradient := func(target targets.GradTarget, x []float64) int64 {
			set := record.New(x, 1, nil, len(x), 1)
			sums := make([]int64, 1)
			room.NewVectorPass(subjectOf(t, target).Subject, set, 1, room.ExactGrid(1)).Sum(sums, []float64{1}, nil, true)
			return sums[0]
		}
		if got, want := gradient(target, bad), gradient(newToy(1), x); got != want {
			t.Errorf("%d records, from %d on: a gradient of %d grid steps, want %d", n, first, got, want)
		}
	}
}
