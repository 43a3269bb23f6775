package curator

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/internal/core/room"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// steep is a toy whose slope is a lie about its certificate: s for every record.
type steep struct {
	toy
	slope float64
}

func (t steep) SlopeAt(dst, _, _ []float64) { fill(dst, t.slope) }

// plain hides that a target is linear, so that its gradients are materialised.
type plain struct{ targets.GradTarget }

func (t steep) LossGrad(dst, _ []float64, rows targets.Rows) {
	for i, v := range rows.X {
		dst[i] = t.slope * v
	}
}

// TestSubstitutionMovesTheGradientByAtMostTwiceTheClip is the exact Euclidean
// sensitivity, in integers, whatever the records and the slopes, by both paths.
func TestSubstitutionMovesTheGradientByAtMostTwiceTheClip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const dim = 3
		n := rapid.IntRange(1, 20).Draw(rt, "n")
		x := rapid.SliceOfN(wild(), n*dim, n*dim).Draw(rt, "x")
		y := append([]float64(nil), x...)
		copy(y, rapid.SliceOfN(wild(), dim, dim).Draw(rt, "substitute"))
		exponent := rapid.IntRange(-300, 300).Draw(rt, "exponent of the slope")
		var target targets.GradTarget = steep{newToy(dim), math.Pow(10, float64(exponent))}
		if rapid.Bool().Draw(rt, "hide linearity") {
			target = plain{target}
		}
		clip := rapid.Float64Range(1e-6, 10).Draw(rt, "clip")
		radius := rapid.SampledFrom([]float64{0, 1e-3, 2}).Draw(rt, "radius")
		sum := func(x []float64) []int64 {
			p := room.NewVectorPass(subjectOf(t, target).Subject, record.New(x, dim, nil, n, radius), 0.7, room.ExactGrid(clip))
			dst := make([]int64, dim)
			p.Sum(dst, []float64{1, -2, 3}, nil, true)
			return dst
		}
		a, b, square := sum(x), sum(y), 0.0
		for j := range a {
			d := float64(a[j] - b[j])
			square += d * d
		}
		if moved := math.Sqrt(square); moved > 2*room.ExactGrid(clip).Top {
			rt.Fatalf("substituting a record moved the sum by %v steps, more than twice %v", moved, room.ExactGrid(clip).Top)
		}
	})
}

// TestLinearGradientsNeedNoMatrix compares the path of linear targets with the
// one that materialises gradients, on the full data and on batches, with and
// without clipping. The two round differently by less than a step a record.
func TestLinearGradientsNeedNoMatrix(t *testing.T) {
	const n, dim = 2000, 4
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := make([]float64, n*dim), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for i := range y {
		y[i] = float64(rng.IntN(2))
	}
	logistic, err := targets.New(targets.RegressionConfig{Features: dim, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	set := record.New(x, dim, y, n, 5)
	theta := []float64{0.5, -1, 0.2, 2}
	index := []int32{4, 99, 1999, 0}
	for _, clip := range []float64{5, 0.3} {
		for _, full := range []bool{true, false} {
			quick, whole := subjectOf(t, logistic), subjectOf(t, plain{logistic})
			if !quick.Linear || whole.Linear {
				t.Fatal("the two paths are not told apart")
			}
			fast := room.NewVectorPass(quick.Subject, set, 0.5, room.ExactGrid(clip))
			slow := room.NewVectorPass(whole.Subject, set, 0.5, room.ExactGrid(clip))
			a, b := make([]int64, dim), make([]int64, dim)
			fast.Sum(a, theta, index, full)
			slow.Sum(b, theta, index, full)
			for j := range a {
				if math.Abs(float64(a[j]-b[j])) > n {
					t.Errorf("clip %v, full %v, coordinate %d: %d steps against %d", clip, full, j, a[j], b[j])
				}
			}
		}
	}
}

// TestBatchOfAllIsTheFullSum: the gradients of a batch are its records', and no others.
func TestBatchOfAllIsTheFullSum(t *testing.T) {
	const n = 2*room.BlockRows + 9
	x, index := make([]float64, n), make([]int32, n)
	for i := range x {
		x[i], index[i] = float64(i%7)/7-0.3, int32(i)
	}
	p := room.NewVectorPass(subjectOf(t, newToy(1)).Subject, record.New(x, 1, nil, n, 1), 1, room.ExactGrid(1))
	sums := func(index []int32, full bool) int64 {
		s := make([]int64, 1)
		p.Sum(s, []float64{0.5}, index, full)
		return s[0]
	}
	whole := sums(nil, true)
	if got := sums(index, false); got != whole || whole == 0 {
		t.Errorf("a batch of all has the sum %d, the full data %d", got, whole)
	}
	if head, rest := sums(index[:700], false), sums(index[700:], false); head+rest != whole || head == 0 {
		t.Errorf("two batches have the sums %d and %d, together not %d", head, rest, whole)
	}
}

// TestClipIsPerRecord gives a hundred records with gradients of length 5 the same
// direction: each is shortened to the clip and then they add up. Clipping the sum
// instead, or nothing, would give 1 or 500.
func TestClipIsPerRecord(t *testing.T) {
	x := make([]float64, 200)
	for i := range 100 {
		x[2*i], x[2*i+1] = 3, 4
	}
	for _, target := range []targets.GradTarget{newToy(2), plain{newToy(2)}} {
		g, err := Charge(seal(t, Records{X: x, Features: 2}), NoisyGradient{Target: target, Clip: 1,
			NoiseMultiplier: 1e-4}, 1)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]float64, 2)
		if err := g.Release(dst, []float64{0, 0}); err != nil {
			t.Fatal(err)
		}
		// The noise has standard deviation 2·10⁻⁴: 10 of them, false-alarm rate 10⁻²².
		if math.Abs(dst[0]-60) > 2e-3 || math.Abs(dst[1]-80) > 2e-3 {
			t.Errorf("%T: the clipped sum is %v, want (60, 80)", target, dst)
		}
	}
}

