package stancsv

import (
	"errors"
	"io"
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
