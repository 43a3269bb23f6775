package targets

import (
	"math"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
)

// The check values are those of theory §1.2.
func TestLogisticLipschitzMatchesTheory(t *testing.T) {
	for beta, want := range map[float64]float64{1.1: 0.7325, 1.33: 0.5275, 1.5: 0.4454, 2: 0.2963} {
		loss := Loss{Beta: beta}
		m, err := New(RegressionConfig{Features: 1, Loss: loss, Prior: priors.Gaussian{SD: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.PredictorLipschitz(); math.Abs(got-want) > 5e-5 {
			t.Errorf("L(%v) = %v, theory says %v", beta, got, want)
		}
	}
}
