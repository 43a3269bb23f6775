package runs

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"unicode"

	"github.com/dpmcmc/dpmcmc/internal/stancsv"
	"github.com/dpmcmc/dpmcmc/models"
)

// columnsFile says for people and other programs what the columns of draws files are.
const columnsFile = "columns.csv"

// calledNames are what people call the parameters of a model: terms where there are
// some.
func calledNames(m *models.Model) []string {
	names := make([]string, len(m.Parameters))
	seen := map[string]bool{}
	for i, p := range m.Parameters {
		if names[i] = p.Label; p.Label == "" || seen[p.Label] {
			names[i] = strings.TrimSpace(p.Name + " " + p.Label)
		}
		seen[p.Label] = true
	}
	return names
}

// NamePrefix starts the header lines that name the columns, dp_name_1 and so on.
const NamePrefix = "dp_name_"

// namePairs are the header lines of draws files that name the columns. A name is on one
// line.
func namePairs(m *models.Model) [][2]string {
	var pairs [][2]string
	for i, name := range calledNames(m) {
		oneLine := strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, name)
		pairs = append(pairs, [2]string{fmt.Sprintf("%s%d", NamePrefix, i+1), oneLine})
	}
	return pairs
}

// HeaderNames are the names that a draws file carries, or those of its columns.
func HeaderNames(c *stancsv.Chain) []string {
	names := make([]string, len(c.Names))
	for i, column := range c.Names {
		if names[i] = Extra(c, fmt.Sprintf("%s%d", NamePrefix, i+1)); names[i] == "" {
			names[i] = column
		}
	}
	return names
}

// columnsCSV is the columns file of a model. Units are those of summaries: draws are per
// unit of the scaled columns.
func columnsCSV(m *models.Model) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	lines := [][]string{{"column", "name", "unit_in_summaries"}}
	for i, name := range calledNames(m) {
		lines = append(lines, []string{stancsv.ColumnName(m.Parameters[i].Name), name, m.Parameters[i].Unit})
	}
	if err := w.WriteAll(lines); err != nil {
		panic("dpmcmc: a buffer takes whatever is written: " + err.Error())
	}
	return b.Bytes()
}
