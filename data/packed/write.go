package packed

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/dpmcmc/dpmcmc/data"
)

// Options say how a table is packed.
type Options struct {
	// Single keeps rows in single precision: half the size. See the package comment.
	// Defaults to double.
	Single bool
	// Source is the file that the records come from, beside which the accounts of its
	// people are kept. Defaults to none, which a pipe is, too.
	Source string
}

// The radii for which no entry of a row of single precision overflows, and none that
// matters vanishes.
const leastRadius, mostRadius = 1e-30, 1e30

// Writer writes a packed file. It is not safe for concurrent use.
type Writer struct {
	header Header
	path   string
	file   *os.File
	x, y   *region
	read   int
	row    []byte
}

// region is a part of the file that is written from front to back.
type region struct {
	*bufio.Writer
	sum hash.Hash
}

func newRegion(f *os.File, offset int64) *region {
	sum := sha256.New()
	return &region{bufio.NewWriterSize(io.MultiWriter(io.NewOffsetWriter(f, offset), sum), 1<<20), sum}
}

// Create begins the file at path, which must not exist. Nothing is at path before Close.
// Errors: a schema that is invalid or not confirmed; a radius outside [1e-30, 1e30] in
// single precision; a file that exists or cannot be made.
func Create(path string, schema *data.Schema, o Options) (*Writer, error) {
	if !schema.Confirmed {
		return nil, data.ErrUnconfirmed
	}
	shape, err := schema.Shape()
	if err != nil {
		return nil, err
	}
	if o.Single && !(shape.Radius >= leastRadius && shape.Radius <= mostRadius) {
		return nil, fmt.Errorf("packed: radius = %v; single precision needs one between %g and %g: use double precision",
			shape.Radius, leastRadius, mostRadius)
	}
	w := &Writer{path: path, header: Header{Format: format, Records: shape.Records, Features: shape.Features(),
		Response: shape.Target.Name != "", Width: 8}}
	if o.Single {
		w.header.Width = 4
	}
	if w.header.Schema, err = fingerprint(schema); err != nil {
		return nil, err
	}
	if info, err := os.Stat(o.Source); err == nil && info.Mode().IsRegular() {
		if w.header.Source, err = filepath.Abs(o.Source); err != nil {
			return nil, err
		}
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, fmt.Errorf("packed: %s exists and is not overwritten; remove it or choose another name",
			path))
	}
	if w.file, err = os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part*"); err != nil {
		return nil, fmt.Errorf("packed: %w", err)
	}
	w.x, w.y = newRegion(w.file, w.header.rows()), newRegion(w.file, w.header.responses())
	w.row = make([]byte, w.header.Features*w.header.Width)
	return w, nil
}

// Append writes the next record: its row of the design matrix and its response, which
// does not count without a target. It panics if x has another number of features.
func (w *Writer) Append(x []float64, y float64) error {
	if len(x) != w.header.Features {
		panic("packed: Append was given a row of another number of features than the schema's")
	}
	if w.header.Width == 4 {
		for j, v := range x {
			binary.LittleEndian.PutUint32(w.row[4*j:], math.Float32bits(inwards(v)))
		}
	} else {
		for j, v := range x {
			binary.LittleEndian.PutUint64(w.row[8*j:], math.Float64bits(v))
		}
	}
	w.read++
	if _, err := w.x.Write(w.row); err != nil || !w.header.Response {
		return err
	}
	var response [8]byte
	binary.LittleEndian.PutUint64(response[:], math.Float64bits(y))
	_, err := w.y.Write(response[:])
	return err
}

// inwards rounds to single precision towards zero: the digits that do not fit are cut.
// No radius is so large that an entry overflows.
func inwards(v float64) float32 {
	if math.Abs(v) >= 0x1p-126 {
		return float32(math.Float64frombits(math.Float64bits(v) &^ (1<<29 - 1)))
	}
	f := float32(v)
	if math.Abs(float64(f)) > math.Abs(v) {
		f = math.Float32frombits(math.Float32bits(f) - 1)
	}
	return f
}

// Close finishes the file, on disk before it is at its path. It is an error if there
// were fewer or more records than the schema states. After an error, or Abort, nothing is
// left.
func (w *Writer) Close() (err error) {
	defer func() {
		if err != nil {
			w.Abort()
		}
	}()
	if w.read != w.header.Records {
		return fmt.Errorf("packed: %d records were appended, the schema states %d", w.read, w.header.Records)
	}
	if err := errors.Join(w.x.Flush(), w.y.Flush(), w.file.Truncate(w.header.size())); err != nil {
		return err
	}
	w.header.X, w.header.Y = hex.EncodeToString(w.x.sum.Sum(nil)), hex.EncodeToString(w.y.sum.Sum(nil))
	first, err := w.header.text()
	if err != nil {
		return err
	}
	if _, err = w.file.WriteAt(first, 0); err != nil {
		return err
	}
	if err := errors.Join(w.file.Sync(), w.file.Close()); err != nil {
		return err
	}
	if err := os.Link(w.file.Name(), w.path); err != nil { // unlike a rename, it overwrites nothing
		return err
	}
	return os.Remove(w.file.Name())
}

// Abort gives the file up.
func (w *Writer) Abort() {
	w.file.Close()
	os.Remove(w.file.Name())
}

// From packs the records that each passes on, such as those of a [data.Source].
func From(path string, schema *data.Schema, o Options,
	each func(use func(x []float64, y float64) error) error) error {
	w, err := Create(path, schema, o)
	if err != nil {
		return err
	}
	if err := each(w.Append); err != nil {
		w.Abort()
		return err
	}
	return w.Close()
}

// FromCSV packs the CSV file at source. Errors are those of [data.Load] and [Create].
func FromCSV(ctx context.Context, path, source string, schema *data.Schema, o Options) error {
	o.Source = source
	return From(path, schema, o, func(use func(x []float64, y float64) error) error {
		return data.Each(ctx, source, schema, use)
	})
}
