package forecasts

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/dpmcmc/dpmcmc/internal/setting"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/tune"
)

// Ranking is what tune found, with what was asked.
type Ranking struct {
	*tune.Result
	Epsilon, Delta float64
	Adjacency      string
	Records        int64
	Objective      string
	Warmup         runs.Warmup
	Posteriors     int    // that were compared: temperatures and losses
	Out            string // where the winner is written; empty for nowhere
}

// TOML is the winner as a configuration of sample.
func (a Ranking) TOML() string {
	best := a.Candidates[0]
	m := best.Model
	all := []chains.Named{
		{Name: "epsilon", Value: a.Epsilon}, {Name: "delta", Value: a.Delta}, {Name: "adjacency", Value: a.Adjacency},
		{Name: "model", Value: m.Name},
	}
	if a.Warmup.Given {
		all = append(all, chains.Named{Name: "warmup", Value: a.Warmup.Share})
	}
	for _, v := range models.Settings() {
		if value := v.Value(&m.Options); value != nil && v.Has(m.Name) {
			all = append(all, chains.Named{Name: v.Name, Value: value})
		}
	}
	all = append(all, best.Settings.Given()...)
	var b strings.Builder
	fmt.Fprintf(&b, "# Chosen by dpmcmc tune on simulated data, for tables of %d records. Use it with\n# dpmcmc sample "+
		"--config, which refuses it where it costs more than the budget.\n", a.Records)
	for _, v := range all {
		switch value := v.Value.(type) {
		case string:
			fmt.Fprintf(&b, "%s = %q\n", v.Name, value)
		case []float64:
			fmt.Fprintf(&b, "%s = [%s]\n", v.Name, strings.Trim(strings.ReplaceAll(fmt.Sprint(value), " ", ", "), "[]"))
		default:
			fmt.Fprintf(&b, "%s = %v\n", v.Name, v.Value)
		}
	}
	return b.String()
}

// Words is the ranking for people.
func (a Ranking) Words() string {
	var b strings.Builder
	fmt.Fprintf(&b, "What ε = %v, δ = %v buys on %d records, by %d settings tried on simulated data alone.\nNo private "+
		"record was read, so this costs no privacy.\n\n", a.Epsilon, a.Delta, a.Records, a.Tried)
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "kernel\tloss\tτ\tESS\tleast ESS\tmean error\tsd ratio\tε\tsettings")
	for _, c := range a.Candidates {
		errs, ratio := "-", "-"
		if c.Whole {
			errs, ratio = fmt.Sprintf("%.2f", c.MeanError()), fmt.Sprintf("%.2f", c.SDRatio())
		}
		fmt.Fprintf(w, "%s\t%s\t%v\t%.3g\t%.3g\t%s\t%s\t%.4g\t%s\n",
			c.Settings.Kernel, c.Model.Options.LossName(), c.Settings.Temperature, c.ESS(), leastESS(c), errs, ratio,
			c.Cost.Epsilon, settingsText(c))
	}
	w.Flush()
	fmt.Fprintf(&b, `
ESS: predicted bulk effective sample size after warm-up, harmonic mean over parameters,
where a mean that is e standard deviations off counts for at most 9/e² draws. Mean
error: root mean square over parameters, in posterior standard deviations. Sd ratio:
over the non-private posterior's. A dash: the chain was not simulated whole.
`)
	if a.Posteriors > 1 {
		fmt.Fprintf(&b, "Rows of another τ or loss sample another posterior: an ESS does not say which to want.\n")
	}
	for _, k := range a.Skipped {
		fmt.Fprintf(&b, "Not compared: %s, %s, τ = %v: %v\n", k.Kernel, k.Model.Options.LossName(), k.Temperature,
			setting.Flagged(k.Reason))
	}
	if a.Out == "" {
		fmt.Fprintf(&b, "\nThe winner for sample --config (--out writes it to a file):\n\n%s", a.TOML())
	} else {
		fmt.Fprintf(&b, "\nThe winner is in %s, for sample --config.\n", a.Out)
	}
	if ess := leastESS(a.Candidates[0]); !(ess >= chains.LeastESS) {
		fmt.Fprintf(&b, `
Its draws are predicted not to show a posterior: an effective sample size of %s, where
%d are needed. sample refuses it without --accept-unexplored. Raise --epsilon, try a
lower temperature (--temperatures), or use the kernel anchored where the model has it.
`, size(&ess), chains.LeastESS)
	}
	return b.String()
}

