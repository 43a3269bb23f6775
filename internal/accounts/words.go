package accounts

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/dpmcmc/dpmcmc/ledger"
)

// LimitText says what a limit allows.
func LimitText(l ledger.Limit) string {
	if l.Epsilon == 0 {
		return fmt.Sprintf("no limit; counts ε at δ = %.3g (%v)", l.Delta, l.Adjacency)
	}
	return fmt.Sprintf("at most ε = %.4g at δ = %.3g (%v)", l.Epsilon, l.Delta, l.Adjacency)
}

// SpentText is what has been spent on these people so far, in one line.
func SpentText(path string, e ledger.Entry) string {
	charges := fmt.Sprintf("%d charges", e.Charges)
	if e.Charges == 1 {
		charges = "1 charge"
	}
	const line = "Spent on these people so far: "
	switch {
	case e.Charges == 0:
		return line + "nothing; " + LimitText(e.Limit) + " (" + path + ")."
	case e.Limit.Epsilon > 0:
		return fmt.Sprintf("%s%.1f%% of the limit ε = %.4g at δ = %.3g (%v), ε = %.4g, in %s (%s; %s).",
			line, 100*e.Share(), e.Limit.Epsilon, e.Limit.Delta, e.Limit.Adjacency, e.TotalEpsilon, charges, e.Theorem(), path)
	}
	return fmt.Sprintf("%sε = %.4g at δ = %.3g (%v) in %s by basic composition; if results chose later runs, "+
		"ε = %.4g at δ = %.3g (%s); no limit (%s).",
		line, e.PlainEpsilon, e.PlainDelta, e.Limit.Adjacency, charges, e.TotalEpsilon, e.TotalDelta(), e.Theorem(), path)
}

// Totals are a ledger for programs.
type Totals struct {
	Ledger    string     `json:"ledger"`
	Files     []string   `json:"files"`
	Entries   int64      `json:"entries"`
	Charges   int64      `json:"charges"`
	Epsilon   float64    `json:"epsilon"`
	Delta     float64    `json:"delta"`
	Plain     [2]float64 `json:"plain_epsilon_delta"`
	Share     float64    `json:"share_of_limit"`
	Adjacency string     `json:"adjacency"`
	Limit     *float64   `json:"limit"`
	Order     float64    `json:"order,omitempty"`
}

// TotalsOf is a ledger at an entry of it, with the labels of its files.
func TotalsOf(path string, e ledger.Entry, files []string) Totals {
	t := Totals{
		Ledger: path, Files: files, Entries: e.Number + 1, Charges: e.Charges, Epsilon: e.TotalEpsilon,
		Delta: e.TotalDelta(), Plain: [2]float64{e.PlainEpsilon, e.PlainDelta}, Share: e.Share(),
		Adjacency: e.Limit.Adjacency.String(), Order: e.Limit.Order,
	}
	if e.Limit.Epsilon > 0 {
		t.Limit = &e.Limit.Epsilon
	}
	return t
}

// Now is what a ledger says at its newest entry.
func Now(l *ledger.Ledger) (Totals, error) {
	last, files, _, err := read(l, 0)
	return TotalsOf(l.Path(), last, files), err
}

// read returns the newest entry, the files' labels, and the last count entries.
func read(l *ledger.Ledger, count int) (last ledger.Entry, files []string, entries []ledger.Entry, err error) {
	err = l.Entries(func(e ledger.Entry) error {
		last = e
		if e.Kind == ledger.File {
			files = append(files, e.Label)
		}
		if entries = append(entries, e); len(entries) > count {
			entries = entries[1:]
		}
		return nil
	})
	return last, files, entries, err
}

// Statement is a ledger for people, with the last count entries.
func Statement(l *ledger.Ledger, count int) (string, error) {
	last, files, entries, err := read(l, count)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintln(&b, SpentText(l.Path(), last))
	if len(files) > 0 {
		fmt.Fprintf(&b, "Files about them: %s.\n", strings.Join(files, ", "))
	}
	if len(entries) == 0 {
		return b.String(), nil
	}
	fmt.Fprintln(&b)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "entry\ttime\twho\tε alone\tε so far\twhat")
	for _, e := range entries {
		alone, what := "", string(e.Kind)
		switch e.Kind {
		case ledger.Charged:
			alone, what = fmt.Sprintf("%.4g", e.Epsilon), releasesText(e)
		case ledger.File:
			what = "file " + e.Label
		case ledger.Opened, ledger.Limited:
			what += ": " + LimitText(e.Limit)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%.4g\t%s\n", e.Number, e.Time.Format("2006-01-02 15:04:05"), e.Who, alone,
			e.TotalEpsilon, what)
	}
	w.Flush()
	return b.String(), nil
}

func releasesText(e ledger.Entry) string {
	if e.Count == 1 {
		return e.Event.String()
	}
	return fmt.Sprintf("%d × (%v)", e.Count, e.Event)
}
