package room

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dpmcmc/dpmcmc/internal/core/dense"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

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
	if runtime.GOMAXPROCS(0) != 4 {
		t.Errorf("a pool left %d processors", runtime.GOMAXPROCS(0))
	}
}

// sumLoss has loss x·θ, whole numbers of grid steps in these tests.
type sumLoss struct{}

func (sumLoss) Dim() int           { return 1 }
func (sumLoss) Shape() (int, bool) { return 1, false }
func (sumLoss) Loss(dst, theta []float64, rows record.Rows) {
	for i := range dst {
		dst[i] = rows.X[i] * theta[0]
	}
}
func (sumLoss) LossGrad(dst, _ []float64, rows record.Rows) { copy(dst, rows.X) }
func (sumLoss) GradLogPrior(dst, _ []float64)               { clear(dst) }

// TestEveryRecordIsAddedOnce, wherever the last block ends: in passes over the full data
// and over an index, of ratios and of gradients, of the library's targets and of a user's.
func TestEveryRecordIsAddedOnce(t *testing.T) {
	for _, n := range []int{1, 2, BlockRows - 1, BlockRows, BlockRows + 1, 2*BlockRows - 1, 2 * BlockRows,
		ParallelRows - 1, ParallelRows + 1} {
		x, index := make([]float64, n), make([]int32, n)
		want := int64(0)
		for i := range x {
			x[i], index[i] = float64(1+i%7), int32(i)
			want += int64(1 + i%7)
		}
		set := record.New(x, 1, nil, n, 0)
		for _, ours := range []bool{true, false} {
			s, err := Facts{Records: int64(n), Features: 1}.Admit(sumLoss{}, ours)
			if err != nil {
				t.Fatal(err)
			}
			grid := ExactGrid(1 << GridBits) // steps of 1
			full, part := NewPass(s, set, 1, math.Inf(1), grid, true), NewPass(s, set, 1, math.Inf(1), grid, false)
			for range 2 {
				a := full.Sums([]float64{1}, []float64{0}, []float64{-1}, nil).Sum
				if b := part.Sums([]float64{1}, []float64{0}, []float64{-1}, index).Sum; a != want || b != want {
					t.Errorf("%d records, ours %v: %d in all and %d by index, want %d", n, ours, a, b, want)
				}
			}
			gradients, sum := NewVectorPass(s, set, 1, grid), make([]int64, 1)
			for _, all := range []bool{true, false} {
				if gradients.Sum(sum, []float64{1}, index, all); sum[0] != want {
					t.Errorf("%d records, ours %v, all %v: gradients add up to %d, want %d", n, ours, all, sum[0], want)
				}
			}
		}
	}
}

// TestContributionsAreClippedAlongTheMove: at slope·|x·δ| where there is a slope, at the
// grid's top in any case, and by Terms at its bound too.
func TestContributionsAreClippedAlongTheMove(t *testing.T) {
	x := []float64{2, -4, 600, 0, -10}
	set, index := record.New(x, 1, nil, len(x), 0), []int32{0, 1, 2, 3, 4}
	s, err := Facts{Records: int64(len(x)), Features: 1}.Admit(sumLoss{}, true)
	if err != nil {
		t.Fatal(err)
	}
	next, theta, step := []float64{2}, []float64{3}, []float64{-1}
	for slope, want := range map[float64][]float64{math.Inf(1): {2, -4, 100, 0, -10}, 5: {2, -4, 100, 0, -10},
		1:   {2, -4, 100, 0, -10},
		0.5: {1, -2, 100, 0, -5}, 0.1: {0.2, -0.4, 60, 0, -1}} {
		for _, fine := range []float64{1, 4} { // steps in 1
			grid := Grid{Step: 1 / fine, inverse: fine, Top: 100 * fine}
			sum := int64(0)
			for _, v := range want {
				sum += int64(v * fine) // bounds are rounded down
			}
			full, part := NewPass(s, set, 1, slope, grid, true), NewPass(s, set, 1, slope, grid, false)
			if a, b := full.Sums(theta, next, step, nil).Sum, part.Sums(theta, next, step, index).Sum; a != sum || b != sum {
				t.Errorf("slope %v, steps of 1/%v: %d in all and %d by index, want %d", slope, fine, a, b, sum)
			}
		}
		terms, alone := make([]float64, len(x)), NewPass(s, set, 1, slope, Grid{Step: 1, inverse: 1, Top: 100}, false)
		for _, length := range []float64{1, 0.5} { // nothing is left over from the move before
			alone.Terms(terms, []float64{2 + length}, next, []float64{-length}, index, 50*length)
			for i, v := range want {
				if slope == 0.1 && i == 2 || i != 2 {
					v *= length
				}
				if v = max(-50*length, min(v, 50*length)); math.Abs(terms[i]-v) > 1e-12 {
					t.Errorf("slope %v, length %v: term %d is %v, want %v", slope, length, i, terms[i], v)
				}
			}
		}
	}
}

