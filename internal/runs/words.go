package runs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/typeset"
)

// InsecureMark heads whatever comes from a run that is not private.
const InsecureMark = "NOT PRIVATE: drawn with --insecure-seed. Do not release these draws.\n\n"

// LeastDraws of a chain have an effective sample size.
const LeastDraws = 4

// View is how results are shown.
type View struct{ Standardised, AcceptUnexplored bool }

// Words are the summary and the certificate for people. What is not private says so
// first.
func (f *Run) Words(show View) string {
	mark := ""
	if f.Certificate.Insecure {
		mark = InsecureMark
	}
	return mark + f.summary(show) + "\n" + f.Certificate.Words(f.Complete)
}

// summary is the summary for people: the verdict first.
func (f *Run) summary(show View) string {
	for _, draws := range f.Draws {
		if len(draws) < LeastDraws {
			return fmt.Sprintf("Too few draws of %s to summarise: a chain has %d after warm-up.\n", f.Data, len(draws))
		}
	}
	v, c := f.Verdict(), f.Certificate
	shown := v.Usable || show.AcceptUnexplored
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", v.Headline)
	if c.Sampled != "" {
		fmt.Fprintf(&b, "  Sampled: %s.%s\n", c.Sampled, c.Widened())
	}
	for _, line := range slices.Concat(v.Reasons, v.Advice) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	if !shown {
		b.WriteString("  Standard deviations and quantiles are withheld; summary --accept-unexplored shows them.\n")
	}
	tempered := ""
	if c.Temperature != 1 {
		tempered = fmt.Sprintf(" at temperature %v", c.Temperature)
	}
	unit := "per unit of the columns in the file"
	if show.Standardised {
		unit = "per unit of the scaled columns"
	}
	if f.Model.Name == "softmax" {
		unit += ", less the mean over labels"
	}
	fmt.Fprintf(&b, "\n%s model of %s%s, %s; the first %.0f%% of each chain are left out:\n\n",
		f.Model.Name, f.Data, tempered, unit, 100*f.LeftOut)
	table := f.Table(show.Standardised)
	if !shown {
		table = withheld(table)
	}
	b.WriteString(table.String())
	if shown {
		b.WriteString(f.oddsRatios(show.Standardised))
	}
	for _, w := range warningLines(f.Table(true)) {
		fmt.Fprintf(&b, "Warning: %s\n", w)
	}
	return b.String()
}

// withheld is a table without what describes a spread that the chain did not explore.
func withheld(t diag.Table) diag.Table {
	out := slices.Clone(t)
	for i := range out {
		r := &out[i]
		for _, figure := range []*float64{&r.SD, &r.Median, &r.Q5, &r.Q95, &r.MAD, &r.MCSEMean, &r.MCSESD} {
			*figure = math.NaN()
		}
	}
	return out
}

// oddsRatios are those of a regression of labels: medians and 90% intervals. Of several labels they
// are of each and the first.
func (f *Run) oddsRatios(standardised bool) string {
	lines := [][]string{{"odds ratio", "median", "5%", "95%"}}
	table := f.Table(standardised)
	if f.Model.Name == "softmax" {
		table = f.betweenLabels(standardised)
	}
	for i, r := range table {
		if f.Model.Name == "softmax" || f.hasOddsRatio(i) {
			lines = append(lines, []string{r.Name, figure4(math.Exp(r.Median)), figure4(math.Exp(r.Q5)),
				figure4(math.Exp(r.Q95))})
		}
	}
	if len(lines) == 1 {
		return ""
	}
	return "\n" + typeset.Aligned(lines)
}

