package experiment

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
)

// Result is what came of a cell.
type Result struct {
	Cell      string       `json:"cell"`
	Records   int          `json:"records"`
	Method    string       `json:"method"`
	Label     string       `json:"label"`
	Guarantee methods.Kind `json:"guarantee"`
	// Noise says where its randomness came from.
	Noise string `json:"noise"`
	// Epsilon and Delta are the budget; Epsilon is 0 for methods without one.
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Repeat  int     `json:"repeat"`
	// Error says what went wrong, if something did.
	Error string `json:"error,omitempty"`
	// Draws is the number of draws, Mean and SD summarise them parameter by
	// parameter; SD is nil for a single one.
	Draws int       `json:"draws"`
	Mean  []float64 `json:"mean"`
	SD    []float64 `json:"sd,omitempty"`
	// Metrics holds the metrics that apply.
	Metrics map[string]float64 `json:"metrics"`
}

// Setup says how a method was set up for a number of records and an ε.
type Setup struct {
	Records   int          `json:"records"`
	Method    string       `json:"method"`
	Label     string       `json:"label"`
	Guarantee methods.Kind `json:"guarantee"`
	Epsilon   float64      `json:"epsilon"`
	Delta     float64      `json:"delta"`
	// Achieved is the ε that one run costs at Delta, by its Event; never above Epsilon.
	Achieved float64 `json:"achieved_epsilon"`
	Event    string  `json:"event,omitempty"`
	Theorem  string  `json:"theorem,omitempty"`
	Choice   string  `json:"choice,omitempty"`
}

// Spent is what an experiment on private data cost in all.
type Spent struct {
	Epsilon   float64      `json:"epsilon"`
	Delta     float64      `json:"delta"`
	Adjacency string       `json:"adjacency"`
	Guarantee methods.Kind `json:"guarantee"`
	Theorem   string       `json:"theorem"`
	Releases  int          `json:"releases"`
}

// Results are those of an experiment. On public data they are a function of the
// configuration and the data, except for Seconds.
type Results struct {
	Config      *Config `json:"config"`
	Fingerprint string  `json:"fingerprint"`
	// Privacy says in a sentence what protects the records.
	Privacy string `json:"privacy"`
	// Spent is nil on public data.
	Spent      *Spent            `json:"spent,omitempty"`
	Parameters []string          `json:"parameters"`
	Setups     []Setup           `json:"setups"`
	References []ReferenceResult `json:"references"`
	Summary    []Summary         `json:"summary"`
	Cells      []Result          `json:"cells"`

	// Metrics are those that were asked for.
	Metrics []metrics.Metric `json:"-"`
	// Seconds holds the wall time of each cell, 0 on private data.
	Seconds []float64 `json:"-"`
}

// Summary is a metric over the repeats of a method at an ε.
type Summary struct {
	Records   int          `json:"records"`
	Label     string       `json:"label"`
	Guarantee methods.Kind `json:"guarantee"`
	Epsilon   float64      `json:"epsilon"`
	Metric    string       `json:"metric"`
	// N is the number of repeats with the metric, Mean and SD summarise them; SD is
	// 0 for one.
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
}

// results puts the journal's cells into the plan's order.
func (r *runner) results(fingerprint string) (*Results, error) {
	out := &Results{Config: r.Config, Fingerprint: fingerprint, Metrics: r.Metrics,
		Parameters: r.problems[r.sizes()[0]].ParameterNames()}
	for _, c := range r.Cells {
		j := r.journal.finished[c.ID]
		if j == nil {
			return nil, errors.New("experiment: a cell has no result: " + c.ID)
		}
		out.Cells, out.Seconds = append(out.Cells, j.Result), append(out.Seconds, j.Seconds)
	}
	for _, records := range r.sizes() {
		for repeat := range r.Config.Repeats {
			for _, fitted := range []bool{false, true} {
				of := ReferenceResult{Records: records, Repeat: repeat + 1, Fitted: fitted}
				if ref := r.journal.references[of.key()]; ref != nil {
					out.References = append(out.References, *ref)
				}
			}
		}
	}
	if err := r.describe(out); err != nil {
		return nil, err
	}
	out.summarise(r.mechanisms)
	return out, nil
}

