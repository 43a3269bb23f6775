package experiment

import (
	"context"
	"errors"
	"testing"
)

const foreseeable = `
name = "large"
epsilons = [0.5, 1]
delta = 1e-6
repeats = 3
[data]
file = "nowhere.csv"
schema = "bundled:adult"
test-share = 0.2
[reference]
chains = 1
warmup = 20
draws = 20
[[method]]
name = "barker"
settings = { iterations = 20 }
[[method]]
name = "dp-sgd"
epsilons = [1]
settings = { steps = 5, rate = 0.1 }
`

// TestForecastReadsNothing: the file is not there, every run and every posterior is
// foreseen, and small tables are left to their first run.
func TestForecastReadsNothing(t *testing.T) {
	p, err := NewPlan(parse(t, foreseeable), Options{Public: true})
	if err != nil {
		t.Fatal(err)
	}
	if took, err := p.Forecast(t.Context(), 2); err != nil || took <= 0 {
		t.Errorf("%v, %v", took, err)
	}
	runs, err := p.rehearse(t.Context(), 400)
	if err != nil {
		t.Fatal(err)
	}
	times := 0
	for i, r := range runs {
		if times += r.times; r.seconds <= 0 {
			t.Errorf("the rehearsal of run %d took %v", i, r.seconds)
		}
	}
	if want := len(p.Cells) + p.Config.Repeats; times != want {
		t.Errorf("%d runs and posteriors are foreseen, want %d", times, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Forecast(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if took, err := plan(t, small, Options{}).Forecast(t.Context(), 0); took != 0 || err != nil {
		t.Errorf("a small table: %v, %v", took, err)
	}
}
