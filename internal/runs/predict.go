package runs

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/internal/typeset"
	"github.com/dpmcmc/dpmcmc/models"
)

// Rows reads new rows under the schema of the run.
func (f *Run) Rows(ctx context.Context, path string) (*data.Table, error) {
	if f.Schema == nil {
		f.Schema = columnsOf(f.Model.Shape)
	}
	rows, err := data.LoadNew(ctx, path, f.Schema)
	if err == nil && !f.Model.Weighs() { // coefficients are of shortened rows
		for i := range rows.Records {
			f.Model.Shape.Shorten(rows.Row(i))
		}
	}
	return rows, err
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

// Outcomes name what is predicted.
func (f *Run) Outcomes() []string {
	shape := f.Model.Shape
	name := shape.Target.Name
	if f.Model.Outcomes() == 1 {
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

// PredictionTable is predictions for people and spreadsheets: tab-separated.
func (f *Run) PredictionTable(predictions []models.Prediction, intervals bool) string {
	head := []string{"row"}
	number := f.Model.Shape.Classes() == 0
	for _, name := range f.Outcomes() {
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
	return typeset.Aligned(lines)
}

func figure4(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// Simulate prints a response for every row and draw, as CSV: a line a draw.
func (f *Run) Simulate(rows *data.Table, rng *rand.Rand, out io.Writer) error {
	if f.Model.Outcomes() == 0 {
		return fmt.Errorf("%s predicts no response; choose a model of a target column", f.Model.Name)
	}
	w := csv.NewWriter(out)
	line := make([]string, rows.Records)
	for i := range line {
		line[i] = "row." + strconv.Itoa(i+1)
	}
	if err := w.Write(line); err != nil {
		return err
	}
	shape := f.Model.Shape
	for _, values := range f.Pooled() {
		for i := range line {
			y := f.Model.Draw(values, rows.Row(i), rng)
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
