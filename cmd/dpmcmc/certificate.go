package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/diag"
)

const (
	certificateFile = "certificate.json"
	summaryFile     = "summary.txt"
)

// certificate says what a run's releases cost, in the form that cli.md fixes.
type certificate struct {
	Epsilon          float64           `json:"epsilon"`
	Delta            float64           `json:"delta"`
	Adjacency        string            `json:"adjacency"`
	Guarantee        string            `json:"guarantee"`
	Accounting       string            `json:"accounting"`
	Theorem          string            `json:"theorem"`
	Order            float64           `json:"order"`
	Events           []json.RawMessage `json:"events"` // as account reads them
	Records          int64             `json:"records"`
	RowsPerPerson    int               `json:"rows_per_person"`
	Radius           float64           `json:"radius"`
	Kernel           string            `json:"kernel"`
	Model            string            `json:"model"`
	Loss             string            `json:"loss"`
	Beta             float64           `json:"beta"`
	Temperature      float64           `json:"temperature"`
	DegreesOfFreedom float64           `json:"degrees_of_freedom,omitempty"`
	Dispersion       float64           `json:"dispersion,omitempty"`
	Released         string            `json:"released_per_step"`
	Test             string            `json:"test,omitempty"`
	Batch            string            `json:"batch"`
	Step             float64           `json:"step"`
	Clip             float64           `json:"clip"`
	Noise            float64           `json:"noise_multiplier,omitempty"`
	Friction         float64           `json:"friction,omitempty"`
	Leapfrog         int               `json:"leapfrog,omitempty"`
	MaxMove          float64           `json:"max_move,omitempty"`
	RatioNoise       float64           `json:"ratio_noise_multiplier,omitempty"`
	Schedule         string            `json:"schedule,omitempty"`
	Caveat           string            `json:"caveat,omitempty"` // in which way the draws are not the posterior's
	Start            certifiedStart    `json:"start"`
	Chains           int               `json:"chains"`
	Iterations       int64             `json:"iterations"`
	Draws            int64             `json:"draws"`
	Budget           float64           `json:"budget_epsilon"`
	Columns          []string          `json:"columns"`
	SettingsFrom     string            `json:"settings_from"` // what was looked at to choose them
	NoiseSource      string            `json:"noise_source"`
	Insecure         bool              `json:"insecure"`
	SoftwareVersion  string            `json:"software_version"`
}

// certifiedStart says where the chains start and what that alone costs. Its events
// are among the certificate's.
type certifiedStart struct {
	Kind    string            `json:"kind"`
	Share   float64           `json:"share,omitempty"` // of ε, asked for
	Epsilon float64           `json:"epsilon"`         // at the certificate's delta
	Events  []json.RawMessage `json:"events"`
	Value   []float64         `json:"value,omitempty"` // of the columns; absent until it is found
}

// certifiedStart describes the start.
func (j *job) certifiedStart() (certifiedStart, error) {
	event, r := j.recipe.StartCost(), j.recipe.Settings
	c := certifiedStart{Kind: r.Start, Share: r.StartShare}
	if !slices.Contains(chains.StartNames(), r.Start) {
		c.Kind = "given"
	}
	g, err := event.Epsilon(j.settings.delta)
	if err != nil {
		return c, err
	}
	c.Epsilon = g.Epsilon
	if theta := j.start.Theta; theta != nil {
		c.Value = make([]float64, len(j.model.params))
		if j.model.output == nil {
			copy(c.Value, theta)
		} else {
			j.model.output(c.Value, theta)
		}
	}
	c.Events, err = event.Entries()
	return c, err
}

