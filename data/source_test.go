package data_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpmcmc/dpmcmc/data"
)

// typed is a schema with a column of each kind.
func typed(records int) *data.Schema {
	return &data.Schema{Confirmed: true, Records: records, Interactions: []string{"age:job"}, Columns: []data.Column{
		{Name: "age", Role: data.Feature, Kind: data.Number, Lower: 0, Upper: 100, Degree: 2, Missing: data.MissingImpute,
			Impute: "40", MissingTokens: []string{"-1"}},
		{Name: "job", Role: data.Feature, Kind: data.Category, Levels: []string{"1", "2", "3"}, Missing: data.MissingLevel},
		{Name: "note", Role: data.Ignore},
		{Name: "ill", Role: data.Target, Kind: data.Binary, Labels: []string{"no", "yes"}},
	}}
}

// each reads all records of a source.
func each(s *data.Schema, columns []string, records [][]data.Cell) (x, y []float64, err error) {
	at := 0
	source := data.Source{Name: "source", Columns: columns, Next: func(cells []data.Cell) (bool, error) {
		if at == len(records) {
			return false, nil
		}
		at++
		copy(cells, records[at-1])
		return true, nil
	}}
	err = source.Each(context.Background(), s, func(row []float64, response float64) error {
		x, y = append(x, row...), append(y, response)
		return nil
	})
	return x, y, err
}

func number(v float64) data.Cell { return data.Cell{Kind: data.NumberCell, Number: v} }
func word(s string) data.Cell    { return data.Cell{Kind: data.TextCell, Text: []byte(s)} }

// TestSourcesAreReadLikeCSV: typed cells give the rows that their texts give, with the
// columns in any order and numbers as numbers or as texts.
func TestSourcesAreReadLikeCSV(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(rt, "records")
		csv := "ill,age,job,note\n"
		var records [][]data.Cell
		for range n {
			age := rapid.OneOf(rapid.Float64Range(-50, 150), rapid.SampledFrom([]float64{-1, 0, 100, 1e-9})).Draw(rt, "age")
			job := rapid.IntRange(1, 3).Draw(rt, "job")
			ill := rapid.SampledFrom([]string{"no", "yes"}).Draw(rt, "ill")
			text := strconv.FormatFloat(age, 'g', -1, 64)
			cells := []data.Cell{word(ill), number(age), number(float64(job)), {}}
			if rapid.Bool().Draw(rt, "as texts") {
				cells = []data.Cell{word(ill), word(text), word(strconv.Itoa(job)), number(3)}
			}
			jobText := strconv.Itoa(job)
			if rapid.IntRange(0, 4).Draw(rt, "missing") == 0 {
				cells[1], text, cells[2], jobText = data.Cell{}, "-1", data.Cell{}, "NA"
			}
			records = append(records, cells)
			csv += fmt.Sprintf("%s,%s,%s,free text\n", ill, text, jobText)
		}
		want, err := data.Read(context.Background(), strings.NewReader(csv), "csv", typed(n))
		if err != nil {
			rt.Fatal(err)
		}
		x, y, err := each(typed(n), []string{"ill", "age", "job", "note"}, records)
		if err != nil || !slices.Equal(x, want.X) || !slices.Equal(y, want.Y) {
			rt.Fatalf("%v: %v and %v, the CSV file gives %v and %v", err, x, y, want.X, want.Y)
		}
	})
}

