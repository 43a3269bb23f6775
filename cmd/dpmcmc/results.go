package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/diag"
)

// leastDraws of a chain have an effective sample size.
const leastDraws = 4

// view is how results are shown.
type view struct{ standardised, acceptUnexplored bool }

func (v *view) bind(f *pflag.FlagSet) {
	f.BoolVar(&v.standardised, "standardised", false, "summarise per unit of the scaled columns instead of the file's")
}

// report prints the summary and the certificate, and writes them and the page with
// --out.
func (s *sampleSettings) report(f *finished, out io.Writer) (err error) {
	spent, totals, err := s.accounts.spent()
	if err != nil {
		return err
	}
	words := f.words(s.view) + spent
	text := words
	if s.json {
		r := f.results(s.view)
		r.Ledger = totals
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		text = string(b) + "\n"
	}
	if s.out != "" {
		err = errors.Join(writeFile(s.out, certificateFile, f.certificate.JSON()), s.accounts.certify(f.certificate.JSON()),
			writeFile(s.out, summaryFile, []byte(words)), f.writePage(s.out))
	}
	if s.json {
		_, werr := io.WriteString(out, text)
		return errors.Join(err, werr)
	}
	return errors.Join(err, say(out, text))
}

// words are the summary and the certificate for people. What is not private says so
// first.
func (f *finished) words(show view) string {
	mark := ""
	if f.certificate.Insecure {
		mark = insecureMark
	}
	return mark + f.summary(show) + "\n" + f.certificate.Words(f.complete)
}

// summary is the summary for people: the verdict first.
func (f *finished) summary(show view) string {
	for _, draws := range f.draws {
		if len(draws) < leastDraws {
			return fmt.Sprintf("Too few draws of %s to summarise: a chain has %d after warm-up.\n", f.data, len(draws))
		}
	}
	v, c := f.verdict(), f.certificate
	shown := v.Usable || show.acceptUnexplored
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
	if show.standardised {
		unit = "per unit of the scaled columns"
	}
	fmt.Fprintf(&b, "\n%s model of %s%s, %s; the first %.0f%% of each chain are left out:\n\n",
		f.model.Name, f.data, tempered, unit, 100*f.leftOut)
	table := f.table(show.standardised)
	if !shown {
		table = withheld(table)
	}
	b.WriteString(table.String())
	if shown {
		b.WriteString(f.oddsRatios(show.standardised))
	}
	for _, w := range warningLines(f.table(true)) {
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

// oddsRatios are those of a logistic regression: medians and 90% intervals.
func (f *finished) oddsRatios(standardised bool) string {
	lines := [][]string{{"odds ratio", "median", "5%", "95%"}}
	for i, r := range f.table(standardised) {
		if f.hasOddsRatio(i) {
			lines = append(lines, []string{r.Name, figure4(math.Exp(r.Median)), figure4(math.Exp(r.Q5)),
				figure4(math.Exp(r.Q95))})
		}
	}
	if len(lines) == 1 {
		return ""
	}
	return "\n" + aligned(lines)
}

// hasOddsRatio reports whether the exponential of a parameter is an odds ratio.
func (f *finished) hasOddsRatio(i int) bool {
	return f.model.Name == "logistic" && f.model.Shape.Terms[i].Column != ""
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

// results are the one object of --json.
type results struct {
	Files        []string            `json:"files,omitempty"` // of summary
	Insecure     bool                `json:"insecure"`
	Certificate  *chains.Certificate `json:"certificate,omitempty"`
	Complete     bool                `json:"complete"`
	Verdict      *chains.Verdict     `json:"verdict,omitempty"`
	Summary      []row               `json:"summary"`
	Standardised []row               `json:"standardised,omitempty"`
	Ledger       *ledgerTotals       `json:"ledger,omitempty"`
}

// results are those of a run. Both tables are given, whatever the view.
func (f *finished) results(show view) results {
	v := f.verdict()
	units, scaled := f.table(false), f.table(true)
	if !v.Usable && !show.acceptUnexplored {
		units, scaled = withheld(units), withheld(scaled)
	}
	return results{Insecure: f.certificate.Insecure, Certificate: f.certificate, Complete: f.complete, Verdict: &v,
		Summary: rows(units), Standardised: rows(scaled)}
}
