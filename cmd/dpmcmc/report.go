package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	words := s.summaryText(r, table) + "\n" + r.Certificate.Words(r.Complete)
	text := words
	if s.json {
		if text, err = reportJSON(r, table); err != nil {
			return err
		}
	}
	if s.out != "" {
		err = errors.Join(s.write(certificateFile, r.Certificate.JSON()), s.write(summaryFile, []byte(words)))
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
	fmt.Fprintf(&b, "Posterior of %s%s, after leaving out the first %.0f%% of each chain:\n\n%s\n",
		s.data, tempered, 100*s.warmup, strings.TrimRight(table.String(), "\n"))
	if warnings := warningLines(table); warnings != nil {
		b.WriteString("\nWarnings\n")
		for _, w := range warnings {
			fmt.Fprintf(&b, "  %s\n", w)
		}
		b.WriteString("  A private chain explores slowly. A larger ε, a lower --temperature or --loss beta\n" +
			"  lets the budget cross the posterior more often (docs/theory.md, section 5).\n")
	}
	return b.String()
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
func reportJSON(r *chains.Result, table diag.Table) (string, error) {
	b, err := json.MarshalIndent(struct {
		Certificate *chains.Certificate `json:"certificate"`
		Complete    bool                `json:"complete"`
		Summary     []row               `json:"summary"`
	}{r.Certificate, r.Complete, rows(table)}, "", "  ")
	return string(b) + "\n", err
}
