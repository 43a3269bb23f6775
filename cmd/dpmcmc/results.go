package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/diag"
)

// The files of a run, beside its draws.
const (
	certificateFile = "certificate.json"
	summaryFile     = "summary.txt"
)

// leastDraws of a chain have an effective sample size.
const leastDraws = 4

// report prints the summary and the certificate, and writes them with --out.
func (s *sampleSettings) report(r *chains.Result, out io.Writer) (err error) {
	table := r.Summary()
	spent, totals, err := s.accounts.spent()
	if err != nil {
		return err
	}
	words := s.summaryText(r, table) + "\n" + r.Certificate.Words(r.Complete) + spent
	text := words
	if s.json {
		if !r.Verdict.Usable && !s.acceptUnexplored {
			table = withheld(table)
		}
		if text, err = reportJSON(r, table, totals); err != nil {
			return err
		}
	}
	if s.out != "" {
		err = errors.Join(s.write(certificateFile, r.Certificate.JSON()), s.accounts.certify(r.Certificate.JSON()), s.write(summaryFile, []byte(words)))
	}
	_, werr := io.WriteString(out, text)
	return errors.Join(err, werr)
}

// summaryText is the summary for people, with what is to be said against it.
func (s *sampleSettings) summaryText(r *chains.Result, table diag.Table) string {
	var b strings.Builder
	c := r.Certificate
	for _, draws := range r.Draws {
		if len(draws) < leastDraws {
			return fmt.Sprintf("Too few draws of %s to summarise: a chain has %d after warm-up.\n", s.data, len(draws))
		}
	}
	tempered := ""
	if c.Temperature != 1 {
		tempered = fmt.Sprintf(" at temperature %v", c.Temperature)
	}
	fmt.Fprintf(&b, "%s\n", r.Verdict.Headline)
	for _, line := range slices.Concat(r.Verdict.Reasons, r.Verdict.Advice) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	if !r.Verdict.Usable && !s.acceptUnexplored {
		table = withheld(table)
		b.WriteString("  Standard deviations and quantiles are withheld; --accept-unexplored shows them all the same.\n")
	}
	fmt.Fprintf(&b, "\nPosterior of %s%s, after leaving out the first %.0f%% of each chain:\n\n%s\n",
		s.data, tempered, 100*s.warmup, strings.TrimRight(table.String(), "\n"))
	if warnings := warningLines(table); warnings != nil {
		b.WriteString("\nWarnings\n")
		for _, w := range warnings {
			fmt.Fprintf(&b, "  %s\n", w)
		}
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

// warningLines says each kind of warning once, with the parameters it is about.
func warningLines(table diag.Table) []string {
	var kinds []diag.Kind
	about := map[diag.Kind][]string{}
	for _, w := range table.Warnings() {
		if about[w.Kind] == nil {
			kinds = append(kinds, w.Kind)
		}
		name, _, _ := strings.Cut(w.Name, " ")
		about[w.Kind] = append(about[w.Kind], name)
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

// reportJSON is the one object of --json.
func reportJSON(r *chains.Result, table diag.Table, spent *ledgerTotals) (string, error) {
	b, err := json.MarshalIndent(struct {
		Certificate *chains.Certificate `json:"certificate"`
		Complete    bool                `json:"complete"`
		Verdict     chains.Verdict      `json:"verdict"`
		Summary     []row               `json:"summary"`
		Ledger      *ledgerTotals       `json:"ledger,omitempty"`
	}{r.Certificate, r.Complete, r.Verdict, rows(table), spent}, "", "  ")
	return string(b) + "\n", err
}
