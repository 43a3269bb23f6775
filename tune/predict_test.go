package tune_test

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/tune"
)

// TestPredictIsWhatASearchMeasures: predictions rise with the budget, repeat exactly, and
// a budget that meets no setting has none.
func TestPredictIsWhatASearchMeasures(t *testing.T) {
	c := config(t, 1000, 2)
	s := chains.Settings{Kernel: "barker", Iterations: 5000, Temperature: 0.2, Start: "prior-mean"}
	first, err := tune.Predict(t.Context(), c, s, 1, 4, 1e-9)
	if err != nil {
		t.Fatal(err)
	}
	again, err := tune.Predict(t.Context(), c, s, 1)
	if err != nil {
		t.Fatal(err)
	}
	if low, high := first[0].ESS(), first[1].ESS(); !(low > 0 && high > 2*low) || first[2].Parameters != nil {
		t.Errorf("an ESS of %v at ε = 1, of %v at 4, of %+v at 1e-9", low, high, first[2])
	}
	if a, b := first[0].Settings, again[0].Settings; a != b || first[0].Cost.Epsilon > 1 {
		t.Errorf("settings %+v and then %+v", a, b)
	}
	if _, err := tune.Predict(t.Context(), c, s); err == nil {
		t.Error("no ε was answered")
	}
}