// describe adds the set-ups, and what was spent in all.
func (r *runner) describe(out *Results) error {
	for _, m := range r.mechanisms {
		s := Setup{Records: m.Records, Method: m.Method, Label: m.Label, Guarantee: m.Kind, Epsilon: m.Epsilon,
			Delta: r.Config.Delta, Theorem: m.Theorem, Choice: m.Choice}
		if m.Kind != methods.None {
			g, err := m.Cost.LeastEpsilon(r.Config.Delta)
			if err != nil {
				return err
			}
			s.Achieved, s.Event = g.Epsilon, m.Cost.String()
		}
		out.Setups = append(out.Setups, s)
	}
	if !r.Private {
		out.Privacy = "The data are simulated or public, and all noise is a function of the experiment's seed: nothing " +
			"here is private, and every ε is what a run with secret noise would have."
		return nil
	}
	var cells []Cell
	for _, c := range r.Cells {
		for range r.journal.starts[c.ID] { // those that ran twice count twice
			cells = append(cells, c)
		}
	}
	total, err := composed(cells)
	if err != nil {
		return err
	}
	g, err := total.LeastEpsilon(r.o.Delta)
	if err != nil {
		return err
	}
	out.Spent = &Spent{Epsilon: g.Epsilon, Delta: g.Delta, Adjacency: g.Adjacency.String(), Guarantee: r.Guarantee(),
		Theorem: g.Theorem, Releases: len(cells)}
	out.Privacy = "The records are private: all cells together, with everything in these results, cost what is stated " +
		"as spent. The operating system supplied the noise, so the results cannot be repeated."
	return nil
}

// summarise computes means and standard deviations over repeats.
func (r *Results) summarise(mechanisms []*Mechanism) {
	for _, m := range mechanisms {
		for _, metric := range r.Metrics {
			s := Summary{Records: m.Records, Label: m.Label, Guarantee: m.Kind, Epsilon: m.Epsilon, Metric: metric.Name}
			squares := 0.0
			for _, c := range r.Cells {
				v, ok := c.Metrics[metric.Name]
				if !ok || c.Records != m.Records || c.Label != m.Label || c.Epsilon != m.Epsilon {
					continue
				}
				s.N++
				d := v - s.Mean
				s.Mean += d / float64(s.N)
				squares += d * (v - s.Mean)
			}
			if s.N == 0 {
				continue
			}
			if s.N > 1 {
				s.SD = math.Sqrt(squares / float64(s.N-1))
			}
			r.Summary = append(r.Summary, s)
		}
	}
}

// Write writes results.csv (one metric of one cell a row), summary.csv,
// estimates.csv (one parameter of one cell a row) and results.json to a folder and,
// on public data, timings.csv, the only one that differs from run to run.
func (r *Results) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tables := map[string][][]string{"results.csv": r.table(), "summary.csv": r.summaryTable(),
		"estimates.csv": r.estimates()}
	if r.Spent == nil {
		tables["timings.csv"] = r.timings()
	}
	for name, rows := range tables {
		var text bytes.Buffer
		if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
			return err
		}
		if err := WriteFile(filepath.Join(dir, name), text.Bytes()); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, "results.json"), append(text, '\n'))
}

// WriteFile writes a file through a temporary one, so that a reader never sees
// half of it.
func WriteFile(path string, content []byte) error {
	if err := os.WriteFile(path+".tmp", content, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// cellColumns begin every row about a cell.
var cellColumns = []string{"experiment", "records", "method", "label", "guarantee", "noise", "epsilon", "delta",
	"repeat"}

func (r *Results) cell(c Result, more ...string) []string {
	return append([]string{
		r.Config.Name, strconv.Itoa(c.Records), c.Method, c.Label, string(c.Guarantee), c.Noise, Epsilon(c.Epsilon),
		number(c.Delta), strconv.Itoa(c.Repeat),
	}, more...)
}

// Epsilon writes an ε, of which methods without a guarantee have none.
func Epsilon(e float64) string {
	if e == 0 {
		return "inf"
	}
	return number(e)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func header(more ...string) []string { return append(append([]string{}, cellColumns...), more...) }

func (r *Results) table() [][]string {
	rows := [][]string{header("metric", "value")}
	for _, c := range r.Cells {
		for _, m := range r.Metrics {
			if v, ok := c.Metrics[m.Name]; ok {
				rows = append(rows, r.cell(c, m.Name, number(v)))
			}
		}
		if c.Error != "" {
			rows = append(rows, r.cell(c, "error", c.Error))
		}
	}
	return rows
}

func (r *Results) estimates() [][]string {
	rows := [][]string{header("parameter", "mean", "sd", "draws")}
	for _, c := range r.Cells {
		for j, v := range c.Mean {
			sd := ""
			if c.SD != nil {
				sd = number(c.SD[j])
			}
			rows = append(rows, r.cell(c, r.Parameters[j], number(v), sd, strconv.Itoa(c.Draws)))
		}
	}
	return rows
}

func (r *Results) timings() [][]string {
	rows := [][]string{header("seconds")}
	for i, c := range r.Cells {
		rows = append(rows, r.cell(c, number(r.Seconds[i])))
	}
	return rows
}

func (r *Results) summaryTable() [][]string {
	rows := [][]string{{"experiment", "records", "label", "guarantee", "epsilon", "metric", "n", "mean", "sd"}}
	for _, s := range r.Summary {
		rows = append(rows, []string{
			r.Config.Name, strconv.Itoa(s.Records), s.Label, string(s.Guarantee), Epsilon(s.Epsilon), s.Metric,
			strconv.Itoa(s.N), number(s.Mean), number(s.SD),
		})
	}
	return rows
}
