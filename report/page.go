package report

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/dpmcmc/dpmcmc/diag"
)

// Page is what a report shows. All of it is released or public.
type Page struct {
	// Title heads the page: the model and the table, say. Required.
	Title string
	// Verdict is whether the draws can be used. Required.
	Verdict Verdict
	// Privacy is the privacy label: what the run cost and what that means. Required.
	Privacy []Fact
	// Parameters are the quantities to show, in the analyst's units. At least one.
	Parameters []Parameter
	// RatioName is what the exponentials of parameters with Ratio are called, such as
	// "Odds ratios". Defaults to nothing, and no table of them.
	RatioName string
	// Settings are the run's settings, for whoever repeats it.
	Settings []Fact
	// Cite says how to cite the run. Defaults to nothing.
	Cite string
}

// Verdict says whether draws can be used as a posterior.
type Verdict struct {
	// Usable reports that standard deviations and intervals may be used. The page
	// leaves them out otherwise.
	Usable bool
	// Headline is one sentence: "Usable: …" or "Not a posterior: …". Required.
	Headline string
	// Reasons are why, and Advice is what to do, one sentence each.
	Reasons, Advice []string
}

// Fact is one line of a label.
type Fact struct{ Name, Value string }

// Parameter is one quantity and its draws after warm-up.
type Parameter struct {
	// Name is what the analyst calls it. Required.
	Name string
	// Unit is the unit of its values, such as "log-odds per year". Defaults to none.
	Unit string
	// Ratio says that its exponential is of interest too: a ratio per unit.
	Ratio bool
	// Chains are its draws, one slice a chain. Required.
	Chains [][]float64
	// Prior are draws of its prior, in the same unit. Defaults to none, which
	// leaves the prior out.
	Prior []float64
}

// most bounds what is drawn for tables of many parameters: the least mixed are
// shown, the others are in the table alone.
const (
	mostTraces = 24
	mostPairs  = 3
)

//go:embed page.html
var source string

var parsed = template.Must(template.New("page").Funcs(template.FuncMap{"short": short, "ratio": ratio}).Parse(source))

// document is what the template reads.
type document struct {
	Page
	Rows      []row
	Ratios    []row // those of which the exponential is shown
	Intervals template.HTML
	OwnScales bool    // of the intervals
	Panels    []panel // a parameter's plots, the least mixed first
	LeftOut   int     // parameters without plots
	Pairs     template.HTML
	Draws     int
	Chains    int
}

type row struct {
	Parameter
	diag.Summary
	Warnings []string
}

type panel struct {
	Name, Unit               string
	Trace, Ranks, Comparison template.HTML
}

// Write writes the page. Errors: a title, verdict, label or parameter that is
// missing, parameters whose chains differ in number, and those of w.
func Write(w io.Writer, p Page) error {
	if err := p.check(); err != nil {
		return err
	}
	d := document{Page: p, Chains: len(p.Parameters[0].Chains)}
	for _, c := range p.Parameters[0].Chains {
		d.Draws += len(c)
	}
	for _, q := range p.Parameters {
		r := row{Parameter: q, Summary: diag.Summarize(q.Chains)}
		for _, w := range r.Summary.Warnings() {
			r.Warnings = append(r.Warnings, w.String())
		}
		d.Rows = append(d.Rows, r)
		if q.Ratio && p.RatioName != "" {
			d.Ratios = append(d.Ratios, r)
		}
	}
	d.Intervals, d.OwnScales = intervals(d.Rows, p.Verdict.Usable)
	worst := leastMixed(d.Rows)
	for _, r := range worst[:min(len(worst), mostTraces)] {
		d.Panels = append(d.Panels, panel{
			r.Name, r.Unit, traces(r.Parameter), ranks(r.Parameter), densities(r.Parameter, p.Verdict.Usable),
		})
	}
	d.LeftOut = len(worst) - len(d.Panels)
	d.Pairs = pairs(worst[:min(len(worst), mostPairs)])
	return parsed.Execute(w, d)
}

func (p Page) check() error {
	switch {
	case p.Title == "":
		return errors.New("report: Page.Title is empty; name the model and the table")
	case p.Verdict.Headline == "":
		return errors.New("report: Page.Verdict.Headline is empty; say whether the draws can be used")
	case len(p.Privacy) == 0:
		return errors.New("report: Page.Privacy is empty; say what the run cost, with ε, δ, adjacency and theorem")
	case len(p.Parameters) == 0:
		return errors.New("report: Page.Parameters is empty; a page shows at least one")
	}
	for i, q := range p.Parameters {
		if q.Name == "" {
			return fmt.Errorf("report: parameter %d has no name", i+1)
		}
		if len(q.Chains) == 0 || len(q.Chains) != len(p.Parameters[0].Chains) {
			return fmt.Errorf("report: %q has %d chains and the first parameter %d; give at least one, and as many for each",
				q.Name, len(q.Chains), len(p.Parameters[0].Chains))
		}
	}
	return nil
}

// leastMixed orders rows by their effective sample size, the smallest first.
func leastMixed(rows []row) []row {
	sorted := slices.Clone(rows)
	size := func(r row) float64 {
		if math.IsNaN(r.ESSBulk) {
			return -1
		}
		return r.ESSBulk
	}
	slices.SortStableFunc(sorted, func(a, b row) int {
		switch x, y := size(a), size(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return sorted
}

// ratio prints the exponential of a quantile, which is that quantile of the ratio.
func ratio(v float64) string { return short(math.Exp(v)) }

// short prints a figure with four digits that mean something.
func short(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, 0):
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
