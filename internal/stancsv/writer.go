package stancsv

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"time"
)

// bufferSize is the size of the writer's buffer in bytes.
const bufferSize = 1 << 16

// Draw is one line: everything about a step that may be released.
type Draw struct {
	// Accepted is the released decision, written as accept_stat__ 0 or 1.
	Accepted bool
	// StepSize is the public step size.
	StepSize float64
	// Params holds one value per parameter, in the order of the names given to
	// the writer. It is not kept.
	Params []float64
}

// Writer writes the draws of one chain. It is not safe for concurrent use.
type Writer struct {
	out    *bufio.Writer
	file   io.Closer // nil when the writer did not open it
	line   []byte
	params int
}

// NewWriter writes the header and the line of column names for the parameters
// to w. The names are as [ColumnName] takes them, array elements in column-major
// order. Close does not close w.
func NewWriter(w io.Writer, h Header, parameters []string) (*Writer, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	columns := make([]string, len(parameters))
	for i, name := range parameters {
		columns[i] = ColumnName(name)
	}
	if err := checkColumns(columns); err != nil {
		return nil, err
	}
	line := h.appendTo(nil)
	for i, column := range append(samplerColumns[:len(samplerColumns):len(samplerColumns)], columns...) {
		if i > 0 {
			line = append(line, ',')
		}
		line = append(line, column...)
	}
	writer := newWriter(w, len(parameters))
	if _, err := writer.out.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("stancsv: writing the header: %w", err)
	}
	return writer, writer.Flush()
}

// newWriter returns a writer that goes on after the column names.
func newWriter(w io.Writer, params int) *Writer {
	return &Writer{out: bufio.NewWriterSize(w, bufferSize), params: params}
}

// Create makes the file at path with its header. It never overwrites: the error
// wraps [fs.ErrExist] when there is something at path already.
func Create(path string, h Header, parameters []string) (*Writer, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("stancsv: %s exists and draws are never overwritten: choose another path, resume that run, "+
			"or remove the file: %w", path, fs.ErrExist)
	}
	if err != nil {
		return nil, fmt.Errorf("stancsv: creating a draws file: %w", err)
	}
	w, err := NewWriter(file, h, parameters)
	if err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(path)) // it is ours, and holds no draw
	}
	w.file = file
	return w, nil
}

// Write appends one draw. It allocates nothing. A short buffer of Params is a
// programmer's error and panics. After an error no later draw is written.
func (w *Writer) Write(d Draw) error {
	if len(d.Params) != w.params {
		panic(fmt.Sprintf("stancsv: a draw of %d values for %d parameters", len(d.Params), w.params))
	}
	line := append(w.line[:0], '0', ',', '0', ',') // lp__ is never released
	if d.Accepted {
		line[2] = '1'
	}
	line = appendValue(line, d.StepSize)
	for _, v := range d.Params {
		line = append(line, ',')
		line = appendValue(line, v)
	}
	w.line = append(line, '\n')
	if _, err := w.out.Write(w.line); err != nil {
		return fmt.Errorf("stancsv: writing a draw: %w", err)
	}
	return nil
}

// appendValue appends the shortest text that reads back as v, with Stan's words
// for what is not a number.
func appendValue(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, "nan"...)
	case math.IsInf(v, 1):
		return append(b, "inf"...)
	case math.IsInf(v, -1):
		return append(b, "-inf"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// Flush hands all draws so far to the operating system.
func (w *Writer) Flush() error {
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("stancsv: writing draws: %w", err)
	}
	return nil
}

// Sync makes all draws so far outlast a crash, in a file which the writer must have
// opened.
func (w *Writer) Sync() error {
	if err := w.Flush(); err != nil {
		return err
	}
	file, ok := w.file.(*os.File)
	if !ok {
		return errors.New("stancsv: the draws are not written to a file that can be made durable")
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("stancsv: making draws durable: %w", err)
	}
	return nil
}

// Finalise writes the footer that marks a file as complete, and flushes. Times
// measured on private data must not be released: leave both 0 for them.
func (w *Writer) Finalise(warmup, sampling time.Duration) error {
	seconds := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'g', 6, 64) }
	if _, err := fmt.Fprintf(w.out, footer, seconds(warmup), seconds(sampling), seconds(warmup+sampling)); err != nil {
		return fmt.Errorf("stancsv: writing the footer: %w", err)
	}
	return w.Flush()
}

// footer has the padding that readers match on.
const footer = "# \n" +
	"#  Elapsed Time: %s seconds (Warm-up)\n" +
	"#                %s seconds (Sampling)\n" +
	"#                %s seconds (Total)\n" +
	"# \n"

// Close flushes and closes the file. Without Finalise before it the file is
// left unfinished, to be read or gone on with.
func (w *Writer) Close() error {
	err := w.Flush()
	if w.file != nil {
		err = errors.Join(err, w.file.Close())
	}
	return err
}
