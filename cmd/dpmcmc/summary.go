package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/stancsv"
)

// row is one parameter's summary as JSON; figures that do not exist are null.
type row struct {
	Name     string   `json:"name"`
	Mean     *float64 `json:"mean"`
	SD       *float64 `json:"sd"`
	Median   *float64 `json:"median"`
	Q5       *float64 `json:"q5"`
	Q95      *float64 `json:"q95"`
	MCSEMean *float64 `json:"mcse_mean"`
	MCSESD   *float64 `json:"mcse_sd"`
	ESSBulk  *float64 `json:"ess_bulk"`
	ESSTail  *float64 `json:"ess_tail"`
	RHat     *float64 `json:"rhat"`
	Warnings []string `json:"warnings,omitempty"`
}

func rows(t diag.Table) []row {
	var out []row
	for _, r := range t {
		v := row{
			Name: r.Name, Mean: figure(r.Mean), SD: figure(r.SD), Median: figure(r.Median), Q5: figure(r.Q5), Q95: figure(r.Q95),
			MCSEMean: figure(r.MCSEMean), MCSESD: figure(r.MCSESD), ESSBulk: figure(r.ESSBulk), ESSTail: figure(r.ESSTail),
			RHat: figure(r.RHat),
		}
		for _, w := range r.Warnings() {
			v.Warnings = append(v.Warnings, w.String())
		}
		out = append(out, v)
	}
	return out
}

