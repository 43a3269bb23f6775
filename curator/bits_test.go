package curator

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// TestAcceptanceFrequency holds the frequency of accepted moves against the
// test's probability. False-alarm rate: 6 standard errors, 2·10⁻⁹ each.
func TestAcceptanceFrequency(t *testing.T) {
	const n = 40_000
	for _, tc := range []struct {
		test Test
		want func(u float64) float64
	}{
		{Test{}, func(u float64) float64 { return 1 / (1 + math.Exp(-u)) }},
		{Test{Corrected: 1}, func(u float64) float64 { return 1 / (1 + math.Exp(-u)) }}, // to 10⁻⁶
	} {
		c, err := Seal(Records{X: []float64{1, -0.25}, Features: 1}, budget(t, accountant.Substitute))
		if err != nil {
			t.Fatal(err)
		}
		b := grantBits(t, c, AcceptanceBit{Target: newToy(1), Clip: 2, Test: tc.test}, n)
		accepted := 0
		for range n {
			// Contributions 1·0.8 and −0.25·0.8; public 0.3.
			ok, err := b.Accept([]float64{-0.8}, []float64{0}, 0.3)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				accepted++
			}
		}
		p := tc.want(0.9)
		if z := (float64(accepted)/n - p) / math.Sqrt(p*(1-p)/n); math.Abs(z) > 6 {
			t.Errorf("%v: %d of %d accepted, want a share of %v (z = %.1f)", tc.test, accepted, n, p, z)
		}
		// The mutant: twice the log-odds must be told apart.
		if q := tc.want(1.8); math.Abs((float64(accepted)/n-q)/math.Sqrt(q*(1-q)/n)) < 6 {
			t.Errorf("%v: the frequency does not tell 0.9 from 1.8", tc.test)
		}
	}
}

// wild draws floats of every kind a table could hold.
func wild() *rapid.Generator[float64] {
	return rapid.Custom(func(t *rapid.T) float64 {
		switch rapid.IntRange(0, 7).Draw(t, "kind") {
		case 0:
			return math.NaN()
		case 1:
			return math.Inf(rapid.SampledFrom([]int{-1, 1}).Draw(t, "sign"))
		case 2:
			return rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 5e-324, -2.2e-308}).Draw(t, "tiny")
		case 3:
			return rapid.SampledFrom([]float64{1 << 53, -(1<<53 - 1), 1e300, -math.MaxFloat64}).Draw(t, "huge")
		}
		return rapid.Float64Range(-3, 3).Draw(t, "ordinary")
	})
}

// TestSubstitutionMovesTheSumByAtMostTwiceTheBound is the exact sensitivity: in
// integers, rounding included, whatever the records.
func TestSubstitutionMovesTheSumByAtMostTwiceTheBound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const dim = 3
		n := rapid.IntRange(1, 40).Draw(rt, "n")
		x := rapid.SliceOfN(wild(), n*dim, n*dim).Draw(rt, "x")
		y := append([]float64(nil), x...)
		copy(y, rapid.SliceOfN(wild(), dim, dim).Draw(rt, "substitute"))
		target := newToy(dim)
		target.lipschitz = rapid.Float64Range(0.1, 2).Draw(rt, "claimed Lipschitz constant")
		radius := rapid.Float64Range(0.1, 3).Draw(rt, "radius")
		theta, next := make([]float64, dim), make([]float64, dim)
		for j := range theta {
			theta[j] = rapid.Float64Range(-1e3, 1e3).Draw(rt, "theta")
			next[j] = theta[j] + rapid.Float64Range(-1, 1).Draw(rt, "step")
		}
		m := AcceptanceBit{Target: target, Proposal: Proposal{Radius: 2}, Temperature: 0.7}
		if rapid.Bool().Draw(rt, "constant clip") {
			m.Clip = rapid.Float64Range(1e-6, 10).Draw(rt, "clip")
		}
		facts := Facts{Records: int64(n), Features: dim, Radius: radius, RowsPerPerson: 1, Adjacency: accountant.Substitute}
		sums := func(x []float64) (*Bits, room.Totals) {
			b, err := bitsOver(m, facts, record.New(x, dim, nil, n, radius))
			if err != nil {
				rt.Fatal(err)
			}
			for j := range theta {
				b.moveStep[j] = next[j] - theta[j]
			}
			return b, b.pass.Sums(theta, next, b.moveStep, nil)
		}
		b, s := sums(x)
		_, s2 := sums(y)
		step := record.Norm(b.moveStep)
		along := 0.7 * target.lipschitz * radius * step // the certificate's bound for this move
		bound := along
		if m.Clip > 0 {
			bound = min(bound, m.Clip)
		}
		if moved := math.Abs(float64(s.Sum - s2.Sum)); moved*b.pass.Grid.Step > 2*bound*(1+1e-12) {
			rt.Fatalf("substituting a record moved the sum by %v, more than twice %v", moved*b.pass.Grid.Step, bound)
		}
	})
}

