package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/tune"
)

// tuneAnswer is what tune found, with what was asked.
type tuneAnswer struct {
	result   *tune.Result
	models   map[string]modelSettings
	settings *tuneSettings
}

// setting is a flag of sample with its value.
type setting struct {
	flag  string
	value any
}

// flagsOf are the flags that give sample the settings of a chain.
func flagsOf(r chains.Settings) []setting {
	var out []setting
	for _, s := range []struct {
		setting
		given bool
	}{
		{setting{"kernel", r.Kernel}, true},
		{setting{"iterations", r.Iterations}, true},
		{setting{"chains", r.Chains}, true},
		{setting{"temperature", r.Temperature}, true},
		{setting{"start", r.Start}, r.Start != ""},
		{setting{"start-share", r.StartShare}, r.StartShare != 0},
		{setting{"step", r.Step}, r.Step != 0},
		{setting{"proposal", r.Proposal}, r.Proposal != ""},
		{setting{"clip", r.Clip}, r.Clip != 0},
		{setting{"test", r.Test}, r.Test != ""},
		{setting{"accounting", r.Accounting}, r.Accounting != ""},
		{setting{"batch", r.Batch}, r.Batch != 0},
		{setting{"rate", r.Rate}, r.Rate != 0},
		{setting{"fixed-batch", true}, r.FixedBatch},
		{setting{"full", true}, r.FullData},
		{setting{"noise", r.Noise}, r.Noise != 0},
		{setting{"variance", r.Variance}, r.Variance != 0},
		{setting{"friction", r.Friction}, r.Friction != 0},
		{setting{"schedule", r.Schedule}, r.Schedule != ""},
		{setting{"as-published", true}, r.AsPublished},
		{setting{"leapfrog", r.Leapfrog}, r.Leapfrog != 0},
		{setting{"max-move", r.MaxMove}, r.MaxMove != 0},
		{setting{"acceptance", r.Acceptance}, r.Acceptance != ""},
		{setting{"ratio-noise", r.RatioNoise}, r.RatioNoise != 0},
	} {
		if s.given {
			out = append(out, s.setting)
		}
	}
	return out
}

