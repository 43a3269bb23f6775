package stancsv

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Reader reads the draws of one file as a stream.
type Reader struct {
	in      *bufio.Reader
	text    []byte // the current line
	line    int    // its number, from 1
	read    int64  // bytes up to its end
	header  Header
	columns []string

	drawsEnd int64 // bytes up to the end of the last whole draw
	elapsed  bool  // the footer has begun
	finished bool
	torn     bool
}

// NewReader reads the header and the column names. Errors name the line. A file
// that ends before its column names gives an error wrapping
// [io.ErrUnexpectedEOF]: it holds no draw.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{in: bufio.NewReaderSize(in, bufferSize)}
	section := ""
	for {
		err := r.next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("stancsv: the file ends in line %d before its column names, so it holds no draw; remove it "+
				"and start again: %w", r.line, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return nil, err
		}
		if r.isComment() {
			if section, err = r.header.headerLine(section, string(r.text)); err != nil {
				return nil, fmt.Errorf("stancsv: line %d: %w", r.line, err)
			}
			continue
		}
		if len(r.text) == 0 {
			continue
		}
		r.drawsEnd = r.read
		return r, r.setColumns()
	}
}

// setColumns takes the column names from the current line.
func (r *Reader) setColumns() error {
	r.columns = strings.Split(string(r.text), ",")
	var parameters []string
	for i, column := range r.columns {
		r.columns[i] = strings.TrimSpace(column)
		if !strings.HasSuffix(r.columns[i], "__") {
			parameters = append(parameters, r.columns[i])
		}
	}
	if len(parameters) == len(r.columns) {
		return fmt.Errorf("stancsv: line %d: expected the column names lp__,accept_stat__,… and found %.60q", r.line, r.text)
	}
	if err := checkColumns(parameters); err != nil {
		return fmt.Errorf("stancsv: line %d: %w", r.line, err)
	}
	return nil
}

// next reads one line without its end. A last line with no end is torn: it is
// reported as io.EOF.
func (r *Reader) next() error {
	r.text = r.text[:0]
	r.line++
	for {
		part, err := r.in.ReadSlice('\n')
		r.text = append(r.text, part...)
		switch {
		case err == nil:
			r.read += int64(len(r.text))
			r.text = bytes.TrimRight(r.text, " \t\r\n")
			return nil
		case errors.Is(err, io.EOF):
			r.torn = len(r.text) > 0
			return io.EOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("stancsv: line %d: %w", r.line, err)
		}
	}
}

// isComment reports whether the current line is one.
func (r *Reader) isComment() bool { return len(r.text) > 0 && r.text[0] == '#' }

// Header returns what the comment lines before the draws said.
func (r *Reader) Header() Header { return r.header }

// Columns returns the names of all columns, as written.
func (r *Reader) Columns() []string { return r.columns }

// Finished reports whether the footer has been read: the run came to its end.
func (r *Reader) Finished() bool { return r.finished }

// Torn reports whether the file's last line had no end, so that it was left out.
func (r *Reader) Torn() bool { return r.torn }

// Next reads one draw into row, which needs one place per column; otherwise it
// panics. It returns io.EOF after the last whole draw. Errors name the line.
func (r *Reader) Next(row []float64) error {
	if len(row) != len(r.columns) {
		panic(fmt.Sprintf("stancsv: a row of %d values for %d columns", len(row), len(r.columns)))
	}
	for {
		if err := r.next(); err != nil {
			return err
		}
		switch {
		case len(r.text) == 0:
		case r.isComment():
			r.footerLine()
		case r.finished:
			return fmt.Errorf("stancsv: line %d: a draw after the footer; two files may have been joined", r.line)
		default:
			if err := r.parse(row); err != nil {
				return err
			}
			r.drawsEnd = r.read
			return nil
		}
	}
}

// footerLine watches for the footer among the comments after the column names.
func (r *Reader) footerLine() {
	r.elapsed = r.elapsed || bytes.Contains(r.text, []byte("Elapsed Time:"))
	r.finished = r.finished || r.elapsed && bytes.HasSuffix(r.text, []byte("(Total)"))
}

// parse reads the current line's numbers into row.
func (r *Reader) parse(row []float64) error {
	if fields := bytes.Count(r.text, []byte(",")) + 1; fields != len(row) {
		return fmt.Errorf("stancsv: line %d: %d values for %d columns", r.line, fields, len(row))
	}
	rest := r.text
	for i := range row {
		var field []byte
		field, rest, _ = bytes.Cut(rest, []byte(","))
		v, err := strconv.ParseFloat(string(bytes.TrimSpace(field)), 64)
		if err != nil {
			return fmt.Errorf("stancsv: line %d, column %d (%s): %.40q is not a number", r.line, i+1, r.columns[i], field)
		}
		row[i] = v
	}
	return nil
}