// TestWorkersDoNotChangeSums compares one worker with several, over data that
// fill many blocks, for every kind of pass.
func TestWorkersDoNotChangeSums(t *testing.T) {
	const n, dim = 40_000, 3
	rng := rand.New(rand.NewPCG(5, 6))
	x := make([]float64, n*dim)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	logistic, err := targets.New(targets.RegressionConfig{Features: dim, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, n)
	for i := range y {
		y[i] = float64(rng.IntN(2))
	}
	for _, batch := range []Batch{{}, {Rate: 0.7}, {Size: 30_000}} {
		var want room.Totals
		for i, procs := range []int{1, 4} {
			before := runtime.GOMAXPROCS(procs)
			c := seal(t, Records{X: x, Features: dim, Y: y, Radius: 2})
			b := grantBits(t, c, AcceptanceBit{Target: logistic, Proposal: Proposal{Scale: 0.01}, Batch: batch}, 1)
			runtime.GOMAXPROCS(before)
			var index []int32
			if b.sampler != nil {
				index = b.sampler.draw(b.room.Secret())
			}
			theta, next := make([]float64, dim), []float64{0.01, -0.02, 0.005}
			got := b.pass.Sums(theta, next, next, index)
			if i == 0 {
				want = got
			} else if got != want {
				t.Errorf("%v: %+v with several workers, %+v with one", batch, got, want)
			}
		}
	}
}

func TestStrangeRecordsContributeNothingOrTheClip(t *testing.T) {
	target := newToy(1)
	target.panicAt = 42
	for x, want := range map[float64]float64{
		0.25: 0.25, 3: 1, -3: -1, math.NaN(): 0, 42: 0, 1e308: 1, 5e-324: 0,
		math.Inf(1): 0, math.Inf(-1): 0, // the toy's loss at 0 is NaN for them
	} {
		// A thousand ordinary neighbours in the same blocks must not change.
		records := make([]float64, 1000)
		records[700] = x
		for i := range records {
			if i != 700 {
				records[i] = 0.001
			}
		}
		b := grantBits(t, seal(t, Records{X: records, Features: 1}), AcceptanceBit{Target: target, Clip: 1}, 1)
		b.moveStep[0] = -1
		got := float64(b.pass.Sums([]float64{0}, []float64{-1}, b.moveStep, nil).Sum) * b.pass.Grid.Step
		if math.Abs(got-0.999-want) > 1e-6 {
			t.Errorf("a record of %v contributes %v, want %v", x, got-0.999, want)
		}
	}
}

// TestCacheFollowsTheChain compares cached sums with those of a fresh grant,
// through acceptances, rejections and jumps.
func TestCacheFollowsTheChain(t *testing.T) {
	x := []float64{1, 2, -0.5, 4}
	m := AcceptanceBit{Target: square{}, Clip: 100}
	facts := Facts{Records: 4, Features: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	set := record.New(x, 1, nil, 4, 0)
	b, err := bitsOver(m, facts, set)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	theta := []float64{0}
	for step := range 200 {
		next := []float64{theta[0] + rng.NormFloat64()}
		fresh, err := bitsOver(m, facts, set)
		if err != nil {
			t.Fatal(err)
		}
		got := b.pass.Sums(theta, next, []float64{next[0] - theta[0]}, nil)
		want := fresh.pass.Sums(theta, next, []float64{next[0] - theta[0]}, nil)
		if got != want {
			t.Fatalf("step %d: cached sums %+v, fresh %+v", step, got, want)
		}
		switch rng.IntN(3) {
		case 0:
			theta = next
		case 1:
			theta = []float64{rng.NormFloat64()}
		}
	}
}

// square has the loss (x−θ)²/2, whose ratio depends on the state.
type square struct{ toy }

func (square) Dim() int           { return 1 }
func (square) Shape() (int, bool) { return 1, false }
func (square) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		d := rows.Row(i)[0] - theta[0]
		dst[i] = d * d / 2
	}
}

