package chains

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// Certificate says what a run's releases cost, and of what. It holds public facts and
// released values alone.
type Certificate struct {
	Epsilon          float64           `json:"epsilon"`
	Delta            float64           `json:"delta"`
	Adjacency        string            `json:"adjacency"`
	Guarantee        string            `json:"guarantee"`
	Accounting       string            `json:"accounting"`
	Theorem          string            `json:"theorem"`
	Order            float64           `json:"order"`
	Events           []json.RawMessage `json:"events"` // as dpmcmc account reads them
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
	Clip             float64           `json:"clip"`   // 0 for the model's certificate
	Target           string            `json:"target"` // posterior, tempered, noise-aware or perturbed
	Sampled          string            `json:"sampled,omitempty"`
	// Widening is the factor by which privacy widened intervals, the median over coefficients.
	Widening        float64        `json:"widening,omitempty"`
	Caveat          string         `json:"caveat,omitempty"`    // why the draws are not of the posterior
	Doubts          []Doubt        `json:"doubts,omitempty"`    // reasons not to take intervals as they are
	Shortened       string         `json:"shortened,omitempty"` // what the radius does to rows longer than it
	Start           CertifiedStart `json:"start"`
	Chains          int64          `json:"chains"`
	Iterations      int64          `json:"iterations"`
	Draws           int64          `json:"draws"`
	Budget          float64        `json:"budget_epsilon"`
	Settings        Settings       `json:"settings"`
	SettingsFrom    string         `json:"settings_from"` // what was looked at to choose them
	Columns         []string       `json:"columns"`
	NoiseSource     string         `json:"noise_source"`
	Insecure        bool           `json:"insecure"`
	Assumed         string         `json:"assumed,omitempty"` // of a target that is not the library's own
	SoftwareVersion string         `json:"software_version"`
	// Ledger says where the run was charged, which has the hash of this certificate's
	// file. Whoever keeps the accounts fills it in.
	Ledger *CertifiedLedger `json:"ledger,omitempty"`
}

// CertifiedLedger names the charges of a run in the ledger of the people that it is about.
type CertifiedLedger struct {
	// File is the ledger's name when the run was charged, and ID its own wherever it is.
	File string `json:"file"`
	ID   string `json:"id"`
	// Run is the run's name in the ledger, and Entries are the numbers of its charges.
	Run     string  `json:"run"`
	Entries []int64 `json:"entries"`
}

// CertifiedStart says where the chains start and what that alone costs. Its events
// are among the certificate's.
type CertifiedStart struct {
	Kind    string            `json:"kind"`
	Share   float64           `json:"share,omitempty"` // of ε, asked for
	Epsilon float64           `json:"epsilon"`         // at the certificate's delta
	Events  []json.RawMessage `json:"events"`
	Value   []float64         `json:"value,omitempty"` // of the columns; absent until it is found
}

// Certificate describes the whole run, which is paid for before it starts. Its ε is the
// least that is known of its events, as dpmcmc account finds it: the budget's conversion may
// be looser. thin is the thinning of its draws. The start's value is there once it has been found.
func (s *Session) Certificate(m *models.Model, thin int64) (*Certificate, error) {
	f, p := s.records.Facts(), s.Plan
	config := s.records.Budget().Config()
	event, err := p.Cost()
	if err != nil {
		return nil, err
	}
	g, err := event.LeastEpsilon(config.Delta)
	if err != nil {
		return nil, err
	}
	entries, err := event.Entries()
	if err != nil {
		return nil, err
	}
	start, err := s.certifiedStart(m, config.Delta)
	if err != nil {
		return nil, err
	}
	c := &Certificate{
		Epsilon: g.Epsilon, Delta: config.Delta, Adjacency: f.Adjacency.String(), Guarantee: "unconditional",
		Accounting: g.Method, Theorem: g.Theorem, Order: g.Order, Events: entries,
		Records: f.Records, RowsPerPerson: f.RowsPerPerson, Radius: f.Radius,
		Kernel: p.Settings.Kernel, Model: m.Name, Loss: m.Options.Loss, Beta: m.Options.Beta,
		Temperature:      p.Settings.Temperature,
		DegreesOfFreedom: m.Options.DegreesOfFreedom, Dispersion: m.Options.Dispersion,
		Released: p.Released, Test: p.Test, Batch: p.Batch.String(), Clip: p.Clip, Target: p.Target, Sampled: p.Sampled,
		Widening: s.widening, Doubts: s.doubts, Caveat: p.Caveat, Start: start,
		Chains: p.Settings.Chains, Iterations: p.Settings.Iterations, Draws: p.Settings.Iterations / thin * p.Settings.Chains,
		Budget: config.Epsilon, Settings: p.Settings, SettingsFrom: p.ChosenFrom, Columns: valueNames(m),
		NoiseSource: "ChaCha8 keyed by the operating system", SoftwareVersion: Version(),
	}
	if m.Shape != nil {
		c.Shortened = shortened(m)
	}
	if !targets.Ours(m.Target) {
		c.Assumed = targets.Assumed
	}
	if s.records.Insecure() {
		c.Guarantee, c.Insecure, c.NoiseSource = "none", true, "INSECURE: ChaCha8 keyed by --insecure-seed"
	}
	return c, nil
}

