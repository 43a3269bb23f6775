package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/diag"
	"github.com/dpmcmc/dpmcmc/internal/runs"
)

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
			if err := s.Warmup.Check(); err != nil {
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
	c.Flags().Var(&s.Warmup, "warmup", "share of each chain to leave out; by default the warm-up that the "+
		"file's header states, and that share of a run that was stopped")
	c.Flags().BoolVar(&s.pool, "pool", false, "summarise chains of different runs together, as they are written")
	bindView(c.Flags(), &s.View)
	c.Flags().BoolVar(&s.AcceptUnexplored, "accept-unexplored", false,
		"print standard deviations and quantiles of chains that did not explore their posterior")
	return c
}

// summarySettings are the flags of summary.
type summarySettings struct {
	runs.Warmup
	runs.View
	pool, draws, json bool
}

// run reads the files and prints their summary.
func (s *summarySettings) run(args []string, out io.Writer) error {
	files, err := s.open(args)
	if err != nil {
		return err
	}
	insecure := slices.ContainsFunc(files, func(f runs.File) bool { return runs.Extra(f.Chain, "dp_insecure") == "true" })
	f, err := s.described(files)
	if err != nil {
		return err
	}
	if f == nil {
		return s.bare(files, insecure, out)
	}
	if err := f.Take(s.Warmup, files); err != nil {
		return err
	}
	f.Certificate.Insecure = f.Certificate.Insecure || insecure
	switch {
	case s.draws:
		return f.WriteDraws(out)
	case s.json:
		r := f.Results(s.View)
		for _, file := range files {
			r.Files = append(r.Files, file.Path)
		}
		return printJSON(out, r)
	}
	return say(out, f.Words(s.View))
}

// open reads the files, or those of the folders, which must be chains of one run.
func (s *summarySettings) open(args []string) ([]runs.File, error) {
	var files []runs.File
	for _, path := range args {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			more, err := runs.OpenDraws(path)
			if err != nil {
				return nil, err
			}
			files = append(files, more...)
			continue
		}
		chain, err := runs.ReadChain(path)
		if err != nil {
			return nil, fmt.Errorf("%w; give the folder of a run, such as run/, or its draws files, such as "+
				"run/draws_1.csv", err)
		}
		files = append(files, runs.File{Path: path, Chain: chain})
	}
	for i, f := range files {
		if !slices.Equal(files[0].Names, f.Names) {
			return nil, fmt.Errorf("%s has parameters %v, but %s has %v; chains of one summary must agree", f.Path, f.Names,
				files[0].Path, files[0].Names)
		}
		if what := runs.Differs(files[:i], f.Chain); what != "" && !s.pool {
			return nil,
				fmt.Errorf("%s is no chain of the run of %s: %s; give the files of one run, or --pool to summarise them "+
					"together all the same", f.Path, files[0].Path, what)
		}
	}
	return files, nil
}

// described is the run of the files, if their folder says what it is about.
func (s *summarySettings) described(files []runs.File) (*runs.Run, error) {
	dir := filepath.Dir(files[0].Path)
	for _, f := range files {
		if s.pool || filepath.Dir(f.Path) != dir {
			return nil, nil
		}
	}
	if _, err := os.Stat(filepath.Join(dir, runs.ModelFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return runs.OpenDescribed(dir)
}

// bare summarises files of which nothing but themselves is known.
func (s *summarySettings) bare(files []runs.File, insecure bool, out io.Writer) error {
	if s.draws {
		return fmt.Errorf("--draws needs %s beside the draws, which has the units of the columns; give the folder of one run",
			runs.ModelFile)
	}
	var paths []string
	var all [][][]float64
	for _, f := range files {
		kept := s.Kept(f.Chain)
		if len(kept) < runs.LeastDraws {
			return fmt.Errorf("%s has %d draws after warm-up, too few to summarise; --warmup sets the share to leave out",
				f.Path, len(kept))
		}
		paths, all = append(paths, f.Path), append(all, kept)
	}
	table := diag.SummarizeAll(runs.HeaderNames(files[0].Chain), all)
	if s.json {
		return printJSON(out, runs.Results{Files: paths, Insecure: insecure, Complete: true, Summary: runs.Rows(table)})
	}
	mark, scaled := "", ""
	if insecure {
		mark = runs.InsecureMark
	}
	if runs.Extra(files[0].Chain, runs.NamePrefix+"1") != "" {
		scaled = "Per unit of the scaled columns, as the draws are written:\n\n"
	}
	return say(out, fmt.Sprintf("%s%s%v\n", mark, scaled, table))
}
