package runs

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/durable"
	"github.com/dpmcmc/dpmcmc/report"
	"github.com/dpmcmc/dpmcmc/targets"
)

// WritePage writes the page of a run into its folder.
func (f *Run) WritePage(dir string) error {
	var b bytes.Buffer
	if err := report.Write(&b, f.page()); err != nil {
		return err
	}
	return writeFile(dir, ReportFile, b.Bytes())
}

// page is the report of a run.
func (f *Run) page() report.Page {
	c, v := f.Certificate, f.Verdict()
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
	names, draws, prior := f.Names(), f.InUnits(), f.prior()
	for i := range f.Model.Parameters {
		q := report.Parameter{Name: names[i], Unit: f.Model.Parameters[i].Unit, Ratio: f.hasOddsRatio(i)}
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
func (f *Run) title() string {
	table := filepath.Base(f.Data)
	if shape := f.Model.Shape; shape.HasTarget() {
		return fmt.Sprintf("%s model of %s in %s", f.Model.Name, shape.Target.Name, table)
	}
	return fmt.Sprintf("%s model of %s", f.Model.Name, table)
}

// label is the privacy label.
func (f *Run) label() []report.Fact {
	c := f.Certificate
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
	if !f.Complete {
		facts = append(facts, report.Fact{Name: "Stopped early", Value: "all steps had been charged"})
	}
	return facts
}

// prior are draws of the prior in the units of the file, none where the model cannot
// draw them.
func (f *Run) prior() [][]float64 {
	const n = 2000
	s, ok := f.Model.Target.(targets.PriorSampler)
	if !ok {
		return nil
	}
	rng := rand.New(rand.NewPCG(1, 0))
	out := make([][]float64, n)
	theta, values := make([]float64, f.Model.Target.Dim()), make([]float64, len(f.Model.Parameters))
	for i := range out {
		s.SamplePrior(theta, rng)
		f.Model.Output(values, theta)
		out[i] = make([]float64, len(values))
		f.Model.InUnits(out[i], values)
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
