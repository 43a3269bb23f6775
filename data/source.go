package data

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Cell is a cell of a source whose values have types: a number, or a text, or missing.
type Cell struct {
	// Kind says which of the others counts. The zero value is a missing cell.
	Kind CellKind
	// Number is read like the shortest text that stands for it.
	Number float64
	// Text is what a CSV file would hold.
	Text []byte
}

// CellKind is what a cell is.
type CellKind uint8

// The kinds of cells.
const (
	MissingCell CellKind = iota // NULL, whatever the column's missing tokens are
	NumberCell
	TextCell
)

// Source is where records come from whose values have types, such as a Parquet file or
// the answer to a query. A CSV file is read by [Each] and [Load].
type Source struct {
	// Name is what errors call it. Required.
	Name string
	// Columns are the names of its columns, in any order. Required.
	Columns []string
	// Next fills cells, one for each of Columns, with the next record, and reports false
	// at the end. Required.
	Next func(cells []Cell) (bool, error)
}

// Each passes the records on to use as rows of the design matrix, exactly as [Each] does
// those of a CSV file: the same bounds, the same policies and the same refusals, in
// which the line is the record's number, from 1, and the column that of the cell, from 1.
//
// The schema's delimiter is for CSV files and not looked at; decimal and thousands must be
// left out. Errors are ErrUnconfirmed, those of Validate, Next, use and ctx, and an *Error
// for a column that is missing, unknown or there twice, a cell, or the number of records.
func (s Source) Each(ctx context.Context, schema *Schema, use func(x []float64, y float64) error) error {
	e, err := newEncoder(schema, s.Name, s.Columns)
	if err != nil {
		return err
	}
	cells := make([]Cell, len(s.Columns))
	for {
		if e.read%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		some, err := s.Next(cells)
		if err != nil {
			return err
		}
		if !some && e.read < e.plan.shape.Records {
			return e.plan.countError(&Error{File: s.Name, Line: e.read + 1, Column: 1}, e.read)
		}
		if !some {
			return nil
		}
		x, y, err := e.encode(cells)
		if err == nil {
			err = use(x, y)
		}
		if err != nil {
			return err
		}
	}
}

// encoder makes rows of cells.
type encoder struct {
	plan   *plan
	source string
	order  []*decoder
	row    []float64
	text   []byte // of the last cell that was looked at as a text
	read   int
}

// newEncoder matches the columns with the schema.
func newEncoder(schema *Schema, source string, columns []string) (*encoder, error) {
	p, err := prepare(schema)
	if err != nil {
		return nil, err
	}
	if p.numbers != (numberText{}) {
		return nil, errors.New("data: decimal and thousands are for the text of CSV files; leave them out of the schema of " +
			"a source whose numbers are numbers")
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("data: %s has no columns; give it those of the schema", source)
	}
	header := make([]heading, len(columns))
	for i, name := range columns {
		header[i] = heading{name, 1, i + 1}
	}
	order, err := p.match(source, header)
	return &encoder{plan: p, source: source, order: order, row: make([]float64, p.shape.Features())}, err
}

// Read returns the names of the columns that are read, in the schema's order.
func (s *Schema) Read() []string {
	var names []string
	for _, c := range s.Columns {
		if c.Role != Ignore {
			names = append(names, c.Name)
		}
	}
	return names
}

// encode returns the features of the next record, valid until the next call, and its
// response.
func (e *encoder) encode(cells []Cell) (x []float64, y float64, err error) {
	e.read++
	if want := e.plan.shape.Records; e.read > want {
		return nil, 0, e.plan.countError(&Error{File: e.source, Line: e.read, Column: 1}, want+1)
	}
	clear(e.row)
	for i := range cells {
		d := e.order[i]
		if d == nil {
			continue
		}
		c, fault := e.decode(d, &cells[i])
		switch {
		case fault != 0:
			bad := &Error{File: e.source, Line: e.read, Column: i + 1, Name: d.name, Value: string(e.text)}
			bad.Allowed, bad.Do = d.explain(fault, e.text)
			return nil, 0, bad
		case d.target:
			y = c.value
		default:
			e.row[d.first+c.at] = c.value
		}
	}
	e.plan.complete(e.row)
	return e.row, y, nil
}

// decode decodes a cell, whose text it leaves for errors where there is a fault.
func (e *encoder) decode(d *decoder, cell *Cell) (code, fault) {
	switch cell.Kind {
	case TextCell:
		e.text = append(e.text[:0], cell.Text...)
		return d.decode(e.text)
	case NumberCell:
		if d.kind == Number && !slices.Contains(d.missingNumbers, cell.Number) {
			c, fault := d.encodeNumber(cell.Number)
			if fault != 0 {
				e.text = strconv.AppendFloat(e.text[:0], cell.Number, 'g', -1, 64)
			}
			return c, fault
		}
		e.text = strconv.AppendFloat(e.text[:0], cell.Number, 'f', -1, 64)
		return d.decode(e.text)
	}
	e.text = e.text[:0]
	if d.missing == MissingRefuse {
		return code{}, faultMissing
	}
	return d.imputed, 0
}