// Event is all that the certificate states was released.
func (c *Certificate) Event() (accountant.Event, error) {
	var e accountant.Event
	document, err := json.Marshal(map[string]any{"adjacency": c.Adjacency, "events": c.Events})
	if err == nil {
		err = e.UnmarshalJSON(document)
	}
	return e, err
}

// certifiedStart describes the start.
func (s *Session) certifiedStart(m *models.Model, delta float64) (CertifiedStart, error) {
	event, r := s.Plan.StartCost(), s.Plan.Settings
	c := CertifiedStart{Kind: r.Start, Share: r.StartShare}
	switch {
	case len(s.Plan.shared.Mechanisms()) > 0:
		event, c.Kind = s.Plan.shared, "anchor"
	case !slices.Contains(StartNames(), r.Start):
		c.Kind = "given"
	}
	g, err := event.LeastEpsilon(delta)
	if err != nil {
		return c, err
	}
	c.Epsilon = g.Epsilon
	if s.starts != nil {
		c.Value = written(m, s.starts[0])
	}
	c.Events, err = event.Entries()
	return c, err
}

// Version is the module's version, or the commit it was built from.
func Version() string {
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

// JSON is the certificate as files hold it.
func (c *Certificate) JSON() []byte {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		panic("chains: a certificate must marshal: " + err.Error())
	}
	return append(b, '\n')
}

// Pairs are the certificate's lines in the header of a draws file.
func (c *Certificate) Pairs() [][2]string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return [][2]string{
		{"dp_epsilon", number(c.Epsilon)}, {"dp_delta", number(c.Delta)}, {"dp_adjacency", c.Adjacency},
		{"dp_guarantee", c.Guarantee}, {"dp_accounting", c.Accounting}, {"dp_theorem", c.Theorem},
		{"dp_records", strconv.FormatInt(c.Records, 10)}, {"dp_rows_per_person", strconv.Itoa(c.RowsPerPerson)},
		{"dp_loss", c.Loss}, {"dp_temperature", number(c.Temperature)}, {"dp_insecure", strconv.FormatBool(c.Insecure)},
	}
}

// String is the certificate of a complete run as a data steward reads it.
func (c *Certificate) String() string { return c.Words(true) }

// Words is the certificate as a data steward reads it. Nothing that is not private
// is followed by a promise.
func (c *Certificate) Words(complete bool) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+"\n", args...) }
	b.WriteString("Privacy certificate\n")
	if c.Insecure {
		line("NOT PRIVATE: --insecure-seed makes all noise reproducible. Do not release these draws.")
		line("Without it the same run would cost ε = %.4g at δ = %.3g.", c.Epsilon, c.Delta)
	} else {
		c.promise(line)
	}
	if !complete {
		line("The run was stopped early; all its steps had been charged.")
	}
	if start := c.AtStart(); start != "" {
		line("Released at the start: %s.", start)
	}
	line("Released per step: %s.", c.Released)
	if c.Sampled != "" {
		line("Sampled: %s.%s", c.Sampled, c.Widened())
	}
	if c.Caveat != "" {
		line("Not the posterior: %s", c.Caveat)
	}
	if c.Shortened != "" {
		line("Radius: %s", c.Shortened)
	}
	line("Settings that were not given were chosen from %s; no record was read for that.", c.SettingsFrom)
	order := ""
	if c.Order > 0 {
		order = fmt.Sprintf("; order %.4g", c.Order)
	}
	line("Accounting: %s; %s%s", c.Accounting, c.Theorem, order)
	for _, r := range Remarks(c.Epsilon, c.Delta, c.Records) {
		line("%s", r)
	}
	return b.String()
}

