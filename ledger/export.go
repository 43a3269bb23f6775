package ledger

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
)

// ExportJSON writes the entries as one JSON list, without fingerprints: they would
// let a reader test guesses of the data.
func (l *Ledger) ExportJSON(w io.Writer) error {
	b := bufio.NewWriter(w)
	separator := "[\n"
	if err := l.Entries(func(e Entry) error {
		e.Print = ""
		raw, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(b, "%s  %s", separator, raw)
		separator = ",\n"
		return err
	}); err != nil {
		return err
	}
	fmt.Fprint(b, "\n]\n")
	return b.Flush()
}

var columns = []string{"entry", "time", "kind", "who", "command", "certificate", "releases", "count", "epsilon_alone",
	"delta", "epsilon_so_far", "limit", "order", "label"}

// ExportCSV writes one line for each entry, for a spreadsheet.
func (l *Ledger) ExportCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return err
	}
	if err := l.Entries(func(e Entry) error { return out.Write(e.fields()) }); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// fields are an entry's values for columns. A text that a spreadsheet would take for a
// formula is quoted.
func (e Entry) fields() []string {
	number := func(v float64) string {
		if v == 0 {
			return ""
		}
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	releases, count := "", ""
	if e.Event != nil {
		releases, count = e.Event.String(), strconv.FormatInt(e.Count, 10)
	}
	return []string{
		strconv.FormatInt(e.Number, 10), e.Time.Format(time.RFC3339), string(e.Kind), plain(e.Who), plain(e.Command),
		plain(e.Certificate),
		releases, count, number(e.Epsilon), number(e.Limit.Delta), number(e.TotalEpsilon), number(e.Limit.Epsilon),
		number(e.Limit.Order), plain(e.Label),
	}
}

func plain(s string) string {
	if s != "" && (s[0] == '=' || s[0] == '+' || s[0] == '-' || s[0] == '@') {
		return "'" + s
	}
	return s
}
