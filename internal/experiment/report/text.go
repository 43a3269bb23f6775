package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dpmcmc/dpmcmc/internal/experiment"
)

// Text is the results for a terminal: for each metric a line a method, a column
// for each ε, means with standard errors over the repeats.
func Text(r *experiment.Results) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", r.Config.Title)
	for i, line := range Verdict(r) {
		fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", min(i, 1)), line)
	}
	fmt.Fprintf(&b, "\n%s\n", r.Privacy)
	if s := r.Spent; s != nil {
		fmt.Fprintf(&b, "Spent in all: ε = %.4g at δ = %.3g (%s adjacency, %s; %s), %d releases.\n", s.Epsilon, s.Delta,
			s.Adjacency, s.Guarantee, s.Theorem, s.Releases)
	}
	fmt.Fprintf(&b, "Every run has δ = %v, under substitution. Mean ± standard error over %d repeats.\n", r.Config.Delta,
		r.Config.Repeats)
	for _, m := range r.Metrics {
		table := rows(r, m)
		if len(table) == 0 {
			continue
		}
		lines := [][]string{append([]string{m.Title, "guarantee"}, columns(r)...)}
		for _, row := range table {
			label := row.Label
			if len(sizes(r)) > 1 {
				label = fmt.Sprintf("%s, %d records", label, row.Records)
			}
			lines = append(lines, append([]string{"  " + label, row.Guarantee}, row.Cells...))
		}
		b.WriteString("\n" + align(lines))
	}
	if failed := failures(r); len(failed) > 0 {
		fmt.Fprintf(&b, "\n%d of %d runs have no result; the first: %s: %s\n", len(failed), len(r.Cells), failed[0].Cell,
			failed[0].Error)
	}
	return b.String()
}

// align pads columns to one width, the first to the left.
func align(lines [][]string) string {
	width := make([]int, len(lines[0]))
	for _, l := range lines {
		for i, cell := range l {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, l := range lines {
		var line strings.Builder
		for i, cell := range l {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i < 2 {
				line.WriteString(cell + pad + "  ")
			} else {
				line.WriteString(pad + cell + "  ")
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}
