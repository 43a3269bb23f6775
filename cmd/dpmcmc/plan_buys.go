package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/internal/typeset"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/tune"
)

// purchase is what a budget buys, with nothing else said: what sample would run, and
// what its draws are worth.
type purchase struct {
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
	Command   string          `json:"command"`

	command []string // the same, an argument with its value an entry
}

// worth is a forecast: null where the budget meets no setting, or a figure is not known.
type worth struct {
	Epsilon  float64  `json:"epsilon"`
	Widening *float64 `json:"widening"`
	Error    *float64 `json:"error"`
	ESS      *float64 `json:"ess"`
	Seconds  *float64 `json:"seconds"`
	// ClipShift is by how many of its standard deviations the clip moves a parameter.
	ClipShift *float64 `json:"clip_shift,omitempty"`
}

func worthOf(f tune.Forecast) worth {
	w := worth{Epsilon: f.Epsilon}
	if f.Met {
		w.Widening, w.Error = runs.Figure(f.Widening), runs.Figure(f.Error)
		w.ESS, w.Seconds = runs.Figure(f.ESS), runs.Figure(f.Time.Seconds())
		if f.Clipping.Shift > 0 {
			w.ClipShift = runs.Figure(f.Clipping.Shift)
		}
	}
	return w
}

// buys answers plan without --solve.
func (s *planSettings) buys(ctx context.Context, f *pflag.FlagSet, out io.Writer) error {
	required := []string{"epsilon", "delta"}
	if s.want != "" {
		required = required[1:]
	}
	if missing := missing(f, required...); missing != "" {
		return fmt.Errorf("%s: privacy parameters have no defaults", missing)
	}
	if s.want != "" && s.Temperature == autoTemperature {
		return errors.New("--want and --temperature auto exclude one another; give one")
	}
	if s.want != "" && f.Changed("epsilon") {
		if s.public.schema != "" || f.Changed("records") {
			return errors.New("--want solves for --epsilon or for --records; leave one of them out")
		}
		s.public.records = 1
	}
	if err := s.public.check(f); err != nil {
		return err
	}
	if s.model == "" && s.public.schema == "" {
		s.model = "logistic"
	}
	if !f.Changed("radius") {
		s.public.radius = 1
	}
	shape, err := s.public.shape(s.model)
	if err != nil {
		return err
	}
	p, err := s.purchase(ctx, f, shape)
	if err != nil {
		return s.explained(setting.Flagged(err))
	}
	if s.json {
		return printJSON(out, p)
	}
	return say(out, p.words())
}

// purchase chooses as sample does, and predicts.
func (s *planSettings) purchase(ctx context.Context, f *pflag.FlagSet, shape *data.Shape) (*purchase, error) {
	adjacency, err := s.parsed()
	if err != nil {
		return nil, err
	}
	m, err := s.build(shape)
	if err != nil {
		return nil, err
	}
	if s.want != "" {
		if m, err = s.solveWant(ctx, f, m, adjacency); err != nil {
			return nil, err
		}
	}
	if s.Settings, err = tempered(ctx, s.foreseeing(m, adjacency), s.Settings, s.epsilon); err != nil {
		return nil, err
	}
	forecasts, err := foreseen(ctx, s.foreseeing(m, adjacency), s.Settings, s.epsilon, s.epsilon/2, 2*s.epsilon)
	if err != nil {
		return nil, err
	}
	this := forecasts[0]
	if !this.Met { // for the reason why
		_, err := chains.Choose(s.Settings, chains.ProblemOf(m, chains.Facts(m.Shape, adjacency), s.epsilon, s.delta))
		return nil, err
	}
	p := &purchase{
		Kernel: this.Settings.Kernel, Settings: this.Settings, Want: s.want, Epsilon: this.Cost.Epsilon, Delta: s.delta,
		Adjacency: adjacency.String(), Theorem: this.Cost.Theorem, Guarantee: "unconditional",
		Records: int64(m.Shape.Records), Features: m.Shape.Features(), Model: m.Name, command: s.command(m.Name),
	}
	p.Command = strings.Join(p.command, " ")
	for _, f := range forecasts {
		p.Predicted = append(p.Predicted, worthOf(f))
	}
	return p, nil
}

