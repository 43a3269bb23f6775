// Package report shows the results of an experiment: one HTML file that needs
// nothing else, SVG charts, and a table for a terminal.
package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/dpmcmc/dpmcmc/internal/experiment"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
)

//go:embed report.html
var page string

var parsed = template.Must(template.New("report").Funcs(template.FuncMap{"short": short,
	"epsilon": experiment.Epsilon}).Parse(page))

// Write writes a chart METRIC.svg for every metric, and report.html. It returns
// the names of the files. All but report.html, which shows wall times, are the same
// whenever the results are.
func Write(r *experiment.Results, dir string) ([]string, error) {
	var files []string
	d := document{Results: r, Verdict: Verdict(r), Timings: timings(r), Failures: failures(r)}
	for _, m := range r.Metrics {
		svg, err := chart(r, m)
		if err != nil {
			return nil, fmt.Errorf("report: %s: %w", m.Name, err)
		}
		if svg == nil {
			continue
		}
		files = append(files, m.Name+".svg")
		if err := experiment.WriteFile(filepath.Join(dir, m.Name+".svg"), svg); err != nil {
			return nil, err
		}
		d.Sections = append(d.Sections, section{Metric: m, Chart: template.HTML(inline(svg)), Rows: rows(r, m),
			Epsilons: columns(r)})
	}
	var text bytes.Buffer
	if err := parsed.Execute(&text, d); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return append(files, "report.html"), experiment.WriteFile(filepath.Join(dir, "report.html"), text.Bytes())
}

// document is what the page shows.
type document struct {
	*experiment.Results
	Verdict  []string
	Sections []section
	Timings  []timing
	Failures []experiment.Result
}

// section is one metric.
type section struct {
	Metric   metrics.Metric
	Chart    template.HTML
	Epsilons []string
	Rows     []row
}

// row is a method at one number of records, with a cell for each ε.
type row struct {
	Label     string
	Records   int
	Guarantee string
	Cells     []string
}

type timing struct {
	Label         string
	Records       int
	Mean, Largest float64
}

var xmlDeclaration = regexp.MustCompile(`(?s)^.*?(<svg )`)

// inline makes an SVG document part of a page: without its declaration and
// addresses of namespaces, which HTML does not need.
func inline(svg []byte) string {
	text := xmlDeclaration.ReplaceAllString(string(svg), "$1")
	return namespaces.ReplaceAllString(text, "")
}

var namespaces = regexp.MustCompile(`\s+xmlns(:\w+)?="[^"]*"`)

// columns head the cells of rows.
func columns(r *experiment.Results) (list []string) {
	for _, e := range epsilons(r) {
		list = append(list, "ε = "+experiment.Epsilon(e))
	}
	if list == nil {
		return []string{"no privacy"}
	}
	return list
}

// rows is the table of a metric.
func rows(r *experiment.Results, m metrics.Metric) (list []row) {
	for _, records := range sizes(r) {
		for _, label := range labels(r) {
			one := row{Label: label, Records: records, Cells: make([]string, len(columns(r)))}
			some := false
			for _, s := range r.Summary {
				if s.Metric != m.Name || s.Records != records || s.Label != label {
					continue
				}
				some, one.Guarantee = true, string(s.Guarantee)
				text := short(s.Mean)
				if s.N > 1 {
					text += " ± " + short(s.SD/math.Sqrt(float64(s.N)))
				}
				for i, e := range append(epsilons(r), make([]float64, max(0, len(one.Cells)-len(epsilons(r))))...) {
					if s.Epsilon == e || s.Epsilon == 0 {
						one.Cells[i] = text
					}
				}
			}
			if some {
				list = append(list, one)
			}
		}
	}
	return list
}

// timings are mean and largest wall times; none on private data.
func timings(r *experiment.Results) (list []timing) {
	if r.Spent != nil {
		return nil
	}
	for _, records := range sizes(r) {
		for _, label := range labels(r) {
			t, n := timing{Label: label, Records: records}, 0
			for i, c := range r.Cells {
				if c.Label == label && c.Records == records {
					n++
					t.Mean += (r.Seconds[i] - t.Mean) / float64(n)
					t.Largest = max(t.Largest, r.Seconds[i])
				}
			}
			list = append(list, t)
		}
	}
	return list
}

// failures are the cells without figures.
func failures(r *experiment.Results) (list []experiment.Result) {
	for _, c := range r.Cells {
		if c.Error != "" {
			list = append(list, c)
		}
	}
	return list
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
