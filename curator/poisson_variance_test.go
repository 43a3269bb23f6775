package curator

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
)

// TestPoissonBatchVarianceMoves adds a record to Poisson batches of no, one, two
// and three others: the variance that a corrected test subtracts moves by the
// record's own part, at most (1−q)c², which is what is charged. A variance that
// were 0 until a batch has two records would move by twice that at the second.
func TestPoissonBatchVarianceMoves(t *testing.T) {
	const clip, rate = 0.01, 0.05
	x := []float64{clip, clip, -clip, clip}
	m := AcceptanceBit{Target: newToy(1), Clip: clip, Test: Test{Corrected: 1}, Batch: Batch{Rate: rate}}
	facts := Facts{Records: 4, Features: 1, RowsPerPerson: 1, Adjacency: accountant.AddRemove}
	b, err := bitsOver(m, facts, record.New(x, 1, nil, 4, 0))
	if err != nil {
		t.Fatal(err)
	}
	b.moveStep[0] = -1
	variance := func(index ...int32) float64 {
		return b.variance(b.pass.Sums([]float64{0}, []float64{-1}, b.moveStep, index), len(index))
	}
	charged := (1 - rate) * clip * clip / (rate * rate)
	for _, others := range [][]int32{{}, {1}, {1, 2}, {1, 2, 3}} {
		moved := math.Abs(variance(append(others, 0)...) - variance(others...))
		if moved > charged*(1+1e-9) {
			t.Errorf("beside %d others a record moves the variance by %v, %v is charged", len(others), moved, charged)
		}
		if moved < charged*0.999 {
			t.Errorf("beside %d others a record moves the variance by %v only: the test proves little, %v is charged",
				len(others), moved, charged)
		}
	}
}