func TestSourcesAreRefusedLikeCSV(t *testing.T) {
	good := []data.Cell{number(3), word("1"), {}, word("no")}
	columns := []string{"age", "job", "note", "ill"}
	with := func(i int, c data.Cell) []data.Cell {
		r := slices.Clone(good)
		r[i] = c
		return r
	}
	strict := typed(2)
	strict.Columns[0].Outside = data.OutsideRefuse
	for name, c := range map[string]struct {
		schema       *data.Schema
		columns      []string
		second       []data.Cell
		line, column int
		want         string
	}{
		"level":     {typed(2), columns, with(1, number(4)), 2, 2, `"4" in column "job"`},
		"text":      {typed(2), columns, with(0, word("x")), 2, 1, `"x" in column "age"`},
		"NaN":       {typed(2), columns, with(0, number(math.NaN())), 2, 1, "a finite number in [0, 100]"},
		"outside":   {strict, columns, with(0, number(101)), 2, 1, `"101" in column "age"`},
		"response":  {typed(2), columns, with(3, data.Cell{}), 2, 4, "a missing response cannot be made up"},
		"too many":  {typed(1), columns, good, 2, 1, "a record after 1 records"},
		"too few":   {typed(3), columns, good, 3, 1, "after 2 records"},
		"no column": {typed(2), []string{"age", "job", "note", "sick"}, good, 1, 4, `a column "sick"`},
		"twice":     {typed(2), []string{"age", "job", "ill", "ill"}, good, 1, 4, `a second column "ill"`},
		"no target": {typed(2), []string{"age", "job", "note"}, good[:3], 1, 1, `no target column "ill"`},
	} {
		_, _, err := each(c.schema, c.columns, [][]data.Cell{good[:len(c.columns)], c.second})
		var bad *data.Error
		if !errors.As(err, &bad) || bad.Line != c.line || bad.Column != c.column || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	comma := typed(1)
	comma.Decimal = ","
	if _, _, err := each(comma, columns, nil); err == nil || !strings.Contains(err.Error(), "leave them out") {
		t.Errorf("a decimal comma: %v", err)
	}
}

// TestQuickNumbersAreNumbers: cells that are read without a look at their texts give the
// table, or the refusal, of those that are not, which a missing token that is a number
// makes of a column.
func TestQuickNumbersAreNumbers(t *testing.T) {
	cell := rapid.OneOf(
		rapid.StringMatching(`[-+]?[0-9]{1,17}(\.[0-9]{0,17})?`),
		rapid.StringMatching(`[-+]?[0-9]{0,2}(\.[0-9]{0,3})?`),
		rapid.StringMatching(` ?[-+]?[0-9]\.[0-9]{1,3}(e[0-9])? ?`),
		rapid.SampledFrom([]string{".", "-", "+.", "1.2.3", `"1.5"`, "1e400", "0x1", "NA", "", "-0", "é", `1"`}),
	)
	ordinary := rapid.StringMatching(`-?[0-4]?[0-9](\.[0-9]{1,3})?`)
	quick, accepted := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		n, cell, ends := rapid.IntRange(1, 5).Draw(rt, "records"), cell, []string{"\n", "\r\n", ",\n", "\n\n"}
		if rapid.Bool().Draw(rt, "ordinary") { // and so accepted
			cell, ends = ordinary, ends[:2]
		}
		var csv strings.Builder
		csv.WriteString("a,b\n")
		for range n {
			end := rapid.SampledFrom(ends).Draw(rt, "end")
			fmt.Fprintf(&csv, "%s,%s%s", cell.Draw(rt, "a"), cell.Draw(rt, "b"), end)
		}
		csv.WriteString(strings.Repeat("\n", rapid.IntRange(0, 40).Draw(rt, "padding"))) // so that the buffer reaches
		var results [2]string
		for i, tokens := range [][]string{{"NA"}, {"NA", "-777.125"}} {
			s := &data.Schema{Confirmed: true, Records: n}
			for j, name := range []string{"a", "b"} {
				s.Columns = append(s.Columns, data.Column{Name: name, Role: data.Feature, Kind: data.Number, Lower: -50, Upper: 50,
					MissingTokens: tokens, Outside: []data.Outside{data.OutsideClamp, data.OutsideRefuse}[j]})
			}
			table, err := data.Read(context.Background(), strings.NewReader(csv.String()), "t", s)
			if results[i] = fmt.Sprint(err); err == nil {
				results[i] = fmt.Sprint(table.X)
				accepted++
			}
		}
		if quick++; results[0] != results[1] {
			rt.Fatalf("%q: %s, and without the quick way %s", csv.String(), results[0], results[1])
		}
	})
	if accepted < quick/20 { // of 20 or more, half of them accepted: once in 10⁶ runs
		t.Errorf("only %d of %d tables were accepted", accepted, quick)
	}
}
