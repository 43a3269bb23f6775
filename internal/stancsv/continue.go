package stancsv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/dpmcmc/dpmcmc/internal/durable"
)

// Continue opens a file of [Create] to go on with it after its first rows draws, under
// the header h, whose Started is the file's own. What follows those draws is left out:
// later draws, a torn line, a footer. The file is replaced as a whole, so that a crash
// leaves the old one or the new one. One that has fewer draws, or other columns, is left
// alone and is an error. Without draws to keep, there need be no file.
func Continue(path string, h Header, parameters []string, rows int64) (*Writer, error) {
	var kept []byte
	if rows > 0 {
		text, err := os.ReadFile(path)
		if err == nil {
			kept, err = keep(text, &h, parameters, rows)
		}
		if err != nil {
			return nil, fmt.Errorf("stancsv: going on with %s: %w", path, err)
		}
	}
	var w *Writer
	if err := durable.Replace(path, func(file *os.File) (err error) {
		if w, err = NewWriter(file, h, parameters); err != nil {
			return errors.Join(err, file.Close())
		}
		w.file = file // which stays open
		_, err = file.Write(kept)
		return err
	}); err != nil {
		if w != nil {
			err = errors.Join(err, w.Close())
		}
		return nil, fmt.Errorf("stancsv: going on with %s: %w", path, err)
	}
	return w, nil
}

// keep returns the lines of a text's first draws, and takes over its Started.
func keep(text []byte, h *Header, parameters []string, rows int64) ([]byte, error) {
	r, err := NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	begin, row := r.drawsEnd, make([]float64, len(r.Columns()))
	for n := range rows {
		if err := r.Next(row); errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("it has %d draws and had %d: draws were lost, and the run cannot go on", n, rows)
		} else if err != nil {
			return nil, err
		}
	}
	if sampler, had := names(r.Columns()); !slices.Equal(sampler, samplerColumns) || !slices.Equal(had, parameters) {
		return nil, fmt.Errorf("it has the columns %q, and the run that goes on makes %q and %q", r.Columns(), samplerColumns,
			parameters)
	}
	h.Started = r.header.Started
	return text[begin:r.drawsEnd], nil
}
