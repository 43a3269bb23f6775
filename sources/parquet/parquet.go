// Package parquet reads records from Parquet files, row group by row group and page by
// page, under the schema that a CSV file would have.
//
// Numbers are numbers, whatever their width. Decimals are read as the number nearest to
// them, as a CSV file's text would be. Booleans are the texts true and false. Strings are
// texts, so that a column of numbers may hold them as text. NULL is a missing cell.
// Dates, times, nested and repeated columns are refused unless the schema ignores them.
package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/dpmcmc/dpmcmc/data"
)

// batch is how many values of a column are read at once.
const batch = 1024

// File is an open Parquet file. It is read once.
type File struct {
	source  data.Source
	os      *os.File
	groups  []parquet.RowGroup
	columns []column // those that the schema reads
	left    int64    // rows of the current row group
}

// column reads one column of the current row group.
type column struct {
	cell   int // where its values go
	leaf   int // its number in a row group
	decode func(v parquet.Value, text []byte) data.Cell
	text   []byte // that the last cell may be in

	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	buffer [batch]parquet.Value
	have   []parquet.Value // read and not used
}

// Open opens the file at path, to be read under schema. The caller closes it. Errors: a
// file that cannot be read, and a column of the schema whose type has no cells.
func Open(path string, schema *data.Schema) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &File{os: f}
	if err := p.begin(path, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("parquet: %s: %w", path, err), f.Close())
	}
	return p, nil
}

func (f *File) begin(path string, schema *data.Schema) error {
	info, err := f.os.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f.os, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(1<<20))
	if err != nil {
		return err
	}
	f.groups = file.RowGroups()
	f.source = data.Source{Name: path, Next: f.next}
	wanted := schema.Read()
	for i, c := range file.Root().Columns() {
		f.source.Columns = append(f.source.Columns, c.Name())
		if !slices.Contains(wanted, c.Name()) {
			continue
		}
		decode, err := decoder(c)
		if err != nil {
			return fmt.Errorf("column %q %w; change its type, or give it role = \"ignore\"", c.Name(), err)
		}
		f.columns = append(f.columns, column{cell: i, leaf: c.Index(), decode: decode})
	}
	return nil
}

// Source is where the records come from.
func (f *File) Source() data.Source { return f.source }

// Close closes the file.
func (f *File) Close() error {
	for i := range f.columns {
		f.columns[i].close()
	}
	return f.os.Close()
}

// next fills cells with the next record.
func (f *File) next(cells []data.Cell) (bool, error) {
	for f.left == 0 {
		if len(f.groups) == 0 {
			return false, nil
		}
		chunks := f.groups[0].ColumnChunks()
		f.left = f.groups[0].NumRows()
		for i := range f.columns {
			c := &f.columns[i]
			c.close()
			c.pages = chunks[c.leaf].Pages()
		}
		f.groups = f.groups[1:]
	}
	f.left--
	for i := range f.columns {
		c := &f.columns[i]
		v, err := c.value()
		if err != nil {
			return false, fmt.Errorf("parquet: %s: column %q: %w", f.source.Name, f.source.Columns[c.cell], err)
		}
		if cells[c.cell] = (data.Cell{}); !v.IsNull() {
			cells[c.cell] = c.decode(v, c.text[:0])
			c.text = cells[c.cell].Text
		}
	}
	return true, nil
}

// value is the column's next value, valid until the next call.
func (c *column) value() (parquet.Value, error) {
	for len(c.have) == 0 {
		if c.values == nil {
			parquet.Release(c.page)
			var err error
			if c.page, err = c.pages.ReadPage(); errors.Is(err, io.EOF) {
				return parquet.Value{}, io.ErrUnexpectedEOF
			} else if err != nil {
				return parquet.Value{}, err
			}
			c.values = c.page.Values()
		}
		n, err := c.values.ReadValues(c.buffer[:])
		c.have = c.buffer[:n]
		if errors.Is(err, io.EOF) {
			c.values = nil
		} else if err != nil {
			return parquet.Value{}, err
		}
	}
	v := c.have[0]
	c.have = c.have[1:]
	return v, nil
}

func (c *column) close() {
	if c.pages != nil {
		parquet.Release(c.page)
		c.pages.Close() // it was only read
	}
	c.pages, c.page, c.values, c.have = nil, nil, nil, nil
}

// decoder is what makes cells of a column's values.
func decoder(c *parquet.Column) (func(parquet.Value, []byte) data.Cell, error) {
	if !c.Leaf() || c.MaxRepetitionLevel() > 0 {
		return nil, errors.New("is nested or repeated, and has no cell for a record")
	}
	scale, unsigned, text := 0, false, false
	if logical := c.Type().LogicalType(); logical != nil {
		switch l := logical.Value.(type) {
		case *format.StringType, *format.EnumType:
			text = true
		case *format.IntType:
			unsigned = !l.IsSigned
		case *format.DecimalType:
			scale = int(l.Scale)
			if k := c.Type().Kind(); k != parquet.Int32 && k != parquet.Int64 || scale < 0 || scale > 18 {
				return nil, fmt.Errorf("has the type %v, decimals of more than 18 digits", c.Type())
			}
		default:
			return nil, fmt.Errorf("has the type %v, which is neither a number, a text nor a boolean", c.Type())
		}
	}
	switch k := c.Type().Kind(); {
	case k == parquet.Boolean:
		return func(v parquet.Value, b []byte) data.Cell { return word(strconv.AppendBool(b, v.Boolean())) }, nil
	case k == parquet.Int32 && unsigned:
		return func(v parquet.Value, _ []byte) data.Cell { return number(float64(v.Uint32())) }, nil
	case k == parquet.Int64 && unsigned:
		return func(v parquet.Value, _ []byte) data.Cell { return number(float64(v.Uint64())) }, nil
	case k == parquet.Int32 && scale > 0, k == parquet.Int64 && scale > 0:
		return func(v parquet.Value, b []byte) data.Cell {
			whole := v.Int64()
			if k == parquet.Int32 {
				whole = int64(v.Int32())
			}
			return word(decimal(b, whole, scale))
		}, nil
	case k == parquet.Int32:
		return func(v parquet.Value, _ []byte) data.Cell { return number(float64(v.Int32())) }, nil
	case k == parquet.Int64:
		return func(v parquet.Value, _ []byte) data.Cell { return number(float64(v.Int64())) }, nil
	case k == parquet.Float:
		return func(v parquet.Value, _ []byte) data.Cell { return number(float64(v.Float())) }, nil
	case k == parquet.Double:
		return func(v parquet.Value, _ []byte) data.Cell { return number(v.Double()) }, nil
	case k == parquet.ByteArray && (text || c.Type().LogicalType() == nil):
		return func(v parquet.Value, b []byte) data.Cell { return word(append(b, v.ByteArray()...)) }, nil
	}
	return nil, fmt.Errorf("has the type %v, which is neither a number, a text nor a boolean", c.Type())
}

func number(v float64) data.Cell { return data.Cell{Kind: data.NumberCell, Number: v} }
func word(b []byte) data.Cell    { return data.Cell{Kind: data.TextCell, Text: b} }

// decimal appends whole/10^scale, as a CSV file would have it.
func decimal(b []byte, whole int64, scale int) []byte {
	size := uint64(whole)
	if whole < 0 {
		b, size = append(b, '-'), uint64(-whole)
	}
	unit := uint64(math.Pow10(scale))
	b = append(strconv.AppendUint(b, size/unit, 10), '.')
	digits := strconv.AppendUint(nil, size%unit+unit, 10) // a leading 1 keeps the zeros
	return append(b, digits[1:]...)
}