// foreseeing is what a forecast is asked for.
func (s *planSettings) foreseeing(m *models.Model, adjacency accountant.Adjacency) tune.Config {
	return tune.Config{Models: []*models.Model{m}, Adjacency: adjacency, Delta: s.delta, Work: forecastWork, Seed: 1}
}

// solveWant fills in the ε, or returns the model for the number of records, that buys what
// --want asks for.
func (s *planSettings) solveWant(ctx context.Context, f *pflag.FlagSet, m *models.Model,
	adjacency accountant.Adjacency) (*models.Model, error) {
	want, err := tune.ParseWant(s.want)
	if err != nil {
		return nil, fmt.Errorf("--want: %w", err)
	}
	c := s.foreseeing(m, adjacency)
	if !f.Changed("epsilon") {
		s.epsilon, _, err = tune.EpsilonFor(ctx, c, s.Settings, want)
		return m, err
	}
	if s.public.records, _, err = tune.RecordsFor(ctx, c, s.Settings, want, s.epsilon); err != nil {
		return nil, err
	}
	shape, err := s.public.shape(s.model)
	if err != nil {
		return nil, err
	}
	return s.build(shape)
}

// command is the command that runs the plan, an argument with its value an entry.
func (s *planSettings) command(model string) []string {
	schema := s.public.schema
	schema = cmp.Or(schema, "FILE.toml")
	c := []string{"dpmcmc sample", "--data FILE.csv", "--schema " + schema, fmt.Sprintf("--epsilon %v", s.epsilon),
		fmt.Sprintf("--delta %v", s.delta), "--model " + model}
	if s.adjacency != "substitute" {
		c = append(c, "--adjacency "+s.adjacency)
	}
	for _, v := range s.Settings.Given() {
		if v.Value == true {
			c = append(c, "--"+v.Name)
		} else {
			c = append(c, fmt.Sprintf("--%s %v", v.Name, v.Value))
		}
	}
	return append(c, "--out run/")
}

// words is the answer as a data steward reads it.
func (p *purchase) words() string {
	var b strings.Builder
	this := p.Predicted[0]
	enough := this.ESS != nil && *this.ESS >= chains.LeastESS
	if enough {
		b.WriteString("Enough to use: the draws are expected to show the posterior.\n\n")
	} else {
		b.WriteString("Not enough: the draws would not show the posterior.\n\n")
	}
	fmt.Fprintf(&b, "ε = %s at δ = %s, unconditional (%s)\n", roundedUp(p.Epsilon), roundedUp(p.Delta), p.Adjacency)
	b.WriteString(typeset.Wrapped("  by: ", p.Theorem))
	fmt.Fprintf(&b, "  %d records, %d columns, model %s\n\n", p.Records, p.Features, p.Model)
	b.WriteString("Predicted on simulated data; no record was looked at, so it cost no privacy\n")
	b.WriteString(p.table())
	b.WriteString("Intervals are compared with those without privacy. The error is the distance\n" +
		"of the mean from the non-private one, in standard deviations of that posterior.\n")
	fmt.Fprintf(&b, "A posterior needs an effective sample size (ESS) of %d.\n", chains.LeastESS)
	if about, err := chains.Describe(p.Kernel); err == nil && !about.Anchored && !enough {
		b.WriteString("--temperature auto widens the posterior until the budget buys that.\n")
	}
	if shift := p.Predicted[0].ClipShift; shift != nil {
		fmt.Fprintf(&b, "The clip moves a parameter by %.2g standard deviations of the posterior.\n", *shift)
	}
	b.WriteString("\nSettings, from public facts\n")
	for _, v := range p.Settings.Given() {
		text := fmt.Sprint(v.Value)
		if x, ok := v.Value.(float64); ok {
			text = short(x)
		}
		fmt.Fprintf(&b, "  %-13s %s\n", v.Name, text)
	}
	return b.String() + "\n" + typeset.Continued(p.command)
}

// table has a row for the budget, half and twice of it.
func (p *purchase) table() string {
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
		lines = append(lines, []string{"  " + of, short3(w.Epsilon), cell("×%.3g", w.Widening), cell("%.2g", w.Error),
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
