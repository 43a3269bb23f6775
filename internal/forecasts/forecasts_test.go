package forecasts

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/tune"
)

// forecast is one of a run of two parameters.
func forecast(ess float64) tune.Forecast {
	return tune.Forecast{Epsilon: 1, Met: true, ESS: ess, Error: 0.25, Widening: 1.5, Time: 90 * time.Second}
}

// TestWorth: a budget that meets no setting is worth nothing that is known, in figures and in
// words; an effective sample size below what a posterior needs is said first.
func TestWorth(t *testing.T) {
	if w := worthOf(tune.Forecast{Epsilon: 2}); w.Epsilon != 2 || w.ESS != nil || w.Error != nil || w.Widening != nil ||
		w.Seconds != nil {
		t.Errorf("%+v", w)
	}
	if line := Line(forecast(400)); line != "ESS 400, intervals ×1.5 as wide as without privacy, mean 0.25 sd off, 90 s" {
		t.Errorf("%q", line)
	}
	wide := forecast(400)
	wide.Between = [2]float64{1.2, 4}
	p := Purchase{Kernel: "anchored", Predicted: slices.Repeat([]worth{worthOf(wide)}, 3)}
	if line, words := Line(wide), p.Words(); !strings.Contains(line, "privacy (×1.2 to ×4 on simulated tables)") ||
		!strings.Contains(words, "×1.2 to ×4") {
		t.Errorf("%q, %s", line, words)
	}
	for ess, want := range map[float64]string{400: "Enough to use", 20: "Not enough"} {
		p := Purchase{Kernel: "barker", Epsilon: 1, Delta: 1e-6, Theorem: "some theorem",
			Arguments: []string{"dpmcmc sample"}}
		for range 3 {
			p.Predicted = append(p.Predicted, worthOf(forecast(ess)))
		}
		words := p.Words()
		if !strings.HasPrefix(words, want) || !strings.Contains(words, "some theorem") ||
			strings.Contains(words, "--temperature auto") != (ess < chains.LeastESS) {
			t.Errorf("an ESS of %v: %s", ess, words)
		}
	}
}

// TestLasting: times are rounded to what a person plans with.
func TestLasting(t *testing.T) {
	for d, want := range map[time.Duration]string{
		300 * time.Millisecond: "under 1 s", 90 * time.Second: "90 s", 10 * time.Minute: "10 min", 5 * time.Hour: "5 h",
	} {
		if got := lasting(d); got != want {
			t.Errorf("%v is %q; want %q", d, got, want)
		}
	}
}

// TestUnexplored: what is said depends on what is wanting, and no remedy is named twice.
func TestUnexplored(t *testing.T) {
	few := &UnexploredError{Forecast: tune.Forecast{ESS: 12, Settings: chains.Settings{Chains: 4, Iterations: 1000}}}
	if text := few.Error(); !strings.Contains(text, "sample size of 12, where 50") || strings.Contains(text, "anchored") {
		t.Error(text)
	}
	few.Remedies = Remedies{"--kernel anchored", "--epsilon 5"}
	if text := few.Error(); !strings.Contains(text, "--kernel anchored") {
		t.Error(text)
	}
	if text := few.Error(); !strings.Contains(text, "\n  --epsilon 5\n") {
		t.Error(text)
	}
	doubted := &UnexploredError{Forecast: tune.Forecast{Doubted: "Not usable"}}
	if text := doubted.Error(); !strings.Contains(text, `"Not usable"`) ||
		strings.Contains(text, "sample size") {
		t.Error(text)
	}
}

// TestTooFewSteps are not mended by a larger budget.
func TestTooFewSteps(t *testing.T) {
	settings := chains.Settings{Chains: 4, Iterations: 1}
	short := &UnexploredError{Forecast: tune.Forecast{ESS: math.NaN(), Settings: settings}}
	if text := short.Error(); !strings.Contains(text, "4 steps in all") || !strings.Contains(text, "--iterations") ||
		strings.Contains(text, "--epsilon") {
		t.Error(text)
	}
}

// TestRankingIsAConfiguration: the winner is TOML that says all it was chosen with, and
// candidates that were skipped are named with the reason.
func TestRankingIsAConfiguration(t *testing.T) {
	m := &models.Model{Name: "logistic", Options: models.Options{Loss: "log", PriorSD: 3}}
	r := Ranking{
		Result: &tune.Result{
			Candidates: []tune.Candidate{{Model: m, Settings: chains.Settings{Kernel: "barker", Step: 0.25, Start: "prior-mean"},
				Parameters: []tune.Parameter{{ESS: 30}, {ESS: 90}}}},
			Skipped: []tune.Skipped{{Kernel: "dphmc", Model: m, Temperature: 1, Reason: errors.New("no gradients")}},
		},
		Epsilon: 2, Delta: 1e-6, Adjacency: "substitute", Records: 500,
	}
	var values map[string]any
	if err := toml.Unmarshal([]byte(r.TOML()), &values); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"epsilon": int64(2), "delta": 1e-6, "adjacency": "substitute",
		"model": "logistic", "kernel": "barker", "step": 0.25, "start": "prior-mean", "prior-sd": int64(3)} {
		if values[name] != want {
			t.Errorf("%s = %v; want %v", name, values[name], want)
		}
	}
	words := r.Words()
	for _, want := range []string{"Not compared: dphmc, log, τ = 1: no gradients", "an effective sample size of 30",
		r.TOML()} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in\n%s", want, words)
		}
	}
}
