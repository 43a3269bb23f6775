// Package query reads records from the answer to a query, through database/sql, under the
// schema that a CSV file would have.
//
// Numbers are numbers and texts are texts: a column of numbers may hold them as text, as
// NUMERIC does with most drivers. Booleans are the texts true and false. NULL is a missing
// cell. Dates and times are refused unless the schema ignores their column: cast them.
//
// The order of records means nothing to a curator, whose sums are of integers. A query
// without ORDER BY gives the same releases, with other line numbers in refusals.
package query

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/dpmcmc/dpmcmc/data"
)

// Rows are the answer to a query. They are read once.
type Rows struct {
	rows    *sql.Rows
	columns []string
	wanted  []bool
	values  []any
	at      []any
	read    int
	tx      *sql.Tx
	name    string
	texts   [][]byte
}

// Open asks db, in a transaction that only reads, for the records of schema. The caller
// closes the rows. name is what errors call them.
func Open(ctx context.Context, db *sql.DB, name, query string, schema *data.Schema) (*Rows, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("query: %w", err), tx.Rollback())
	}
	r := &Rows{rows: rows, tx: tx, name: name}
	if r.columns, err = rows.Columns(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	names := schema.Read()
	r.values, r.at, r.texts = make([]any, len(r.columns)), make([]any, len(r.columns)), make([][]byte, len(r.columns))
	for i, c := range r.columns {
		r.wanted = append(r.wanted, slices.Contains(names, c))
		r.at[i] = &r.values[i]
	}
	return r, nil
}

// Source is where the records come from.
func (r *Rows) Source() data.Source {
	return data.Source{Name: r.name, Columns: r.columns, Next: r.next}
}

// Close ends the query and its transaction, which changed nothing.
func (r *Rows) Close() error {
	err := r.rows.Close()
	if e := r.tx.Rollback(); !errors.Is(e, sql.ErrTxDone) {
		err = errors.Join(err, e)
	}
	return err
}

// next fills cells with the next record.
func (r *Rows) next(cells []data.Cell) (bool, error) {
	if !r.rows.Next() {
		return false, r.rows.Err()
	}
	r.read++
	if err := r.rows.Scan(r.at...); err != nil {
		return false, fmt.Errorf("query: record %d: %w", r.read, err)
	}
	for i, v := range r.values {
		cells[i] = data.Cell{}
		if !r.wanted[i] {
			continue
		}
		c, err := cell(v, r.texts[i][:0])
		if err != nil {
			return false, fmt.Errorf("query: %s:%d:%d: column %q %w; cast it in the query, or give it role = \"ignore\"", r.name,
				r.read, i+1, r.columns[i], err)
		}
		if cells[i] = c; c.Kind == data.TextCell {
			r.texts[i] = c.Text
		}
	}
	return true, nil
}

// cell is a value that a driver gave. Texts are appended to text.
func cell(value any, text []byte) (data.Cell, error) {
	number := func(v float64) (data.Cell, error) { return data.Cell{Kind: data.NumberCell, Number: v}, nil }
	word := func(b []byte) (data.Cell, error) { return data.Cell{Kind: data.TextCell, Text: b}, nil }
	switch v := value.(type) {
	case nil:
		return data.Cell{}, nil
	case int64:
		return number(float64(v))
	case float64:
		return number(v)
	case bool:
		return word(strconv.AppendBool(text, v))
	case string:
		return word(append(text, v...))
	case []byte:
		return word(append(text, v...))
	case time.Time:
		return data.Cell{}, errors.New("is a date or time, which is neither a number nor a text")
	}
	return data.Cell{}, fmt.Errorf("is of the driver's type %T, which is neither a number nor a text", value)
}
