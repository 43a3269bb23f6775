package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
)

// predictSettings are the flags of predict.
type predictSettings struct {
	data        string
	level       float64
	seed        uint64
	draws, json bool
}

func newPredict() *cobra.Command {
	s := &predictSettings{}
	c := &cobra.Command{
		Use:   "predict RUN",
		Short: "Predict new rows with a finished run",
		Long: `predict reads the folder of a run and a CSV file of new rows, and prints for each
row the expected response with its interval: a probability, a count or a number in
the units of the file. For numbers and counts it adds the interval of a new response.

No record of the fit is needed and no privacy is spent: predictions come from the
released draws. The file needs the feature columns of the run's schema. A target
column is not read.`,
		Example: "  dpmcmc predict run/ --data new.csv\n  dpmcmc predict run/ --data new.csv --level 0.5 --json\n  dpmcmc " +
			"predict run/ --data new.csv --draws > draws.csv",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("predict needs the folder of one run, such as run/; %d were given", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if s.data == "" {
				return errors.New("predict needs --data: a CSV file with the feature columns of the run's schema")
			}
			if s.draws && s.json {
				return errors.New("--draws and --json are two forms of output; give one")
			}
			return s.run(c.Context(), args[0], c.OutOrStdout())
		},
	}
	f := c.Flags()
	f.StringVar(&s.data, "data", "", "CSV file of new rows; required")
	f.Float64Var(&s.level, "level", 0.9, "probability that intervals hold, in (0, 1)")
	f.Uint64Var(&s.seed, "seed", 1, "seed of simulated responses; nothing private rests on it")
	f.BoolVar(&s.draws, "draws", false, "print one simulated response for every row and draw, instead of intervals")
	f.BoolVar(&s.json, "json", false, "print one JSON object")
	return c
}

func (s *predictSettings) run(ctx context.Context, dir string, out io.Writer) error {
	f, err := openFinished(dir)
	if err != nil {
		return err
	}
	rows, err := f.rows(ctx, s.data)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(s.seed, 0))
	if s.draws {
		return f.simulate(rows, rng, out)
	}
	predictions, err := f.model.Predict(f.pooled(), rows, s.level, rng)
	if err != nil {
		return err
	}
	verdict := f.verdict()
	if s.json {
		return printJSON(out, struct {
			Verdict     any                 `json:"verdict"`
			Insecure    bool                `json:"insecure"`
			Columns     []string            `json:"columns"`
			Level       float64             `json:"level"`
			Predictions []models.Prediction `json:"predictions"`
		}{verdict, f.certificate.Insecure, f.outcomes(), s.level, predictions})
	}
	text := f.predictionTable(predictions, verdict.Usable)
	if !verdict.Usable {
		text = verdict.Headline + " Predictions are means only.\n" + text
	}
	if f.certificate.Insecure {
		text = insecureMark + text
	}
	return say(out, text)
}

// rows reads new rows under the schema of the run.
func (f *finished) rows(ctx context.Context, path string) (*data.Table, error) {
	if f.schema == nil {
		f.schema = columnsOf(f.model.Shape)
	}
	return data.LoadNew(ctx, path, f.schema)
}

// columnsOf is a schema of a built-in table's features.
func columnsOf(shape *data.Shape) *data.Schema {
	s := &data.Schema{Confirmed: true, Records: shape.Records, Radius: shape.Radius, NoIntercept: true, IgnoreOther: true}
	sources := 0
	for _, t := range shape.Terms {
		sources++
		if t.Name == data.Intercept {
			s.NoIntercept = false
		}
	}
	for _, t := range shape.Terms {
		if t.Name != data.Intercept {
			s.Columns = append(s.Columns, data.Column{Name: t.Column, Role: data.Feature, Kind: data.Number,
				Lower: t.Lower, Upper: t.Upper, Center: t.Center, Scale: t.Unit / math.Sqrt(float64(sources))})
		}
	}
	return s
}

// outcomes name what is predicted.
func (f *finished) outcomes() []string {
	shape := f.model.Shape
	name := shape.Target.Name
	if f.model.Outcomes() == 1 {
		if shape.Classes() == 2 {
			return []string{fmt.Sprintf("P(%s = %s)", name, shape.Labels[1])}
		}
		return []string{name}
	}
	var list []string
	for _, l := range shape.Labels {
		list = append(list, fmt.Sprintf("P(%s = %s)", name, l))
	}
	return list
}

// predictionTable is predictions for people and spreadsheets: tab-separated.
func (f *finished) predictionTable(predictions []models.Prediction, intervals bool) string {
	head := []string{"row"}
	number := f.model.Shape.Classes() == 0
	for _, name := range f.outcomes() {
		head = append(head, name)
		if intervals {
			head = append(head, "low", "high")
		}
	}
	if number && intervals {
		head = append(head, "new low", "new high")
	}
	lines := [][]string{head}
	for i, p := range predictions {
		line := []string{strconv.Itoa(i + 1)}
		for k := range p.Mean {
			line = append(line, figure4(p.Mean[k]))
			if intervals {
				line = append(line, figure4(p.Low[k]), figure4(p.High[k]))
			}
		}
		if number && intervals {
			line = append(line, figure4(p.NewLow), figure4(p.NewHigh))
		}
		lines = append(lines, line)
	}
	return aligned(lines)
}

// aligned is a table whose columns end at the same place.
func aligned(lines [][]string) string {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		for i, cell := range line {
			if i > 0 {
				b.WriteString("  ")
			}
			fmt.Fprintf(&b, "%*s", widths[i], cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func figure4(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// simulate prints a response for every row and draw, as CSV: a line a draw.
func (f *finished) simulate(rows *data.Table, rng *rand.Rand, out io.Writer) error {
	if f.model.Outcomes() == 0 {
		return fmt.Errorf("%s predicts no response; choose a model of a target column", f.model.Name)
	}
	w := csv.NewWriter(out)
	line := make([]string, rows.Records)
	for i := range line {
		line[i] = "row." + strconv.Itoa(i+1)
	}
	if err := w.Write(line); err != nil {
		return err
	}
	shape := f.model.Shape
	for _, values := range f.pooled() {
		for i := range line {
			y := f.model.Draw(values, rows.Row(i), rng)
			if shape.Classes() > 0 {
				line[i] = shape.Labels[int(y)]
			} else {
				line[i] = strconv.FormatFloat(shape.Target.Center+shape.Target.Unit*y, 'g', -1, 64)
			}
		}
		if err := w.Write(line); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}
