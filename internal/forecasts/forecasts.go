// Package forecasts says what a run will be worth before it is paid for: in words, and in
// figures for programs. Tables are simulated from public facts, so it costs no privacy.
package forecasts

import (
	"context"
	"errors"
	"fmt"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/tune"
)

// Work is the looks at records of simulated tables, and Tables are those of a forecast, of a plan as of a run,
// so that both say the same. Tests of what does not depend on them change it.
const Work = 20_000_000

var Tables = 5

// AutoTemperature stands for the one that the budget affords.
const AutoTemperature = -1

// UnexploredError is a run that is not made: its draws are predicted not to show a
// posterior.
type UnexploredError struct {
	Forecast tune.Forecast
	Remedies Remedies
}

func (e *UnexploredError) Error() string {
	f := e.Forecast
	if tooFew(f) {
		return fmt.Sprintf("%d steps in all are too few for an effective sample size of %d.\nNothing was spent. Raise "+
			"--iterations, or leave it out. --accept-unexplored runs it all the same",
			f.Settings.Chains*f.Settings.Iterations, chains.LeastESS)
	}
	why := fmt.Sprintf("the draws are predicted not to show a posterior: an effective sample size of %s, where %d are "+
		"needed.", size(&f.ESS), chains.LeastESS)
	if f.Doubted != "" {
		why = fmt.Sprintf("on most simulated tables the verdict is %q", f.Doubted)
	}
	return why + "\nNothing was spent. " + e.Remedies.words(f.Settings.Kernel) +
		"--accept-unexplored runs it all the same"
}

// tooFew reports whether the steps that were asked for cannot show a posterior, however they are made.
func tooFew(f tune.Forecast) bool {
	return f.Doubted == "" && f.Settings.Chains*f.Settings.Iterations < 2*chains.LeastESS
}

// Reference is the work at which the reference of a forecast is given up: of linear models on
// 4000 records 10⁴ gradients and more. It is no time, so that a busy machine says the same.
// Tests change it.
var Reference int64 = 20_000_000_000

// Foresee is tune.Foresee, given up where a reference needs more than Reference.
func Foresee(ctx context.Context, c tune.Config, s chains.Settings, epsilons ...float64) ([]tune.Forecast, error) {
	c.Reference = Reference
	f, err := tune.Foresee(ctx, c, s, epsilons...)
	if errors.Is(err, tune.ErrReference) {
		return nil, fmt.Errorf("the model %s takes too much work to simulate; plan --solve prices it all the same",
			c.Models[0].Name)
	}
	return f, err
}

// Line is a forecast on one line.
func Line(f tune.Forecast) string {
	w := worthOf(f)
	text := "ESS " + size(w.ESS)
	if w.Widening != nil {
		text += fmt.Sprintf(", intervals ×%.3g as wide as without privacy", *w.Widening)
		if w.Between != nil {
			text += fmt.Sprintf(" (×%.3g to ×%.3g on simulated tables)", w.Between[0], w.Between[1])
		}
	}
	if w.Error != nil {
		text += fmt.Sprintf(", mean %.2g sd off", *w.Error)
	}
	text += ", " + lasting(f.Time)
	if w.ClipShift != nil {
		text += fmt.Sprintf("; the clip moves a parameter by %.2g sd", *w.ClipShift)
	}
	if f.Verdict != "" {
		text += "\nMost simulated tables have this verdict: " + f.Verdict
	}
	return text
}

// Tempered are the settings with the temperature that --temperature auto asks for: the
// highest at which the budget is predicted to buy the ESS that is asked for.
func Tempered(ctx context.Context, c tune.Config, s chains.Settings, epsilon float64) (chains.Settings, error) {
	if s.Temperature != AutoTemperature {
		return s, nil
	}
	s.Temperature = 0
	if _, err := Foresee(ctx, c, s, epsilon); err != nil { // before it is done several times
		return s, fmt.Errorf("--temperature auto: %w", err)
	}
	tau, _, err := tune.Temper(ctx, c, s, epsilon)
	if err != nil {
		return s, fmt.Errorf("--temperature auto: %w", err)
	}
	if tau < 1 {
		s.Temperature = tau
	}
	return s, nil
}
