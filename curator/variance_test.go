package curator

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/accept"
)

// TestFixedBatchVarianceMoves replaces a record of bound c by one of bound c′ in
// batches whose others are bounded by top: the variance that corrected tests
// subtract moves by at most 2·top·(c+c′) + c² + c′², and, for unequal bounds, by
// more than the first term.
func TestFixedBatchVarianceMoves(t *testing.T) {
	const n, size, top = 1_000_000, 6, 1.0
	variance := func(x float64, others [size - 1]float64) float64 {
		sum, squares := x, x*x
		for _, o := range others {
			sum, squares = sum+o, squares+o*o
		}
		return accept.FixedVariance(n, size, sum, squares)
	}
	beyond := false
	for _, bounds := range [][2]float64{{1, 1}, {1, 0}, {1, 0.4}, {0.3, 0.3}, {0.3, 0}} {
		worst := 0.0
		for mask := range 1 << (size - 1) {
			var others [size - 1]float64
			for i := range others {
				others[i] = top * float64(2*(mask>>i&1)-1)
			}
			for i := -10.0; i <= 10; i++ {
				for j := -10.0; j <= 10; j++ {
					worst = max(worst, math.Abs(variance(i/10*bounds[0], others)-variance(j/10*bounds[1], others)))
				}
			}
		}
		linear := 2 * top * (bounds[0] + bounds[1])
		if whole := linear + bounds[0]*bounds[0] + bounds[1]*bounds[1]; worst > whole {
			t.Errorf("bounds %v: the variance moves by %v, %v is charged", bounds, worst, whole)
		}
		beyond = beyond || worst > linear*1.2
	}
	if !beyond {
		t.Error("unequal bounds never need more than equal ones: the test proves little")
	}
}

// TestFixedBatchesPayForTheirVariance: the price of a corrected bit for a drawn
// move is that of those two terms.
func TestFixedBatchesPayForTheirVariance(t *testing.T) {
	const scale, size = 1e-4, 50
	m := AcceptanceBit{Target: newToy(2), Proposal: Proposal{Scale: scale}, Test: Test{Corrected: 1},
		Batch: Batch{Size: size}}
	facts := Facts{Records: 1000, Features: 2, Radius: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	got, err := m.Event(facts)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.plan(facts)
	if err != nil {
		t.Fatal(err)
	}
	test, err := m.Test.build(m.Batch)
	if err != nil {
		t.Fatal(err)
	}
	slope, varianceSlope := test.Lipschitz()
	each := p.perScale * 1000 / size // on a batch's scale, per |Z|
	linear := (slope + 2*varianceSlope*longestMove*each) * each
	bit, err := accountant.Bit{Contribution: linear, Isotropic: true,
		Growth: varianceSlope * each * each / (linear * linear), Most: longestMove * linear}.Event(accountant.Substitute)
	if err != nil {
		t.Fatal(err)
	}
	want, err := bit.SubsetSampled(1000, size)
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []float64{2, 8} {
		if g, w := got.RDP(order), want.RDP(order); !(g >= w && g <= w*(1+1e-5)) {
			t.Errorf("order %v: %v, want %v", order, g, w)
		}
	}
}