// keeper is a user's target that keeps the slices that it was shown.
type keeper struct {
	sumLoss
	kept *[][]float64
}

func (keeper) Shape() (int, bool) { return 1, true }

func (k keeper) Loss(dst, theta []float64, rows record.Rows) {
	*k.kept = append(*k.kept, rows.X, rows.Y, dst)
	for i := range dst {
		dst[i] = rows.X[i] + rows.Y[i]
	}
}

// TestCopiesAreWiped: slices that a user's target kept hold nothing of a record when a
// release is over: neither its row, nor its response, nor an answer.
func TestCopiesAreWiped(t *testing.T) {
	var kept [][]float64
	s, err := Facts{Records: 3, Features: 1, Response: true}.Admit(keeper{kept: &kept}, false)
	if err != nil {
		t.Fatal(err)
	}
	set := record.New([]float64{1, 2, 3}, 1, []float64{10, 20, 30}, 3, 0)
	pass := NewPass(s, set, 1, math.Inf(1), ExactGrid(1<<GridBits), true)
	pass.Sums([]float64{1}, []float64{0}, []float64{-1}, nil)
	if len(kept) != 3*2*3 {
		t.Errorf("%d slices were shown", len(kept))
	}
	for i, v := range kept {
		if len(v) != 1 || cap(v) != 1 || v[0] != 0 {
			t.Errorf("slice %d holds %v, with room for %d", i, v, cap(v))
		}
	}
}

// scribbler is a user's target that writes into the states and the row that it is given.
type scribbler struct{ sumLoss }

func (s scribbler) LossRatio(dst, theta, next []float64, rows record.Rows) {
	dst[0] = rows.X[0] * (theta[0] - next[0])
	theta[0], next[0], rows.X[0] = 7, 8, 9
}

// TestGuestsWriteOnCopies: neither the sampler's states nor the sealed rows.
func TestGuestsWriteOnCopies(t *testing.T) {
	s, err := Facts{Records: 3, Features: 1}.Admit(scribbler{}, false)
	if err != nil {
		t.Fatal(err)
	}
	set := record.New([]float64{1, 2, 3}, 1, nil, 3, 0)
	theta, next := []float64{1}, []float64{0}
	p := NewPass(s, set, 1, math.Inf(1), ExactGrid(1<<GridBits), false)
	sum := p.Sums(theta, next, []float64{-1}, []int32{0, 1, 2}).Sum
	x, _ := set.Block(nil, nil, 0, 3)
	if sum != 6 || theta[0] != 1 || next[0] != 0 || !slices.Equal(x, []float64{1, 2, 3}) {
		t.Errorf("a sum of %d, states %v and %v, rows %v", sum, theta, next, x)
	}
}

// TestKeptLossesAreThoseOfTheState: whichever of a few states a chain goes between, sums
// with kept losses are those of a pass that keeps none.
func TestKeptLossesAreThoseOfTheState(t *testing.T) {
	set, index := record.New([]float64{1, 2, 5}, 1, nil, 3, 0), []int32{0, 1, 2}
	s, err := Facts{Records: 3, Features: 1}.Admit(squaredLoss{}, true)
	if err != nil {
		t.Fatal(err)
	}
	grid := ExactGrid(1 << GridBits)
	kept, fresh := NewPass(s, set, 1, math.Inf(1), grid, true), NewPass(s, set, 1, math.Inf(1), grid, false)
	state := uint32(1)
	theta, next := []float64{0}, []float64{0}
	for n := range 2000 {
		state = state*1664525 + 1013904223
		next[0] = float64(state >> 30)
		step := []float64{next[0] - theta[0]}
		if a, b := kept.Sums(theta, next, step, nil), fresh.Sums(theta, next, step, index); a != b {
			t.Fatalf("move %d, from %v to %v: %v with kept losses, %v without", n, theta, next, a, b)
		}
		if state>>29&1 == 1 { // accepted
			theta, next = next, theta
		}
	}
}