// shortened says which rows are longer than the radius, as far as that is public, and what
// becomes of them.
func shortened(m *models.Model) string {
	s := m.Shape
	share, possible := s.Longer()
	if !possible {
		return fmt.Sprintf("no row is shortened; within their bounds none is longer than %.4g.", s.Radius)
	}
	about := "below 0.1%"
	if share >= 0.001 {
		about = fmt.Sprintf("about %.2g%%", 100*share)
	}
	become := "are shortened"
	if m.Weighs() {
		become = "weigh less"
	}
	return fmt.Sprintf("rows longer than %.4g %s. By the schema %s of all rows are: "+
		"how many were is private, and not counted.", s.Radius, become, about)
}

// Widened says by how much privacy widened the intervals, after a space; it is empty
// where that is not known.
func (c *Certificate) Widened() string {
	if c.Widening == 0 {
		return ""
	}
	return fmt.Sprintf(" Privacy widened them by ×%.3g.", c.Widening)
}

// Cost is what the run was charged, and for which steps.
func (c *Certificate) Cost() string {
	return fmt.Sprintf("ε = %.4g, δ = %.3g, %s, over all %d steps of %s", c.Epsilon, c.Delta, c.Guarantee,
		c.Iterations, several(c.Chains, "chain"))
}

// AtStart says what was released before the first step and what that cost. It is empty if nothing
// was.
func (c *Certificate) AtStart() string {
	if c.Start.Epsilon == 0 {
		return ""
	}
	return fmt.Sprintf("where the chains start (%s), ε = %.4g at the same δ by itself, included above", c.Start.Kind,
		c.Start.Epsilon)
}

// promise is what the guarantee means.
func (c *Certificate) promise(line func(format string, args ...any)) {
	line("%s", c.Cost())
	line("ε and δ bound how well anyone who sees every draw can tell whether one person's data")
	if c.Adjacency == "substitute" {
		line("were replaced by any other's (substitution; the number of records, %d, is public).", c.Records)
	} else {
		line("were in the table, or its rows were blank (add/remove; the number of rows, %d, is public).", c.Records)
	}
	line("One person contributes at most %s.", several(c.RowsPerPerson, "row"))
	line("It holds for every step, whether or not the chain has converged.")
	line("Costs of several runs on the same people add up.")
	if c.Assumed != "" {
		line("The model is not the library's own. What is assumed of it, and not checked:")
		for text := range strings.SplitAfterSeq(c.Assumed, ". ") {
			line("  %s", strings.TrimSpace(text))
		}
	}
}

// several is a number of things, in words.
func several[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Protects says whom the guarantee protects, and from what being told.
func (c *Certificate) Protects() string {
	rows := fmt.Sprintf("one person, with at most %s, from anyone who sees every draw", several(c.RowsPerPerson, "row"))
	if c.Adjacency == "substitute" {
		return rows + fmt.Sprintf(": substitution by any other's data; the number of records, %d, is public", c.Records)
	}
	return rows + fmt.Sprintf(": rows in the table, or blank (add/remove); the number of rows, %d, is public", c.Records)
}

// Remarks returns warnings about a budget, such as an ε that protects little or a δ too large for
// the number of records. records is 0 if the number is not known.
func Remarks(epsilon, delta float64, records int64) []string {
	var r []string
	switch {
	case epsilon > 5:
		factor := "any factor"
		if epsilon < 700 { // beyond, e^ε is no float64
			factor = fmt.Sprintf("a factor of %.3g", math.Exp(epsilon))
		}
		r = append(r, fmt.Sprintf("Warning: ε = %.3g is a weak guarantee; one person's odds may change by %s.",
			epsilon, factor))
	case epsilon > 1:
		r = append(r, fmt.Sprintf("Remark: ε = %.3g is above 1.", epsilon))
	}
	if delta > 1/float64(records) {
		r = append(r, fmt.Sprintf("Warning: δ = %.3g is above 1/N = %.3g; a mechanism that publishes a random record would "+
			"satisfy it.", delta, 1/float64(records)))
	}
	return r
}
