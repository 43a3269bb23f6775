package data

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
)

// Load reads the CSV file at path under a schema. See [Read].
func Load(ctx context.Context, path string, schema *Schema) (*Table, error) {
	p, err := prepare(schema)
	if err != nil {
		return nil, err
	}
	return p.load(ctx, path)
}

// load reads the file at path.
func (p *plan) load(ctx context.Context, path string) (*Table, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var size int64
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return p.read(ctx, f, path, size)
}

// Read reads CSV text under a schema: a header line, which may list the columns in
// any order, then one record a line, in UTF-8. Cells are separated by commas, semicolons
// or tabs, as the schema says or else as the header does. Quoted cells may hold the
// separator, doubled quotes and line breaks. Blanks around cells, empty
// lines, CRLF and a byte order mark are allowed. A cell holds at most 256 KiB.
//
// The text streams through a fixed buffer. The table takes 8 bytes for each entry
// of X and Y, and half as much again while it grows; Load knows the file's size, and
// asks for the right amount at once.
//
// Errors are ErrUnconfirmed, those of Validate, those of reading r or of ctx, and
// for anything about the text itself an *Error, in which the file is called name.
func Read(ctx context.Context, r io.Reader, name string, schema *Schema) (*Table, error) {
	p, err := prepare(schema)
	if err != nil {
		return nil, err
	}
	return p.read(ctx, r, name, 0)
}

// Each reads the CSV file at path under a schema, as [Load] does, and calls use with
// the features and the response of every record in order, 0 without a target. x is
// valid until use returns. Memory does not grow with the file. The error of use ends
// the reading.
func Each(ctx context.Context, path string, schema *Schema, use func(x []float64, y float64) error) error {
	p, err := prepare(schema)
	if err != nil {
		return err
	}
	f, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	l, err := p.loader(ctx, f, path)
	if err != nil {
		return err
	}
	l.use, l.row = use, make([]float64, p.shape.Features())
	return l.records()
}

// prepare compiles a schema that has to be confirmed.
func prepare(schema *Schema) (*plan, error) {
	p, err := compile(schema)
	if err == nil && !schema.Confirmed {
		err = ErrUnconfirmed
	}
	return p, err
}

// read reads text whose length is size bytes, or unknown if size is 0.
func (p *plan) read(ctx context.Context, r io.Reader, name string, size int64) (*Table, error) {
	l, err := p.loader(ctx, r, name)
	if err != nil {
		return nil, err
	}
	// A record is at least a separator or line break for each cell.
	l.reserve(max(1<<12, int(size/int64(len(l.order)))+1))
	if err := l.records(); err != nil {
		return nil, err
	}
	return &l.table, nil
}

// loader fills a table from a scanner, or passes records on.
type loader struct {
	*scanner
	*plan
	order []*decoder // by position in the file; nil for columns that are ignored
	table Table      // with room for records to come in X and Y
	use   func(x []float64, y float64) error

	read int       // records so far
	room int       // records that fit X and Y
	row  []float64 // of the current record, zero at first
	y    float64   // its response
	bad  error     // what is wrong with its first bad cell
}

// loader reads the header of CSV text.
func (p *plan) loader(ctx context.Context, r io.Reader, name string) (*loader, error) {
	s, err := newScanner(ctx, r, name, p.delimiter)
	if err != nil {
		return nil, err
	}
	header, err := s.header()
	if err != nil {
		return nil, err
	}
	order, err := p.match(name, header)
	return &loader{scanner: s, plan: p, order: order, table: Table{Shape: p.shape, Source: name}}, err
}

// match finds the decoder of each column of a header, nil for those that are ignored.
func (p *plan) match(file string, header []heading) (order []*decoder, err error) {
	seen := make(map[string]bool)
	for _, h := range header {
		d, known := p.decoders[h.text]
		e := &Error{File: file, Line: h.line, Column: h.column, Value: h.text}
		switch {
		case known && seen[h.text]:
			e.Found = "a second column " + quote(h.text)
			e.Allowed, e.Do = "each column once", "rename or remove one of the two"
			return nil, e
		case !known && !p.ignore:
			e.Found = fmt.Sprintf("a column %s that the schema does not have", quote(h.text))
			e.Allowed = quoteList(p.names)
			e.Do = fmt.Sprintf("correct the name, state the column in the schema with role = %q, or set ignore_other = true",
				Ignore)
			return nil, e
		}
		seen[h.text] = true
		order = append(order, d)
	}
	for _, name := range p.names {
		if !seen[name] && !p.spare(name) {
			role := "column"
			if name == p.target {
				role = "target column"
			}
			return nil, &Error{File: file, Line: header[0].line, Column: 1, Value: name,
				Found:   fmt.Sprintf("no %s %s in the header", role, quote(name)),
				Allowed: "a header with " + quoteList(p.names), Do: "correct the header or the schema"}
		}
	}
	return order, nil
}

