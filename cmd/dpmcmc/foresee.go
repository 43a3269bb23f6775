package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/tune"
)

// forecastTables are the simulated tables of a run's forecast, and forecastWork the looks
// at their records.
const (
	forecastTables = 3
	forecastWork   = 20_000_000
)

// foreseeing is what a forecast of a run is asked for.
func (s *sampleSettings) foreseeing(m *models.Model, adjacency accountant.Adjacency) tune.Config {
	return tune.Config{Models: []*models.Model{m}, Adjacency: adjacency, Delta: s.delta, Work: forecastWork,
		Repeats: forecastTables, Warmup: s.warmup.Foreseen(), Seed: s.seed}
}

// unexploredError is a run that is not made: its draws are predicted not to show a
// posterior.
type unexploredError struct {
	ess     float64
	doubted string // the verdict foreseen; empty where the ESS is what is wanting
	other   bool   // anchored chains fit the model, and are not the run's
}

func (e *unexploredError) Error() string {
	if e.doubted != "" {
		return fmt.Sprintf("on most simulated tables the verdict is %q\nNothing was spent. Raise --epsilon, or fit fewer "+
			"parameters. --accept-unexplored runs it all the same", e.doubted)
	}
	try := ""
	if e.other {
		try = "try --kernel anchored, which pays once for what this kernel pays for in every step, "
	}
	return fmt.Sprintf("the draws are predicted not to show a posterior: an effective sample size of %s, where %d are "+
		"needed.\nNothing was spent. Raise --epsilon, %sor let --temperature auto widen the posterior until the budget buys "+
		"draws of it (dpmcmc plan says how wide). --accept-unexplored runs it all the same", size(&e.ess), chains.LeastESS,
		try)
}

// foresee says what a run is predicted to be worth before it is paid for, and refuses one
// that would show no posterior.
func (s *sampleSettings) foresee(ctx context.Context, m *models.Model, plan *chains.Plan, asked chains.Settings,
	errw io.Writer) error {
	if s.acceptUnexplored || m.Shape == nil {
		return nil
	}
	asked.Kernel = plan.Settings.Kernel
	f, err := foreseen(ctx, s.foreseeing(m, plan.Problem.Facts.Adjacency), asked, s.epsilon)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		fmt.Fprintf(errw, "No forecast: %v\n", setting.Flagged(err))
		return nil
	}
	this := f[0]
	fmt.Fprintf(errw, "Predicted: %s\n", forecastWords(this))
	if !this.Posterior() {
		return &unexploredError{this.ESS, this.Doubted, plan.Anchorable()}
	}
	return nil
}

// longestForecast is when a forecast is given up: posteriors of networks take a reference
// too long to follow. Tests change it, so that no clock decides what they see.
var longestForecast = time.Minute

// foreseen is tune.Foresee, given up after a while.
func foreseen(ctx context.Context, c tune.Config, s chains.Settings, epsilons ...float64) ([]tune.Forecast, error) {
	short, cancel := context.WithTimeout(ctx, longestForecast)
	defer cancel()
	f, err := tune.Foresee(short, c, s, epsilons...)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("the model %s takes more than %v to simulate; plan --solve prices it all the same",
			c.Models[0].Name, longestForecast)
	}
	return f, err
}

// forecastWords is a forecast on one line.
func forecastWords(f tune.Forecast) string {
	w := worthOf(f)
	text := "ESS " + size(w.ESS)
	if w.Widening != nil {
		text += fmt.Sprintf(", intervals ×%.3g as wide as without privacy", *w.Widening)
	}
	if w.Error != nil {
		text += fmt.Sprintf(", mean %.2g sd off", *w.Error)
	}
	text += ", " + lasting(f.Time)
	if w.ClipShift != nil {
		text += fmt.Sprintf("; the clip moves a parameter by %.2g sd", *w.ClipShift)
	}
	return text
}