// TestGrantIsAllOrNothing asks for two kinds of releases together when the
// budget covers either alone.
func TestGrantIsAllOrNothing(t *testing.T) {
	target := newToy(2)
	g := NoisyGradient{Target: target, NoiseMultiplier: 40}
	bit := AcceptanceBit{Target: target, Proposal: Proposal{Radius: 0.1}}
	b, err := accountant.NewBudget(accountant.BudgetConfig{Epsilon: 1, Delta: 1e-6, Adjacency: accountant.Substitute})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Seal(Records{X: make([]float64, 20), Features: 2, Radius: 1}, b)
	if err != nil {
		t.Fatal(err)
	}
	ge, _ := g.Event(c.Facts())
	be, _ := bit.Event(c.Facts())
	gradients, err := b.Remaining(ge)
	if err != nil {
		t.Fatal(err)
	}
	bits, err := b.Remaining(be)
	if err != nil {
		t.Fatal(err)
	}
	var asked *Gradients
	var drawn *Bits
	if err := c.Grant(RequestFor(&asked, g, gradients), RequestFor(&drawn, bit, bits)); err == nil ||
		asked != nil || drawn != nil {
		t.Fatalf("two grants that fit alone and not together: error %v", err)
	}
	if left, err := b.Remaining(ge); err != nil || left != gradients {
		t.Errorf("a refused pair of grants was charged: %d gradients left of %d (%v)", left, gradients, err)
	}
	if err := c.Grant(RequestFor(&asked, g, gradients/2), RequestFor(&drawn, bit, bits/4)); err != nil {
		t.Fatal(err)
	}
	if asked.Left() != gradients/2 || drawn.Left() != bits/4 {
		t.Errorf("granted %d gradients and %d bits, want %d and %d", asked.Left(), drawn.Left(), gradients/2, bits/4)
	}
	if c.Grant() == nil || c.Grant(RequestFor(&drawn, bit, 0)) == nil {
		t.Error("a grant of nothing was given")
	}
}

func BenchmarkGradients(b *testing.B) {
	const n, dim = 100_000, 10
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := make([]float64, n*dim), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	logistic, err := targets.New(targets.RegressionConfig{Features: dim, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		b.Fatal(err)
	}
	c := seal(b, Records{X: x, Features: dim, Y: y, Radius: 5})
	for name, target := range map[string]targets.GradTarget{"linear": logistic, "general": plain{logistic}} {
		b.Run(name, func(b *testing.B) {
			g, err := Charge(c, NoisyGradient{Target: target, Clip: 5, NoiseMultiplier: 100}, 1<<40)
			if err != nil {
				b.Fatal(err)
			}
			dst, theta := make([]float64, dim), make([]float64, dim)
			b.ReportAllocs()
			for b.Loop() {
				if err := g.Release(dst, theta); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
