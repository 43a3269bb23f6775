package stancsv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
	temporary := path + ".new"
	file, err := os.Create(temporary)
	if err != nil {
		return nil, fmt.Errorf("stancsv: going on with %s: %w", path, err)
	}
	w, err := NewWriter(file, h, parameters)
	if err == nil {
		_, err = file.Write(kept)
	}
	if err = errors.Join(err, file.Sync()); err == nil {
		err = os.Rename(temporary, path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("stancsv: going on with %s: %w", path, err), file.Close())
	}
	w.file = file
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

// syncDir makes names in a folder outlast a power loss.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
