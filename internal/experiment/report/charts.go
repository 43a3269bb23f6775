package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/dpmcmc/dpmcmc/internal/experiment"
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
	"github.com/dpmcmc/dpmcmc/internal/plot"
)

// chart draws a metric against ε, one panel for each number of records; nil if no
// cell has the metric.
func chart(r *experiment.Results, m metrics.Metric) ([]byte, error) {
	var panels []plot.Panel
	for _, records := range sizes(r) {
		p := plot.Panel{Title: m.Title, XLabel: "ε", YLabel: m.Name, LogX: wide(epsilons(r)), LogY: m.LogScale,
			Share: m.Share, Beside: true}
		if len(sizes(r)) > 1 {
			p.Title = fmt.Sprintf("%s, %d records", m.Title, records)
		}
		for _, label := range labels(r) {
			if l, ok := curve(r, m, records, label); ok {
				l.Style = style(r, label)
				p.Lines = append(p.Lines, l)
			}
		}
		if len(p.Lines) > 0 {
			p.Lines = append(p.Lines, limit(r, m)...)
			panels = append(panels, p)
		}
	}
	if panels == nil {
		return nil, nil
	}
	var text bytes.Buffer
	if err := plot.Grid(&text, 2, panels...); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// curve is a metric's mean over repeats against ε, with bars of one standard
// error. A method without a guarantee is a dashed line across.
func curve(r *experiment.Results, m metrics.Metric, records int, label string) (plot.Line, bool) {
	l := plot.Line{Name: label}
	for _, s := range r.Summary {
		if s.Metric != m.Name || s.Records != records || s.Label != label || m.LogScale && !(s.Mean > 0) {
			continue
		}
		if s.Epsilon == 0 {
			all := epsilons(r)
			if len(all) == 0 {
				all = []float64{0.5, 2}
			}
			return plot.Line{Name: label, X: []float64{all[0], all[len(all)-1]}, Y: []float64{s.Mean, s.Mean},
				Dashed: true}, true
		}
		half := s.SD / math.Sqrt(float64(s.N))
		low := s.Mean - half
		if m.LogScale && low <= 0 {
			low = s.Mean / 2 // a logarithmic axis has no 0 to reach down to
		}
		l.X, l.Y = append(l.X, s.Epsilon), append(l.Y, s.Mean)
		high := s.Mean + half
		if m.Share {
			high = min(high, 1)
		}
		l.Low, l.High = append(l.Low, low), append(l.High, high)
	}
	return l, len(l.X) > 0
}

// limit is the most advantage that any attack on an (ε, δ)-DP release has in
// expectation, for the chart of it: (e^ε − 1 + 2δ)/(e^ε + 1).
func limit(r *experiment.Results, m metrics.Metric) []plot.Line {
	all := epsilons(r)
	if m.Reads != metrics.Attack || len(all) < 2 {
		return nil
	}
	l := plot.Line{Name: "most that (ε, δ) allows", Dashed: true}
	const points = 50
	for i := range points + 1 {
		e := all[0] + (all[len(all)-1]-all[0])*float64(i)/points
		l.X, l.Y = append(l.X, e), append(l.Y, math.Tanh(e/2)+2*r.Config.Delta/(math.Exp(e)+1))
	}
	return []plot.Line{l}
}

// style numbers the methods with a guarantee, so that a method looks the same in
// every chart, whichever others have the metric.
func style(r *experiment.Results, label string) int {
	private := []string{}
	for _, s := range r.Setups {
		if s.Guarantee != methods.None && !slices.Contains(private, s.Label) {
			private = append(private, s.Label)
		}
	}
	return slices.Index(private, label) + 1
}

// wide reports whether an axis should be logarithmic.
func wide(x []float64) bool { return len(x) > 1 && x[len(x)-1] >= 8*x[0] }

// epsilons, sizes and labels are those of the results, in order.
func epsilons(r *experiment.Results) (list []float64) {
	for _, s := range r.Setups {
		if s.Epsilon > 0 && !slices.Contains(list, s.Epsilon) {
			list = append(list, s.Epsilon)
		}
	}
	slices.Sort(list)
	return list
}

func sizes(r *experiment.Results) (list []int) {
	for _, s := range r.Setups {
		if !slices.Contains(list, s.Records) {
			list = append(list, s.Records)
		}
	}
	return list
}

func labels(r *experiment.Results) (list []string) {
	for _, s := range r.Setups {
		if !slices.Contains(list, s.Label) {
			list = append(list, s.Label)
		}
	}
	return list
}
