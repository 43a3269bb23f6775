package curator

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/core/record"
	"github.com/dpmcmc/dpmcmc/targets"
)

// narrow claims to be linear in all features with one parameter.
type narrow struct{ toy }

func (narrow) Dim() int { return 1 }

// Loss is of the first feature alone.
func (narrow) Loss(dst, theta []float64, rows targets.Rows) {
	for i := range dst {
		dst[i] = rows.Row(i)[0] * theta[0]
	}
}

// TestFalseLinearTargets: a target that claims a linear predictor with another
// number of parameters than features has no certificate: clips along a product
// of rows and moves that do not fit would mix the features of several records.
func TestFalseLinearTargets(t *testing.T) {
	facts := Facts{Records: 3, Features: 2, Radius: 1, RowsPerPerson: 1, Adjacency: accountant.Substitute}
	target := narrow{newToy(2)}
	for _, move := range []Proposal{{Scale: 0.1}, {Scale: 0.1, OneComponent: true}, {Radius: 0.1}} {
		if _, err := (AcceptanceBit{Target: target, Proposal: move}).Event(facts); err == nil {
			t.Errorf("%v: a bit without a clip was priced", move)
		}
		if _, err := (ThinnedBit{Target: target, Proposal: move, Rate: 0.99}).Event(facts); err == nil {
			t.Errorf("%v: a thinned bit without a clip was priced", move)
		}
		// With a clip no record's contribution depends on another's features.
		m := AcceptanceBit{Target: target, Proposal: move, Clip: 5}
		sum := func(x []float64) int64 {
			b, err := bitsOver(m, facts, record.New(x, 2, nil, 3, 1))
			if err != nil {
				t.Fatal(err)
			}
			b.moveStep[0] = 1
			return b.pass.Sums([]float64{0}, []float64{1}, b.moveStep, nil).Sum
		}
		alone := sum([]float64{0, 0, 0.5, 0, 0, 0}) - sum([]float64{0, 0, 0, 0, 0, 0})
		beside := sum([]float64{0, 0.9, 0.5, 0, 0, 0}) - sum([]float64{0, 0.9, 0, 0, 0, 0})
		if alone != beside {
			t.Errorf("%v: a record contributes %v alone, %v beside another", move, alone, beside)
		}
	}
}