// sine has a loss of the linear predictor, by which it is at home in each way of asking.
type sine struct{}

func (sine) Dim() int           { return 3 }
func (sine) Shape() (int, bool) { return 3, true }
func (s sine) Loss(dst, theta []float64, rows record.Rows) {
	dense.MulVec(dst, rows.X, theta)
	s.LossAt(dst, dst, rows.Y)
}
func (sine) LossAt(dst, eta, y []float64) {
	for i, e := range eta {
		dst[i] = math.Sin(e - y[i])
	}
}
func (sine) SlopeAt(dst, eta, y []float64) { clear(dst) }
func (sine) PredictorLipschitz() float64   { return 1 }

// TestFullPassesAreThoseByIndex: passes that find both products of a row at once give the sums
// of those that ask for each, whatever the last block is, of moves that are clipped along
// them or not.
func TestFullPassesAreThoseByIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 5, BlockRows - 1, 2*BlockRows + 6} {
		x, y, index := make([]float64, 3*n), make([]float64, n), make([]int32, n)
		for i := range y {
			x[3*i], x[3*i+1], x[3*i+2] = rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
			y[i], index[i] = rng.NormFloat64(), int32(i)
		}
		set := record.New(x, 3, y, n, 2)
		for _, slope := range []float64{0.7, 1, math.Inf(1)} { // some moves are clipped at 0.7
			for _, ours := range []bool{true, false} {
				s, err := Facts{Records: int64(n), Features: 3, Response: true}.Admit(sine{}, ours)
				if err != nil {
					t.Fatal(err)
				}
				full, part := NewPass(s, set, 0.5, slope, NewGrid(1), true), NewPass(s, set, 0.5, slope, NewGrid(1), false)
				theta, next, step := []float64{0.1, 0, -1}, make([]float64, 3), make([]float64, 3)
				for range 4 {
					for j := range step {
						step[j] = 0.3 * rng.NormFloat64()
						next[j] = theta[j] + step[j]
					}
					a, b := full.Sums(theta, next, step, nil), part.Sums(theta, next, step, index)
					if a != b {
						t.Errorf("%d records, slope %v, ours %v: %+v in all, %+v by index", n, slope, ours, a, b)
					}
					copy(theta, next)
				}
			}
		}
	}
}

// squaredLoss is not 0 where the parameter is.
type squaredLoss struct{ sumLoss }

func (squaredLoss) Loss(dst, theta []float64, rows record.Rows) {
	for i := range dst {
		dst[i] = (rows.X[i] - theta[0]) * (rows.X[i] - theta[0])
	}
}

// TestTermsLeaveNothingBehind: sums after terms are those of a new pass.
func TestTermsLeaveNothingBehind(t *testing.T) {
	set, index := record.New([]float64{1, 2, 5}, 1, nil, 3, 0), []int32{0, 1, 2}
	s, err := Facts{Records: 3, Features: 1}.Admit(sumLoss{}, true)
	if err != nil {
		t.Fatal(err)
	}
	p, terms := NewPass(s, set, 1, math.Inf(1), ExactGrid(1<<GridBits), false), make([]float64, 3)
	p.Terms(terms, []float64{1}, []float64{0}, []float64{-1}, index, 4)
	if got := p.Sums([]float64{1}, []float64{0}, []float64{-1}, index).Sum; got != 8 || terms[2] != 4 {
		t.Errorf("terms %v and then a sum of %d, want 1, 2, 4 and 8", terms, got)
	}
}

// unsteady is a user's target that has no value for a record of 2, ends its goroutine on one of
// 3 after it wrote one, and writes nothing for one of 4.
type unsteady struct{ sumLoss }

func (u unsteady) Loss(dst, theta []float64, rows record.Rows) {
	if rows.X[0] == 4 {
		return
	}
	u.sumLoss.Loss(dst, theta, rows)
	switch rows.X[0] {
	case 2:
		dst[0] = math.NaN()
	case 3:
		runtime.Goexit()
	}
}

