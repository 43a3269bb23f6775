package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/stat"

	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/ops"
)

// table is what a figure prints and writes as CSV.
type table struct {
	header []string
	rows   [][]string
}

func newTable(header ...string) *table { return &table{header: header} }

// add appends a row; numbers keep four significant digits.
func (t *table) add(values ...any) {
	row := make([]string, len(values))
	for i, v := range values {
		if x, ok := v.(float64); ok {
			row[i] = fmt.Sprintf("%.4g", x)
		} else {
			row[i] = fmt.Sprint(v)
		}
	}
	t.rows = append(t.rows, row)
}

// print writes a table for people to the log.
func (s settings) print(t *table) error {
	w := tabwriter.NewWriter(s.log, 0, 0, 2, ' ', 0)
	for _, row := range slices.Concat([][]string{t.header}, t.rows) {
		if _, err := fmt.Fprintln(w, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return w.Flush()
}

// save prints the table and writes name.csv and, of the panels in rows of the given
// number of columns, name.svg.
func (s settings) save(name string, t *table, columns int, panels ...plot.Panel) error {
	if err := s.print(t); err != nil {
		return err
	}
	err := s.create(name+".csv", func(f *os.File) error {
		return csv.NewWriter(f).WriteAll(slices.Concat([][]string{t.header}, t.rows))
	})
	if err != nil || len(panels) == 0 {
		return err
	}
	return s.create(name+".svg", func(f *os.File) error { return plot.Grid(f, columns, panels...) })
}

func (s settings) create(name string, write func(*os.File) error) error {
	f, err := os.Create(filepath.Join(s.out, name))
	if err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	return errors.Join(write(f), f.Close())
}

// count is the number of repeats: the figure's own unless another was asked for.
func (s settings) count(own int) int {
	if s.repeats > 0 {
		return s.repeats
	}
	return own
}

// stream is the random stream of one named cell of a figure; what other cells draw
// does not change it.
func (s settings) stream(cell ...any) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, cell...)
	return rand.New(rand.NewPCG(s.seed, h.Sum64()))
}

// source is a cell's noise, reproducible and so not private.
func (s settings) source(cell ...any) *ops.Source {
	rng := s.stream(append(cell, "source")...)
	var key [32]byte
	for i := range key {
		key[i] = byte(rng.Uint32())
	}
	return ops.NewInsecureSource(key)
}

// quantile is the p-quantile of x, linear between order statistics; NaN of nothing.
func quantile(x []float64, p float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	at := p * float64(len(x)-1)
	lo := int(at)
	hi := min(lo+1, len(x)-1)
	return x[lo] + (at-float64(lo))*(x[hi]-x[lo])
}

func median(x []float64) float64 { return quantile(x, 0.5) }

// meanAndError are the mean of x and its standard error.
func meanAndError(x []float64) (mean, stderr float64) {
	mean, sd := stat.MeanStdDev(x, nil)
	return mean, stat.StdErr(sd, float64(len(x)))
}

// curve gathers the results of repeats at each x into a line of medians, with bars
// from the first to the third quartile.
type curve struct {
	name string
	x    []float64
	runs [][]float64
}

func (c *curve) add(x float64, runs []float64) {
	c.x, c.runs = append(c.x, x), append(c.runs, runs)
}

func (c *curve) line() plot.Line {
	l := plot.Line{Name: c.name, X: c.x}
	for _, r := range c.runs {
		l.Y = append(l.Y, median(r))
		l.Low = append(l.Low, quantile(r, 0.25))
		l.High = append(l.High, quantile(r, 0.75))
	}
	return l
}

// spread writes the median and the quartiles of x.
func spread(x []float64) string {
	return fmt.Sprintf("%.3g [%.3g–%.3g]", median(x), quantile(x, 0.25), quantile(x, 0.75))
}