// betweenLabels summarises by how much a softmax regression's coefficients of each label are above
// those of the first, without the intercept's.
func (f *Run) betweenLabels(standardised bool) diag.Table {
	draws := f.Draws
	if !standardised {
		draws = f.InUnits()
	}
	terms, labels := f.Model.Shape.Terms, f.Model.Shape.Labels
	var names []string
	above := make([][][]float64, len(draws))
	for c, chain := range draws {
		above[c] = make([][]float64, len(chain))
	}
	for k, label := range labels[1:] {
		for j, t := range terms {
			if t.Column == "" {
				continue
			}
			names = append(names, fmt.Sprintf("%s, %s to %s", t.Name, label, labels[0]))
			for c, chain := range draws {
				for i, v := range chain {
					above[c][i] = append(above[c][i], v[(k+1)*len(terms)+j]-v[j])
				}
			}
		}
	}
	return diag.SummarizeAll(names, above)
}

// hasOddsRatio reports whether the exponential of a parameter is an odds ratio.
func (f *Run) hasOddsRatio(i int) bool {
	return f.Model.Name == "logistic" && f.Model.Shape.Terms[i].Column != ""
}

// warningLines says each kind of warning once, with the parameters it is about.
func warningLines(table diag.Table) []string {
	var kinds []diag.Kind
	about := map[diag.Kind][]string{}
	for _, w := range table.Warnings() {
		if about[w.Kind] == nil {
			kinds = append(kinds, w.Kind)
		}
		about[w.Kind] = append(about[w.Kind], w.Name)
	}
	var lines []string
	for _, k := range kinds {
		text := string(k)
		switch k {
		case diag.HighRHat:
			text = fmt.Sprintf("R-hat is above %v", diag.MaxRHat)
		case diag.LowESS:
			text = fmt.Sprintf("ESS is below %d a chain", diag.MinESSPerChain)
		}
		lines = append(lines, fmt.Sprintf("%s: %s", text, strings.Join(about[k], ", ")))
	}
	return lines
}

// Results are the one object of --json.
type Results struct {
	Files        []string            `json:"files,omitempty"` // of summary
	Insecure     bool                `json:"insecure"`
	Certificate  *chains.Certificate `json:"certificate,omitempty"`
	Complete     bool                `json:"complete"`
	Verdict      *chains.Verdict     `json:"verdict,omitempty"`
	Summary      []Row               `json:"summary"`
	Standardised []Row               `json:"standardised,omitempty"`
	Ledger       any                 `json:"ledger,omitempty"`
}

// Results are those of a run. Both tables are given, whatever the View.
func (f *Run) Results(show View) Results {
	v := f.Verdict()
	units, scaled := f.Table(false), f.Table(true)
	if !v.Usable && !show.AcceptUnexplored {
		units, scaled = withheld(units), withheld(scaled)
	}
	return Results{Insecure: f.Certificate.Insecure, Certificate: f.Certificate, Complete: f.Complete, Verdict: &v,
		Summary: Rows(units), Standardised: Rows(scaled)}
}

// Row is one parameter's summary as JSON; figures that do not exist are null.
type Row struct {
	Name     string   `json:"name"`
	Mean     *float64 `json:"mean"`
	SD       *float64 `json:"sd"`
	Median   *float64 `json:"median"`
	Q5       *float64 `json:"q5"`
	Q95      *float64 `json:"q95"`
	MCSEMean *float64 `json:"mcse_mean"`
	MCSESD   *float64 `json:"mcse_sd"`
	ESSBulk  *float64 `json:"ess_bulk"`
	ESSTail  *float64 `json:"ess_tail"`
	RHat     *float64 `json:"rhat"`
	Warnings []string `json:"warnings,omitempty"`
}

func Rows(t diag.Table) []Row {
	var out []Row
	for _, r := range t {
		v := Row{
			Name: r.Name, Mean: Figure(r.Mean), SD: Figure(r.SD), Median: Figure(r.Median), Q5: Figure(r.Q5), Q95: Figure(r.Q95),
			MCSEMean: Figure(r.MCSEMean), MCSESD: Figure(r.MCSESD), ESSBulk: Figure(r.ESSBulk), ESSTail: Figure(r.ESSTail),
			RHat: Figure(r.RHat),
		}
		for _, w := range r.Warnings() {
			v.Warnings = append(v.Warnings, w.String())
		}
		out = append(out, v)
	}
	return out
}

func Figure(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
