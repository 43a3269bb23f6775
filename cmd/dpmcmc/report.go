package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/durable"
	"github.com/dpmcmc/dpmcmc/report"
	"github.com/dpmcmc/dpmcmc/targets"
)

// insecureMark heads whatever comes from a run that is not private.
const insecureMark = "NOT PRIVATE: drawn with --insecure-seed. Do not release these draws.\n\n"

func newReport() *cobra.Command {
	return &cobra.Command{
		Use:   "report RUN",
		Short: "Write a run's page again",
		Long: `report writes report.html into the folder of a run: the verdict, the privacy label,
the parameters in the units of the file, plots, settings. sample --out writes it by
itself. The page needs nothing else and costs no privacy.`,
		Example: "  dpmcmc report run/",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("report needs the folder of one run, such as run/; %d were given", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f, err := openFinished(args[0])
			if err != nil {
				return err
			}
			if err := f.writePage(args[0]); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s\nThe page is %s.\n", f.verdict().Headline,
				filepath.Join(args[0], reportFile))
			return err
		},
	}
}

// writePage writes the page of a run into its folder.
func (f *finished) writePage(dir string) error {
	var b bytes.Buffer
	if err := report.Write(&b, f.page()); err != nil {
		return err
	}
	return writeFile(dir, reportFile, b.Bytes())
}

// page is the report of a run.
func (f *finished) page() report.Page {
	c, v := f.certificate, f.verdict()
	p := report.Page{
		Title:   f.title(),
		Verdict: report.Verdict(v),
		Privacy: f.label(), RatioName: "Odds ratios",
		Cite: fmt.Sprintf("Drawn with dpmcmc %s: %s kernel, ε = %.4g, δ = %.3g, %s, %s adjacency, %s. Cite the "+
			"certificate with the draws.",
			c.SoftwareVersion, c.Kernel, c.Epsilon, c.Delta, c.Guarantee, c.Adjacency, c.Theorem),
	}
	if c.Insecure {
		p.Title, p.Cite = "NOT PRIVATE: "+p.Title, ""
	}
	names, draws, prior := f.names(), f.inUnits(), f.prior()
	for i := range f.model.Parameters {
		q := report.Parameter{Name: names[i], Unit: f.model.Parameters[i].Unit, Ratio: f.hasOddsRatio(i)}
		for _, chain := range draws {
			q.Chains = append(q.Chains, column(chain, i))
		}
		q.Prior = column(prior, i)
		p.Parameters = append(p.Parameters, q)
	}
	for _, s := range chains.Table() {
		if s.Given(c.Settings) {
			p.Settings = append(p.Settings, report.Fact{Name: s.Name, Value: fmt.Sprint(s.Value(c.Settings))})
		}
	}
	return p
}

// title names the model, the response and the table.
func (f *finished) title() string {
	table := filepath.Base(f.data)
	if shape := f.model.Shape; shape.HasTarget() {
		return fmt.Sprintf("%s model of %s in %s", f.model.Name, shape.Target.Name, table)
	}
	return fmt.Sprintf("%s model of %s", f.model.Name, table)
}

// label is the privacy label.
func (f *finished) label() []report.Fact {
	c := f.certificate
	facts := []report.Fact{
		{Name: "Cost", Value: c.Cost()},
		{Name: "Guarantee", Value: c.Guarantee + ": it holds for every step, whether or not the chains converged"},
		{Name: "Protects", Value: c.Protects()},
		{Name: "Remember", Value: "Costs of several runs on the same people add up."},
		{Name: "Released per step", Value: c.Released},
		{Name: "Accounting", Value: c.Accounting + "; " + c.Theorem},
		{Name: "Settings", Value: "those not given were chosen from " + c.SettingsFrom + "; no record was read for that"},
	}
	if c.Insecure {
		facts[0] = report.Fact{Name: "Cost",
			Value: "NOT PRIVATE: --insecure-seed makes all noise reproducible. Do not release these draws."}
		facts[1].Value = c.Guarantee
		facts = slices.Delete(facts, 2, 4)
	}
	for _, more := range []report.Fact{
		{Name: "Released at the start", Value: c.AtStart()},
		{Name: "Sampled", Value: strings.TrimPrefix(c.Sampled+"."+c.Widened(), ".")},
		{Name: "Not the posterior", Value: c.Caveat},
		{Name: "Radius", Value: c.Shortened}, {Name: "Assumed", Value: c.Assumed},
	} {
		if more.Value != "" {
			facts = append(facts, more)
		}
	}
	if !f.complete {
		facts = append(facts, report.Fact{Name: "Stopped early", Value: "all steps had been charged"})
	}
	return facts
}

// prior are draws of the prior in the units of the file, none where the model cannot
// draw them.
func (f *finished) prior() [][]float64 {
	const n = 2000
	s, ok := f.model.Target.(targets.PriorSampler)
	if !ok {
		return nil
	}
	rng := rand.New(rand.NewPCG(1, 0))
	out := make([][]float64, n)
	theta, values := make([]float64, f.model.Target.Dim()), make([]float64, len(f.model.Parameters))
	for i := range out {
		s.SamplePrior(theta, rng)
		f.model.Output(values, theta)
		out[i] = make([]float64, len(values))
		f.model.InUnits(out[i], values)
	}
	return out
}

// column is one value of every draw.
func column(draws [][]float64, i int) []float64 {
	var v []float64
	for _, d := range draws {
		v = append(v, d[i])
	}
	return v
}

// writeFile puts a file into a folder, through a temporary one, so that a reader never
// sees half of it.
func writeFile(dir, name string, content []byte) error {
	if err := durable.WriteFile(filepath.Join(dir, name), content); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}