// toml is the winner as a configuration of sample.
func (a tuneAnswer) toml() string {
	best, s := a.result.Candidates[0], a.settings
	m := a.models[best.Model]
	all := append([]setting{
		{"epsilon", s.epsilon}, {"delta", s.delta}, {"adjacency", s.adjacency},
		{"model", m.model}, {"loss", m.loss}, {"prior-sd", m.priorSD}, {"warmup", s.warmup},
	}, flagsOf(best.Settings)...)
	if m.beta != 0 {
		all = append(all, setting{"beta", m.beta})
	}
	if m.model == "linear" {
		all = append(all, setting{"min-scale", m.minScale})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Chosen by dpmcmc tune on simulated data, for tables of %d records. Use it with\n# dpmcmc sample --config, which refuses it where it costs more than the budget.\n", s.records)
	for _, v := range all {
		if text, ok := v.value.(string); ok {
			fmt.Fprintf(&b, "%s = %q\n", v.flag, text)
		} else {
			fmt.Fprintf(&b, "%s = %v\n", v.flag, v.value)
		}
	}
	return b.String()
}

// text is the ranking for people.
func (a tuneAnswer) text() string {
	var b strings.Builder
	s := a.settings
	fmt.Fprintf(&b, "What ε = %v, δ = %v buys on %d records, by %d settings tried on simulated data alone.\nNo private record was read, so this costs no privacy.\n\n", s.epsilon, s.delta, s.records, a.result.Tried)
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "kernel\tloss\tτ\tESS\tleast ESS\tmean error\tsd ratio\tε\tsettings")
	for _, c := range a.result.Candidates {
		errs, ratio := "-", "-"
		if c.Whole {
			errs, ratio = fmt.Sprintf("%.2f", c.MeanError()), fmt.Sprintf("%.2f", c.SDRatio())
		}
		fmt.Fprintf(w, "%s\t%s\t%v\t%.3g\t%.3g\t%s\t%s\t%.4g\t%s\n",
			c.Settings.Kernel, c.Model, c.Settings.Temperature, c.ESS(), leastESS(c), errs, ratio, c.Cost.Epsilon, settingsText(c))
	}
	w.Flush()
	fmt.Fprintf(&b, `
ESS: predicted bulk effective sample size after warm-up, harmonic mean over parameters,
where a mean that is e standard deviations off counts for at most 9/e² draws. Mean
error: root mean square over parameters, in posterior standard deviations. Sd ratio:
over the non-private posterior's. A dash: the chain was not simulated whole.
`)
	if len(a.settings.temperatures)*len(a.models) > 1 {
		fmt.Fprintf(&b, "Rows of another τ or loss sample another posterior: an ESS does not say which to want.\n")
	}
	for _, k := range a.result.Skipped {
		fmt.Fprintf(&b, "Not compared: %s, %s, τ = %v: %v\n", k.Kernel, k.Model, k.Temperature, flagged(k.Reason))
	}
	if a.settings.out == "" {
		fmt.Fprintf(&b, "\nThe winner for sample --config (--out writes it to a file):\n\n%s", a.toml())
	} else {
		fmt.Fprintf(&b, "\nThe winner is in %s, for sample --config.\n", a.settings.out)
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
	for _, s := range flagsOf(c.Settings) {
		switch s.flag {
		case "kernel", "chains", "temperature", "proposal", "test", "accounting", "schedule", "acceptance":
			continue
		}
		text := fmt.Sprint(s.value)
		if v, ok := s.value.(float64); ok {
			text = fmt.Sprintf("%.3g", v)
		}
		parts = append(parts, s.flag+" "+text)
	}
	return strings.Join(parts, ", ")
}

// tuneRow is a candidate as JSON; figures that are not known are null.
type tuneRow struct {
	Kernel      string         `json:"kernel"`
	Model       string         `json:"model"`
	Loss        string         `json:"loss"`
	Beta        float64        `json:"beta"`
	Temperature float64        `json:"temperature"`
	Default     bool           `json:"default"`
	Whole       bool           `json:"whole"`
	Epsilon     float64        `json:"epsilon"`
	Score       *float64       `json:"score"`
	ESS         *float64       `json:"ess"`
	ESSBulk     []*float64     `json:"ess_bulk"`
	MeanError   []*float64     `json:"mean_error"`
	SDRatio     []*float64     `json:"sd_ratio"`
	Settings    map[string]any `json:"settings"`
}

// writeJSON is the one object of --json.
func (a tuneAnswer) writeJSON(out io.Writer) error {
	answer := struct {
		Epsilon    float64   `json:"epsilon"`
		Delta      float64   `json:"delta"`
		Adjacency  string    `json:"adjacency"`
		Records    int64     `json:"records"`
		Objective  string    `json:"objective"`
		Simulated  bool      `json:"simulated_data_only"`
		Tried      int       `json:"tried"`
		Candidates []tuneRow `json:"candidates"`
		Skipped    []string  `json:"skipped,omitempty"`
		Config     string    `json:"config"`
	}{
		Epsilon: a.settings.epsilon, Delta: a.settings.delta, Adjacency: a.settings.adjacency, Records: a.settings.records,
		Objective: a.settings.objective, Simulated: true, Tried: a.result.Tried, Config: a.toml(),
	}
	for _, c := range a.result.Candidates {
		m := a.models[c.Model]
		row := tuneRow{
			Kernel: c.Settings.Kernel, Model: m.model, Loss: m.loss, Beta: m.beta, Temperature: c.Settings.Temperature,
			Default: c.Default, Whole: c.Whole, Epsilon: c.Cost.Epsilon, Score: figure(c.Score), ESS: figure(c.ESS()), Settings: map[string]any{},
		}
		for _, p := range c.Parameters {
			row.ESSBulk, row.MeanError, row.SDRatio = append(row.ESSBulk, figure(p.ESS)), append(row.MeanError, figure(p.MeanError)), append(row.SDRatio, figure(p.SDRatio))
		}
		for _, s := range flagsOf(c.Settings) {
			row.Settings[s.flag] = s.value
		}
		answer.Candidates = append(answer.Candidates, row)
	}
	for _, k := range a.result.Skipped {
		answer.Skipped = append(answer.Skipped, fmt.Sprintf("%s, %s, τ = %v: %v", k.Kernel, k.Model, k.Temperature, flagged(k.Reason)))
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(answer)
}
