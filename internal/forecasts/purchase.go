package forecasts

import (
	"fmt"
	"strings"
	"time"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/prices"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/internal/typeset"
	"github.com/dpmcmc/dpmcmc/tune"
)

// Purchase is what a budget buys, with nothing else said: what sample would run, and
// what its draws are worth.
type Purchase struct {
	Kernel    string          `json:"kernel"`
	Settings  chains.Settings `json:"settings"`
	Want      string          `json:"want,omitempty"`
	Epsilon   float64         `json:"epsilon"`
	Delta     float64         `json:"delta"`
	Adjacency string          `json:"adjacency"`
	Theorem   string          `json:"theorem"`
	Guarantee string          `json:"guarantee"`
	Records   int64           `json:"records"`
	Features  int             `json:"features"`
	Model     string          `json:"model"`
	Predicted []worth         `json:"predicted"`
	Remedies  Remedies        `json:"remedies,omitempty"` // where the draws would not show the posterior
	Command   string          `json:"command"`

	// Arguments are the command, an argument with its value an entry.
	Arguments []string `json:"-"`
}

// worth is a forecast: null where the budget meets no setting, or a figure is not known.
type worth struct {
	Epsilon  float64  `json:"epsilon"`
	Widening *float64 `json:"widening"`
	// Between are the least and the most of simulated tables, where that is known.
	Between []float64 `json:"widening_between,omitempty"`
	Error   *float64  `json:"error"`
	ESS     *float64  `json:"ess"`
	Seconds *float64  `json:"seconds"`
	// Verdict is that on most simulated tables, where it is not that intervals can be used.
	Verdict string `json:"verdict,omitempty"`
	// ClipShift is by how many of its standard deviations the clip moves a parameter.
	ClipShift *float64 `json:"clip_shift,omitempty"`

	posterior bool
}

// worthOf is a forecast for programs.
func worthOf(f tune.Forecast) worth {
	w := worth{Epsilon: f.Epsilon}
	if f.Met {
		w.Widening, w.Error = runs.Figure(f.Widening), runs.Figure(f.Error)
		w.ESS, w.Seconds, w.Verdict = runs.Figure(f.ESS), runs.Figure(f.Time.Seconds()), f.Verdict
		w.posterior = f.Posterior()
		if f.Between[1] > f.Between[0] {
			w.Between = f.Between[:]
		}
		if f.Clipping.Shift > 0 {
			w.ClipShift = runs.Figure(f.Clipping.Shift)
		}
	}
	return w
}

// Words is the answer as a data steward reads it.
func (p *Purchase) Words() string {
	var b strings.Builder
	this := p.Predicted[0]
	switch {
	case !this.posterior:
		b.WriteString("Not enough: the draws would not show the posterior.\n")
	case this.Verdict != "":
		b.WriteString("Enough draws: they are expected to show the posterior, with a doubt.\n")
	default:
		b.WriteString("Enough to use: the draws are expected to show the posterior.\n")
	}
	if this.Verdict != "" {
		b.WriteString(typeset.Wrapped("  verdict on most simulated tables: ", this.Verdict))
	}
	if !this.posterior {
		b.WriteString(p.Remedies.words(p.Kernel))
	}
	b.WriteString("\n")
	fmt.Fprintf(&b, "ε = %s at δ = %s, unconditional (%s)\n", prices.RoundedUp(p.Epsilon), prices.RoundedUp(p.Delta),
		p.Adjacency)
	b.WriteString(typeset.Wrapped("  by: ", p.Theorem))
	fmt.Fprintf(&b, "  %d records, %d columns, model %s\n\n", p.Records, p.Features, p.Model)
	b.WriteString("Predicted on simulated data; no record was looked at, so it cost no privacy\n")
	b.WriteString(p.table())
	if this.Between != nil {
		fmt.Fprintf(&b, "On simulated tables this budget has ×%.3g to ×%.3g: more where columns and\n"+
			"responses spread less within their bounds.\n", this.Between[0], this.Between[1])
	}
	b.WriteString("Intervals are compared with those without privacy. The error is the distance\n" +
		"of the mean from the non-private one, in standard deviations of that posterior.\n")
	fmt.Fprintf(&b, "A posterior needs an effective sample size (ESS) of %d.\n", chains.LeastESS)
	if shift := p.Predicted[0].ClipShift; shift != nil {
		fmt.Fprintf(&b, "The clip moves a parameter by %.2g standard deviations of the posterior.\n", *shift)
	}
	b.WriteString("\nSettings, from public facts\n")
	for _, v := range p.Settings.Given() {
		text := fmt.Sprint(v.Value)
		if x, ok := v.Value.(float64); ok {
			text = prices.Short(x)
		}
		fmt.Fprintf(&b, "  %-13s %s\n", v.Name, text)
	}
	return b.String() + "\n" + typeset.Continued(p.Arguments)
}

// table has a row for the budget, half and twice of it.
func (p *Purchase) table() string {
	cell := func(format string, v *float64) string {
		if v == nil {
			return "–"
		}
		return fmt.Sprintf(format, *v)
	}
	lines := [][]string{{"", "ε", "intervals", "error", "ESS", "time"}}
	for i, of := range []string{"this budget", "half of it", "twice that"} {
		w := p.Predicted[i]
		seconds := "–"
		if w.Seconds != nil {
			seconds = lasting(time.Duration(*w.Seconds * float64(time.Second)))
		}
		lines = append(lines, []string{"  " + of, prices.Short3(w.Epsilon), cell("×%.3g", w.Widening), cell("%.2g", w.Error),
			size(w.ESS), seconds})
	}
	return typeset.Aligned(lines)
}

// size is an effective sample size.
func size(ess *float64) string {
	switch {
	case ess == nil:
		return "–"
	case *ess < 10:
		return fmt.Sprintf("%.2g", *ess)
	}
	return fmt.Sprintf("%.0f", *ess)
}

// lasting is how long something takes, roughly.
func lasting(d time.Duration) string {
	switch {
	case d < time.Second:
		return "under 1 s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}
