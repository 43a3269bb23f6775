package diag

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// columns names the printed figures and says how each is rounded.
var columns = []struct {
	title  string
	format func(float64) string
	figure func(Summary) float64
}{
	{"mean", significant, func(s Summary) float64 { return s.Mean }},
	{"sd", significant, func(s Summary) float64 { return s.SD }},
	{"median", significant, func(s Summary) float64 { return s.Median }},
	{"5%", significant, func(s Summary) float64 { return s.Q5 }},
	{"95%", significant, func(s Summary) float64 { return s.Q95 }},
	{"mcse_mean", significant, func(s Summary) float64 { return s.MCSEMean }},
	{"ess_bulk", whole, func(s Summary) float64 { return s.ESSBulk }},
	{"ess_tail", whole, func(s Summary) float64 { return s.ESSTail }},
	{"rhat", threeDecimals, func(s Summary) float64 { return s.RHat }},
}

func significant(x float64) string   { return defined(x, strconv.FormatFloat(x, 'g', 4, 64)) }
func whole(x float64) string         { return defined(x, strconv.FormatFloat(math.Floor(x), 'f', 0, 64)) }
func threeDecimals(x float64) string { return defined(x, strconv.FormatFloat(x, 'f', 3, 64)) }

// defined is the text of a figure, and a dash for one that does not exist.
func defined(x float64, text string) string {
	if math.IsNaN(x) {
		return "–"
	}
	return text
}

// String renders the table as text for a terminal: one line of titles, one line
// per parameter, columns aligned to the right and a newline after each. ESS is
// rounded down.
func (t Table) String() string {
	cells := [][]string{{"parameter"}}
	for _, c := range columns {
		cells[0] = append(cells[0], c.title)
	}
	for _, row := range t {
		line := []string{row.Name}
		for _, c := range columns {
			line = append(line, c.format(c.figure(row.Summary)))
		}
		cells = append(cells, line)
	}
	widths := make([]int, len(columns)+1)
	for _, line := range cells {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, line := range cells {
		fmt.Fprintf(&b, "%-*s", widths[0], line[0])
		for i, cell := range line[1:] {
			fmt.Fprintf(&b, "  %*s", widths[i+1], cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