// TestRecordsWithoutAValueCountNothing, in sums and in terms, whether their target says
// NaN or ends without an answer.
func TestRecordsWithoutAValueCountNothing(t *testing.T) {
	set, index := record.New([]float64{1, 2, 3, 5, 4}, 1, nil, 5, 0), []int32{0, 1, 2, 3, 4}
	s, err := Facts{Records: 5, Features: 1}.Admit(unsteady{}, false)
	if err != nil {
		t.Fatal(err)
	}
	theta, next, step := []float64{1}, []float64{0}, []float64{-1}
	p, terms := NewPass(s, set, 1, math.Inf(1), ExactGrid(1<<GridBits), false), make([]float64, 5)
	for range 2 { // before it is known that goroutines are ended, and after
		sum := p.Sums(theta, next, step, index).Sum
		if p.Terms(terms, theta, next, step, index, 4); sum != 6 || !slices.Equal(terms, []float64{1, 0, 0, 4, 0}) {
			t.Errorf("a sum of %d and terms %v, want 6 and 1, 0, 0, 4, 0", sum, terms)
		}
	}
}

// TestBlocksThatAreLostAreTriedAgain: where a target ends its goroutine, every other record of
// that block and of those before and after it counts once.
func TestBlocksThatAreLostAreTriedAgain(t *testing.T) {
	const n = 3 * BlockRows
	x := make([]float64, n)
	for i := range x {
		x[i] = 5
	}
	x[BlockRows+7] = 3 // which ends it
	s, err := Facts{Records: n, Features: 1}.Admit(unsteady{}, false)
	if err != nil {
		t.Fatal(err)
	}
	p := NewPass(s, record.New(x, 1, nil, n, 0), 1, math.Inf(1), ExactGrid(1<<GridBits), true)
	for range 2 {
		if sum := p.Sums([]float64{1}, []float64{0}, []float64{-1}, nil).Sum; sum != 5*(n-1) {
			t.Errorf("a sum of %d, want %d", sum, 5*(n-1))
		}
	}
}

// elsewhere reports whether it is asked on the goroutine of a caller of this test.
type elsewhere struct {
	sumLoss
	own *atomic.Int64
}

func (e elsewhere) Loss(dst, theta []float64, rows record.Rows) {
	stack := make([]byte, 1<<14)
	if strings.Contains(string(stack[:runtime.Stack(stack, false)]), "TestGuestsAreAskedElsewhere") {
		e.own.Add(1)
	}
	e.sumLoss.Loss(dst, theta, rows)
}

// TestGuestsAreAskedElsewhere: a user's target is never asked on the goroutine that asks for
// a sum, which it could end; the library's own may be.
func TestGuestsAreAskedElsewhere(t *testing.T) {
	set := record.New(make([]float64, 3*BlockRows), 1, nil, 3*BlockRows, 0)
	for _, ours := range []bool{false, true} {
		var own atomic.Int64
		s, err := Facts{Records: 3 * BlockRows, Features: 1}.Admit(elsewhere{own: &own}, ours)
		if err != nil {
			t.Fatal(err)
		}
		p := NewPass(s, set, 1, math.Inf(1), ExactGrid(1), false)
		index := make([]int32, 3*BlockRows)
		for range 20 {
			p.Sums([]float64{1}, []float64{0}, []float64{-1}, index)
		}
		if ours != (own.Load() > 0) {
			t.Errorf("ours %v: asked %d times on the caller's goroutine", ours, own.Load())
		}
	}
}

// TestTargetsThatDoNotFit are refused for each thing that does not; the largest dimension is
// the one that the proofs cover.
func TestTargetsThatDoNotFit(t *testing.T) {
	if MostParameters != 16_777_216 { // 2²⁴, docs/proofs/gradients.md §1
		t.Errorf("%d parameters", MostParameters)
	}
	for f, fits := range map[Facts]bool{{Features: 1, Response: true}: true, {Features: 2, Response: true}: false,
		{Features: 1}: false, {}: false} {
		if _, err := f.Admit(keeper{kept: new([][]float64)}, false); (err == nil) != fits {
			t.Errorf("%d features, response %v: %v", f.Features, f.Response, err)
		}
	}
}