// certificate describes the whole run, which is paid for before it starts.
func (j *job) certificate() (*certificate, error) {
	s, f, r := j.settings, j.curator.Facts(), j.recipe.Settings
	g, err := j.event.Epsilon(s.delta)
	if err != nil {
		return nil, err
	}
	entries, err := j.event.Entries()
	if err != nil {
		return nil, err
	}
	start, err := j.certifiedStart()
	if err != nil {
		return nil, err
	}
	c := &certificate{
		Start: start, Epsilon: g.Epsilon, Delta: s.delta, Adjacency: f.Adjacency.String(), Guarantee: "unconditional",
		Accounting: g.Method, Theorem: g.Theorem, Order: g.Order, Events: entries,
		Records: f.Records, RowsPerPerson: f.RowsPerPerson, Radius: f.Radius,
		Kernel: r.Kernel, Model: s.model, Loss: s.loss, Beta: s.beta, Temperature: r.Temperature, DegreesOfFreedom: s.degreesOfFreedom, Dispersion: s.dispersion,
		Released: j.recipe.Released, Test: j.recipe.Test, Batch: j.recipe.Batch.String(), Step: r.Step, Clip: j.recipe.Clip, Noise: r.Noise,
		Friction: r.Friction, Leapfrog: r.Leapfrog, MaxMove: r.MaxMove, RatioNoise: r.RatioNoise, Schedule: r.Schedule, Caveat: j.recipe.Caveat,
		Chains: r.Chains, Iterations: r.Iterations, Draws: r.Iterations / s.thin * int64(r.Chains), Budget: s.epsilon,
		NoiseSource: "ChaCha8 keyed by the operating system", SoftwareVersion: version(),
	}
	c.SettingsFrom = "public facts"
	if s.tune {
		c.SettingsFrom = "public facts and data simulated from them"
	}
	for i, p := range j.model.params {
		c.Columns = append(c.Columns, strings.TrimSpace(p+" "+j.model.labels[i]))
	}
	if j.curator.Insecure() {
		c.Guarantee, c.Insecure, c.NoiseSource = "none", true, "INSECURE: ChaCha8 keyed by --insecure-seed"
	}
	return c, nil
}

// version is the module's version, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v += " " + s.Value
		}
	}
	return v
}

func (c *certificate) json() []byte {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		panic("dpmcmc: a certificate must marshal: " + err.Error())
	}
	return append(b, '\n')
}

// pairs are the certificate's lines in the header of a draws file.
func (c *certificate) pairs() [][2]string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return [][2]string{
		{"dp_epsilon", number(c.Epsilon)}, {"dp_delta", number(c.Delta)}, {"dp_adjacency", c.Adjacency},
		{"dp_guarantee", c.Guarantee}, {"dp_accounting", c.Accounting}, {"dp_theorem", c.Theorem},
		{"dp_records", strconv.FormatInt(c.Records, 10)}, {"dp_rows_per_person", strconv.Itoa(c.RowsPerPerson)},
		{"dp_loss", c.Loss}, {"dp_temperature", number(c.Temperature)}, {"dp_insecure", strconv.FormatBool(c.Insecure)},
	}
}

// words is the certificate as a data steward reads it.
func (c *certificate) words(complete bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Privacy certificate\n")
	if c.Insecure {
		fmt.Fprintf(&b, "  NOT PRIVATE: --insecure-seed makes all noise reproducible. Do not release these draws.\n")
	}
	fmt.Fprintf(&b, "  ε = %.4g, δ = %.3g, %s, over all %d steps of %d chain(s)\n", c.Epsilon, c.Delta, c.Guarantee, c.Iterations, c.Chains)
	fmt.Fprintf(&b, "  What it means: whoever sees every draw can hardly tell whether one person's data\n")
	if c.Adjacency == "substitute" {
		fmt.Fprintf(&b, "  were replaced by any other's (substitution; the number of records, %d, is public).\n", c.Records)
	} else {
		fmt.Fprintf(&b, "  were in the table, or its rows were blank (add/remove; the number of rows, %d, is public).\n", c.Records)
	}
	fmt.Fprintf(&b, "  One person contributes at most %d row(s).\n", c.RowsPerPerson)
	if c.Guarantee == "unconditional" {
		fmt.Fprintf(&b, "  It holds for every step, whether or not the chain has converged.\n")
	}
	if !complete {
		fmt.Fprintf(&b, "  The run was stopped early; all its steps had been charged.\n")
	}
	if c.Start.Epsilon > 0 {
		fmt.Fprintf(&b, "  Released at the start: where the chains start (%s), ε = %.4g at the same δ by itself, included above.\n", c.Start.Kind, c.Start.Epsilon)
	}
	fmt.Fprintf(&b, "  Released per step: %s.\n", c.Released)
	if c.Caveat != "" {
		fmt.Fprintf(&b, "  Not the posterior: %s\n", c.Caveat)
	}
	fmt.Fprintf(&b, "  Settings that were not given were chosen from %s; no record was read for that.\n", c.SettingsFrom)
	fmt.Fprintf(&b, "  Accounting: %s; %s", c.Accounting, c.Theorem)
	if c.Order > 0 {
		fmt.Fprintf(&b, "; order %.4g", c.Order)
	}
	fmt.Fprintln(&b)
	for _, r := range c.remarks() {
		fmt.Fprintf(&b, "  %s\n", r)
	}
	return b.String()
}