func figure(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func newSummary() *cobra.Command {
	s := &summarySettings{}
	c := &cobra.Command{
		Use:   "summary RUN|FILE...",
		Short: "Summarise a run, or draws files, one file per chain",
		Long: `summary reads the folder of a run, or its draws files, and prints what sample
printed: the verdict, the parameters per unit of the columns in the file, and the
certificate. Files without their folder are summarised as they are written, per unit
of the scaled columns. Draws are released values, so this costs no privacy.

Files must be chains of one run, unless --pool is given: other settings draw from
other distributions, and the costs of several runs add up.`,
		Example: `  dpmcmc summary run/
  dpmcmc summary run/draws_1.csv --standardised
  dpmcmc summary run/draws_*.csv --json
  dpmcmc summary run/ --draws > units.csv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("summary needs the folder of a run, such as run/, or draws files, such as run/draws_1.csv")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.warmup.check(); err != nil {
				return err
			}
			if s.draws && s.json {
				return errors.New("--draws and --json are two forms of output; give one")
			}
			return s.run(args, c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&s.json, "json", false, "print one JSON object")
	c.Flags().BoolVar(&s.draws, "draws", false,
		"print the draws themselves as CSV: named, per unit of the columns in the "+
			"file, warm-up left out")
	c.Flags().Var(&s.warmup, "warmup", "share of each chain to leave out; by default the warm-up that the "+
		"file's header states, and that share of a run that was stopped")
	c.Flags().BoolVar(&s.pool, "pool", false, "summarise chains of different runs together, as they are written")
	s.view.bind(c.Flags())
	c.Flags().BoolVar(&s.view.acceptUnexplored, "accept-unexplored", false,
		"print standard deviations and quantiles of chains that did not explore their posterior")
	return c
}

// summarySettings are the flags of summary.
type summarySettings struct {
	warmup
	view
	pool, draws, json bool
}

// run reads the files and prints their summary.
func (s *summarySettings) run(args []string, out io.Writer) error {
	files, err := s.open(args)
	if err != nil {
		return err
	}
	insecure := slices.ContainsFunc(files, func(f drawsFile) bool { return extra(f.Chain, "dp_insecure") == "true" })
	f, err := s.described(files)
	if err != nil {
		return err
	}
	if f == nil {
		return s.bare(files, insecure, out)
	}
	if err := f.take(s.warmup, files); err != nil {
		return err
	}
	f.certificate.Insecure = f.certificate.Insecure || insecure
	switch {
	case s.draws:
		return f.writeDraws(out)
	case s.json:
		r := f.results(s.view)
		for _, file := range files {
			r.Files = append(r.Files, file.path)
		}
		return printJSON(out, r)
	}
	return say(out, f.words(s.view))
}

// open reads the files, or those of the folders, which must be chains of one run.
func (s *summarySettings) open(args []string) ([]drawsFile, error) {
	var files []drawsFile
	for _, path := range args {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			more, err := openDraws(path)
			if err != nil {
				return nil, err
			}
			files = append(files, more...)
			continue
		}
		chain, err := readChain(path)
		if err != nil {
			return nil, err
		}
		files = append(files, drawsFile{path, chain})
	}
	for i, f := range files {
		if !slices.Equal(files[0].Names, f.Names) {
			return nil, fmt.Errorf("%s has parameters %v, but %s has %v; chains of one summary must agree", f.path, f.Names,
				files[0].path, files[0].Names)
		}
		if what := differs(files[:i], f.Chain); what != "" && !s.pool {
			return nil,
				fmt.Errorf("%s is no chain of the run of %s: %s; give the files of one run, or --pool to summarise them "+
					"together all the same", f.path, files[0].path, what)
		}
	}
	return files, nil
}

// described is the run of the files, if their folder says what it is about.
func (s *summarySettings) described(files []drawsFile) (*finished, error) {
	dir := filepath.Dir(files[0].path)
	for _, f := range files {
		if s.pool || filepath.Dir(f.path) != dir {
			return nil, nil
		}
	}
	if _, err := os.Stat(filepath.Join(dir, modelFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return openDescribed(dir)
}

// bare summarises files of which nothing but themselves is known.
func (s *summarySettings) bare(files []drawsFile, insecure bool, out io.Writer) error {
	if s.draws {
		return fmt.Errorf("--draws needs %s beside the draws, which has the units of the columns; give the folder of one run",
			modelFile)
	}
	var paths []string
	var all [][][]float64
	for _, f := range files {
		kept := s.kept(f.Chain)
		if len(kept) < leastDraws {
			return fmt.Errorf("%s has %d draws after warm-up, too few to summarise; --warmup sets the share to leave out",
				f.path, len(kept))
		}
		paths, all = append(paths, f.path), append(all, kept)
	}
	table := diag.SummarizeAll(headerNames(files[0].Chain), all)
	if s.json {
		return printJSON(out, results{Files: paths, Insecure: insecure, Complete: true, Summary: rows(table)})
	}
	mark, scaled := "", ""
	if insecure {
		mark = insecureMark
	}
	if extra(files[0].Chain, namePrefix+"1") != "" {
		scaled = "Per unit of the scaled columns, as the draws are written:\n\n"
	}
	return say(out, fmt.Sprintf("%s%s%v\n", mark, scaled, table))
}

// writeDraws prints draws in the units of the file.
func (f *finished) writeDraws(out io.Writer) error {
	w := csv.NewWriter(out)
	line := append([]string{"chain", "draw"}, f.names()...)
	if err := w.Write(line); err != nil {
		return err
	}
	for c, chain := range f.inUnits() {
		for i, values := range chain {
			line = append(line[:0], strconv.Itoa(c+1), strconv.Itoa(i+1))
			for _, v := range values {
				line = append(line, strconv.FormatFloat(v, 'g', -1, 64))
			}
			if err := w.Write(line); err != nil {
				return err
			}
		}
	}
	w.Flush()
	return w.Error()
}

// differs says in which way a chain is not one of the run of those before, or is
// empty. Only files of this command say enough.
func differs(before []drawsFile, c *stancsv.Chain) string {
	if len(before) == 0 || len(c.Header.Extra) == 0 {
		return ""
	}
	a, b := before[0].Header, c.Header
	for _, line := range []struct {
		name          string
		first, second any
	}{
		{"model", a.Model, b.Model}, {"algorithm", a.Algorithm, b.Algorithm}, {"step size", a.StepSize, b.StepSize},
		{"data", a.DataFile, b.DataFile}, {"start", a.Init, b.Init}, {"seed", a.Seed, b.Seed}, {"thin", a.Thin, b.Thin},
		{"number of iterations", a.NumWarmup + a.NumSamples, b.NumWarmup + b.NumSamples},
	} {
		if line.first != line.second {
			return fmt.Sprintf("its %s is %v, and that one's %v", line.name, line.second, line.first)
		}
	}
	for _, e := range b.Extra {
		if v := extra(before[0].Chain, e.Key); v != e.Value {
			return fmt.Sprintf("its %s is %s, and that one's %s", e.Key, e.Value, v)
		}
	}
	if !a.Started.Equal(b.Started) {
		return fmt.Sprintf("it was started at %v, and that one at %v", b.Started, a.Started)
	}
	for _, other := range before {
		if other.Header.ID == b.ID {
			return fmt.Sprintf("chain %d was given before", b.ID)
		}
	}
	return ""
}

// extra is a line of our own in a file's header.
func extra(c *stancsv.Chain, key string) string {
	for _, e := range c.Header.Extra {
		if e.Key == key {
			return e.Value
		}
	}
	return ""
}

func readChain(path string) (*stancsv.Chain, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	chain, err := stancsv.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return chain, nil
}