// reserve makes room for the given number of records, or all that can come.
func (l *loader) reserve(records int) {
	t := &l.table
	records = min(records, t.Records)
	l.room = records
	entries := records * t.Features()
	t.X = append(make([]float64, 0, entries), t.X...)[:entries]
	if l.target != "" {
		t.Y = append(make([]float64, 0, records), t.Y...)[:records]
	}
}

// grown returns how many records to make room for when there is no more: twice as
// many, but all at once as soon as that is at most twice as many again, so that
// the copies made on the way never amount to more than the table.
func (l *loader) grown() int {
	if 4*l.read > l.table.Records {
		return l.table.Records
	}
	return 2 * l.read
}

// records reads the records and checks their number.
func (l *loader) records() error {
	t, want := &l.table, l.table.Records
	for {
		some, err := l.more()
		switch {
		case err != nil:
			return err
		case !some && l.unseen:
			t.Records, t.X = l.read, t.X[:l.read*t.Features()]
			return nil
		case !some && l.read < want:
			return l.countError(&Error{File: l.file, Line: l.line, Column: l.column()}, l.read)
		case !some:
			return nil
		case l.read == want:
			return l.countError(&Error{File: l.file, Line: l.line, Column: l.column()}, want+1)
		}
		if l.use != nil {
			clear(l.row)
		} else {
			if l.read == l.room {
				l.reserve(l.grown())
			}
			l.row = t.Row(l.read)
		}
		// A record of the wrong length is reported as such, rather than by the first
		// cell that does not fit its column.
		if err := cmp.Or(l.cells(), l.bad); err != nil {
			return err
		}
		l.complete(l.row)
		if l.use != nil {
			if err := l.use(l.row, l.y); err != nil {
				return err
			}
		} else if t.Y != nil {
			t.Y[l.read] = l.y
		}
		l.read++
	}
}

// countError fills in the error of a source that has another number of records: read,
// or at least that many if there are too many.
func (p *plan) countError(e *Error, read int) error {
	want := p.shape.Records
	e.Value, e.Found = strconv.Itoa(read), fmt.Sprintf("the end of the file after %d records", read)
	if read > want {
		e.Found = fmt.Sprintf("a record after %d records", want)
	}
	e.Allowed = fmt.Sprintf("exactly %d records, the public number that the schema states", want)
	e.Do = "check the file, or correct records in the schema if that number is public knowledge"
	return e
}

// complete makes a row of the entries that cells gave.
func (p *plan) complete(row []float64) {
	if p.intercept != 0 {
		row[0] = p.intercept
	}
	if p.derived {
		p.shape.fill(row)
	}
	if !p.unseen { // new rows tell nobody's secret
		p.shape.Shorten(row)
	}
}

// cells reads the cells of a record: numbers without a look at their texts, where that
// is enough.
func (l *loader) cells() error {
	for i, d := range l.order {
		if d != nil && d.quick {
			if v, text, last := l.number(); text != nil {
				if last != (i == len(l.order)-1) {
					return l.ragged(i+1, len(l.order), last)
				}
				c, fault := d.encodeNumber(v)
				l.take(d, c, fault, text)
				continue
			}
		}
		text, last, err := l.cell()
		if err != nil {
			return err
		}
		if last != (i == len(l.order)-1) {
			return l.ragged(i+1, len(l.order), last)
		}
		if d != nil {
			c, fault := d.decode(text)
			l.take(d, c, fault, text)
		}
	}
	return nil
}

// take keeps what a cell of the current record became, or what is wrong with the first
// bad one.
func (l *loader) take(d *decoder, c code, f fault, text []byte) {
	switch {
	case f != 0 && l.bad != nil:
	case f != 0:
		e := &Error{File: l.file, Line: l.cellLine, Column: l.cellColumn, Name: d.name, Value: string(text)}
		e.Allowed, e.Do = d.explain(f, text)
		l.bad = e
	case d.target:
		l.y = c.value
	default:
		l.row[d.first+c.at] = c.value
	}
}
