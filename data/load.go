package data

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/dpmcmc/dpmcmc/internal/record"
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
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
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
	s, err := newScanner(ctx, r, name, p.delimiter)
	if err != nil {
		return nil, err
	}
	l := &loader{scanner: s, plan: p, table: Table{Shape: p.shape, Source: name}}
	header, err := s.header()
	if err != nil {
		return nil, err
	}
	if err := l.match(header); err != nil {
		return nil, err
	}
	// A record is at least a separator or line break for each cell.
	l.reserve(max(1<<12, int(size/int64(len(l.order)))+1))
	if err := l.records(); err != nil {
		return nil, err
	}
	return &l.table, nil
}

// loader fills a table from a scanner.
type loader struct {
	*scanner
	plan  *plan
	order []*decoder // by position in the file; nil for columns that are ignored
	table Table      // with room for records to come in X and Y

	read int       // records so far
	room int       // records that fit X and Y
	row  []float64 // of the current record, still zero
	bad  error     // what is wrong with its first bad cell
}

// match matches the file's header with the schema.
func (l *loader) match(header []heading) error {
	seen := make(map[string]bool)
	for _, h := range header {
		d, known := l.plan.decoders[h.text]
		e := &Error{File: l.file, Line: h.line, Column: h.column, Value: h.text}
		switch {
		case known && seen[h.text]:
			e.Found = "a second column " + quote(h.text)
			e.Allowed, e.Do = "each column once", "rename or remove one of the two"
			return e
		case !known && !l.plan.ignore:
			e.Found = fmt.Sprintf("a column %s that the schema does not have", quote(h.text))
			e.Allowed = quoteList(l.plan.names)
			e.Do = fmt.Sprintf("correct the name, state the column in the schema with role = %q, or set ignore_other = true",
				Ignore)
			return e
		}
		seen[h.text] = true
		l.order = append(l.order, d)
	}
	for _, name := range l.plan.names {
		if !seen[name] && !l.plan.spare(name) {
			role := "column"
			if name == l.plan.target {
				role = "target column"
			}
			return &Error{File: l.file, Line: header[0].line, Column: 1, Value: name,
				Found:   fmt.Sprintf("no %s %s in the header", role, quote(name)),
				Allowed: "a header with " + quoteList(l.plan.names), Do: "correct the header or the schema"}
		}
	}
	return nil
}

// reserve makes room for the given number of records, or all that can come.
func (l *loader) reserve(records int) {
	t := &l.table
	records = min(records, t.Records)
	l.room = records
	entries := records * t.Features()
	t.X = append(make([]float64, 0, entries), t.X...)[:entries]
	if l.plan.target != "" {
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
	allowed := fmt.Sprintf("exactly %d records, the public number that the schema states", want)
	const do = "check the file, or correct records in the schema if that number is public knowledge"
	take := l.take
	for {
		some, err := l.more()
		switch {
		case err != nil:
			return err
		case !some && l.plan.unseen:
			t.Records, t.X = l.read, t.X[:l.read*t.Features()]
			return nil
		case !some && l.read < want:
			return &Error{File: l.file, Line: l.line, Column: l.column(), Value: strconv.Itoa(l.read),
				Found: fmt.Sprintf("the end of the file after %d records", l.read), Allowed: allowed, Do: do}
		case !some:
			return nil
		case l.read == want:
			return &Error{File: l.file, Line: l.line, Column: l.column(), Value: strconv.Itoa(want + 1),
				Found: fmt.Sprintf("a record after %d records", want), Allowed: allowed, Do: do}
		}
		if l.read == l.room {
			l.reserve(l.grown())
		}
		l.row = t.Row(l.read)
		if l.plan.intercept != 0 {
			l.row[0] = l.plan.intercept
		}
		// A record of the wrong length is reported as such, rather than by the first
		// cell that does not fit its column.
		if err := cmp.Or(l.record(len(l.order), take), l.bad); err != nil {
			return err
		}
		if l.plan.derived {
			t.fill(l.row)
		}
		record.Project(l.row, t.Radius)
		l.read++
	}
}

// take decodes cell i of the current record.
func (l *loader) take(i int, text []byte) {
	d := l.order[i]
	if d == nil || l.bad != nil {
		return
	}
	c, fault := d.decode(text)
	switch {
	case fault != 0:
		e := &Error{File: l.file, Line: l.cellLine, Column: l.cellColumn, Name: d.name, Value: string(text)}
		e.Allowed, e.Do = d.explain(fault, text)
		l.bad = e
	case d.target:
		l.table.Y[l.read] = c.value
	default:
		l.row[d.first+c.at] = c.value
	}
}