func TestSpentGrantRefuses(t *testing.T) {
	b := grantBits(t, seal(t, Records{X: []float64{1}, Features: 1}), AcceptanceBit{Target: newToy(1), Clip: 1}, 2)
	for range 2 {
		if _, err := b.Accept([]float64{1}, []float64{0}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Accept([]float64{1}, []float64{0}, 0); !errors.Is(err, ErrSpent) {
		t.Errorf("the third of two bits: error %v, want ErrSpent", err)
	}
}

func TestReleaseRefusals(t *testing.T) {
	c := seal(t, Records{X: []float64{1, 1}, Features: 2, Radius: 2})
	within := grantBits(t, c, AcceptanceBit{Target: newToy(2), Proposal: Proposal{Radius: 1}}, 5)
	drawn := grantBits(t, c, AcceptanceBit{Target: newToy(2), Proposal: Proposal{Scale: 1}}, 5)
	flat := func([]float64) float64 { return 0 }
	for name, err := range map[string]error{
		"move too long":       second(within.Accept([]float64{1, 1}, []float64{0, 0}, 0)),
		"wrong length":        second(within.Accept([]float64{1}, []float64{0, 0}, 0)),
		"state not finite":    second(within.Accept([]float64{1, 1}, []float64{math.NaN(), 0}, 0)),
		"Move on a sampler's": second(within.Move([]float64{0, 0}, []float64{0, 0}, flat)),
		"Accept on a drawn":   second(drawn.Accept([]float64{0, 0}, []float64{0, 0}, 0)),
		"drawn, wrong length": second(drawn.Move([]float64{0}, []float64{0, 0}, flat)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if within.Left() != 5 || drawn.Left() != 5 {
		t.Errorf("refused releases were used up: %d and %d left of 5", within.Left(), drawn.Left())
	}
	if ok, err := within.Accept([]float64{0.5, 0}, []float64{0, 0}, math.Inf(-1)); ok || err != nil {
		t.Errorf("a move of zero prior density: accepted %v, error %v", ok, err)
	}
}

func second(_ bool, err error) error { return err }

func TestStepsAllocateNothing(t *testing.T) {
	const n = 20_000
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]float64, n*2)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	c := seal(t, Records{X: x, Features: 2, Radius: 1})
	for _, m := range []AcceptanceBit{
		{Target: newToy(2), Proposal: Proposal{Scale: 0.1}},
		{Target: newToy(2), Proposal: Proposal{Scale: 0.1}, Batch: Batch{Rate: 0.01}},
		{Target: newToy(2), Clip: 0.001, Batch: Batch{Size: 100}, Test: Test{Corrected: 2}},
	} {
		b := grantBits(t, c, m, 1000)
		theta, next := []float64{0, 0}, []float64{0.1, 0.1}
		flat := func([]float64) float64 { return 0 }
		if got := testing.AllocsPerRun(50, func() {
			var err error
			if m.Proposal.Drawn() {
				_, err = b.Move(next, theta, flat)
			} else {
				_, err = b.Accept(next, theta, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
		}); got != 0 {
			t.Errorf("%v, %v: %v allocations a step", m.Test, m.Batch, got)
		}
	}
}