// remarks are what a careful colleague would say about the budget.
func (c *certificate) remarks() []string {
	var r []string
	switch {
	case c.Epsilon > 5:
		r = append(r, fmt.Sprintf("Warning: ε = %.3g is a weak guarantee; one person's odds may change by a factor of %.3g.", c.Epsilon, expClamped(c.Epsilon)))
	case c.Epsilon > 1:
		r = append(r, fmt.Sprintf("Remark: ε = %.3g is above 1.", c.Epsilon))
	}
	if c.Delta > 1/float64(c.Records) {
		r = append(r, fmt.Sprintf("Warning: δ = %.3g is above 1/N = %.3g; a mechanism that publishes a random record would satisfy it.", c.Delta, 1/float64(c.Records)))
	}
	return r
}

// report prints the summary and the certificate, and writes them with --out.
func (j *job) report(out io.Writer) error {
	c, err := j.certificate()
	if err != nil {
		return err
	}
	table := j.summary()
	text := j.settings.reportText(table) + "\n" + c.words(j.done)
	if j.settings.json {
		text, err = reportJSON(c, table, j.done)
		if err != nil {
			return err
		}
	}
	if j.files != nil {
		err = errors.Join(j.write(certificateFile, c.json()), j.write(summaryFile, []byte(j.settings.reportText(table)+"\n"+c.words(j.done))))
	}
	_, werr := io.WriteString(out, text)
	return errors.Join(err, werr)
}

// reportText is the summary for people, with what is to be said against it.
func (s *sampleSettings) reportText(table diag.Table) string {
	var b strings.Builder
	tempered := ""
	if s.temperature != 1 {
		tempered = fmt.Sprintf(" at temperature %v", s.temperature)
	}
	fmt.Fprintf(&b, "Posterior of %s%s, after leaving out the first %.0f%% of each chain:\n\n%s\n", s.data, tempered, 100*s.warmup, strings.TrimRight(table.String(), "\n"))
	if warnings := warningLines(table); warnings != nil {
		fmt.Fprintf(&b, "\nWarnings\n")
		for _, w := range warnings {
			fmt.Fprintf(&b, "  %s\n", w)
		}
		fmt.Fprintf(&b, "  A private chain explores slowly. A larger ε, a lower --temperature or --loss beta\n  lets the budget cross the posterior more often (docs/theory.md, section 5).\n")
	}
	return b.String()
}

// warningLines says each kind of warning once, with the parameters it is about.
func warningLines(table diag.Table) []string {
	var kinds []diag.Kind
	about := map[diag.Kind][]string{}
	for _, w := range table.Warnings() {
		if about[w.Kind] == nil {
			kinds = append(kinds, w.Kind)
		}
		name, _, _ := strings.Cut(w.Name, " ")
		about[w.Kind] = append(about[w.Kind], name)
	}
	var lines []string
	for _, k := range kinds {
		text := string(k)
		switch k {
		case diag.HighRHat:
			text = fmt.Sprintf("R-hat is above %v", diag.MaxRHat)
		case diag.LowESS:
			text = fmt.Sprintf("ESS is below %d a chain", diag.MinESSPerChain)
		}
		lines = append(lines, fmt.Sprintf("%s: %s", text, strings.Join(about[k], ", ")))
	}
	return lines
}

// reportJSON is the one object of --json.
func reportJSON(c *certificate, table diag.Table, complete bool) (string, error) {
	b, err := json.MarshalIndent(struct {
		Certificate *certificate `json:"certificate"`
		Complete    bool         `json:"complete"`
		Summary     []row        `json:"summary"`
	}{c, complete, rows(table)}, "", "  ")
	return string(b) + "\n", err
}

// write puts a file into the output folder, through a temporary one, so that a
// reader never sees half of it.
func (j *job) write(name string, content []byte) error {
	path := filepath.Join(j.settings.out, name)
	if err := os.WriteFile(path+".tmp", content, 0o644); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return os.Rename(path+".tmp", path)
}