func leastESS(c tune.Candidate) float64 {
	least := c.Parameters[0].ESS
	for _, p := range c.Parameters {
		least = min(least, p.ESS)
	}
	return least
}

// settingsText is what tells settings apart, on one line.
func settingsText(c tune.Candidate) string {
	var parts []string
	if c.Default {
		parts = append(parts, "defaults:")
	}
	for _, s := range c.Settings.Given() {
		switch s.Name {
		case "kernel", "chains", "temperature", "proposal", "test", "accounting", "schedule", "acceptance":
			continue
		}
		text := fmt.Sprint(s.Value)
		if v, ok := s.Value.(float64); ok {
			text = fmt.Sprintf("%.3g", v)
		}
		parts = append(parts, s.Name+" "+text)
	}
	return strings.Join(parts, ", ")
}

// Row is a candidate as JSON; figures that are not known are null.
type Row struct {
	Kernel      string          `json:"kernel"`
	Model       string          `json:"model"`
	Loss        string          `json:"loss"`
	Beta        float64         `json:"beta"`
	Temperature float64         `json:"temperature"`
	Default     bool            `json:"default"`
	Whole       bool            `json:"whole"`
	Epsilon     float64         `json:"epsilon"`
	Score       *float64        `json:"score"`
	ESS         *float64        `json:"ess"`
	ESSBulk     []*float64      `json:"ess_bulk"`
	MeanError   []*float64      `json:"mean_error"`
	SDRatio     []*float64      `json:"sd_ratio"`
	Settings    chains.Settings `json:"settings"`
}

// Report is the one object of --json.
func (a Ranking) Report() any {
	answer := struct {
		Epsilon    float64  `json:"epsilon"`
		Delta      float64  `json:"delta"`
		Adjacency  string   `json:"adjacency"`
		Records    int64    `json:"records"`
		Objective  string   `json:"objective"`
		Simulated  bool     `json:"simulated_data_only"`
		Tried      int      `json:"tried"`
		Candidates []Row    `json:"candidates"`
		Skipped    []string `json:"skipped,omitempty"`
		Config     string   `json:"config"`
	}{
		Epsilon: a.Epsilon, Delta: a.Delta, Adjacency: a.Adjacency,
		Records:   a.Records,
		Objective: a.Objective, Simulated: true, Tried: a.Tried, Config: a.TOML(),
	}
	for _, c := range a.Candidates {
		m := c.Model
		row := Row{
			Kernel: c.Settings.Kernel, Model: m.Name, Loss: m.Options.Loss, Beta: m.Options.Beta,
			Temperature: c.Settings.Temperature, Default: c.Default, Whole: c.Whole, Epsilon: c.Cost.Epsilon,
			Score: runs.Figure(c.Score), ESS: runs.Figure(c.ESS()), Settings: c.Settings,
		}
		for _, p := range c.Parameters {
			row.ESSBulk, row.MeanError, row.SDRatio = append(row.ESSBulk, runs.Figure(p.ESS)),
				append(row.MeanError, runs.Figure(p.MeanError)), append(row.SDRatio, runs.Figure(p.SDRatio))
		}
		answer.Candidates = append(answer.Candidates, row)
	}
	for _, k := range a.Skipped {
		answer.Skipped = append(answer.Skipped, fmt.Sprintf("%s, %s, τ = %v: %v", k.Kernel, k.Model.Options.LossName(),
			k.Temperature, setting.Flagged(k.Reason)))
	}
	return answer
}
