package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"

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
		Use:   "summary FILE...",
		Short: "Summarise draws files, one file per chain",
		Long: `summary prints mean, standard deviation, quantiles, Monte Carlo errors, effective
sample sizes and R-hat of the draws in CmdStan-style files. Draws are released
values, so this costs no privacy. Files of this command must be chains of one
run, unless --pool is given: other settings draw from other distributions, and
the costs of several runs add up.`,
		Example: "  dpmcmc summary run/draws_1.csv\n  dpmcmc summary run/draws_*.csv --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("summary needs at least one draws file, such as run/draws_1.csv")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if s.given = c.Flags().Changed("warmup"); s.given && !(s.warmup >= 0 && s.warmup < 1) {
				return fmt.Errorf("--warmup is %v; it is the share of each chain to leave out, in [0, 1)", s.warmup)
			}
			return s.run(args, c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&s.json, "json", false, "print one JSON object")
	c.Flags().Float64Var(&s.warmup, "warmup", 0, "share of each chain to leave out; by default the warm-up that the "+
		"file's header states, and that share of a run that was stopped")
	c.Flags().BoolVar(&s.pool, "pool", false, "summarise chains of different runs together")
	return c
}

// summarySettings are the flags of summary.
type summarySettings struct {
	warmup            float64
	given, pool, json bool
}

// run reads the files and prints their summary.
func (s *summarySettings) run(paths []string, out io.Writer) error {
	var chains []*stancsv.Chain
	var all [][][]float64
	insecure := false
	for i, path := range paths {
		chain, err := readChain(path)
		if err != nil {
			return err
		}
		chains = append(chains, chain)
		if !slices.Equal(chains[0].Names, chain.Names) {
			return fmt.Errorf("%s has parameters %v, but %s has %v; chains of one summary must agree", path, chain.Names,
				paths[0], chains[0].Names)
		}
		if what := differs(chains[:i], chain); what != "" && !s.pool {
			return fmt.Errorf("%s is no chain of the run of %s: %s; give the files of one run, or --pool to summarise them "+
				"together all the same", path, paths[0], what)
		}
		kept := s.kept(chain)
		if len(kept) == 0 {
			return fmt.Errorf("%s has no draws after warm-up; --warmup sets the share to leave out", path)
		}
		all = append(all, kept)
		insecure = insecure || extra(chain, "dp_insecure") == "true"
	}
	table := diag.SummarizeAll(chains[0].Names, all)
	if s.json {
		return printJSON(out, struct {
			Files    []string `json:"files"`
			Insecure bool     `json:"insecure"`
			Summary  []row    `json:"summary"`
		}{paths, insecure, rows(table)})
	}
	mark := ""
	if insecure {
		mark = insecureMark
	}
	_, err := fmt.Fprintf(out, "%s%v\n", mark, table)
	return err
}

// kept are the draws after warm-up. A chain that was stopped has its share of warm-up.
func (s *summarySettings) kept(c *stancsv.Chain) [][]float64 {
	h, share := c.Header, s.warmup
	if !s.given {
		if c.Finished || !h.SaveWarmup || h.NumWarmup+h.NumSamples == 0 {
			return c.Draws
		}
		share = float64(h.NumWarmup) / float64(h.NumWarmup+h.NumSamples)
	}
	draws := slices.Concat(c.Warmup, c.Draws)
	return draws[int(share*float64(len(draws))):]
}

// differs says in which way a chain is not one of the run of those before, or is
// empty. Only files of this command say enough.
func differs(before []*stancsv.Chain, c *stancsv.Chain) string {
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
		if v := extra(before[0], e.Key); v != e.Value {
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
