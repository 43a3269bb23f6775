package room

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// wide has a loss of two features, a response and two parameters, whole numbers of grid steps
// in these tests. With ratio and slope it is asked in the other ways.
type wide struct{}

func (wide) Dim() int           { return 2 }
func (wide) Shape() (int, bool) { return 2, true }
func (wide) of(theta []float64, rows record.Rows, i int) float64 {
	x := rows.Row(i)
	return theta[0]*x[0] + theta[1]*x[1] + (theta[0]+3*theta[1])*rows.Y[i]
}
func (w wide) Loss(dst, theta []float64, rows record.Rows) {
	for i := range dst {
		dst[i] = w.of(theta, rows, i)
	}
}
func (w wide) LossGrad(dst, _ []float64, rows record.Rows) {
	for i := range rows.Len() {
		dst[2*i], dst[2*i+1] = rows.Row(i)[0]+rows.Y[i], rows.Row(i)[1]-rows.Y[i]
	}
}
func (wide) GradLogPrior(dst, _ []float64) { clear(dst) }

type wideRatio struct{ wide }

func (w wideRatio) LossRatio(dst, theta, next []float64, rows record.Rows) {
	for i := range dst {
		dst[i] = w.of(theta, rows, i) - w.of(next, rows, i)
	}
}

type wideLinear struct{ wide }

func (wideLinear) LossAt(dst, eta, y []float64) { clear(dst) }
func (wideLinear) SlopeAt(dst, eta, y []float64) {
	for i := range dst {
		dst[i] = eta[i] - y[i]
	}
}
func (wideLinear) PredictorLipschitz() float64 { return 1 }

// TestPassesAreSumsOverRecords: of any number of blocks and workers, over all records or an
// index that repeats some, from private or shared memory, in the library's own way and in a
// guest's, totals are those of each record's own contribution.
func TestPassesAreSumsOverRecords(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	const tau = 2.0
	grid := ExactGrid(1 << (GridBits - 1)) // steps of ½
	theta, next, step := []float64{3, -5}, []float64{1, 2}, []float64{-2, 7}
	for _, n := range []int{3, BlockRows + 1, ParallelRows + 5} {
		x, y := make([]float64, 2*n), make([]float64, n)
		for i := range y {
			x[2*i], x[2*i+1], y[i] = float64(70_000*(i%7)), float64(i%11-5), float64(i%3)
		}
		index := make([]int32, n-1)
		for i := range index {
			index[i] = int32(i * i % n)
		}
		rows := record.Rows{X: x, P: 2, Y: y}
		var all, some Totals
		for i := range n {
			value := func(i int) int64 { return int64(2 * tau * (wide{}.of(theta, rows, i) - wide{}.of(next, rows, i))) }
			if all.add(value(i)); i < len(index) {
				some.add(value(int(index[i])))
			}
		}
		for name, set := range map[string]*record.Set{"copied": record.New(x, 2, y, n, 0),
			"shared": record.Share(x, nil, 2, y, n, 0)} {
			for _, ours := range []bool{true, false} {
				for _, target := range []Target{wide{}, wideRatio{}, wideLinear{}} {
					what := fmt.Sprintf("%d records, %s, %T, ours %v", n, name, target, ours)
					s, err := Facts{Records: int64(n), Features: 2, Response: true}.Admit(target, ours)
					if err != nil {
						t.Fatal(err)
					}
					full, part := NewPass(s, set, tau, math.Inf(1), grid, true), NewPass(s, set, tau, math.Inf(1), grid, false)
					for range 2 { // nothing is left over
						if a, b := full.Sums(theta, next, step, nil), part.Sums(theta, next, step, index); a != all || b != some {
							t.Errorf("%s: totals %+v and %+v, want %+v and %+v", what, a, b, all, some)
						}
					}
					_, linear := target.(linearTarget)
					gradients(t, what, NewVectorPass(s, set, tau, grid), linear, theta, rows, index)
				}
			}
		}
	}
}

// gradients holds the sums of a pass to those of each record's own gradient.
func gradients(t *testing.T, what string, p *VectorPass, linear bool, theta []float64, rows record.Rows,
	index []int32) {
	t.Helper()
	for _, full := range []bool{true, false} {
		want, got := make([]int64, 2), []int64{7, 7}
		for i := range rows.Len() {
			if !full {
				if i == len(index) {
					break
				}
				i = int(index[i])
			}
			g := make([]float64, 2)
			if row := rows.Slice(i, i+1); linear {
				slope := theta[0]*row.X[0] + theta[1]*row.X[1] - row.Y[0]
				g[0], g[1] = slope*row.X[0], slope*row.X[1]
				if length := 4 * math.Hypot(g[0], g[1]); length > p.shorten {
					g[0], g[1] = g[0]*(p.shorten/length), g[1]*(p.shorten/length)
				}
			} else {
				wide{}.LossGrad(g, theta, row)
			}
			want[0], want[1] = want[0]+roundSmall(4*g[0]), want[1]+roundSmall(4*g[1])
		}
		p.Sum(got, theta, index, full)
		for j := range got {
			if off := math.Abs(float64(got[j] - want[j])); off > 1e-6*math.Abs(float64(want[j])) || !linear && off > 0 {
				t.Errorf("%s, all %v: gradients add up to %v, want %v", what, full, got, want)
			}
		}
	}
}

// TestPoolsEnd: the goroutines of a pool that is stopped end, and no others begin.
func TestPoolsEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 50 {
		p := newPool(false, 1)
		p.run(1, func(int, int) {})
		if p.stop(); p.do != nil {
			t.Error("a pool that is idle keeps what it did")
		}
	}
	for runtime.NumGoroutine() > before {
		runtime.Gosched()
	}
}

// TestPassesEnd: a pass that nobody holds any more leaves no goroutine behind.
func TestPassesEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	s, err := Facts{Features: 2, Response: true}.Admit(wide{}, false)
	if err != nil {
		t.Fatal(err)
	}
	set := record.New([]float64{1, 2}, 2, []float64{3}, 1, 0)
	for range 20 {
		NewPass(s, set, 1, math.Inf(1), ExactGrid(1), true)
		NewVectorPass(s, set, 1, ExactGrid(1))
	}
	for runtime.NumGoroutine() > before {
		runtime.GC()
		runtime.Gosched()
	}
}
