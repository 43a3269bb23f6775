package stancsv

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Chain is a whole file in memory.
type Chain struct {
	Header Header
	// Names are the parameters' names, such as beta[1].
	Names []string
	// Warmup and Draws hold one row of parameter values per draw, in the order of
	// Names. Warmup is empty unless the header says that warm-up was saved.
	Warmup, Draws [][]float64
	// Sampler holds the other columns of Draws, and SamplerNames their names.
	Sampler      [][]float64
	SamplerNames []string
	// Finished says that the file has its footer, Torn that its last line was cut
	// off and left out.
	Finished, Torn bool
}

// Read reads a whole file, finished or not.
func Read(in io.Reader) (*Chain, error) {
	r, err := NewReader(in)
	if err != nil {
		return nil, err
	}
	c := &Chain{Header: r.Header()}
	c.SamplerNames, c.Names = names(r.Columns())
	row := make([]float64, len(r.Columns()))
	for {
		if err = r.Next(row); err != nil {
			break
		}
		sampler, params := split(r.Columns(), row)
		c.Sampler, c.Draws = append(c.Sampler, sampler), append(c.Draws, params)
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	warmup := min(c.Header.warmupRows(), len(c.Draws))
	c.Warmup, c.Draws, c.Sampler = c.Draws[:warmup], c.Draws[warmup:], c.Sampler[warmup:]
	c.Finished, c.Torn = r.Finished(), r.Torn()
	return c, nil
}

// warmupRows returns how many rows of a whole file are warm-up.
func (h Header) warmupRows() int {
	if !h.SaveWarmup || h.NumWarmup <= 0 {
		return 0
	}
	return (h.NumWarmup-1)/max(h.Thin, 1) + 1
}

// isSampler reports whether a column describes the sampler.
func isSampler(column string) bool { return strings.HasSuffix(column, "__") }

// names returns the names of the two kinds of columns.
func names(columns []string) (sampler, parameters []string) {
	for _, column := range columns {
		if isSampler(column) {
			sampler = append(sampler, column)
		} else {
			parameters = append(parameters, ParameterName(column))
		}
	}
	return sampler, parameters
}

// split returns the two kinds of columns of a row, copied.
func split(columns []string, row []float64) (sampler, params []float64) {
	for i, column := range columns {
		if isSampler(column) {
			sampler = append(sampler, row[i])
		} else {
			params = append(params, row[i])
		}
	}
	return sampler, params
}

// Progress is how far an unfinished file came.
type Progress struct {
	Header Header
	// Names are the parameters' names, such as beta[1].
	Names []string
	// Rows counts the whole draws, warm-up included if it was saved.
	Rows int
	// Last holds the parameters of the last whole draw; nil when Rows is 0.
	Last []float64
}

// Append opens an unfinished file of [Create] to go on with it: it cuts off
// whatever follows the last whole draw (a torn line, part of a footer) and
// returns how far the run came. A finished file is left alone and is an error.
// The caller compares Progress.Header with the run it is about to continue.
func Append(path string) (*Writer, Progress, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, Progress{}, fmt.Errorf("stancsv: opening a draws file to go on with: %w", err)
	}
	progress, end, err := inspect(file)
	if err == nil {
		err = file.Truncate(end)
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}
	if err != nil {
		return nil, Progress{}, errors.Join(fmt.Errorf("stancsv: going on with %s: %w", path, err), file.Close())
	}
	w := newWriter(file, len(progress.Names))
	w.file = file
	return w, progress, nil
}

// inspect reads an unfinished file and returns where its last whole draw ends.
func inspect(in io.Reader) (p Progress, end int64, err error) {
	r, err := NewReader(in)
	if err != nil {
		return Progress{}, 0, err
	}
	p.Header = r.Header()
	row := make([]float64, len(r.Columns()))
	last := make([]float64, len(row))
	for {
		if err = r.Next(row); err != nil {
			break
		}
		copy(last, row)
		p.Rows++
	}
	if !errors.Is(err, io.EOF) {
		return Progress{}, 0, err
	}
	if r.Finished() {
		return Progress{}, 0, fmt.Errorf("stancsv: the file is complete with %d draws, so there is nothing to go on with; "+
			"choose another path for a new run", p.Rows)
	}
	sampler, parameters := names(r.Columns())
	if !slices.Equal(sampler, samplerColumns) {
		return Progress{}, 0, fmt.Errorf("stancsv: the file has the sampler columns %q and this writer makes %q; start a "+
			"new run instead", sampler, samplerColumns)
	}
	p.Names = parameters
	if p.Rows > 0 {
		_, p.Last = split(r.Columns(), last)
	}
	return p, r.drawsEnd, nil
}
